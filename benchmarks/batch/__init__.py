"""Scripted sessions as a suite."""
