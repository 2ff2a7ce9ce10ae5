"""Ten kitchen tasks, judged on where everything is."""
