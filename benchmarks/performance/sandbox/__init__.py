"""What running a program costs here and in other engines."""
