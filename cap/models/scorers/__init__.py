"""Comparing continuations of a prompt."""
