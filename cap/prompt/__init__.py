"""Prompt files: what a model is shown."""
