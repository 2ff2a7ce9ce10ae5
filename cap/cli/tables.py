"""Printing rows: a table for a person, JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click


def show(rows: Sequence[Mapping[str, Any]], as_json: bool = False) -> None:
    """Print rows that share their keys: a table, or in a narrow terminal a block each.

    A pipe has no width: there each row is one line. The first column is a name a person may copy:
    it is never broken.
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
    columns = [[key, *(row[key] for row in cells)] for key in cells[0]]
    needed = sum(max(map(cell_len, column)) + 2 for column in columns)  # where no cell wraps
    if needed > console.width and console.is_terminal:
        for row in cells:
            lines = [f"{key}: {value}" for key, value in row.items() if value]
            click.echo("\n  ".join(lines))
        return
    table = Table(box=None, pad_edge=False)
    for key in cells[0]:
        table.add_column(key, no_wrap=True)
    for row in cells:
        table.add_row(*map(Text, row.values()))
    Console(highlight=False, width=max(needed, console.width)).print(table)


def _cell(value: Any) -> str:
    from cap.trace.terminal import printable

    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else printable(" ".join(str(value).splitlines()))
