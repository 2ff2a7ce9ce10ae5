"""What commands print: a table for a person, JSON for a program.

With `--json` JSON alone is on standard output; whatever else is printed goes to standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import wrap
from typing import Any, TextIO

import click
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cap.engine.stop_signals import stop_signals
from cap.errors import UsageError
from cap.messages import printable

PAGE = 80
"""Columns of a table that is to be read, in a pipe or a file too."""
_WRAPPED = 12
"""Cells longer than this may be wrapped in a terminal, to columns no narrower."""
_AT_SPACES: Any = {
    "subsequent_indent": "  ",
    "break_long_words": False,
    "break_on_hyphens": False,
}
_output: TextIO | None = None
"""Where JSON goes; standard output as it is if None."""


@contextmanager
def json_alone() -> Iterator[None]:
    """Send to standard error what a user's own robot, model or suite prints meanwhile."""
    global _output
    _output, sys.stdout = sys.stdout, sys.stderr
    try:
        yield
    finally:
        _output, sys.stdout = None, _output


def is_json() -> bool:
    """Tell whether `--json` was given."""
    return _output is not None


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    click.echo(json.dumps(value, ensure_ascii=False), file=_output)


def print_json_error(error: Exception, message: str, run: str | None, *, of_a_run: bool) -> None:
    """Print an error as JSON; with what is said of every run, where it is the error of one."""
    found: dict[str, Any] = {"error": type(error).__name__, "message": message}
    if of_a_run:
        found = {"status": "error", "run": run, "turns": [], **found}
    with suppress(OSError):  # a full disk, or a reader that went away
        print_json(found)


def print_result(value: Any, lines: Iterable[str]) -> None:
    """Print a value, where JSON is wanted, or what a person reads of it, a line each."""
    if is_json():
        print_json(value)
        return
    for line in lines:
        click.echo(printable(line))


def remark(text: str) -> None:
    """Tell the user something on standard error: a note, a warning, what goes on."""
    click.echo(printable(text), err=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an error of a file that is written into one of use.

    Raises:
        UsageError: The file cannot be written.
    """
    try:
        yield
    except BrokenPipeError:  # its reader has had enough
        raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def show(rows: Sequence[Mapping[str, Any]], *, columns: int = 0) -> None:
    """Print rows that share their keys: as a table that fits the terminal, or else a block each.

    Where JSON is wanted, they are one array.

    Args:
        rows: The first key is a name that is copied: it is never wrapped. Keys without any value
            are left out.
        columns: The width where there is no terminal; 0 for any, so each row is one line.
    """
    if is_json():
        print_json(list(rows))
        return
    if not rows:
        click.echo("nothing to list")
        return
    console = Console(highlight=False)
    width = console.width if console.is_terminal else columns
    cells = [{key: _cell(value) for key, value in row.items()} for row in rows]
    names = [key for key in cells[0] if not width or any(row[key] for row in cells)]
    table = Table(box=None, pad_edge=False)
    needed = 0
    for key in names:
        whole = max(cell_len(text) for text in (key, *(row[key] for row in cells)))
        least = min(whole, _WRAPPED) if width and key != names[0] else whole
        table.add_column(key, no_wrap=least == whole, min_width=least)
        needed += least + 2
    if width and needed > width:
        for row in cells:
            lines = [f"{key}: {value}" for key, value in row.items() if value]
            lines = [part for line in lines for part in wrap(line, width - 2, **_AT_SPACES)]
            click.echo("\n  ".join(lines))
        return
    for row in cells:
        table.add_row(*(Text(row[key]) for key in names))
    Console(highlight=False, width=width or max(needed, console.width)).print(table)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else printable(" ".join(str(value).splitlines()))


class SessionConsole(Console):
    """A console of rich's that no stop breaks off; one that was shows nothing any more."""

    is_page = False

    def show(self, text: str, style: str = "") -> None:
        """Print text in a style; in a terminal it wraps."""
        self.print(Text(text, style=style), soft_wrap=not self.is_terminal)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print, and only then be stopped."""
        with stop_signals.held():
            super().print(*objects, **options)

    def control(self, *control: Any) -> None:
        """Move the cursor, and only then be stopped."""
        with stop_signals.held():
            super().control(*control)
