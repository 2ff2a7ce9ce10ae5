"""The engine: from an instruction to what came of its program."""
