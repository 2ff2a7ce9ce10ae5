"""The rows of `cap bench sandbox` as a table for a terminal, for Markdown and as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.performance.sandbox.engines import ENGINES, OURS
from benchmarks.performance.sandbox.measure import EngineFigure, SandboxRow


def as_lines(rows: Sequence[SandboxRow]) -> list[dict[str, Any]]:
    """Return a block of lines per row, one per engine, which 80 columns can hold."""
    return [
        {
            "what": row.what if place == 0 else "",
            "engine": ENGINES[name].title,
            **_figures(cell),
            "limit": limit(row) if name == OURS else "",
        }
        for row in rows
        for place, (name, cell) in enumerate(row.cells.items())
    ]


def _figures(cell: EngineFigure | str) -> dict[str, Any]:
    if isinstance(cell, str):
        return {"median": cell, "min-max": "", "n": None}
    return {
        "median": f"{number(cell.middle)} {cell.unit}",
        "min-max": f"{number(cell.low)}-{number(cell.high)}",
        "n": cell.runs,
    }


def as_data(rows: Sequence[SandboxRow]) -> list[dict[str, Any]]:
    """Return one mapping per row, for JSON."""
    return [
        {
            "what": row.what,
            "unit": row.unit,
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
    names = list(rows[0].cells)
    table = [
        ["", "limit", *(ENGINES[name].title for name in names), "n"],
        ["---"] * (len(names) + 3),
    ]
    for row in rows:
        ours = row.cells[OURS]
        runs = "" if isinstance(ours, str) else str(ours.runs)
        cells = [_short(row.cells[name], row) for name in names]
        table.append([f"{row.what}, {row.unit}", limit(row), *cells, runs])
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


def limit(row: SandboxRow) -> str:
    """Return a row's limit with its direction; empty if there is none."""
    if row.limit is None:
        return ""
    return f"{'>=' if row.at_least else '<='} {row.limit:g}"


def _short(cell: EngineFigure | str, row: SandboxRow) -> str:
    if isinstance(cell, str):
        return cell.replace("|", "/")
    return number(cell.middle) + (f" {cell.unit}" if cell.unit != row.unit else "")


def number(value: float) -> str:
    """Return a number with about three digits that mean something, without an exponent."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:.{digits}f}"
