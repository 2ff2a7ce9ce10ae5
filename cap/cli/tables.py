"""Printing rows: a table for a person, JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click


def show(rows: Sequence[Mapping[str, Any]], as_json: bool = False) -> None:
    """Print rows that share their keys: a table, or a block each where that is too narrow.

    The first column is a name a person may copy: it is never broken.
    """
    if as_json:
        click.echo(json.dumps(list(rows), ensure_ascii=False))
        return
    if not rows:
        click.echo("nothing to list")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from cap.render import printable

    console = Console(highlight=False)
    if _width(rows) > console.width:
        for row in rows:
            lines = [f"{key}: {printable(_cell(value))}" for key, value in row.items() if value]
            click.echo("\n  ".join(lines))
        return
    table = Table(box=None, pad_edge=False)
    for number, key in enumerate(rows[0]):
        table.add_column(key, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(printable(_cell(value))) for value in row.values()))
    console.print(table)


def _width(rows: Sequence[Mapping[str, Any]]) -> int:
    """Return how wide a table of these rows is when no cell wraps."""
    cells = [[key, *(_cell(row[key]) for row in rows)] for key in rows[0]]
    return sum(max(map(len, column)) + 2 for column in cells)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else str(value)
