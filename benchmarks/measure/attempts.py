"""What attempts are worth: success against the number of programs tried, without a model.

    python -m benchmarks.measure.attempts run FOLDER [-n TRIALS] [--minutes M] [--arms ARM ...]
    python -m benchmarks.measure.attempts report FOLDER

A noisy oracle writes the programs of the tabletop, drawing and kitchen suites, right with
probability P. Each way of choosing among N of them is measured beside its closed form. A mutant may
do what was asked by chance; how often is measured as well, for each task (P = 0), and counts as
right. With a
perfect judge, independent samples and k instructions a trial succeeds with probability
(1 - (1 - p)^N)^k, p being P plus the share of lucky mutants. Three rounds with a perfect judge of
when all is done succeed with p (1 + qr + q^2 (r^2 - t)): q is 1 - p, r the share of mutants after
which the right program still sets the world right, t that of two after which there is no third
round; r and t are measured as well. Agreement has no closed form: it is simulated, with mutants
that fail as often as they did, all others disagreeing.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import json_lines
from benchmarks.noisy_oracle import NOISY, WHAT_IT_IS
from benchmarks.statistics import wilson_interval
from benchmarks.suite import OWN_PROMPTS, Settings, Trial, suite
from cap.files import write_whole

CHANCES = (0.3, 0.5, 0.7, 0.9)
SUITES: Mapping[str, str | None] = {"tabletop": "SA-SI", "drawing": None, "kitchen": None}
"""The task families, each with the split that is run."""
PROGRAM_S = 1.0
"""An endless program ends after so long."""
_NO_REPAIRS = {"static": 0, "runtime": 0}
_DRAWS = 20_000


@dataclass(frozen=True)
class AttemptArm:
    """One way of trying."""

    name: str
    samples: int = 1
    choose_by: str = ""
    """`agreement`, `goal`, `both` or `judge`; "" of one program."""
    repairs: bool = False
    rounds: int = 1
    """Programs, each after the result of the one before; a perfect judge says when all is done."""
    mended: bool = False
    """Whether the first is never right and all further ones are: how often a mutant's world can
    still be set right."""

    @property
    def options(self) -> dict[str, Any]:
        """Return what a suite's settings say of it."""
        found: dict[str, Any] = {"limits": {"program_s": PROGRAM_S}}
        if not self.repairs:
            found["repairs"] = _NO_REPAIRS
        if self.rounds > 1:
            found["rounds"] = self.rounds
        if self.samples > 1:
            by = self.choose_by
            chosen = {"agreement": by in ("agreement", "both"), "goal": by in ("goal", "both")}
            found["sampling"] = {"samples": self.samples, **chosen}
        return found


ARMS = (
    AttemptArm("single"),
    AttemptArm("repair", repairs=True),
    *(AttemptArm(f"perfect judge, {n}", n, "judge") for n in (2, 4, 8)),
    *(AttemptArm(f"agreement, {n}", n, "agreement") for n in (2, 4, 8)),
    *(AttemptArm(f"both, {n}", n, "both") for n in (4, 8)),
    AttemptArm("goal check, 8", 8, "goal"),
    AttemptArm("rounds of 3", rounds=3),
)
_MUTANTS = (
    AttemptArm("single"),
    AttemptArm("mended", rounds=2, mended=True),
    AttemptArm("wrong rounds", rounds=3),
)
"""What is run with P = 0, to know what mutants do."""


def run(
    folder: Path,
    n: int,
    minutes: float,
    families: Sequence[str],
    arms: Sequence[str] | None = None,
) -> None:
    """Run what is lacking of all trials, all arms of one seed before the next one's.

    Args:
        folder: Where trials are written, one a line.
        n: Seeds of each task.
        minutes: When to stop; what is there is reported.
        families: Of `SUITES`.
        arms: Names of `ARMS`; all of them by default. What mutants do is measured with any, and
            with none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, end_s = folder / "trials.jsonl", time.monotonic() + 60 * minutes
    done = {tuple(line["key"]) for line in read(folder)}
    with path.open("a", encoding="utf-8") as file:
        for family, trial, chance, arm in _plan(n, families):
            key = (family, trial.task, trial.seed, chance, arm.name)
            if key in done or (chance and arms is not None and arm.name not in arms):
                continue
            if time.monotonic() > end_s:
                return
            settings = Settings(
                family,
                f"{NOISY}:0,1" if arm.mended else f"{NOISY}:{chance}",
                mode="instant",
                prompts=OWN_PROMPTS.get(family, ""),
                options=arm.options,
            )
            begin_s = time.process_time()
            outcome = suite(family).run(trial, settings)
            line = {
                "key": key,
                "success": outcome.success,
                "cause": outcome.cause,
                "failure": outcome.failure,
                "instructions": 1 + outcome.instruction.count("; "),
                "requests": outcome.requests,
                "tokens": outcome.prompt_tokens + outcome.completion_tokens,
                "cpu_s": round(time.process_time() - begin_s, 4),
            }
            file.write(json.dumps(line) + "\n")
            file.flush()


def _plan(n: int, families: Sequence[str]) -> Iterator[tuple[str, Trial, float, AttemptArm]]:
    for seed in range(n):
        for family in families:
            split = SUITES[family]
            cells = [cell for cell in suite(family).cells() if split in (None, cell[1])]
            for task, part in cells:
                for arm in _MUTANTS:
                    yield family, Trial(task, part, seed), 0.0, arm
                for chance in CHANCES:
                    for arm in ARMS:
                        yield family, Trial(task, part, seed), chance, arm


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
    arms = {arm.name: arm for arm in ARMS}
    found = []
    for (family, chance, name), trials in sorted(groups.items()):
        won = sum(line["success"] for line in trials)
        low, high = wilson_interval(won, len(trials))
        expected, whole = [], mutants[family, ""]
        for line in trials:  # the family's, where nothing is known of the task
            own = mutants.get((family, line["key"][1]), whole)
            rates = replace(whole, lucky=own.lucky, failing=own.failing)
            expected.append(_expected(arms[name], chance, rates, line["instructions"]))
        form = None if None in expected else float(np.mean([x for x in expected if x is not None]))
        found.append(
            {
                "family": family,
                "P": chance,
                "arm": name,
                "n": len(trials),
                "success": won / len(trials),
                "low": low,
                "high": high,
                "expected": form,
                "within": None if form is None else low <= form <= high,
                "tokens per success": _per(trials, "tokens", won),
                "CPU-s per success, without workers": _per(trials, "cpu_s", won),
            }
        )
    return found


def _per(trials: Sequence[Mapping[str, Any]], name: str, won: int) -> float | None:
    return round(sum(line[name] for line in trials) / won, 3) if won else None


@dataclass(frozen=True)
class MutantRates:
    """What the mutants of a family do, in trials of one instruction."""

    lucky: float
    """The share that did what was asked."""
    failing: float
    """The share that failed, and did not do it."""
    mended: float
    """Of those that did not do it, the share whose world the right program then set right."""
    ended: float
    """Of two of them one after the other, the share after which there is no third round: neither
    had an effect, or the second did nothing, which says that all is done."""


def _mutants(lines: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str], MutantRates]:
    """Return what mutants did, for each family ("") and each of its tasks of one instruction."""
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
        mended = max(0.0, after - lucky) / (1 - lucky) if lucky < 1 else 1.0
        wrong = [line for line in arms["wrong rounds"] if not line["success"]]
        ended = float(np.mean([line["requests"] < 3 for line in wrong] or [0.0]))
        found[part] = MutantRates(lucky, lost / len(some), mended, ended)
    return found


def _expected(
    arm: AttemptArm, chance: float, mutants: MutantRates, instructions: int
) -> float | None:
    """Return the probability of success that an arm should have; None if nothing says it."""
    p = chance + (1 - chance) * mutants.lucky
    if arm.repairs or arm.choose_by in ("goal", "both"):
        return None
    one = 1 - (1 - p) ** arm.samples
    if arm.rounds > 1:  # each wrong round leaves a world that can still be set right, or not
        first, both = mutants.mended, max(0.0, mutants.mended**2 - mutants.ended)
        one = p * (1 + (1 - p) * first + (1 - p) ** 2 * both * (arm.rounds > 2))
    if arm.choose_by == "agreement":
        one = agreement(arm.samples, p, (1 - chance) * mutants.failing)
    return float(one**instructions)


def agreement(samples: int, right: float, failing: float) -> float:
    """Return by simulation how often the right one is chosen by agreement.

    Args:
        samples: How many there are.
        right: Probability of a right one.
        failing: Probability of one that fails; all others did something wrong, each its own.
    """
    drawn = np.random.default_rng(0).random((_DRAWS, samples))
    good, wrong = drawn < right, drawn >= right + failing
    count = good.sum(axis=1)
    first_good = np.where(good.any(axis=1), good.argmax(axis=1), samples)
    first_wrong = np.where(wrong.any(axis=1), wrong.argmax(axis=1), samples)
    return float(np.mean((count >= 2) | ((count == 1) & (first_good < first_wrong))))


def report(folder: Path) -> Path:
    """Write the table and, with matplotlib, the chart; return the table's file."""
    found = rows(read(folder))
    lines = [f"{WHAT_IT_IS}. Intervals are Wilson's, 95 %.", ""]
    names = [*found[0]]
    lines += [f"| {' | '.join(names)} |", f"|{' --- |' * len(names)}"]
    for row in found:
        shown = (
            f"{x:.3f}" if isinstance(x, float) else "" if x is None else str(x)
            for x in row.values()
        )
        lines.append(f"| {' | '.join(shown)} |")
    path = folder / "attempts.md"
    write_whole(path, "\n".join(lines) + "\n")
    picture = draw(found)
    if picture is not None:
        (folder / "attempts.svg").write_bytes(picture)
    return path


_COLORS = {
    "judge": "#4e79a7",
    "agreement": "#e15759",
    "both": "#59a14f",
    "goal": "#b07aa1",
    "": "#222",
}
"""By what chooses; each has its place beside the number of samples."""
_LABELS = {
    "judge": "perfect judge",
    "both": "goal check and agreement",
    "goal": "goal check",
    "": "one",
}


def draw(found: Sequence[Mapping[str, Any]]) -> bytes | None:
    """Draw success against N, closed forms as lines; None without matplotlib."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        return None
    with matplotlib.rc_context({"font.size": 9, "svg.hashsalt": "cap", "svg.fonttype": "none"}):
        figure = Figure(figsize=(11, 8), layout="constrained")
        grid = figure.subplots(len(SUITES), len(CHANCES), sharex=True, sharey=True)
        for row, family in enumerate(SUITES):
            for column, chance in enumerate(CHANCES):
                axes = grid[row][column]
                axes.set_title(f"{family}, P = {chance}")
                _panel(
                    axes, [one for one in found if (one["family"], one["P"]) == (family, chance)]
                )
        for axes in grid[-1]:
            axes.set_xlabel("programs tried, or rounds")
        for axes in grid[:, 0]:
            axes.set_ylabel("success, %")
        known = dict(zip(*reversed(grid[0][0].get_legend_handles_labels()), strict=True))
        figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=6)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


def _panel(axes: Any, entries: Sequence[Mapping[str, Any]]) -> None:
    """Draw the arms of one family and chance: points with intervals, and what is expected."""
    arms = {arm.name: arm for arm in ARMS}
    curves: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for entry in entries:
        arm = arms[entry["arm"]]
        if arm.rounds > 1:
            place, color, label = float(arm.rounds), "#76b7b2", arm.name
        else:
            place = [*_COLORS].index(arm.choose_by) * 0.12 - 0.24 + arm.samples
            color = "#f28e2b" if arm.repairs else _COLORS[arm.choose_by]
            label = "repairs" if arm.repairs else _LABELS.get(arm.choose_by, arm.choose_by)
        success, low, high = (100 * entry[name] for name in ("success", "low", "high"))
        bars = np.maximum([[success - low], [high - success]], 0)
        axes.errorbar([place], [success], yerr=bars, fmt="o", ms=4, color=color, label=label)
        if entry["expected"] is not None and arm.rounds > 1:
            axes.plot([place], [100 * entry["expected"]], "_", color=color, ms=12)
        elif entry["expected"] is not None:
            for curve in [arm.choose_by] if arm.choose_by else ["judge", "agreement"]:
                curves[curve].append((arm.samples, 100 * entry["expected"]))
    for curve, points in curves.items():
        axes.plot(*zip(*sorted(points), strict=True), color=_COLORS[curve], lw=1)
    axes.set_ylim(0, 103)
    axes.set_xticks([1, 2, 4, 8])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("what", choices=["run", "report"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("-n", type=int, default=5, help="seeds of each task")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--families", nargs="+", choices=SUITES, default=[*SUITES])
    parser.add_argument("--arms", nargs="*", choices=[arm.name for arm in ARMS], metavar="ARM")
    given = parser.parse_args()
    if given.what == "run":
        run(given.folder, given.n, given.minutes, given.families, given.arms)
    sys.stdout.write(f"{report(given.folder)}\n")
