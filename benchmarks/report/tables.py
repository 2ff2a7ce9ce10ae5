"""What a results folder says: rates with their intervals, in all, by family and by task; why not.

`read` gives the whole report of a folder as numbers. Everything in it is in a stable order, the
suite's own, or that of the names where the suite is not known: two equal runs have equal reports,
whatever ended first.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

from benchmarks.noisy_oracle import WHAT_IT_IS, is_noisy
from benchmarks.results import (
    CAUSES,
    UNJUDGED,
    Beside,
    Line,
    entries,
    read_asked,
    read_beside,
    read_header,
    read_lines,
)
from benchmarks.statistics import KS, clustered_interval, mean_pass_at_k, percent, wilson_interval
from benchmarks.suite import DOUBTS, REPAIRED, SUITES, BaseSuite, Outcome, suite
from cap.errors import UsageError
from cap.models.base import Usage

ALL = "all"
"""Stands for the task in the rows that sum up a split, or everything."""
Where = tuple[str, str]
"""A task, or `all` or a family, and a split."""
_RARE = (
    *("split", "clustered 95 %", "without repair %", "doubted", "measured", "rung", "refused"),
    "published %",
)
"""Columns that are left out where no row has anything in them."""


@dataclass
class Cell:
    """The trials of one task under one split, of a family of tasks, or of all of them."""

    task: str = ALL
    """The task, the family, or `all`."""
    split: str = ""
    """The split; "" where there are none, or for all of them."""
    asked: int = 0
    """Trials that were asked for, those that have not ended included."""
    published: Mapping[str, float] = field(default_factory=dict)
    """Published values by method, percent."""
    refused: int = 0
    """Trials whose answer was refused."""
    n: int = 0
    """Trials that have ended."""
    successes: int = 0
    """Those whose goal was reached."""
    unrepaired: int = 0
    """Those of them whose first program reached it."""
    repairs: int = 0
    """Trials in which a program was written again."""
    doubted: int = 0
    """Trials whose effect was doubted by the words, or by a goal check."""
    doubted_rightly: int = 0
    """Those of them that failed."""
    causes: Counter[str] = field(default_factory=Counter)
    """Why the others failed."""
    calls: int = 0
    """Calls of primitives."""
    usage: Usage = field(default_factory=Usage)
    """What models took."""
    seconds: float = 0.0
    """Wall time of all trials."""
    measured: dict[str, list[float | None]] = field(default_factory=dict)
    """What the suite measured in each trial, by name; None where there was nothing to measure."""
    shares: Collection[str] = ()
    """Names of those that are shares, whose mean is shown."""
    rung: str = ""
    """How a model's candidates were compared last, where it compared some."""
    clusters: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    """By task and seed, which is a problem or a scene, trials and successes."""

    def add(self, line: Line) -> None:
        """Count one trial."""
        outcome = line.outcome
        self.n += 1
        self.successes += outcome.success
        where = line.trial.task, line.trial.seed
        trials, won = self.clusters.get(where, (0, 0))
        self.clusters[where] = trials + 1, won + outcome.success
        repaired = outcome.extra.get(REPAIRED) is True
        self.repairs += repaired
        self.unrepaired += outcome.success and not repaired
        self.refused += bool(outcome.extra.get("refused"))
        if outcome.extra.get(DOUBTS):
            self.doubted += 1
            self.doubted_rightly += not outcome.success
        if not outcome.success:
            self.causes[outcome.cause] += 1
        self.rung = str(outcome.extra.get("rung") or self.rung)
        self.calls += outcome.calls
        self.usage = self.usage.plus(outcome.usage)
        self.seconds += outcome.seconds
        measured = None if outcome.cause in UNJUDGED else outcome.extra.get("measured")
        for name, value in measured.items() if isinstance(measured, dict) else ():
            number = value if type(value) in (int, float) else None
            self.measured.setdefault(name, []).append(number)

    @property
    def whole(self) -> bool:
        """Whether every trial that was asked for has ended."""
        return self.n >= self.asked

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.usage.prompt_tokens + self.usage.completion_tokens

    @property
    def unjudged(self) -> int:
        """Trials that say nothing of model, program or robot; they count as not successful."""
        return sum(self.causes[cause] for cause in UNJUDGED)

    @property
    def known_usd(self) -> float | None:
        """Dollars; None also where nothing was answered, which does not show what is paid."""
        cost_usd = self.usage.cost_usd
        unanswered = self.usage.requests and self.unjudged == self.n and not self.tokens
        return None if unanswered and not cost_usd else cost_usd

    @property
    def spread(self) -> str:
        """Median, least and most of what was measured, with how often there was nothing.

        Of shares it is the mean, percent.
        """
        words = []
        for name, values in self.measured.items():
            found = _spread(values)
            lacking = f", {found['none']} none" if found["none"] else ""
            if not found["n"]:
                words.append(f"{name} none")
            elif name in self.shares:
                of = "" if found["n"] == self.n else f" of {found['n']}"
                words.append(f"{name} {100 * found['mean']:.1f} %{of}")
            else:
                words.append(
                    "{} {median:.3g} ({least:.3g} to {most:.3g}{})".format(name, lacking, **found)
                )
        return "; ".join(words)

    @property
    def interval(self) -> tuple[float, float]:
        """The Wilson 95 % interval of the rate, 0 to 1."""
        return wilson_interval(self.successes, self.n)

    @property
    def rate(self) -> str:
        """The rate with its interval, percent."""
        return f"{100 * self.successes / self.n:.1f} ({percent(self.interval)})"

    @property
    def clustered(self) -> tuple[float, float] | None:
        """The 95 % interval with clusters as the units; None if there are not several, of several.

        Trials of one cluster are alike, so Wilson's interval of all trials is too narrow then.
        """
        several = 1 < len(self.clusters) < self.n
        return clustered_interval(self.clusters.values()) if several else None

    @property
    def why(self) -> str:
        """How many failed by whom, such as `model 2, task 1`."""
        known = dict.fromkeys([*CAUSES, *sorted(self.causes)])
        return ", ".join(f"{cause} {self.causes[cause]}" for cause in known if self.causes[cause])

    @property
    def row(self) -> dict[str, Any]:
        """The cell for a person."""
        usd, about = self.known_usd, "~" if self.usage.estimated else ""
        return {
            "task": self.task,
            "split": self.split,
            "success %, 95 %": self.rate if self.whole else f"so far {self.rate}",
            "clustered 95 %": percent(self.clustered),
            "without repair %": f"{100 * self.unrepaired / self.n:.1f}" if self.repairs else "",
            "doubted": f"{self.doubted}, {self.doubted_rightly} failed" if self.doubted else "",
            "refused": self.refused or "",
            "n": self.n if self.whole else f"{self.n} of {self.asked} so far",
            # What several tasks measure has no common median.
            "measured": "" if self.task == ALL and not self.shares else self.spread,
            "rung": self.rung,
            "failed by": self.why,
            "calls": round(self.calls / self.n, 1),
            "requests": self.usage.requests,
            "tokens": f"{about}{self.tokens}" if about else self.tokens,
            "cost $": "?" if usd is None else f"{about}{usd:.4f}",
            "s": round(self.seconds / self.n, 2),
            "published %": ", ".join(f"{name} {value:g}" for name, value in self.published.items()),
        }

    @property
    def rates(self) -> dict[str, float | None]:
        """The rate and its intervals for a program, 0 to 1."""
        low, high = self.interval
        between = self.clustered or (None, None)
        return {
            "rate": self.successes / self.n,
            "low": low,
            "high": high,
            "clustered_low": between[0],
            "clustered_high": between[1],
        }

    @property
    def numbers(self) -> dict[str, Any]:
        """The cell for a program: rates from 0 to 1, sums over all its trials.

        While trials are left there is no rate, only one so far.
        """
        names = ("requests", "prompt_tokens", "completion_tokens", "cost_usd", "estimated")
        return {
            "task": self.task,
            "split": self.split,
            "asked": self.asked,
            "n": self.n,
            "successes": self.successes,
            "clusters": len(self.clusters),
            **(self.rates if self.whole else dict.fromkeys(self.rates)),
            "so_far": None if self.whole else self.rates,
            "unrepaired": self.unrepaired,
            "repaired_trials": self.repairs,
            "refused": self.refused,
            "doubted": self.doubted,
            "doubted_failed": self.doubted_rightly,
            "failed": {cause: count for cause, count in sorted(self.causes.items()) if count},
            "unjudged": self.unjudged,
            "calls": self.calls,
            **{name: getattr(self.usage, name) for name in names},
            "seconds": self.seconds,
            "measured": {name: _spread(values) for name, values in self.measured.items()},
            "published_percent": dict(self.published),
        }


def taken(requests: int, tokens: int, cost_usd: float | None, estimated: bool) -> str:
    """Say what models took; what is estimated has a `~` before it."""
    about = "~" if estimated else ""
    price = "at an unknown price" if cost_usd is None else f"{about}${cost_usd:.4f}"
    return f"{requests} request{'s' * (requests != 1)}, {about}{tokens} tokens, {price}"


def cost_beside(beside: Beside) -> str:
    """Say what trials took that do not count."""
    tokens = beside.prompt_tokens + beside.completion_tokens
    line = taken(beside.requests, tokens, beside.cost_usd, beside.estimated)
    if beside.unanswered:
        line += f"; no answer was kept of {beside.unanswered} of them: they may have cost more"
    if beside.untold:
        line += f"; the tokens of {beside.untold} of them were not kept"
    return f"in addition, for trials that were stopped or run again: {line}"


def _spread(values: Sequence[float | None]) -> dict[str, Any]:
    found = [value for value in values if value is not None]
    return {
        "median": median(found) if found else None,
        "mean": fmean(found) if found else None,
        "least": min(found, default=None),
        "most": max(found, default=None),
        "n": len(found),
        "none": len(values) - len(found),
    }


@dataclass(frozen=True)
class Report:
    """All that a results folder says, as numbers."""

    folder: Path
    """Where it stands."""
    header: Mapping[str, Any]
    """What ran, with what."""
    suite: BaseSuite | None
    """The suite, if it is one of ours."""
    total: Cell
    """Every trial."""
    families: tuple[Cell, ...]
    """Each split as a whole, and its families of tasks."""
    tasks: tuple[Cell, ...]
    """Each task under each split."""
    pass_at_k: Mapping[str, Mapping[int, float]]
    """Where problems have samples and all have ended: pass@k by split, 0 to 1."""
    order: Callable[[Line], tuple[Any, ...]]
    """Sorts lines as the tasks are sorted."""
    beside: Beside
    """What models took besides: for trials that were stopped, or run again since."""
    models: tuple[Cell, ...] = ()
    """Each model, or column, as a whole, of a suite in which they have no common rate."""

    @property
    def splits(self) -> list[Cell]:
        """Each split as a whole."""
        return [cell for cell in self.families if cell.task == ALL]

    @property
    def sums(self) -> list[Cell]:
        """Everything, or each model of several, then the splits and families."""
        named = {cell.split for cell in self.models}
        families = [cell for cell in self.families if cell.task != ALL or cell.split not in named]
        return [*(self.models or [self.total]), *(families if len(self.families) > 1 else ())]

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """What models of this run know that stand in for a language model, a line each."""
        return self.suite.stand_ins if self.suite is not None else ()

    @property
    def title(self) -> str:
        """What the report is called."""
        header = self.header
        named = header.get("title") or f"{header['suite']} {header['suite_version']}".strip()
        title = f"{named}: {header['settings']['model']}"
        return f"{self.so_far}: {title}" if self.so_far else title

    @property
    def settings(self) -> list[str]:
        """What it ran with, but for the model, such as `mode instant`; what was not said is not."""
        elsewhere = ("ledger", "pictures", "sessions")
        settings = self.header["settings"]
        options = {name: one for name, one in settings["options"].items() if name not in elsewhere}
        facts = {name: settings.get(name) for name in ("mode", "perception", "prompts")}
        found = entries({**facts, **options})
        return [" ".join([*names, str(value)]) for names, value in found if value]

    @property
    def so_far(self) -> str:
        """How much of the run there is, such as `12 of 60 trials so far`; "" of a whole one."""
        total = self.total
        return "" if total.whole else f"{total.n} of {total.asked} trials so far"

    @property
    def headline(self) -> list[str]:
        """What to publish, a line each: rate, interval, cost, date, the command to repeat it."""
        total = self.total
        lines = [WHAT_IT_IS] if is_noisy(str(self.header["settings"]["model"])) else []
        lines += self.stand_ins
        for split, found in self.pass_at_k.items():
            rates = ", ".join(f"pass@{k} {100 * rate:.1f} %" for k, rate in found.items())
            lines.append(f"{split}: {rates}" if split else rates)
        if self.so_far:
            lines.append(
                f"{self.so_far}, {total.successes} of them successful: no rate of the run before "
                f"the other {total.asked - total.n} end; go on with --resume"
            )
        else:
            for cell in self.models or (total,):
                low, high = (100 * end for end in cell.interval)
                lines.append(
                    f"{f'{cell.split}: ' if cell.split else ''}"
                    f"success {100 * cell.successes / cell.n:.1f} % "
                    f"(95 %: {low:.1f} to {high:.1f} %), {cell.successes} of {cell.n} trials"
                )
            if total.clustered is not None and len(self.models) < 2:
                sampled = self.suite is not None and self.suite.judges_samples
                unit = "problem" if sampled else "scene"
                low, high = (100 * end for end in total.clustered)
                lines.append(
                    f"95 % clustered by {unit}: {low:.1f} to {high:.1f} % "
                    f"({len(total.clusters)} {unit}s)"
                )
        if total.unjudged:
            lines.append(f"not judged, and counted as not successful: {total.unjudged} trials")
        if total.usage.requests:
            usage = total.usage
            line = taken(usage.requests, total.tokens, total.known_usd, usage.estimated)
            replayed = str(self.header["settings"]["model"]).startswith("replay/")
            lines.append(f"as recorded, nothing was sent: {line}" if replayed else f"model: {line}")
        if self.beside.requests:
            lines.append(cost_beside(self.beside))
        started = str(self.header.get("started") or "").replace("T", " ").replace("+00:00", " UTC")
        spent = f"{total.seconds:.0f} s of trials"
        lines.append(f"{started}, {spent}" if started else spent)
        if command := self.header.get("command"):
            lines.append(f"again: {command}")
        return lines

    @property
    def as_json(self) -> dict[str, Any]:
        """The report for a program: rates from 0 to 1, numbers as numbers.

        `so_far` comes first: null of a whole run, else how much of it there is.
        """
        names = ["suite", "suite_version", "settings", "conditions", "versions", "repairs"]
        names += ["started", "command"]
        return {
            "so_far": self.so_far or None,
            "folder": str(self.folder),
            "title": self.title,
            **({"stand_ins": list(self.stand_ins)} if self.stand_ins else {}),
            **{name: self.header.get(name) for name in names},
            "total": self.total.numbers,
            **({"models": [cell.numbers for cell in self.models]} if self.models else {}),
            "families": [cell.numbers for cell in self.families],
            "tasks": [cell.numbers for cell in self.tasks],
            "pass_at_k": {
                split: {str(k): rate for k, rate in found.items()}
                for split, found in self.pass_at_k.items()
            },
            "beside": asdict(self.beside),
        }


_NOT_ENDED = Outcome(success=False, cause="", instruction="", program="")


def read(folder: Path) -> Report:
    """Return the report of a results folder.

    Raises:
        UsageError: Not a results folder, or without a trial.
    """
    header = read_header(folder)
    name, options = header["suite"], header["settings"]["options"]
    found = suite(name, options) if name in SUITES else None
    known = found or BaseSuite()
    lines = {line.trial: line for line in read_lines(folder)}
    asked = dict.fromkeys([*read_asked(folder), *lines])
    sampled = known.judges_samples or any(trial.sample for trial in lines)
    total = Cell()
    models: dict[str, Cell] = {}
    tasks: dict[Where, Cell] = {}
    families: dict[Where, Cell] = {}
    for trial in asked:
        line, model, split = lines.get(trial), known.model_of(trial.split), trial.split
        counted = [
            (total, line),
            (models.setdefault(model, Cell(ALL, model)), line),
            (tasks.setdefault((trial.task, split), Cell(trial.task, split)), line),
        ]
        for part in known.parts(trial, line.outcome if line else _NOT_ENDED):
            for task in (ALL, *known.families(part[0].task)):
                cell = families.setdefault((task, split), Cell(task, split))
                counted.append((cell, Line(*part) if line else None))
        for cell, one in counted:
            cell.asked += 1
            if one is not None:
                cell.add(one)
    if not total.n:
        beside = read_beside(folder)
        more = f"; {cost_beside(beside)}" if beside.requests else ""
        raise UsageError(f"{folder} holds no trial yet{more}")
    cells = known.cells() if found else ()
    for cell in (*tasks.values(), *families.values(), *models.values()):
        cell.published, cell.shares = known.reference(cell.task, cell.split), known.shares
    known.write_files(folder)
    known_first = [*cells, *((trial.task, trial.split) for trial in asked)]
    place = {where: number for number, where in enumerate(dict.fromkeys(known_first))}
    ordered = [cell for _, cell in sorted(tasks.items(), key=lambda one: place[one[0]]) if cell.n]
    splits = list(dict.fromkeys(cell.split for cell in ordered))
    sums = [cell for cell in families.values() if cell.n]
    sums.sort(key=lambda cell: (splits.index(cell.split), cell.task != ALL))
    whole = {split: families[ALL, split].clusters for split in splits if sampled and total.whole}
    rates = {split: mean_pass_at_k(of, options.get("k") or KS) for split, of in whole.items()}
    return Report(
        folder=folder,
        header=header,
        suite=found,
        total=total,
        families=tuple(sums),
        tasks=tuple(ordered),
        pass_at_k={split: rate for split, rate in rates.items() if rate},
        beside=read_beside(folder),
        order=lambda line: (
            place[line.trial.task, line.trial.split],
            line.trial.seed,
            line.trial.sample,
        ),
        models=tuple(cell for name, cell in models.items() if name and cell.n),
    )


def rows_of(found: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return the rows of some cells; a column that no cell has anything in is left out."""
    table = [cell.row for cell in found]
    empty = [name for name in _RARE if not any(row.get(name) for row in table)]
    return [{name: row[name] for name in row if name not in empty} for row in table]


@dataclass(frozen=True)
class Reason:
    """Failures that say the same but for their numbers."""

    cause: str
    """Who is to blame."""
    first: str
    """What the first of them says, in one line."""
    lines: tuple[Line, ...]
    """Their trials, in report order."""


def reasons(lines: Sequence[Line]) -> list[Reason]:
    """Return the distinct reasons of failures, the most frequent first."""
    found: dict[tuple[str, str], list[Line]] = {}
    for line in lines:
        outcome = line.outcome
        if not outcome.success:
            found.setdefault((outcome.cause, re.sub(r"[0-9.]+", "#", said(line))), []).append(line)
    listed = [Reason(cause, said(same[0]), tuple(same)) for (cause, _), same in found.items()]
    return sorted(listed, key=lambda reason: -len(reason.lines))


def said(line: Line) -> str:
    """Return why a trial failed, in one line."""
    return " ".join(line.outcome.failure.split()) or "it ran; the goal was not reached"


def failures(report: Report) -> Iterator[tuple[Cell, list[Line]]]:
    """Yield each task that has failures, with them, all in report order."""
    missed: defaultdict[Where, list[Line]] = defaultdict(list)
    for line in read_lines(report.folder):
        if not line.outcome.success:
            missed[line.trial.task, line.trial.split].append(line)
    for cell in report.tasks:
        if found := missed.get((cell.task, cell.split)):
            yield cell, sorted(found, key=report.order)
