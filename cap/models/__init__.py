"""Backends that complete prompts."""
