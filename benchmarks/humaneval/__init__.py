"""HumanEval: the official problems, judged in this project's own sandbox."""
