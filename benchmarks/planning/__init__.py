"""Planners compared on tasks of their papers, in worlds without a camera."""
