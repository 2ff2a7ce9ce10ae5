"""Measurements for developers, run by make targets from a checkout; not in the wheel."""
