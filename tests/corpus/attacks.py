"""Attacks: programs that try to reach past their own process, or to use it up.

Each says what it would have reached where nothing stopped it. `$W` stands for a file outside to
write, `$R` for a secret file to read, `$P` for a port that listens on this machine. Where a program
leaves something in `ret`, that is its loot. The scope has two primitives, `pick(name)` and
`look()`, also as `robot.pick` and `robot.look`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REFUSED = ("syntax", "violation", "undefined")


@dataclass(frozen=True)
class Attack:
    """One attack."""

    family: str
    """What kind of hole it looks for."""
    name: str
    """Unique in its family."""
    reaches: str
    """What it would have reached."""
    source: str
    """The program."""
    ends: tuple[str, ...] = REFUSED
    """How it ended at version 0.1; `timeout` among them says that it may have no end."""

    @property
    def id(self) -> str:
        """Return family and name, for test reports."""
        return f"{self.family}: {self.name}"


def _attack(entry: dict[str, Any]) -> Attack:
    """Return the attack of a line; of a long source parts are given, with how often each stands."""
    parts = entry["source"] if isinstance(entry["source"], list) else [entry["source"]]
    source = "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts)
    return Attack(**{**entry, "source": source, "ends": tuple(entry["ends"])})


_ALL = [
    _attack(json.loads(line))
    for line in Path(__file__).with_name("attacks.jsonl").read_text().splitlines()
]
ATTACKS = [attack for attack in _ALL if attack.family != "benchmark"]
BENCHMARK_ATTACKS = {attack.name: attack.source for attack in _ALL if attack.family == "benchmark"}
"""Of programs under the policy of benchmarks."""
