"""The help at any terminal's width: no word is cut, and a narrow terminal has one column."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from textwrap import TextWrapper

import click

LEAST = 20
"""Columns below which nothing more is wrapped."""
ROOM = 24
"""Columns that what is said of an option needs beside it; with fewer it stands below."""
DEEPER = 4
"""Columns by which what goes on from the line above stands further in."""


class HelpFormatter(click.HelpFormatter):
    """As click's, but for a terminal under 52 columns, and for words with hyphens."""

    def __init__(
        self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None
    ) -> None:
        """Take the terminal's width, unless one is given."""
        if width is None:
            columns = min(shutil.get_terminal_size().columns, max_width or 80)
            width = max(columns, LEAST) - 2
        super().__init__(indent_increment, width, max_width)

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how a command is called."""
        head = f"{'Usage: ' if prefix is None else prefix}{prog}"
        beside = len(head) + 1
        deep = beside if self.width - beside >= ROOM else DEEPER
        self._write_lines(f"{head} {args}", self.current_indent, deep)

    def write_heading(self, heading: str) -> None:
        """Write a title."""
        self._write_lines(f"{heading}:", self.current_indent, 0)

    def write_text(self, text: str) -> None:
        r"""Write paragraphs; of one after a \b each line stays one, if it fits."""
        for number, paragraph in enumerate(re.split(r"\n(?:[ \t]*\n)+", text.strip("\n"))):
            if number:
                self.write("\n")
            kept = paragraph.lstrip().startswith("\b")
            lines = paragraph.partition("\b")[2].strip("\n").splitlines() if kept else [paragraph]
            for line in lines:
                self._write_lines(line.rstrip(), self.current_indent, DEEPER if kept else 0)

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write words and what is said of each, beside it or below."""
        rows = list(rows)
        first = min(max(len(word) for word, _ in rows), col_max) + col_spacing
        column = self.current_indent + first
        below = self.width - column < ROOM
        for word, said in rows:
            if below or not said or len(word) > first - col_spacing:
                self._write_lines(word.rstrip(), self.current_indent, 2 * DEEPER)
                lead = ""
            else:
                lead = f"{'':{self.current_indent}}{word:{first}}"
            if said:
                at = self.current_indent + DEEPER if below else column
                self._write_lines(said, at, 0, lead)

    def _write_lines(self, text: str, indent: int, deeper: int, lead: str = "") -> None:
        """Write a text in lines that fit; the words of a choice, `[a|b|c]`, may part at the bar."""
        if max(map(len, text.split()), default=0) > self.width - indent - deeper:
            text = text.replace("|", "|\0 ")
        longest = max(map(len, text.split()), default=0)
        inner = " " * max(indent, min(indent + deeper, self.width - longest))
        wrapper = TextWrapper(
            self.width,
            initial_indent=lead or " " * indent,
            subsequent_indent=inner,
            break_long_words=False,
            break_on_hyphens=False,
            expand_tabs=False,
        )
        lines = [line.rstrip() for line in wrapper.wrap(text)]
        self.write("".join(f"{line}\n" for line in lines).replace("|\0 ", "|").replace("\0", ""))
