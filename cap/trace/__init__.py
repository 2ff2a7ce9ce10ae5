"""The trace: what happened, written down, read back, shown."""
