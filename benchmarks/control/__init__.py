"""Controllers written by a model: a cart's pole kept up, and an arm led by torques."""
