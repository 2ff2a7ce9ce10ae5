"""The lock-down of a worker by the kernel."""
