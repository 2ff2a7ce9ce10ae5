"""Functions that were written once and are kept."""
