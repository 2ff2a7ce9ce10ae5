"""Writing a run folder: on a full disk data waits in memory, and is not lost."""

from __future__ import annotations

import threading
from pathlib import Path

from cap.files import write_whole


class RunFolder:
    """The files of one run; on a full disk they are written as soon as there is room again."""

    def __init__(self, path: Path) -> None:
        """Make the folder.

        Raises:
            OSError: It cannot be made or written.
        """
        self.path = path
        self.trouble: OSError | None = None
        """Why something waits; None if everything is written."""
        (path / "programs").mkdir(parents=True, exist_ok=True)
        # Unbuffered: so it is known how much of a line was written.
        self._events = (path / "events.jsonl").open("ab", buffering=0)
        self._lines = b""
        """Of the events, what is not written yet."""
        self._files: dict[str, str | bytes] = {}
        """Whole files that are not written yet."""
        self._lock = threading.Lock()

    def append(self, line: str) -> None:
        """Add a line to the events; half a character is written as JSON's own escape of it."""
        with self._lock:
            self._lines += line.encode("utf-8", "backslashreplace")
            self._write()

    def put(self, name: str, content: str | bytes) -> None:
        """Write a whole file, in place of one of that name."""
        with self._lock:
            self._files[name] = content
            self._write()

    def close(self) -> None:
        """Write what waits, for the last time."""
        with self._lock:
            self._write()
            self._events.close()
            if self.trouble is not None:
                count = self._lines.count(b"\n")
                lost = [f"the last {count} events"] * bool(count) + sorted(self._files)
                message = f"{self.trouble.strerror}, so these are lost: {', '.join(lost)}"
                self.trouble = OSError(self.trouble.errno, message, self.trouble.filename)

    def _write(self) -> None:
        """Write all that waits; what cannot be written waits on, with the reason."""
        self.trouble = None
        try:
            while self._lines:
                written = self._events.write(self._lines)
                self._lines = self._lines[written:]
        except OSError as error:
            self._note(error, "events.jsonl")
        for name in list(self._files):
            try:
                write_whole(self.path / name, self._files[name])
                del self._files[name]
            except OSError as error:
                self._note(error, name)

    def _note(self, error: OSError, name: str) -> None:
        """Keep the first reason why something waits."""
        why = error.strerror or str(error)
        self.trouble = self.trouble or OSError(error.errno, why, str(self.path / name))
