"""Programs: found in a model's answer, parsed, compiled."""
