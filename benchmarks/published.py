"""Values of papers as data: in a suite's `published.toml`, a table for each row, percent by method.

["pick-and-place"]
SA-SI = { "CLIPort" = 88, "CaP" = 100 }
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def read(module: str) -> Mapping[str, Any]:
    """Return all values that stand beside a module; give its `__file__`."""
    return tomllib.loads(Path(module).with_name("published.toml").read_text(encoding="utf-8"))


def rates(module: str, row: str, column: str) -> Mapping[str, float]:
    """Return the values of a row and column by method, percent; none where there are none."""
    found: Mapping[str, float] = read(module).get(row, {}).get(column, {})
    return found
