"""Printing rows: a table for a person, JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click

_WRAPPED = 12
"""Cells longer than this may be wrapped in a terminal, to columns no narrower."""


def show(rows: Sequence[Mapping[str, Any]], as_json: bool = False) -> None:
    """Print rows that share their keys: a table that fits the terminal, or else a block each.

    Columns without anything are left out, and long cells wrapped; where that is not enough, each
    row is a block. A pipe has no width: there each row is one line. The first column is a name a
    person may copy: it is never broken.
    """
    if as_json:
        click.echo(json.dumps(list(rows), ensure_ascii=False))
        return
    if not rows:
        click.echo("nothing to list")
        return
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    cells = [{key: _cell(value) for key, value in row.items()} for row in rows]
    names = list(cells[0])
    if console.is_terminal:
        names = [key for key in names if any(row[key] for row in cells)] or names
    widths = [max(cell_len(text) for text in (key, *(row[key] for row in cells))) for key in names]
    needed = sum(widths) + 2 * len(names)  # where no cell wraps
    wraps = [width > _WRAPPED and number > 0 for number, width in enumerate(widths)]
    least = [_WRAPPED if one else width for one, width in zip(wraps, widths, strict=True)]
    if console.is_terminal and sum(least) + 2 * len(names) > console.width:
        for row in cells:
            lines = [f"{key}: {value}" for key, value in row.items() if value]
            click.echo("\n  ".join(lines))
        return
    table = Table(box=None, pad_edge=False)
    for key, one, width in zip(names, wraps, least, strict=True):
        wrapped = one and console.is_terminal
        table.add_column(key, no_wrap=not wrapped, min_width=width if wrapped else None)
    for row in cells:
        table.add_row(*(Text(row[key]) for key in names))
    width = console.width if console.is_terminal else max(needed, console.width)
    Console(highlight=False, width=width).print(table)


def _cell(value: Any) -> str:
    from cap.trace.terminal import printable

    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else printable(" ".join(str(value).splitlines()))
