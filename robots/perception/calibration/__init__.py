"""Where a camera is."""
