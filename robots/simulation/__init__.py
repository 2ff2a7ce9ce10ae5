"""What every simulated robot here shares."""
