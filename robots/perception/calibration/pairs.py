"""Measured pairs: what the arm and the camera said at the same moment, and their file.

A pair is the arm's TCP and the place of a marker in the camera's frame. A camera in the hand looks
at a marker that lies still; a fixed camera looks at a marker that the hand holds. The file is
TOML::

    mount = "hand"                                   # or "fixed", as in the calibration file
    marker_in_tcp_m = [0.0, 0.0, 0.0]                # with "fixed": where the hand holds it

    [[pairs]]
    tcp = [0.10, -0.45, 0.30, 0.0, 3.1416, 0.0]      # metres and a rotation vector, radians
    marker_m = [0.012, -0.034, 0.285]                # in the camera's frame
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from cap.files import Table, read_toml, shown
from robots.arm import rotations
from robots.arm.rotations import Array
from robots.perception.calibration.file import Mount

_FARTHEST_M = 5.0


@dataclass(frozen=True)
class Pair:
    """What arm and camera said at one moment."""

    tcp: Array
    """Tool centre point in the base's frame, shape (4, 4), metres."""
    marker_m: Array
    """The marker's centre in the camera's frame, shape (3,), metres."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of one camera."""

    mount: Mount
    """Where the camera is; the marker is at the other place."""
    pairs: tuple[Pair, ...]
    """As they were measured."""
    marker_in_tcp_m: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the hand holds the marker, for a fixed camera."""

    @cached_property
    def tcps(self) -> Array:
        """All tool centre points, shape (n, 4, 4)."""
        return np.array([pair.tcp for pair in self.pairs]).reshape(-1, 4, 4)

    @cached_property
    def markers_m(self) -> Array:
        """All markers in the camera's frame, shape (n, 3)."""
        return np.array([pair.marker_m for pair in self.pairs]).reshape(-1, 3)

    @property
    def held_m(self) -> Array:
        """Where the hand held the marker, in the base's frame, shape (n, 3)."""
        places: Array = self.tcps[:, :3, :3] @ self.marker_in_tcp_m + self.tcps[:, :3, 3]
        return places


def load_pairs(path: str | Path) -> Pairs:
    """Read a file of pairs.

    Raises:
        ConfigError: It cannot be used; the message says the line and the remedy.
    """
    file = read_toml(Path(path), "file of pairs")
    file.refuse_unknown(("mount", "marker_in_tcp_m", "pairs"))
    given = file.values.get("mount")
    if given not in ("hand", "fixed"):
        raise file.wrong("mount", f'mount must be "hand" or "fixed", not {shown(given)}')
    found = tuple(_pair(table) for table in file.tables("pairs"))
    mount: Mount = "hand" if given == "hand" else "fixed"
    if "marker_in_tcp_m" not in file.values:
        return Pairs(mount, found)
    if mount == "hand":
        raise file.wrong("marker_in_tcp_m", 'with mount = "hand" the marker lies still; remove it')
    x, y, z = file.numbers("marker_in_tcp_m", (3,), "[x, y, z] in metres")
    return Pairs(mount, found, (x, y, z))


def _pair(table: Table) -> Pair:
    table.refuse_unknown(("tcp", "marker_m"))
    tcp = table.numbers("tcp", (6,), "[x, y, z, rx, ry, rz] in metres and radians")
    marker = table.numbers("marker_m", (3,), "[x, y, z] in metres, in the camera's frame")
    for key, length_m in (("tcp", math.hypot(*tcp[:3])), ("marker_m", math.hypot(*marker))):
        if length_m > _FARTHEST_M:
            raise table.wrong(key, f"{key} is {length_m:.3g} m away; are these millimetres?")
    if math.hypot(*tcp[3:]) > 2 * math.pi:
        raise table.wrong("tcp", "the rotation vector is longer than a turn; are these degrees?")
    return Pair(rotations.pose_of_tcp(tcp), np.array(marker))


def pairs_text(pairs: Pairs) -> str:
    """Return the file that `load_pairs` reads back."""
    lines = [f'mount = "{pairs.mount}"']
    if pairs.mount == "fixed":
        lines.append(f"marker_in_tcp_m = {_listed(pairs.marker_in_tcp_m)}")
    for pair in pairs.pairs:
        tcp = [*pair.tcp[:3, 3], *rotations.rotation_vector(pair.tcp[:3, :3])]
        lines += ["", "[[pairs]]", f"tcp = {_listed(tcp)}", f"marker_m = {_listed(pair.marker_m)}"]
    return "\n".join(lines) + "\n"


def _listed(numbers: Sequence[float] | Array) -> str:
    return "[" + ", ".join(f"{float(number):.6f}" for number in numbers) + "]"
