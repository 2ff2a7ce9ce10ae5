"""Files: read with bounds, since somebody else may have made them, and written whole or not at all.

Files that people write by hand are TOML, refused with the line and the remedy.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import stat
import threading
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from cap.errors import ConfigError, clipped, did_you_mean

_PLACE = re.compile(r"^(?P<what>.*) \(at (?:line (?P<line>\d+), .*|end of document)\)$", re.S)
MAX_BYTES = 512 << 20
"""The largest file that is read: a run's events, a recording."""
_MOST_BYTES = 1_000_000
"""The largest file that people write by hand."""
_LONGEST = 60


def read_bytes(path: Path, most_bytes: int = MAX_BYTES) -> bytes:
    """Return a plain file's content: never that of a pipe or a device, which may have no end.

    Raises:
        OSError: It cannot be read, is no plain file, or is larger than it may be.
    """
    opened = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(opened, "rb") as file:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise OSError(errno.EINVAL, "it is not a plain file")
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"it is larger than {most_bytes} bytes")
    return data


def read_text(path: Path, most_bytes: int = MAX_BYTES) -> str:
    """Return a plain file's text; line ends are as `open` reads them.

    Raises:
        OSError: As `read_bytes`.
        ValueError: It is not UTF-8.
    """
    text = read_bytes(path, most_bytes).decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parsed_json(text: str | bytes) -> Any:
    """Return what JSON says.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def read_json(path: Path, most_bytes: int = MAX_BYTES) -> Any:
    """Return what a plain file of JSON says.

    Raises:
        OSError: As `read_bytes`.
        ValueError: It is no JSON, or nested too deeply.
    """
    return parsed_json(read_text(path, most_bytes))


def write_whole(path: Path, content: str | bytes) -> None:
    """Write beside and move over: a run that is stopped never leaves half a file.

    Half a surrogate pair, which UTF-8 does not have, is written as its escape.

    Raises:
        OSError: It cannot be written.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}-{threading.get_native_id()}.part")
    if isinstance(content, str):
        content = content.encode("utf-8", "backslashreplace")
    try:
        beside.write_bytes(content)
        os.replace(beside, path)
    except BaseException:  # a stop as well leaves no half of it
        beside.unlink(missing_ok=True)
        raise


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
        text = read_bytes(path, _MOST_BYTES).decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise ConfigError(
            f"cannot read the {what} {path}: {error.strerror or error}; check its name"
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: the {what} is not UTF-8 text; save it as such") from None
    lines = tuple(text.split("\n"))
    try:
        return Table(path, tomllib.loads(text), 1, lines)
    except (ValueError, RecursionError) as error:
        match = _PLACE.match(str(error))
        line = (match and match["line"]) or str(max(1, len(text.splitlines())))
        problem = match["what"] if match else str(error)
        raise ConfigError(f"{path}, line {line}: not valid TOML: {problem}; correct it") from None
