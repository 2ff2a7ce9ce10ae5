"""Robots: bodies that `cap` programs move."""
