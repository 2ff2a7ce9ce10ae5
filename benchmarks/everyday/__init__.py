"""Everyday sentences to the tabletop robot, as ordinary people put things."""
