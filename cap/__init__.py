"""Code as Policies."""
