"""Words against effect: what an instruction asks for in every reading, and did not happen."""
