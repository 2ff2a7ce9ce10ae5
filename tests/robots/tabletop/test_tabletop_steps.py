"""Calls step by step: the rows of `steps.jsonl`, see `tests.robots.steps`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.robots.steps import refuse, table


@pytest.mark.parametrize("row", table(__file__, "refused"))
def test_what_cannot_be_made_is_refused_in_a_short_line(row: dict[str, Any]) -> None:
    refuse(row)
