"""The arm by urx."""
