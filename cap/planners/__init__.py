"""Planners that choose one step after the other, the loop they run in, and models to try them."""
