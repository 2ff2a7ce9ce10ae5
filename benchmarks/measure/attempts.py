"""What attempts are worth: success against the number of programs tried, without a model.

    python -m benchmarks.measure.attempts FOLDER [-n SEEDS]

A noisy oracle writes the programs of the tabletop, drawing and kitchen suites, right with
probability P, else a mutant of the right one, which may do what was asked by chance. What is in
FOLDER is not run again; its table, `attempts.csv`, is written again.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import itertools
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.noisy_oracle import NOISY
from benchmarks.report.tables import read
from benchmarks.results import begin
from benchmarks.runner import run
from benchmarks.suite import OWN_PROMPTS, Settings, suite

CHANCES = (0.3, 0.5, 0.7, 0.9)
SUITES: Mapping[str, str] = {"tabletop": "SA-SI", "drawing": "", "kitchen": ""}
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


def measured(folder: Path, n: int) -> Iterator[dict[str, Any]]:
    """Run what is lacking of all trials; yield for each family, P and arm the rate and the price.

    Args:
        folder: Where the results folders are, one for each of them.
        n: Seeds of each task.
    """
    for (family, split), chance, arm in itertools.product(SUITES.items(), CHANCES, ARMS):
        found = suite(family)
        trials = found.trials(n, 0, splits=[split] if split else None)
        settings = Settings(
            family,
            f"{NOISY}:{chance}",
            mode="instant",
            prompts=OWN_PROMPTS.get(family, ""),
            options=ARMS[arm],
        )
        place = folder / family / str(chance) / arm
        with contextlib.closing(begin(place, found, settings, resume=True)) as results:
            run(results, trials, settings, jobs=os.cpu_count() or 1)
        total = read(place).total
        yield {
            "family": family,
            "P": chance,
            "arm": arm,
            "n": total.n,
            "success": total.rates["rate"],
            "low": total.rates["low"],
            "high": total.rates["high"],
            "tokens per success": total.tokens / total.successes if total.successes else None,
        }


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", type=int, default=5, help="seeds of each task")
    given = parser.parse_args()
    rows = list(measured(given.folder, given.n))
    with (given.folder / "attempts.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
