"""The sandbox: a program runs in a process of its own."""
