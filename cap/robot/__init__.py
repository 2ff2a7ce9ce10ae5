"""Robots: the protocol, finding them, and what they say of their world."""
