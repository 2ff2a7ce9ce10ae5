"""What a results folder says, per task and per split: rates with their intervals, and why not.

`report.md` is for an appendix, `report.html` for looking at failures; both from the lines alone.
Text from models, programs and scenes is escaped.
"""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.results import Line, read_header, read_lines
from benchmarks.statistics import wilson_interval
from benchmarks.suites import suite
from cap.errors import UsageError

CAUSES = ("model", "program", "robot", "task", "infrastructure")
_FAILURES_SHOWN = 200


@dataclass
class Tally:
    """What came of one cell's trials."""

    n: int = 0
    """Trials."""
    successes: int = 0
    """Those whose goal was reached."""
    causes: Counter[str] = field(default_factory=Counter)
    """Why the others failed."""
    calls: int = 0
    """Calls of primitives."""
    requests: int = 0
    """Questions to the model."""
    tokens: int = 0
    """Tokens read and written."""
    cost_usd: float | None = 0.0
    """Dollars; None if a price is not known."""
    seconds: float = 0.0
    """Wall time of all trials."""
    measured: dict[str, list[float | None]] = field(default_factory=dict)
    """What the suite measured in each trial, by name; None where there was nothing to measure."""

    def add(self, line: Line) -> None:
        """Count one trial."""
        outcome = line.outcome
        self.n += 1
        self.successes += outcome.success
        if not outcome.success:
            self.causes[outcome.cause] += 1
        self.calls += outcome.calls
        self.requests += outcome.requests
        self.tokens += outcome.prompt_tokens + outcome.completion_tokens
        known = self.cost_usd is not None and outcome.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (outcome.cost_usd or 0.0) if known else None
        self.seconds += outcome.seconds
        for name, value in outcome.extra.get("measured", {}).items():
            self.measured.setdefault(name, []).append(value)

    @property
    def medians(self) -> str:
        """Median, least and most of what was measured, with how often there was nothing."""
        return "; ".join(_spread(name, values) for name, values in self.measured.items())

    @property
    def rate(self) -> str:
        """The rate with its Wilson 95 % interval, percent."""
        low, high = wilson_interval(self.successes, self.n)
        return f"{100 * self.successes / self.n:.1f} ({100 * low:.1f}-{100 * high:.1f})"


def _spread(name: str, values: Sequence[float | None]) -> str:
    found = [value for value in values if value is not None]
    if not found:
        return f"{name} none"
    lacking = f", {len(values) - len(found)} none" if len(found) < len(values) else ""
    return f"{name} {median(found):.3g} ({min(found):.3g} to {max(found):.3g}{lacking})"


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return one row for each task and split, and one for each split.

    Raises:
        UsageError: Not a results folder, or without a trial.
    """
    tallies = _tallies(read_lines(folder))
    if not tallies:
        raise UsageError(f"{folder} holds no trial yet")
    found = suite(read_header(folder)["settings"]["suite"])
    order = [cell for cell in found.cells() if cell in tallies]
    table = [_row(*cell, tallies[cell], found.reference(*cell)) for cell in order]
    if not any(row["measured"] for row in table):
        table = [{key: row[key] for key in row if key != "measured"} for row in table]
    for split in dict.fromkeys(split for _, split in order):
        whole = _tallies(read_lines(folder), lambda line: ("all", line.trial.split))
        # What several tasks measure has no common median.
        row = {**_row("all", split, whole["all", split], {}), "measured": ""}
        table.append({key: row[key] for key in table[0]})
    return table


def _tallies(
    lines: Iterable[Line], cell_of: Any = lambda line: (line.trial.task, line.trial.split)
) -> dict[tuple[str, str], Tally]:
    tallies: dict[tuple[str, str], Tally] = {}
    for line in lines:
        tallies.setdefault(cell_of(line), Tally()).add(line)
    return tallies


def _row(task: str, split: str, tally: Tally, published: Mapping[str, float]) -> dict[str, Any]:
    return {
        "task": task,
        "split": split,
        "success %, 95 %": tally.rate,
        "n": tally.n,
        "measured": tally.medians,
        "failed by": ", ".join(f"{c} {tally.causes[c]}" for c in CAUSES if tally.causes[c]),
        "calls": round(tally.calls / tally.n, 1),
        "requests": tally.requests,
        "tokens": tally.tokens,
        "cost $": "?" if tally.cost_usd is None else f"{tally.cost_usd:.4f}",
        "s": round(tally.seconds / tally.n, 2),
        "published %": ", ".join(f"{name} {value:g}" for name, value in published.items()),
    }


def write(folder: Path) -> tuple[Path, Path]:
    """Write `report.md` and `report.html` into a results folder; return both."""
    header, table = read_header(folder), rows(folder)
    markdown, page = folder / "report.md", folder / "report.html"
    try:
        markdown.write_text(_markdown(header, table), encoding="utf-8")
        page.write_text(_page(header, table, folder), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write the report: {error.strerror or error}") from None
    return markdown, page


def _title(header: Mapping[str, Any]) -> str:
    settings = header["settings"]
    return f"{header['suite']} {header['suite_version']}: {settings['model']}"


_NOTE = (
    "Success is judged on the world's true state; every trial asked for is counted. "
    "'published' are the papers' own values for their systems and scenes, not measured here."
)


def _about(header: Mapping[str, Any]) -> list[str]:
    settings = header["settings"]
    return [
        f"mode {settings['mode']}, perception {settings['perception']}, "
        f"prompts {settings['prompts']}, options {settings['options']}",
        ", ".join(f"{name} {value}" for name, value in header["versions"].items()),
    ]


def _markdown(header: Mapping[str, Any], table: Sequence[Mapping[str, Any]]) -> str:
    names = list(table[0])
    lines = [f"# {_title(header)}", "", *_about(header), "", _NOTE, ""]
    lines += ["| " + " | ".join(names) + " |", "| " + " | ".join("---" for _ in names) + " |"]
    for row in table:
        cells = [str(row[name]).replace("|", "\\|").replace("\n", " ") for name in names]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse } td, th { padding: .2em .6em; border-bottom: 1px solid #ddd }
th { text-align: left } pre { background: #f6f6f4; padding: .7em; overflow-x: auto }
svg rect { fill: #4e79a7 } svg line { stroke: #222 } details { margin: .6em 0 }
"""


def _page(header: Mapping[str, Any], table: Sequence[Mapping[str, Any]], folder: Path) -> str:
    escape = html.escape
    names = list(table[0])
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(row[name]))}</td>" for name in names) + "</tr>"
        for row in table
    )
    about = "".join(f"<p>{escape(line)}</p>" for line in (*_about(header), _NOTE))
    failed = (line for line in read_lines(folder) if not line.outcome.success)
    shown = [_failure(line) for line, _ in zip(failed, range(_FAILURES_SHOWN), strict=False)]
    failures = "".join(shown) or "<p>None.</p>"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(_title(header))}'
        f"</title><style>{_STYLE}</style><h1>{escape(_title(header))}</h1>{about}"
        f"{_chart(folder)}<table><tr>{head}</tr>{body}</table>"
        f"<h2>Failures (the first {_FAILURES_SHOWN})</h2>{failures}</html>\n"
    )


def _chart(folder: Path) -> str:
    """Return bars of the rates with their intervals, as SVG."""
    tallies = _tallies(read_lines(folder))
    height, parts = 22, []
    for place, ((task, split), tally) in enumerate(tallies.items()):
        low, high = wilson_interval(tally.successes, tally.n)
        y, label = place * height, html.escape(f"{task} {split}")
        parts.append(
            f'<text x="0" y="{y + 15}" font-size="12">{label}</text>'
            f'<rect x="260" y="{y + 4}" width="{400 * tally.successes / tally.n:.1f}" height="13"/>'
            f'<line x1="{260 + 400 * low:.1f}" x2="{260 + 400 * high:.1f}" '
            f'y1="{y + 10}" y2="{y + 10}"/>'
        )
    return f'<svg width="680" height="{height * len(tallies)}" role="img">{"".join(parts)}</svg>'


def _failure(line: Line) -> str:
    trial, outcome = line.trial, line.outcome
    escape = html.escape
    pictures = outcome.extra.get("pictures") or ()
    named = pictures.values() if isinstance(pictures, Mapping) else pictures
    images = "".join(f'<img src="{escape(str(name), quote=True)}" width="240">' for name in named)
    calls = "\n".join(map(str, outcome.extra.get("calls") or ()))
    return (
        f"<details><summary>{escape(trial.task)} {escape(trial.split)} seed {trial.seed}: "
        f"{escape(outcome.instruction)} ({escape(outcome.cause)})</summary>"
        f"<p>{escape(outcome.failure or 'It ran; the goal was not reached.')}</p>"
        f"<pre>{escape(outcome.program)}</pre><pre>{escape(calls)}</pre>{images}</details>"
    )


def compare(first: Path, second: Path) -> list[dict[str, Any]]:
    """Return one row for each cell both folders have: rates, and how paired trials differ.

    Raises:
        UsageError: They share no trial.
    """
    left, right = (
        {line.trial: line.outcome.success for line in read_lines(folder)}
        for folder in (first, second)
    )
    shared = [trial for trial in left if trial in right]
    if not shared:
        raise UsageError(f"{first} and {second} share no trial")
    cells: dict[tuple[str, str], Counter[str]] = {}
    for trial in shared:
        counts = cells.setdefault((trial.task, trial.split), Counter())
        counts["n"] += 1
        counts["first"] += left[trial]
        counts["second"] += right[trial]
        counts["only first"] += left[trial] and not right[trial]
        counts["only second"] += right[trial] and not left[trial]
    return [
        {
            "task": task,
            "split": split,
            "n, paired": c["n"],
            "first %": round(100 * c["first"] / c["n"], 1),
            "second %": round(100 * c["second"] / c["n"], 1),
            "only first": c["only first"],
            "only second": c["only second"],
        }
        for (task, split), c in cells.items()
    ]
