"""Published programs, played through the engine as a model's answers."""
