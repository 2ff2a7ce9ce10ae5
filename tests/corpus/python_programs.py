"""Ordinary Python programs, with the rule that refuses them under each policy, if one does.

`kernel` in place of a rule says that the check lets a program pass and the kernel's layers stop it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ENTRIES: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_suffix(".jsonl").read_text().splitlines()
]
PROGRAMS: dict[str, str] = {entry["name"]: entry["source"] for entry in ENTRIES}
"""Every program by its name."""
