"""One and the same instruction on several robots, each judged on what its tool did."""
