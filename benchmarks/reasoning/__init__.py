"""Reasoning about where things are: in code against in language."""
