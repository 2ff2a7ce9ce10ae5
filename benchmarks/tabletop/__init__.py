"""Benchmarks of language control on the tabletop robot."""
