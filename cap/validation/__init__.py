"""Whether prompts and robots are fit to be used."""
