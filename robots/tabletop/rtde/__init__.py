"""The arm by ur_rtde."""
