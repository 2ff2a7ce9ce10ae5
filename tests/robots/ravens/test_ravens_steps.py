"""Calls step by step: the rows of `steps.jsonl`, see `tests.robots.steps`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.robots.steps import follow, refuse, table


@pytest.mark.parametrize(("row", "mode"), table(__file__, "do"), indirect=["mode"])
def test_each_step_does_what_is_written(row: dict[str, Any], mode: str, tmp_path: Path) -> None:
    follow(row, mode, tmp_path)


@pytest.mark.parametrize("row", table(__file__, "refused"))
def test_what_cannot_be_made_is_refused_in_a_short_line(row: dict[str, Any]) -> None:
    refuse(row)
