"""Printing rows: a table for a person, JSON for a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import click

from cap.cli.json_output import print_json

_WRAPPED = 12
"""Cells longer than this may be wrapped in a terminal, to columns no narrower."""


_AT_SPACES: Any = {
    "subsequent_indent": "  ",
    "break_long_words": False,
    "break_on_hyphens": False,
}
PAGE = 80
"""Columns of a table that is to be read, in a pipe or a file too."""


def show(
    rows: Sequence[Mapping[str, Any]],
    as_json: bool = False,
    *,
    columns: int = 0,
    spare: Sequence[str] = (),
) -> None:
    """Print rows that share their keys: a table that fits the terminal, or else a block each.

    Columns that are `spare` are left out, the first of them first, where the others then fit.

    Columns without anything are left out, and long cells wrapped; where that is not enough, each
    row is a block. A pipe has no width of its own: there each row is one line, unless `columns`
    says how many there may be. The first column is a name a person may copy: it is never broken.
    """
    if as_json:
        print_json(list(rows))
        return
    if not rows:
        click.echo("nothing to list")
        return
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    width = console.width if console.is_terminal else columns
    cells = [{key: _cell(value) for key, value in row.items()} for row in rows]
    names = list(cells[0])
    if width:
        names = [key for key in names if any(row[key] for row in cells)] or names
    widest = {
        key: max(cell_len(text) for text in (key, *(row[key] for row in cells))) for key in names
    }
    dropped = iter(spare)
    while True:
        wide = [widest[key] for key in names]
        needed = sum(wide) + 2 * len(names)  # where no cell wraps
        wraps = [one > _WRAPPED and number > 0 for number, one in enumerate(wide)]
        least = [_WRAPPED if long else one for long, one in zip(wraps, wide, strict=True)]
        over = width > 0 and sum(least) + 2 * len(names) > width
        if not over or (drop := next(dropped, None)) is None:
            break
        names = [key for key in names if key != drop]
    if over:
        for row in cells:
            lines = [f"{key}: {value}" for key, value in row.items() if value]
            lines = [part for line in lines for part in wrap(line, width - 2, **_AT_SPACES)]
            click.echo("\n  ".join(lines))
        return
    table = Table(box=None, pad_edge=False)
    for key, long, one in zip(names, wraps, least, strict=True):
        wrapped = long and width > 0
        table.add_column(key, no_wrap=not wrapped, min_width=one if wrapped else None)
    for row in cells:
        table.add_row(*(Text(row[key]) for key in names))
    Console(highlight=False, width=width or max(needed, console.width)).print(table)


def _cell(value: Any) -> str:
    from cap.messages import printable

    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else printable(" ".join(str(value).splitlines()))
