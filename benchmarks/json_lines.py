"""Files of one JSON object a line, packed or not: sample files and problem files."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cap.errors import UsageError
from cap.files import parsed_json, read_bytes, write_whole

_GZIP = b"\x1f\x8b"


def read(path: Path, what: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield each line that is not empty, parsed, with its number.

    Args:
        path: The file; whether it is packed, its first bytes say.
        what: What messages call it.

    Raises:
        UsageError: It cannot be read, or a line is no JSON object; with its number.
    """
    for number, line in enumerate(_text(path, what).split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = parsed_json(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}, line {number} is not JSON: {error}") from None
        if not isinstance(values, Mapping):
            raise UsageError(f"{path}, line {number} is no JSON object")
        yield number, values


def _text(path: Path, what: str) -> str:
    """Return what a file holds; a mark of byte order at its beginning is no part of it."""
    try:
        data = read_bytes(path)
        if data.startswith(_GZIP):
            data = gzip.decompress(data)
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        why = f"it is not UTF-8 text, plain or compressed with gzip ({error.reason})"
    except (OSError, EOFError, zlib.error) as error:
        why = getattr(error, "strerror", None) or str(error)
    raise UsageError(f"cannot read {what} {path}: {why}")


def write(path: Path, lines: Iterable[Mapping[str, Any]]) -> None:
    """Write lines, all or none of them.

    Raises:
        UsageError: It cannot be written.
    """
    try:
        write_whole(path, "".join(json.dumps(dict(line)) + "\n" for line in lines))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
