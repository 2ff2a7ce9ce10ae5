"""Printing rows: a table for a person, JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click


def show(rows: Sequence[Mapping[str, Any]], as_json: bool = False) -> None:
    """Print rows that share their keys; long cells wrap, so nothing is lost in 40 columns."""
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

    table = Table(box=None, pad_edge=False)
    for key in rows[0]:
        table.add_column(key, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(_cell(value))) for value in row.values()))
    Console(highlight=False).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else str(value)
