"""A real UR5e at a table: the same primitives as in simulation, on hardware."""
