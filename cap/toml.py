"""Files people write by hand: read as TOML, refused with the line and the remedy."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cap.errors import ConfigError, clipped, did_you_mean

_PLACE = re.compile(r"^(?P<what>.*) \(at (?:line (?P<line>\d+), .*|end of document)\)$", re.S)
_MOST_BYTES = 1_000_000
_LONGEST = 60


@dataclass(frozen=True)
class Table:
    """A file, or one of its `[[name]]` tables, that knows where it stands."""

    path: Path
    """The file."""
    values: Mapping[str, Any]
    """What it says."""
    first: int
    """Its first line, counted from 1."""
    lines: tuple[str, ...]
    """Its lines."""

    def wrong(self, key: str, what: str) -> ConfigError:
        """Return the error of a key: which file and line, and what is wrong."""
        return ConfigError(f"{self.path}, line {self._line(key)}: {what}")

    def _line(self, key: str) -> int:
        named = re.compile(rf"""\s*(\[\[?\s*)?["']?{re.escape(key)}["']?\s*[=\]]""")
        found = (number for number, line in enumerate(self.lines) if named.match(line))
        return self.first + next(found, 0)

    def refuse_unknown(self, known: Collection[str]) -> None:
        """Refuse keys nobody reads.

        Raises:
            ConfigError: There is one.
        """
        for key in self.values:
            if key not in known:
                hint = did_you_mean(key, known) or f" Known: {', '.join(known)}."
                raise self.wrong(key, f"unknown key {clipped(key)!r}.{hint}")

    def text(self, key: str, needed: bool = True) -> str | None:
        """Return a text that is not empty; None where it is missing and need not be there.

        Raises:
            ConfigError: It is missing, empty or no text.
        """
        value = self.values.get(key)
        if value is None and not needed:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(key, f"{key} must be text in quotes{self._given(key)}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts that are not empty; none where the key is missing.

        Raises:
            ConfigError: It is something else.
        """
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(e, str) and e.strip() for e in value):
            raise self.wrong(key, f"{key} must be a list of texts in quotes{self._given(key)}")
        return tuple(value)

    def numbers(self, key: str, counts: Collection[int], words: str) -> tuple[float, ...]:
        """Return a list of finite numbers.

        Args:
            key: Its name.
            counts: How many there may be.
            words: What they are, such as `[x, y, z] in metres`.

        Raises:
            ConfigError: It is missing, of another length, or holds something else.
        """
        value = self.values.get(key)
        if not isinstance(value, list) or len(value) not in counts or not all(map(_finite, value)):
            raise self.wrong(key, f"{key} must be {words}{self._given(key)}")
        return tuple(float(part) for part in value)

    def number(self, key: str, default: float) -> float:
        """Return a finite number.

        Raises:
            ConfigError: It is something else.
        """
        value = self.values.get(key, default)
        if not _finite(value):
            raise self.wrong(key, f"{key} must be a number{self._given(key)}")
        return float(value)

    def tables(self, key: str) -> tuple[Table, ...]:
        """Return the `[[key]]` tables in order; none where the key is missing.

        Raises:
            ConfigError: It is something else.
        """
        given = self.values.get(key, [])
        if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
            raise self.wrong(key, f"{key} must be tables, each under a line [[{key}]]")
        header = re.compile(rf"""\s*\[\[\s*["']?{re.escape(key)}["']?\s*\]\]""")
        starts = [n for n, line in enumerate(self.lines) if header.match(line)]
        spans = list(pairwise([*starts, len(self.lines)]))
        if len(spans) != len(given):  # written inline: all are where the key is
            line = self._line(key) - self.first
            spans = [(line, line + 1)] * len(given)
        return tuple(
            Table(self.path, values, self.first + start, self.lines[start:end])
            for values, (start, end) in zip(given, spans, strict=True)
        )

    def _given(self, key: str) -> str:
        if key not in self.values:
            return "; it is missing"
        return f", not {shown(self.values[key])}"


def shown(value: object) -> str:
    """Return a value as messages show it: no longer than a line."""
    try:
        text = repr(value)
    except ValueError:  # whole numbers of thousands of digits have no decimal text
        text = "a huge number"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _finite(value: object) -> bool:
    """Return whether something is a number of a size that a float can hold."""
    if type(value) is not int and type(value) is not float:
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def read_toml(path: Path, what: str) -> Table:
    """Return a file's content.

    Args:
        path: The file.
        what: What it is, for messages, such as `scene file`.

    Raises:
        ConfigError: There is no such file, it cannot be read, or it is no TOML.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise ConfigError(
            f"cannot read the {what} {path}: {error.strerror or error}; check its name"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: the {what} is not UTF-8 text; save it as such") from None
    if len(data) > _MOST_BYTES:
        raise ConfigError(f"{path}: the {what} is larger than {_MOST_BYTES} bytes; shorten it")
    lines = tuple(text.split("\n"))
    try:
        return Table(path, tomllib.loads(text), 1, lines)
    except (ValueError, RecursionError) as error:
        match = _PLACE.match(str(error))
        line = (match and match["line"]) or str(max(1, len(text.splitlines())))
        problem = match["what"] if match else str(error)
        raise ConfigError(f"{path}, line {line}: not valid TOML: {problem}; correct it") from None
