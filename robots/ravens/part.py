"""What the parts of the tabletop's API share: the scene as it is seen, and how an action begins."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from cap.errors import RobotError
from robots.ravens import scene
from robots.ravens.observation import Eyes
from robots.ravens.scene import Scene
from robots.ravens.world import World


class Part:
    """A robot's world and eyes; the primitives of each subject are a class of their own."""

    _world: World
    _eyes: Eyes
    _stop: threading.Event
    _depth: int

    @property
    def _scene(self) -> Scene:
        """The scene as programs and plans know it."""
        return self._eyes.see(self._world.state)

    def _exact(self, name: str) -> str:
        return scene.find(name, self._scene.names)

    def check_stop(self) -> None:
        """Raise if `stop` was called since this action began."""
        if self._stop.is_set():
            raise RobotError("stopped: the motion was interrupted; look at the scene and go on")

    @contextlib.contextmanager
    def _moving(self) -> Iterator[None]:
        """Begin an action: clear the stop flag if it is the outermost, and have the hand empty."""
        if self._depth == 0:
            self._stop.clear()
        self._depth += 1
        try:
            self.check_stop()
            self._world.recover()
            yield
        finally:
            self._depth -= 1
