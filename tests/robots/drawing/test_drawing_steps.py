"""Calls step by step: the rows of `steps.jsonl`, see `tests.robots.steps`."""

from tests.robots.steps import (
    test_each_step_does_what_is_written,
    test_what_cannot_be_made_is_refused_in_a_short_line,
)

__all__ = [
    "test_each_step_does_what_is_written",
    "test_what_cannot_be_made_is_refused_in_a_short_line",
]
