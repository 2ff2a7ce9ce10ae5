"""Ten drawing tasks, judged on the geometry of the ink."""
