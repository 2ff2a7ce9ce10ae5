"""What attempts are worth: success against the number of programs tried, without a model.

    python -m benchmarks.measure.attempts FOLDER [-n TRIALS] [--minutes M]

A noisy oracle writes the programs of the tabletop, drawing and kitchen suites, right with
probability P, else a mutant of the right one, which may do what was asked by chance. What is in
FOLDER is not run again; its table, `attempts.csv`, is written again.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import json_lines
from benchmarks.noisy_oracle import NOISY
from benchmarks.statistics import wilson_interval
from benchmarks.suite import OWN_PROMPTS, Settings, Trial, suite

CHANCES = (0.3, 0.5, 0.7, 0.9)
SUITES: Mapping[str, str | None] = {"tabletop": "SA-SI", "drawing": None, "kitchen": None}
"""The task families, each with the split that is run."""
_ONE: dict[str, Any] = {
    "limits": {"program_s": 1.0},  # an endless program ends after so long
    "repairs": {"static": 0, "runtime": 0},
}


def _best_of(n: int, **by: bool) -> dict[str, Any]:
    return {**_ONE, "sampling": {"samples": n, "agreement": False, "goal": False, **by}}


ARMS: Mapping[str, dict[str, Any]] = {
    "single": _ONE,
    "repair": {"limits": _ONE["limits"]},
    **{f"perfect judge, {n}": _best_of(n) for n in (2, 4, 8)},
    **{f"agreement, {n}": _best_of(n, agreement=True) for n in (2, 4, 8)},
    **{f"both, {n}": _best_of(n, agreement=True, goal=True) for n in (4, 8)},
    "goal check, 8": _best_of(8, goal=True),
    "rounds of 3": {**_ONE, "rounds": 3},
}
"""The ways of trying, each with what a suite's settings say of it."""


def run(folder: Path, n: int, minutes: float) -> None:
    """Run what is lacking of all trials, all arms of one seed before the next one's.

    Args:
        folder: Where trials are written, one a line.
        n: Seeds of each task.
        minutes: When to stop; what is there is reported.
    """
    folder.mkdir(parents=True, exist_ok=True)
    end_s = time.monotonic() + 60 * minutes
    done = {tuple(line["key"]) for line in read(folder)}
    with (folder / "trials.jsonl").open("a", encoding="utf-8") as file:
        for family, trial, chance, arm, model, options in _plan(n):
            key = (family, trial.task, trial.seed, chance, arm)
            if key in done:
                continue
            if time.monotonic() > end_s:
                return
            prompts = OWN_PROMPTS.get(family, "")
            settings = Settings(family, model, mode="instant", prompts=prompts, options=options)
            outcome = suite(family).run(trial, settings)
            line = {
                "key": key,
                "success": outcome.success,
                "tokens": outcome.prompt_tokens + outcome.completion_tokens,
            }
            file.write(json.dumps(line) + "\n")
            file.flush()


def _plan(n: int) -> Iterator[tuple[str, Trial, float, str, str, dict[str, Any]]]:
    for seed in range(n):
        for family, split in SUITES.items():
            for task, part in suite(family).cells():
                if split in (None, part):
                    trial = Trial(task, part, seed)
                    for chance in CHANCES:
                        for arm, options in ARMS.items():
                            yield family, trial, chance, arm, f"{NOISY}:{chance}", options


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the trials of a folder; none of a new one."""
    path = folder / "trials.jsonl"
    return [dict(line) for _, line in json_lines.read(path, "trials")] if path.exists() else []


def rows(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each family, P and arm the rate, its interval, and the price."""
    groups: dict[tuple[str, float, str], list[Mapping[str, Any]]] = defaultdict(list)
    for line in lines:
        family, _, _, chance, arm = line["key"]
        groups[family, chance, arm].append(line)
    found = []
    for (family, chance, arm), trials in sorted(groups.items()):
        won, n = sum(line["success"] for line in trials), len(trials)
        low, high = wilson_interval(won, n)
        tokens = sum(line["tokens"] for line in trials)
        found.append(
            {
                "family": family,
                "P": chance,
                "arm": arm,
                "n": n,
                "success": won / n,
                "low": low,
                "high": high,
                "tokens per success": tokens / won if won else None,
            }
        )
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", type=int, default=5, help="seeds of each task")
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    run(given.folder, given.n, given.minutes)
    with (given.folder / "attempts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows(read(given.folder))[0])
        writer.writeheader()
        writer.writerows(rows(read(given.folder)))
