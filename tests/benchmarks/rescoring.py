"""Scores a results folder from its files alone: `python tests/benchmarks/rescoring.py DIR`.

It shares no code with the reports, and needs nothing but Python: who doubts a published number
reads this page and runs it.
"""

from __future__ import annotations

import json
import math
import sys
from itertools import combinations
from pathlib import Path


def rescored(folder: Path) -> dict[str, object]:
    """Return the numbers of a report: of a trial that was run again the last line counts."""
    last: dict[tuple[str, str, int, int], dict[str, object]] = {}
    for text in (folder / "trials.jsonl").read_text().split("\n")[:-1]:
        line = json.loads(text)
        last[line["task"], line["split"], line["seed"], line["sample"]] = line
    lines = list(last.values())
    splits = sorted({str(line["split"]) for line in lines})
    tasks = sorted({(str(line["task"]), str(line["split"])) for line in lines})
    return {
        "total": numbers(lines),
        "splits": {
            split: numbers([line for line in lines if line["split"] == split]) for split in splits
        },
        "tasks": {
            f"{task} {split}": numbers(
                [line for line in lines if (line["task"], line["split"]) == (task, split)]
            )
            for task, split in tasks
        },
        "pass_at_k": {split: pass_at(lines, split) for split in splits},
    }


def numbers(lines: list[dict[str, object]]) -> dict[str, object]:
    n, won = len(lines), sum(line["success"] is True for line in lines)
    costs = [line["cost_usd"] for line in lines]
    failed: dict[str, int] = {}
    for line in lines:
        if line["success"] is not True:
            failed[str(line["cause"])] = failed.get(str(line["cause"]), 0) + 1
    low, high = wilson(won, n)
    return {
        "n": n,
        "successes": won,
        "rate": won / n,
        "low": low,
        "high": high,
        "clusters": len({(line["task"], line["seed"]) for line in lines}),
        "failed": failed,
        "requests": sum(int(str(line["requests"])) for line in lines),
        "cost_usd": None if None in costs else sum(float(str(cost)) for cost in costs),
    }


def wilson(won: float, n: float) -> tuple[float, float]:
    """Solve (p - rate)^2 = z^2 p (1 - p) / n for p."""
    z2 = 1.959963984540054**2
    a, b, c = 1 + z2 / n, -(2 * won / n + z2 / n), (won / n) ** 2
    root = math.sqrt(max(0.0, b * b - 4 * a * c))
    return max(0.0, (-b - root) / (2 * a)), min(1.0, (-b + root) / (2 * a))


def pass_at(lines: list[dict[str, object]], split: str) -> dict[str, float]:
    """Return the chance that k samples drawn without putting back hold a right one."""
    samples: dict[str, list[bool]] = {}
    for line in lines:
        if line["split"] == split:
            samples.setdefault(str(line["task"]), []).append(line["success"] is True)
    found = {}
    for k in (1, 10, 100):
        if all(len(own) >= k for own in samples.values()):
            chances = [
                1 - math.comb(own.count(False), k) / math.comb(len(own), k)
                for own in samples.values()
            ]
            found[str(k)] = sum(chances) / len(chances)
    return found


def mcnemar(first: int, second: int) -> float:
    """Return the share of all ways in which coins fall that are no likelier than this one."""
    n = first + second
    ways = [math.comb(n, k) for k in range(n + 1)]
    return sum(way for way in ways if way <= math.comb(n, first)) / 2**n


def drawn(values: list[bool], k: int) -> float:
    """Return pass@k by counting every draw: for small n."""
    every = list(combinations(values, k))
    return sum(any(one) for one in every) / len(every)


if __name__ == "__main__":
    print(json.dumps(rescored(Path(sys.argv[1])), indent=2))
