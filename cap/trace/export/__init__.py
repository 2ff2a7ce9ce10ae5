"""A run as something to look at: one HTML file, or Markdown for a note."""
