"""The commands under `cap bench`."""
