"""Writing files that are whole or not there."""

from __future__ import annotations

import os
import threading
from pathlib import Path


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
