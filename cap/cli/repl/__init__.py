"""`cap repl`: the interactive session."""
