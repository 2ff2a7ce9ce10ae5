"""A stop from another thread, as `Session.stop` comes, at a chosen frame of a robot's motion."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def stopped_at(robot: Any, frame: int = 1) -> Iterator[None]:
    """Have a robot stopped at the frame of that number, from 1, of what it does inside."""
    frames = itertools.count(1)

    def stop() -> None:
        if next(frames) == frame:
            thread = threading.Thread(target=robot.stop)
            thread.start()
            thread.join()

    robot.on_frame = stop
    yield
    robot.on_frame = None
