"""The film of a run keeps the colours of what it shows."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from PIL import Image

from cap.cli.film import Pictures

SATURATED = [(210, 30, 40), (250, 140, 20), (90, 190, 60), (40, 70, 200), (250, 220, 60)]


class Painter:
    """A robot whose picture is a soft floor with one small thing more in each frame."""

    name = "painter"
    frame_every_s = 1.0
    on_frame: Any = None
    shown = 0

    def render(self, width: int, height: int) -> Any:
        rows, columns = np.mgrid[0:height, 0:width]
        floor = np.stack([150 + rows / 4, 150 + columns / 4, 140 + (rows + columns) / 8], axis=2)
        picture = floor.astype(np.uint8)
        for number, color in enumerate(SATURATED[: self.shown]):
            picture[10:14, 10 + 20 * number : 14 + 20 * number] = color
        return Image.fromarray(picture)


def test_small_things_keep_their_colours_in_every_frame_of_a_film(tmp_path: Path) -> None:
    robot = Painter()
    trace = SimpleNamespace(folder=tmp_path, listeners=[])
    film = Pictures(SimpleNamespace(robot=robot, trace=trace), tmp_path / "film.gif")
    for robot.shown in range(1, len(SATURATED) + 1):
        robot.on_frame()
    film.finish()
    with Image.open(tmp_path / "film.gif") as shown:
        for frame in range(len(SATURATED) + 1):
            shown.seek(frame)
            pixels = np.asarray(shown.convert("RGB"), float)
            for number, color in enumerate(SATURATED[:frame]):
                seen = pixels[12, 12 + 20 * number]
                assert np.abs(seen - color).max() < 16, (frame, color, seen)
