"""Pictures of a run: before, after each turn, after all, and a GIF of what happened between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cap.errors import UsageError

MAX_FRAMES = 900
FILM_PX = 320
PICTURE_PX = 480
FRAME_EVERY_S = 0.125
FRAME_MS = 60
"""Milliseconds each frame is shown: twice the simulated speed."""


def wanted(session: Any, gif: Path | None, pictures: bool) -> Pictures | None:
    """Begin the pictures of a session, if any were asked for.

    Raises:
        UsageError: The film cannot be written, or the robot makes no pictures.
    """
    if gif is None and not pictures:
        return None
    return Pictures(session.robot, session.trace.folder, gif)


class Pictures:
    """Collects frames from a simulated robot while it moves."""

    def __init__(self, robot: Any, folder: Path, gif: Path | None) -> None:
        if not hasattr(robot, "render"):
            raise UsageError(f"robot '{robot.name}' makes no pictures; leave out --gif/--pictures")
        self._robot = robot
        self._folder = folder
        self._gif = gif
        self._frames: list[Any] = []
        self._turns: list[Path] = []
        if gif is not None:
            try:
                gif.parent.mkdir(parents=True, exist_ok=True)
                gif.open("ab").close()
            except OSError as error:
                raise UsageError(f"cannot write {gif}: {error.strerror or error}") from None
            robot.frame_every_s = FRAME_EVERY_S
            robot.on_frame = self._frame
        self._save("before.png")

    def turn(self) -> None:
        """Keep a picture of how a turn left things."""
        self._turns.append(self._save(f"turn-{len(self._turns) + 1}.png"))

    def finish(self) -> list[Path]:
        """Write the last picture and the GIF; return the files, in order."""
        self._robot.on_frame = None
        paths = [self._folder / "before.png", *self._turns, self._save("after.png")]
        if hasattr(self._robot, "svg"):  # what was drawn, for those who want the lines
            paths.append(self._folder / "after.svg")
            paths[-1].write_text(self._robot.svg(), encoding="utf-8")
        if self._gif is not None:
            self._frames.append(self._robot.render(FILM_PX, FILM_PX))
            durations = [FRAME_MS] * (len(self._frames) - 1) + [1500]
            first, rest = self._frames[0], self._frames[1:]
            first.save(
                self._gif,
                format="GIF",
                save_all=True,
                append_images=rest,
                duration=durations,
                loop=0,
            )
            paths.append(self._gif)
        return paths

    def _frame(self) -> None:
        if len(self._frames) < MAX_FRAMES:
            picture = self._robot.render(FILM_PX, FILM_PX)
            self._frames.append(picture.convert("P", palette=1, colors=128))

    def _save(self, name: str) -> Path:
        path = self._folder / name
        self._robot.render(PICTURE_PX, PICTURE_PX).save(path)
        return path
