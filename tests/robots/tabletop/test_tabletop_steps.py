"""What no real arm can be made with: the rows of `steps.jsonl`, see `tests.robots.steps`."""

from tests.robots.steps import test_what_cannot_be_made_is_refused_in_a_short_line

__all__ = ["test_what_cannot_be_made_is_refused_in_a_short_line"]
