"""What stands where in a simulated world, from a TOML file, and written as one.

The file lists objects, in metres and in the robot's own frame::

    [[objects]]
    name = "red block"
    position_m = [0.10, -0.45, 0.02]   # its centre; without a height it stands on what is there
    yaw_rad = 0.5                      # about the vertical; 0 if left out
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cap.errors import CapError, ConfigError, clipped
from cap.files import Table, read_toml

TOLERANCE_M = 0.003
"""A height written down may be off by so much."""


@dataclass(frozen=True)
class PlacedObject:
    """One object as the file has it."""

    name: str
    """Its exact name."""
    xy: tuple[float, float]
    """Its centre, metres."""
    z: float | None
    """Height of its centre, metres; None where it is to be found."""
    yaw: float
    """Radians."""
    table: Table
    """Where it is written."""

    def wrong(self, what: str) -> ConfigError:
        """Return the error of where the object is."""
        return self.table.wrong("position_m", f"{self.name!r} {what}")

    def settled(self, support_m: float, half_height: float, on: str) -> float:
        """Return the height of its centre, if it is the one that it has on its support, metres.

        Args:
            support_m: Height of what it would stand on.
            half_height: From its foot to its centre.
            on: What it would stand on, in messages.

        Raises:
            ConfigError: It is written to be somewhere else.
        """
        height = support_m + half_height
        if self.z is None or abs(self.z - height) <= TOLERANCE_M:
            return height
        where = "floats above" if self.z > height else "reaches into"
        raise self.wrong(
            f"{where} {on}: with its centre {height:.3f} m high it would stand there; "
            "write that, or leave the height out"
        )


def read_scene(
    path: str | Path, find: Callable[[str], str], more: Sequence[str] = ()
) -> list[PlacedObject]:
    """Return the objects that a file lists, in order.

    Args:
        path: The file.
        find: Returns the exact name of an object, or raises `CapError`.
        more: What else there may be of an object.

    Raises:
        ConfigError: The file cannot be used; the message says the line and the remedy.
    """
    file = read_toml(Path(str(path)), "scene file")
    file.refuse_unknown(("objects",))
    entries: dict[str, PlacedObject] = {}
    for table in file.tables("objects"):
        table.refuse_unknown(("name", "position_m", "yaw_rad", *more))
        given = " ".join(str(table.text("name")).split())
        try:
            name = find(given)
        except CapError as error:
            raise table.wrong("name", str(error)) from None
        if name in entries:
            raise table.wrong("name", f"{clipped(name)!r} is listed twice; each exists once")
        place = table.numbers("position_m", (2, 3), "[x, y] or [x, y, z], its centre in metres")
        z = place[2] if len(place) == 3 else None
        yaw = table.number("yaw_rad", 0.0)
        if abs(yaw) > math.tau:
            raise table.wrong("yaw_rad", f"yaw_rad is {yaw:g}; write a turn between -6.28 and 6.28")
        entries[name] = PlacedObject(name, (place[0], place[1]), z, yaw, table)
    return list(entries.values())


def scene_text(about: str, objects: Iterable[tuple[str, Iterable[float], float]]) -> str:
    """Return a scene file.

    Args:
        about: What it is, for the comment at its beginning.
        objects: Names, centres (metres) and turns about the vertical (radians).
    """
    lines = [f"# {about}", "# Metres, in the robot's frame; radians."]
    for name, position, yaw in objects:
        place = ", ".join(f"{value:.4f}" for value in position)
        lines += ["", "[[objects]]", f'name = "{name}"', f"position_m = [{place}]"]
        if abs(yaw) > 5e-5:
            lines.append(f"yaw_rad = {yaw:.4f}")
    return "\n".join(lines) + "\n"
