"""Reports of a results folder."""
