"""The engine: from an instruction to the result of its program."""
