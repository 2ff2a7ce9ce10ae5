"""Where a camera is on the arm or beside it: found from measured pairs, checked, kept in a file.

The calibration file is TOML::

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

import datetime
import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np

from cap.errors import NotFound, UsageError
from cap.files import Table, read_toml, shown
from robots.arm import rotations
from robots.arm.rotations import Array
from robots.perception.camera import Frame
from robots.perception.segmentation import tones
from robots.table.colors import Color

Mount = Literal["hand", "fixed"]
PARENTS: dict[str, str] = {"hand": "tcp", "fixed": "base"}
"""The frame that each kind of mount is fixed to."""
_FARTHEST_PAIR_M = 5.0
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
    mount = _mount(file)
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


def _mount(file: Table) -> Mount:
    return "hand" if _choice(file, "mount", ("hand", "fixed")) == "hand" else "fixed"


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


# Measured pairs.


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
    mount = _mount(file)
    found = tuple(_pair(table) for table in file.tables("pairs"))
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
        if length_m > _FARTHEST_PAIR_M:
            raise table.wrong(key, f"{key} is {length_m:.3g} m away; are these millimetres?")
    if math.hypot(*tcp[3:]) > 2 * math.pi:
        raise table.wrong("tcp", "the rotation vector is longer than a turn; are these degrees?")
    return Pair(rotations.pose_of_tcp(tcp), np.array(marker))


def pairs_text(pairs: Pairs) -> str:
    """Return the file that `load_pairs` reads back."""
    lines = [f'mount = "{pairs.mount}"']
    if pairs.mount == "fixed":
        lines.append(f"marker_in_tcp_m = {_listed(pairs.marker_in_tcp_m, 6)}")
    for pair in pairs.pairs:
        tcp = [*pair.tcp[:3, 3], *rotations.rotation_vector(pair.tcp[:3, :3])]
        marker = _listed(pair.marker_m.tolist(), 6)
        lines += ["", "[[pairs]]", f"tcp = {_listed(tcp, 6)}", f"marker_m = {marker}"]
    return "\n".join(lines) + "\n"


# Where the camera is, as pairs have it.

LIMIT_MM = 3.0
"""Greatest median error of a calibration that is of use."""
ERROR_LIMITS = {"median_mm": 1, "max_mm": 3, "off_mm": 2}
"""What a calibration's errors may be, in times the limit."""
GAIN_LIMIT = 3.0
"""Greatest factor by which errors of the pairs may grow in what the camera sees."""
LEAST = {"hand": 6, "fixed": 4}
"""Fewest pairs, for each mount."""
_AROUND_M = np.array([(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.2, 0.2)])
"""Where objects are expected, from the middle of the places at which the marker was seen."""
_STEPS = 30
_REMEDY: dict[str, str] = {
    "hand": "turn the tool by 30 degrees or more about at least two axes between pairs, and have "
    "the marker in different parts of the picture",
    "fixed": "hold the marker at places that lie on no line, 0.2 m apart or more",
}


@dataclass(frozen=True)
class Fit:
    """How well a camera's pose fits measured pairs."""

    errors_mm: Array
    """Of each pair: how far the marker's place is from where it must be, shape (n,)."""
    off_mm: float
    """How far off the camera sees, as the same pairs would have it: the greatest distance between
    what this pose and the one that fits best make of a place 0.2 m around where markers were."""
    gain: float
    """How many millimetres off that may be for each millimetre of error in the pairs."""

    @property
    def median_mm(self) -> float:
        """Median error."""
        return float(np.median(self.errors_mm))

    @property
    def max_mm(self) -> float:
        """Greatest error."""
        return float(self.errors_mm.max())

    def ok(self, limit_mm: float = LIMIT_MM) -> bool:
        """Return whether the pose is of use.

        `off_mm` has a limit since a camera in the hand may be centimetres off along its axis while
        the errors of pairs that look much the same way stay small.
        """
        limits = {name: times * limit_mm for name, times in ERROR_LIMITS.items()}
        return all(getattr(self, name) <= most for name, most in limits.items())


def fit(pose: Array, pairs: Pairs) -> Fit:
    """Return how well a camera's pose fits pairs.

    The errors of a camera in the hand are the distances between the places at which it sees the
    marker, in the base's frame, and their mean; those of a fixed camera, between the places at
    which it sees the marker and those at which the hand holds it.

    Args:
        pose: The camera in the tool's or the base's frame, shape (4, 4), as in the file.
        pairs: Measured pairs of the same mount.

    Raises:
        UsageError: Too few pairs, or pairs that cannot show that a pose is wrong.
    """
    _check_enough(pairs)
    errors, slopes = _linearised(pose, pairs)
    probes = pairs.markers_m.mean(axis=0) + _AROUND_M
    gain = _gain(slopes, probes @ pose[:3, :3].T)
    if gain > GAIN_LIMIT:
        raise UsageError(
            "these pairs cannot tell where the camera is: an error of 1 mm in them may become "
            f"{min(gain, 1e6):.3g} mm; {_REMEDY[pairs.mount]}"
        )
    change = _refined(pose, pairs)[0] - pose
    off = np.linalg.norm(probes @ change[:3, :3].T + change[:3, 3], axis=1).max()
    return Fit(1000 * np.linalg.norm(errors, axis=1), 1000 * float(off), gain)


def check(calibration: HandEye, pairs: Pairs) -> Fit:
    """Return how well a calibration fits pairs it was not made from.

    Raises:
        UsageError: The pairs are of another mount, too few, or cannot show that it is wrong.
    """
    if calibration.mount != pairs.mount:
        raise UsageError(
            f"the pairs are for mount {pairs.mount!r}, the calibration for {calibration.mount!r}; "
            "give pairs of the same camera"
        )
    return fit(calibration.pose, pairs)


def solve(pairs: Pairs) -> tuple[Array, Fit]:
    """Return where the camera is, shape (4, 4) in the tool's or the base's frame, and the fit.

    The sum of squared errors is least (see `fit`). For a fixed camera that is one singular value
    decomposition (Kabsch, Acta Cryst. A32, 1976). For one in the hand, the pose and the marker's
    unknown place are found by Gauss-Newton steps from each of the 24 right-angled rotations: only
    places are used, as depth cameras measure those better than how a marker is turned.

    Raises:
        UsageError: Too few pairs, or pairs that cannot tell where it is.
    """
    _check_enough(pairs)
    if pairs.mount == "fixed":
        seen, held = pairs.markers_m, pairs.held_m
        middles = seen.mean(axis=0), held.mean(axis=0)
        rotation = rotations.nearest_rotation((held - middles[1]).T @ (seen - middles[0]))
        pose = rotations.pose_of((middles[1] - rotation @ middles[0]).tolist(), rotation)
    else:
        turns = (  # those that take axes to axes, and their mirrors
            np.eye(3)[list(order)] * signs
            for order in itertools.permutations(range(3))
            for signs in itertools.product((1.0, -1.0), repeat=3)
        )
        starts = [
            rotations.pose_of((0.0, 0.0, 0.0), turn) for turn in turns if np.linalg.det(turn) > 0
        ]
        pose = min((_refined(start, pairs) for start in starts), key=lambda each: each[1])[0]
    return pose, fit(pose, pairs)


def _check_enough(pairs: Pairs) -> None:
    if len(pairs.pairs) < (least := LEAST[pairs.mount]):
        raise UsageError(
            f"{len(pairs.pairs)} pairs are too few for a camera with mount {pairs.mount!r}; "
            f"measure {least} or more"
        )


def _linearised(pose: Array, pairs: Pairs) -> tuple[Array, Array]:
    """Return each pair's error (n, 3), metres, and how all change with the unknowns (3n, 6).

    The unknowns are a small rotation of the camera (about the parent's axes) and a shift; for a
    camera in the hand what the marker's place may take up is left out of both.
    """
    seen = pairs.markers_m @ pose[:3, :3].T
    slopes = _slopes(seen)
    if pairs.mount == "fixed":
        return seen + pose[:3, 3] - pairs.held_m, slopes.reshape(-1, 6)
    turns = pairs.tcps[:, :3, :3]
    places = np.einsum("nij,nj->ni", turns, seen + pose[:3, 3]) + pairs.tcps[:, :3, 3]
    slopes = turns @ slopes
    return places - places.mean(axis=0), (slopes - slopes.mean(axis=0)).reshape(-1, 6)


def _refined(pose: Array, pairs: Pairs) -> tuple[Array, float]:
    """Return a pose after Gauss-Newton steps, and its sum of squared errors."""
    for _ in range(_STEPS):
        errors, slopes = _linearised(pose, pairs)
        step = np.linalg.lstsq(slopes, -errors.ravel(), rcond=1e-9)[0]
        turned = rotations.rotation_of(step[:3].tolist()) @ pose[:3, :3]
        pose = rotations.pose_of((pose[:3, 3] + step[3:]).tolist(), turned)
        if float(np.abs(step).max()) < 1e-10:
            break
    return pose, float((_linearised(pose, pairs)[0] ** 2).sum())


def _gain(slopes: Array, probes: Array) -> float:
    """Return the greatest growth of unit errors into places seen in the parent's axes (n, 3)."""
    information = slopes.T @ slopes
    if np.linalg.eigvalsh(information)[0] < 1e-9:
        return math.inf
    seen = _slopes(probes)
    growth = np.linalg.eigvalsh(seen @ np.linalg.inv(information) @ seen.transpose(0, 2, 1))
    return math.sqrt(growth.max())


def _slopes(points: Array) -> Array:
    """Return how points (n, 3) change with a small rotation and a shift, (n, 3, 6)."""
    slopes = np.zeros((len(points), 3, 6))
    for row, column, part, sign in ((0, 1, 2, 1), (0, 2, 1, -1), (1, 2, 0, 1)):
        slopes[:, row, column] = sign * points[:, part]
        slopes[:, column, row] = -sign * points[:, part]
    slopes[:, :, 3:] = np.eye(3)
    return slopes


# The marker.

_LEAST_PIXELS = 20
_WIDEST_M = 0.04
"""A marker whose pixels reach further from its middle is more than one thing."""


def find_marker(frame: Frame, color: Color, tolerance: float = 0.06) -> Array:
    """Return the middle of a flat sticker of a colour nothing else has, shape (3,), metres.

    It is in the camera's frame (x right, y down, z forward), whatever the frame's pose says.

    Args:
        frame: A picture that shows it.
        color: Its red, green and blue, 0 to 255, as they are in the picture.
        tolerance: How different its pixels may be: distance between shares of red, green and blue.

    Raises:
        NotFound: Too few pixels have that colour and a depth, or they lie far apart.
    """
    points = replace(frame, pose=np.eye(4)).points()
    wanted = tones(np.array([color], dtype=float))
    away = np.linalg.norm(tones(frame.rgb.astype(float)) - wanted, axis=-1)
    found = points[(away < tolerance) & (frame.depth_m > 0)]
    if len(found) < _LEAST_PIXELS:
        raise NotFound(
            f"only {len(found)} pixels have the marker's colour {color} and a depth; go closer, or "
            "take the colour from the picture"
        )
    middle = np.median(found, axis=0)
    if np.quantile(np.linalg.norm(found - middle, axis=1), 0.9) > _WIDEST_M:
        raise NotFound(f"more than one thing has the marker's colour {color}; use another colour")
    place: Array = middle
    return place
