"""Where a camera is: a calibration file, and the camera's pose that follows from it.

The file is TOML::

    version = 1
    camera = "RealSense D435"
    serial = "832112070255"        # left out, any device will do
    mount = "hand"                 # it moves with the tool; or "fixed": it stands on its own
    parent = "tcp"                 # "tcp" for a camera in the hand, "base" for a fixed one
    child = "camera"               # its optical frame: x right, y down, z forward
    position_m = [0.05, -0.03, -0.09]
    quaternion_xyzw = [0.0, 0.0, 0.70711, 0.70711]
    date = 2026-11-20
    method = "points"              # how it was found, such as "points" or "drawing"
    pairs = 24                     # these three are left out where nothing was measured
    residual_median_mm = 0.9
    residual_max_mm = 2.1

Position and rotation are those of the child in the parent: they take a point of the camera's frame
to the parent's. Instead of `quaternion_xyzw` there may be `rotation_vector_rad`. `tcp` is the
tool centre point that the arm's controller reports, with the tool it was set up with; `base` is the
frame it reports that in.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from cap.errors import UsageError
from cap.files import Table, read_toml, shown
from robots.arm import rotations
from robots.arm.rotations import Array

Mount = Literal["hand", "fixed"]
PARENTS: dict[str, str] = {"hand": "tcp", "fixed": "base"}
"""The frame that each kind of mount is fixed to."""
_FARTHEST_M = {"hand": 1.0, "fixed": 5.0}
_UNIT = 1e-3
_MEASURED = ("residual_median_mm", "residual_max_mm")
_KEYS = (
    *("version", "camera", "serial", "mount", "parent", "child", "position_m"),
    *("quaternion_xyzw", "rotation_vector_rad", "date", "method", "pairs", *_MEASURED),
)


@dataclass(frozen=True)
class HandEye:
    """One camera's place on the arm or beside it."""

    camera: str
    """Its name, for people."""
    mount: Mount
    """`hand` or `fixed`."""
    pose: Array
    """The camera in the tool's frame (`hand`) or in the base's (`fixed`), (4, 4), metres."""
    date: datetime.date
    """When it was measured."""
    method: str
    """How it was found."""
    serial: str | None = None
    """Which device, where that matters."""
    pairs: int | None = None
    """How many measured pairs it was found from."""
    residual_median_mm: float | None = None
    """Median error of those pairs."""
    residual_max_mm: float | None = None
    """Greatest error of those pairs."""

    def camera_pose(self, tcp: Sequence[float] | None = None) -> Array:
        """Return the camera in the base's frame, shape (4, 4), metres.

        Args:
            tcp: Where the arm's tool centre point is: x, y, z (m) and a rotation vector (rad), in
                the base's frame. A fixed camera needs none.

        Raises:
            UsageError: The camera is in the hand and no `tcp` is given.
        """
        if self.mount == "fixed":
            return self.pose.copy()
        if tcp is None:
            raise UsageError(f"{self.camera} is in the hand: say where the arm's TCP is")
        pose: Array = rotations.pose_of_tcp(tcp) @ self.pose
        return pose

    def pose_source(
        self, tcp: Callable[[], Sequence[float]] | None = None, base: Array | None = None
    ) -> Callable[[], Array]:
        """Return what cameras take as `pose`.

        Args:
            tcp: Asks the arm for its TCP, such as `driver.tcp_pose`; a fixed camera needs none.
            base: The arm's base in the robot's frame, shape (4, 4); the same frame if None.

        Raises:
            UsageError: The camera is in the hand and no `tcp` is given.
        """
        if self.mount == "hand" and tcp is None:
            raise UsageError(f"{self.camera} is in the hand: say how to ask the arm for its TCP")
        before = np.eye(4) if base is None else base

        def pose() -> Array:
            placed: Array = before @ self.camera_pose(tcp() if tcp is not None else None)
            return placed

        return pose

    def text(self) -> str:
        """Return the file that `load` reads back."""
        lines = [
            "version = 1",
            f"camera = {_quoted(self.camera)}",
            *([f"serial = {_quoted(self.serial)}"] if self.serial is not None else []),
            f'mount = "{self.mount}"',
            f'parent = "{PARENTS[self.mount]}"',
            'child = "camera"',
            f"position_m = {_listed(self.pose[:3, 3].tolist(), 6)}",
            f"quaternion_xyzw = {_listed(rotations.quaternion_of(self.pose[:3, :3]), 8)}",
            f"date = {self.date.isoformat()}",
            f"method = {_quoted(self.method)}",
            *([f"pairs = {self.pairs}"] if self.pairs is not None else []),
        ]
        for key in _MEASURED:
            if (value := getattr(self, key)) is not None:
                lines.append(f"{key} = {value:.3f}")
        return "\n".join(lines) + "\n"


def load(path: str | Path) -> HandEye:
    """Read a calibration file.

    Raises:
        ConfigError: It cannot be used; the message says the line and the remedy.
    """
    file = read_toml(Path(path), "calibration file")
    file.refuse_unknown(_KEYS)
    if type(version := file.values.get("version")) is not int or version != 1:
        raise file.wrong("version", "version must be 1, as in every calibration file")
    mount: Mount = "hand" if _choice(file, "mount", ("hand", "fixed")) == "hand" else "fixed"
    _choice(file, "parent", (PARENTS[mount],))
    _choice(file, "child", ("camera",))
    date = file.values.get("date")
    if type(date) is not datetime.date:
        raise file.wrong("date", "date must be a day such as 2026-11-20, without quotes")
    pairs = file.values.get("pairs")
    if pairs is not None and (type(pairs) is not int or pairs < 0):
        raise file.wrong("pairs", f"pairs must be how many there were, not {shown(pairs)}")
    median, most = (file.number(key, 0.0) if key in file.values else None for key in _MEASURED)
    return HandEye(
        camera=file.text("camera") or "",
        mount=mount,
        pose=_pose(file, mount),
        date=date,
        method=file.text("method") or "",
        serial=file.text("serial", needed=False),
        pairs=pairs,
        residual_median_mm=median,
        residual_max_mm=most,
    )


def _choice(file: Table, key: str, known: tuple[str, ...]) -> str:
    value = file.values.get(key)
    if value not in known:
        words = " or ".join(f'"{word}"' for word in known)
        mount = f' with mount = "{file.values["mount"]}"' if key == "parent" else ""
        raise file.wrong(key, f"{key} must be {words}{mount}, not {shown(value)}")
    return str(value)


def _pose(file: Table, mount: Mount) -> Array:
    given = [key for key in ("quaternion_xyzw", "rotation_vector_rad") if key in file.values]
    if len(given) != 1:
        raise file.wrong(
            given[-1] if given else "position_m",
            "the rotation must be given once: as quaternion_xyzw or rotation_vector_rad",
        )
    position = file.numbers("position_m", (3,), "[x, y, z] in metres")
    if math.hypot(*position) > _FARTHEST_M[mount]:
        raise file.wrong(
            "position_m",
            f'a camera with mount = "{mount}" cannot be {math.hypot(*position):.3g} m from '
            f"the {PARENTS[mount]}; positions are metres, not millimetres",
        )
    return rotations.pose_of(position, _rotation(file, given[0]))


def _rotation(file: Table, key: str) -> Array:
    """Return the rotation (3, 3) of a quaternion or a rotation vector."""
    if key == "quaternion_xyzw":
        quaternion = file.numbers(key, (4,), "[x, y, z, w]")
        if abs(math.hypot(*quaternion) - 1) > _UNIT:
            raise file.wrong(
                key, f"{key} has length {math.hypot(*quaternion):.4g}, not 1; copy it again"
            )
        return rotations.rotation_of_quaternion(quaternion)
    vector = file.numbers(key, (3,), "[rx, ry, rz] in radians")
    if math.hypot(*vector) > 2 * math.pi:
        raise file.wrong(key, f"{key} is longer than a whole turn; it takes radians, not degrees")
    return rotations.rotation_of(vector)


def _listed(numbers: Sequence[float], places: int) -> str:
    return "[" + ", ".join(f"{round(number, places) + 0.0:.{places}f}" for number in numbers) + "]"


def _quoted(text: str) -> str:
    """Return a text as TOML writes it."""
    sound = text.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(sound, ensure_ascii=False).replace("\x7f", "\\u007f")
