"""The offline stand-in for a model."""
