"""Where objects are, from a file: for tests, for a first try, and for arms without a camera.

The file is TOML, read again at each look, so that it can be edited while a session runs::

    [[objects]]
    name = "red block"
    position_m = [0.10, -0.45, 0.02]   # its centre, in the robot's frame

    [[objects]]
    name = "blue bowl"
    position_m = [-0.12, -0.50, 0.018]
    yaw_rad = 0.5                      # about the vertical; 0 if left out

    [[objects]]
    name = "apple"
    position_m = [0.05, -0.30, 0.035]
    size_m = [0.07, 0.07, 0.07]        # its edges; a block's or a bowl's if left out
"""

from __future__ import annotations

from pathlib import Path

from cap.errors import clipped
from robots.perception.camera import Detection
from robots.simulation.scene_file import PlacedObject, read_scene

_FARTHEST_M = 5.0
"""What is further away is most likely written in centimetres or millimetres."""
_LARGEST_M = 2.0


class SceneFile:
    """Sees what a file lists."""

    def __init__(self, path: str | Path) -> None:
        """Read the file once, so that a wrong one is refused before anything moves.

        Raises:
            ConfigError: The file cannot be used; the message says the line and the remedy.
        """
        self._path = Path(path)
        self.observe()

    def observe(self) -> tuple[Detection, ...]:
        """Read the file and return its objects in the order they are listed.

        Raises:
            ConfigError: The file cannot be used; the message says the line and the remedy.
        """
        return tuple(map(_detection, read_scene(self._path, str, ("size_m",))))

    def close(self) -> None:
        """Do nothing: the file is not kept open."""


def _detection(entry: PlacedObject) -> Detection:
    table, name = entry.table, entry.name
    x, y, z = table.numbers("position_m", (3,), "[x, y, z], its centre in metres")
    if max(abs(x), abs(y), abs(z)) > _FARTHEST_M:
        raise table.wrong(
            "position_m",
            f"{clipped(name)!r} would be more than {_FARTHEST_M:g} m away; positions are metres, "
            "not centimetres or millimetres",
        )
    size = None
    if "size_m" in table.values:
        length, width, height = table.numbers("size_m", (3,), "[length, width, height] in metres")
        size = (length, width, height)
        if min(size) <= 0:
            raise table.wrong("size_m", "an object has some extent; every edge must be above 0")
        if max(size) > _LARGEST_M:
            raise table.wrong("size_m", "an edge of more than 2 m; are these millimetres?")
    return Detection(name, (x, y, z), entry.yaw, size_m=size)
