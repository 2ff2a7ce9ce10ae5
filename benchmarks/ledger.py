"""One account for all processes of a run: a small file in its results folder, locked while read.

A run that goes on later goes on with the same account, so a limit is one of the whole run. A
request stands there before it is sent, whatever becomes of it and of who sent it, and once more
when it has ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from cap.errors import SpendLimit
from cap.models.budget import Account, Check

NAME = "spent.json"
_WIDTH = 80
"""Every entry has this many bytes, so that a new one covers the old one whole."""


class Ledger(Account):
    """Counts the requests and dollars of every process that has the same file."""

    def __init__(self, path: Path) -> None:
        """Open or make the file.

        Raises:
            OSError: It cannot be written.
        """
        self.refused = ""
        """Why this process was last refused a request, or ""."""
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        self._lock = threading.Lock()

    def begin(self, check: Check) -> None:
        """Count one more request, unless `check` raises.

        Raises:
            SpendLimit: As `check` does.
        """
        with self._locked() as (requests, cost_usd, ended):
            try:
                check(requests, cost_usd)
            except SpendLimit as error:
                self.refused = str(error)
                raise
            self._write(requests + 1, cost_usd, ended)

    def end(self) -> None:
        """Count that a request has ended, answered or not."""
        with self._locked() as (requests, cost_usd, ended):
            self._write(requests, cost_usd, ended + 1)

    def pay(self, cost_usd: float) -> None:
        """Add to what was spent, dollars."""
        with self._locked() as (requests, before_usd, ended):
            self._write(requests, before_usd + cost_usd, ended)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[tuple[int, float, int]]:
        """Keep all others out, and yield what was used so far, and how many requests have ended."""
        with self._lock:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield _entry(os.pread(self._file, _WIDTH, 0))
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _write(self, requests: int, cost_usd: float, ended: int) -> None:
        entry = json.dumps([requests, cost_usd, ended]).ljust(_WIDTH - 1) + "\n"
        os.pwrite(self._file, entry.encode(), 0)


def _entry(text: bytes) -> tuple[int, float, int]:
    """Return requests, dollars and how many requests have ended; an older file has not the last."""
    entry = json.loads(text or b"[0, 0.0]")
    return int(entry[0]), float(entry[1]), int(entry[2]) if len(entry) > 2 else 0


def spent_in(folder: Path) -> tuple[int, float, int]:
    """Return a results folder's requests, dollars, and requests that ended; none if uncounted."""
    try:
        return _entry((folder / NAME).read_bytes())
    except (OSError, ValueError, TypeError, LookupError):
        return 0, 0.0, 0


@cache
def ledger(path: str) -> Ledger:
    """Return this process's access to an account, the same one each time."""
    return Ledger(Path(path))
