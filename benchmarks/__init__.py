"""Benchmarks of models on robot code."""
