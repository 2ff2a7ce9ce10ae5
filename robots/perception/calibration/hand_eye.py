"""Finding where a camera is from measured pairs, and checking what a calibration file says."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from cap.errors import UsageError
from robots.arm import rotations
from robots.arm.rotations import Array
from robots.perception.calibration.file import HandEye
from robots.perception.calibration.pairs import Pairs

LIMIT_MM = 3.0
"""Greatest median error of a calibration that is of use."""
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

        The median error must be within the limit, the greatest within three times it, and
        `off_mm` within twice it: a camera in the hand may be centimetres off along its axis
        while the errors of pairs that look much the same way stay small.
        """
        return (
            self.median_mm <= limit_mm
            and self.max_mm <= 3 * limit_mm
            and self.off_mm <= 2 * limit_mm
        )


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
