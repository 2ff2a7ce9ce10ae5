"""What things cost on this machine."""
