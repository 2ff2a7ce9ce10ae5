"""The rows of `cap bench sandbox` as a table for a terminal, for Markdown and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.performance.sandbox.engines import ENGINES, MACHINE, OURS
from benchmarks.performance.sandbox.measure import EngineFigure, SandboxRow

_TITLES = {**{name: engine.title for name, engine in ENGINES.items()}, MACHINE: "the machine"}


def as_lines(rows: Sequence[SandboxRow]) -> list[dict[str, Any]]:
    """Return a block of lines per row, one per engine, which 80 columns can hold."""
    return [
        {
            "what": row.what if place == 0 else "",
            "engine": _TITLES[name],
            **_figures(cell),
            "limit": _limit(row) if name == OURS else "",
        }
        for row in rows
        for place, (name, cell) in enumerate(row.cells.items())
    ]


def _figures(cell: EngineFigure | str) -> dict[str, Any]:
    if isinstance(cell, str):
        return {"figure": cell, "min-max": "", "time": "", "n": None}
    if cell.unit == "s":
        middle, span = time(cell.time_s), f"{time(cell.low)}-{time(cell.high)}"
    else:
        middle, span = f"{number(cell.middle)} x", f"{number(cell.low)}-{number(cell.high)}"
    return {"figure": middle, "min-max": span, "time": time(cell.time_s), "n": cell.runs}


def as_data(rows: Sequence[SandboxRow]) -> list[dict[str, Any]]:
    """Return one mapping per row, for JSON."""
    return [
        {
            "what": row.what,
            "limit": row.limit,
            "ok": row.ok,
            "engines": {
                name: {"note": cell} if isinstance(cell, str) else vars(cell)
                for name, cell in row.cells.items()
            },
        }
        for row in rows
    ]


def as_markdown(rows: Sequence[SandboxRow]) -> str:
    """Return one compact table: medians only, with the numbers of runs of this sandbox."""
    names = list(dict.fromkeys(name for row in rows for name in row.cells))
    table = [["", "limit", *(_TITLES[name] for name in names), "n"], ["---"] * (len(names) + 3)]
    for row in rows:
        ours = row.cells[OURS]
        runs = "" if isinstance(ours, str) else str(ours.runs)
        cells = [_short(row.cells.get(name, "")) for name in names]
        table.append([row.what, _limit(row), *cells, runs])
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


def _limit(row: SandboxRow) -> str:
    """Return a row's limit in the unit of its figure; empty if there is none."""
    if row.limit is None:
        return ""
    ours = row.cells[OURS]
    timed = not isinstance(ours, str) and ours.unit == "s"
    return f"<= {time(row.limit)}" if timed else f"<= {row.limit:g} x"


def _short(cell: EngineFigure | str) -> str:
    if isinstance(cell, str):
        return cell.replace("|", "/")
    shown = time(cell.time_s)
    return shown if cell.unit == "s" else f"{number(cell.middle)} x ({shown})"


def time(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1.0:
            return f"{number(seconds * factor)} {unit}"
    return f"{number(seconds * 1e6)} us"


def number(value: float) -> str:
    """Return a number with about three digits that mean something, without an exponent."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:.{digits}f}"
