"""The URScript that drivers send, as statements: nothing is evaluated, what is unknown is kept."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_CALL = re.compile(r"(\w+)\((.*)\)\s*$")


@dataclass(frozen=True)
class Statement:
    """One call."""

    name: str
    """Such as `movel`."""
    arguments: tuple[object, ...]
    """Numbers, truth values, and lists for vectors and poses."""
    keywords: dict[str, object] = field(default_factory=dict)
    """Named arguments."""


@dataclass(frozen=True)
class Program:
    """What was sent in one piece: a line by itself, or from `def` to `end`."""

    text: str
    """As sent."""
    statements: tuple[Statement, ...]
    """The calls in it that could be read."""
    secondary: bool
    """Whether it runs beside the main program (`sec`), not in its place."""


class Reader:
    """Cuts a stream of text into programs."""

    def __init__(self) -> None:
        self._rest = ""
        self._open: list[str] = []

    def feed(self, text: str) -> Iterator[Program]:
        """Return the programs that are whole by now."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if not line.strip():
                continue
            self._open.append(line)
            within = re.match(r"(def|sec)\s", self._open[0])
            if not within or line.rstrip() == "end":
                yield parse("\n".join(self._open))
                self._open = []


def parse(text: str) -> Program:
    """Return a program's calls in order."""
    found = [_statement(line.strip()) for line in text.splitlines()]
    return Program(text, tuple(s for s in found if s is not None), text.startswith("sec "))


def _statement(line: str) -> Statement | None:
    matched = _CALL.match(line)
    if matched is None or line.startswith(("def ", "sec ")):
        return None
    try:
        call = ast.parse(f"f({matched[2].replace('p[', '[')})", mode="eval").body
        assert isinstance(call, ast.Call)
        arguments = tuple(ast.literal_eval(a) for a in call.args)
        keywords = {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
    except (SyntaxError, ValueError):
        return Statement(matched[1], ())
    return Statement(matched[1], arguments, keywords)
