"""What crosses between parent and worker: plain data in frames."""
