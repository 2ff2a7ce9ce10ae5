"""Tasks in robosuite's environments, judged by its own checks."""
