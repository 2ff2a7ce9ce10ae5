"""Harmless programs: what people and models write, each with the value that plain Python gives.

The scope is that of the attacks: `pick(name)` returns its argument, `look()` returns 1, and both
are also members of `robot`.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any


def _of(policy: str) -> dict[str, tuple[str, Any]]:
    lines = Path(__file__).with_name("harmless.jsonl").read_text().splitlines()
    entries = [entry for entry in map(json.loads, lines) if entry["policy"] == policy]
    names = {"inf": math.inf, "nan": math.nan}
    return {entry["name"]: (entry["source"], eval(entry["value"], names)) for entry in entries}


HARMLESS, BENCHMARK = _of("robot"), _of("benchmark")
"""Source and value, by name."""
