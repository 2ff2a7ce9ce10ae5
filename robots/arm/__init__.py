"""What every UR5e here shares."""
