"""The check: what a program may be, judged without running it."""
