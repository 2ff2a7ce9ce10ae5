"""A program at a terminal of its own, as a person has it."""

from __future__ import annotations

import fcntl
import math
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Sequence
from typing import Any

PATIENCE_S = 60.0
"""Each answer takes a second at most; the rest is for a machine that has other work."""
PROMPT = "\x1b[?2004h"
"""What a terminal is told when a prompt is ready for typing, and for pastes."""


class Terminal:
    """A program on a pseudo-terminal; what it shows is read without blanks, breaks and colours."""

    def __init__(self, command: Sequence[str], *, term: str = "xterm-256color", width: int = 80):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": term, "PROMPT_TOOLKIT_NO_CPR": "1"},
            start_new_session=True,
            # Ctrl-C reaches only programs whose controlling terminal it is.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)
        self.raw, self.taken = "", 0
        self.pressed_s = -math.inf

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: Any) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def wait_for(self, *texts: str, typing: str = "") -> None:
        """Read until texts appear, one after the other, and forget everything up to their end.

        `typing` is typed ten times a second: a key pressed while the prompt is only just being
        set up may be lost.
        """
        for text in texts:
            wanted, deadline_s = self.flat(text), time.monotonic() + PATIENCE_S
            while wanted not in (left := self.flat(self.raw)[self.taken :]):
                assert time.monotonic() < deadline_s, f"no {text!r} in {left[-2000:]!r}"
                if typing and time.monotonic() - self.pressed_s > 0.1:
                    self.type(typing)
                    self.pressed_s = time.monotonic()
                assert self.read() or wanted in self.flat(self.raw)[self.taken :], left
            self.taken += left.index(wanted) + len(wanted)

    def read(self) -> bool:
        """Read what is shown, if there is something; False once the other end is closed."""
        try:
            if select.select([self.master], [], [], 0.1)[0]:
                self.raw += os.read(self.master, 65536).decode(errors="replace")
        except OSError:
            return False
        return True

    def says(self, line: str, *told: str) -> None:
        """Type a line and wait for what comes of it, and for the next prompt."""
        self.type(f"{line}\r")
        self.wait_for(*told, PROMPT)

    def ended(self) -> int:
        """Read to the end; return the exit code."""
        while self.read():
            pass
        return self.process.wait(PATIENCE_S)

    @staticmethod
    def flat(text: str) -> str:
        text = text.replace(PROMPT, "\0")
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]|\s|\x08", "", text)
