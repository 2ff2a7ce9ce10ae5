"""Stops at chosen steps: Python handles signals after calls, so there is where they are sent.

As a script, `strikes.py STEP SIGNAL FOLDERS ARGUMENTS...` is the `cap` command with these
arguments, which sends itself the signal at that step of the code in the folders.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any


class Strike:
    """Inside, does something at the n-th step that code of some folders makes for the first time.

    A step is the begin of a Python function or the end of one in C, in one line of the calling
    thread. What the function in C returns is lost if the strike raises: as with a signal.
    """

    def __init__(
        self, step: int, folders: str, strike: Callable[[], None], called: str = ""
    ) -> None:
        """Prepare.

        Args:
            step: The n of it, from 1.
            folders: Parts of the files' paths, separated by commas.
            strike: What is done.
            called: The name of a function in C: only its ends are steps then, each time anew.
        """
        self.struck = False
        self._left = step
        self._folders = folders.split(",")
        self._strike = strike
        self._called = called
        self._seen: set[tuple[Any, ...]] = set()

    def __enter__(self) -> Strike:
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "c_return"):
            return
        code, name = frame.f_code, getattr(argument, "__name__", "")
        if not any(folder in code.co_filename for folder in self._folders):
            return
        if self._called:
            if event == "call" or name != self._called:
                return
        else:
            step = (code, frame.f_lineno, event, name)
            if step in self._seen:
                return
            self._seen.add(step)
        self._left -= 1
        if self._left == 0:
            sys.setprofile(None)
            self.struck = True
            self._strike()


def main(step: str, number: str, folders: str, *arguments: str) -> None:
    """Be the `cap` command; say on standard error when the strike came."""

    def strike() -> None:
        os.write(2, f"struck at {time.time()}\n".encode())
        os.kill(os.getpid(), int(number))

    from cap.__main__ import main as cap

    sys.argv = ["cap", *arguments]
    folders, _, called = folders.partition(":")
    with Strike(int(step), folders, strike, called):
        cap()


if __name__ == "__main__":
    main(*sys.argv[1:])
