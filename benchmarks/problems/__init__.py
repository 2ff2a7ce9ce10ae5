"""Function-writing problems and their judge."""
