"""What attempts are worth: success against the number of programs tried, without a model.

    python -m benchmarks.measure.attempts FOLDER [-n TRIALS] [--minutes M]

A noisy oracle writes the programs of the tabletop, drawing and kitchen suites, right with
probability P. Each way of choosing among N of them is measured beside its closed form. A mutant may
do what was asked by chance; how often is measured as well, for each task (P = 0), and counts as
right. With a perfect judge, independent samples and k instructions a trial succeeds with
probability (1 - (1 - p)^N)^k, p being P plus the share of lucky mutants. Three rounds with a
perfect judge of when all is done succeed with p (1 + qr + q^2 (r^2 - t)): q is 1 - p, r the share
of mutants after which the right program still sets the world right, t that of two after which there
is no third round; r and t are measured as well. Agreement has no closed form: it is simulated, with
mutants that fail as often as they did, all others disagreeing.

What is in FOLDER is not run again; its table, `attempts.csv`, is written again.
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

import numpy as np

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
MUTANTS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "single": ("0", _ONE),
    "mended": ("0,1", {**_ONE, "rounds": 2}),  # the first is never right, all further ones are
    "wrong rounds": ("0", {**_ONE, "rounds": 3}),
}
"""What is run with P = 0, to know what mutants do: the noisy oracle's chances, and settings."""


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
                "cause": outcome.cause,
                "instructions": 1 + outcome.instruction.count("; "),
                "requests": outcome.requests,
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
                    for arm, (chances, options) in MUTANTS.items():
                        yield family, trial, 0.0, arm, f"{NOISY}:{chances}", options
                    for chance in CHANCES:
                        for arm, options in ARMS.items():
                            yield family, trial, chance, arm, f"{NOISY}:{chance}", options


def read(folder: Path) -> list[dict[str, Any]]:
    """Return the trials of a folder; none of a new one."""
    path = folder / "trials.jsonl"
    return [dict(line) for _, line in json_lines.read(path, "trials")] if path.exists() else []


def rows(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each family, P and arm the rate, its interval, what it is to be, and the price."""
    mutants = _mutants(lines)
    groups: dict[tuple[str, float, str], list[Mapping[str, Any]]] = defaultdict(list)
    for line in lines:
        family, _, _, chance, arm = line["key"]
        if chance:
            groups[family, chance, arm].append(line)
    found = []
    for (family, chance, arm), trials in sorted(groups.items()):
        won = sum(line["success"] for line in trials)
        low, high = wilson_interval(won, len(trials))
        whole = mutants[family, ""]
        forms = []
        for line in trials:  # the family's, where nothing is known of the task
            own = mutants.get((family, line["key"][1]), whole)
            rates = {**whole, "lucky": own["lucky"], "failing": own["failing"]}
            forms.append(_expected(arm, chance, rates, line["instructions"]))
        known = [form for form in forms if form is not None]
        expected = float(np.mean(known)) if known else None
        found.append(
            {
                "family": family,
                "P": chance,
                "arm": arm,
                "n": len(trials),
                "success": won / len(trials),
                "low": low,
                "high": high,
                "expected": expected,
                "within": None if expected is None else low <= expected <= high,
                "tokens per success": sum(line["tokens"] for line in trials) / won if won else None,
            }
        )
    return found


def _mutants(lines: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], dict[str, float]]:
    """Return what mutants did, for each family ("") and each of its tasks of one instruction.

    Returns:
        `lucky`, the share that did what was asked; `failing`, that failed and did not; of those
        that did not, `mended`, the share whose world the right program then set right; of two of
        them one after the other, `ended`, the share after which there is no third round: neither
        had an effect, or the second did nothing, which says that all is done.
    """
    alone: dict[tuple[str, str], dict[str, list[Mapping[str, Any]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for line in lines:
        family, task, _, chance, arm = line["key"]
        if not chance and line["instructions"] == 1:
            for part in (task, ""):
                alone[family, part][arm].append(line)
    found = {}
    for part, arms in alone.items():
        some = arms["single"]
        lucky = float(np.mean([line["success"] for line in some]))
        lost = sum(not line["success"] and line["cause"] != "task" for line in some)
        after = float(np.mean([line["success"] for line in arms["mended"]] or [lucky]))
        wrong = [line for line in arms["wrong rounds"] if not line["success"]]
        found[part] = {
            "lucky": lucky,
            "failing": lost / len(some),
            "mended": max(0.0, after - lucky) / (1 - lucky) if lucky < 1 else 1.0,
            "ended": float(np.mean([line["requests"] < 3 for line in wrong] or [0.0])),
        }
    return found


def _expected(
    arm: str, chance: float, mutants: Mapping[str, float], instructions: int
) -> float | None:
    """Return the probability of success that an arm should have; None if nothing says it."""
    p, name = chance + (1 - chance) * mutants["lucky"], arm.partition(",")[0]
    samples = int(arm.rpartition(", ")[2]) if "," in arm else 1
    if name in ("single", "perfect judge"):
        one = 1 - (1 - p) ** samples
    elif name == "agreement":
        one = agreement(samples, p, (1 - chance) * mutants["failing"])
    elif name == "rounds of 3":  # each wrong round leaves a world that can be set right, or not
        first, both = mutants["mended"], max(0.0, mutants["mended"] ** 2 - mutants["ended"])
        one = p * (1 + (1 - p) * first + (1 - p) ** 2 * both)
    else:
        return None
    return float(one**instructions)


def agreement(samples: int, right: float, failing: float) -> float:
    """Return by simulation how often the right one is chosen by agreement.

    Args:
        samples: How many there are.
        right: Probability of a right one.
        failing: Probability of one that fails; all others did something wrong, each its own.
    """
    drawn = np.random.default_rng(0).random((20_000, samples))
    good, wrong = drawn < right, drawn >= right + failing
    count = good.sum(axis=1)
    first_good = np.where(good.any(axis=1), good.argmax(axis=1), samples)
    first_wrong = np.where(wrong.any(axis=1), wrong.argmax(axis=1), samples)
    return float(np.mean((count >= 2) | ((count == 1) & (first_good < first_wrong))))


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
