"""The untrusted side: the processes programs run in."""
