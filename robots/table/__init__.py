"""The tabletop's frame and words."""
