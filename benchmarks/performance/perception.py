"""`cap bench perception`: names and places from pictures alone, beside the truth.

Random scenes of eight blocks and bowls that hide nothing of each other, seen once with the arm
parked, and once with it in view, pointing at one of them. A name is right if it is on the table
and was seen; one that was seen and is not there counts as wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.statistics import wilson_interval
from robots.ravens import create
from robots.table.object_names import ALL_NAMES

NOISE = {"camera_color": 3.0, "camera_depth_m": 0.003}
OBJECTS = 8
MEDIAN_LIMIT_M = 0.003
NAMES_LIMIT = 0.99


@dataclass(frozen=True)
class CameraFigures:
    """What the camera made of some scenes."""

    camera: str
    """How noisy the pictures were."""
    scenes: int
    """How many scenes."""
    right: int
    """Names seen that are there."""
    n: int
    """Names that are there, and those seen that are not."""
    errors_m: tuple[float, ...]
    """Distance between the place seen and the true one, of each right name."""

    @property
    def median_m(self) -> float:
        """Median error, metres; infinite if nothing was seen."""
        return float(np.median(self.errors_m)) if self.errors_m else math.inf

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson interval of the share of right names."""
        return wilson_interval(self.right, self.n)

    @property
    def ok(self) -> bool:
        """True if both limits hold."""
        return self.median_m <= MEDIAN_LIMIT_M and self.right >= NAMES_LIMIT * self.n


def measure(scenes: int) -> Iterator[CameraFigures]:
    """Look at so many scenes, with a perfect camera and a noisy one, and with the arm in view."""
    yield _look("perfect", {}, scenes)
    yield _look("perfect, arm in view", {}, scenes, pointing=True)
    yield _look(f"noise: {NOISE}", NOISE, scenes)
    yield _look(f"noise: {NOISE}, arm in view", NOISE, scenes, pointing=True)


def _look(
    camera: str, wrong: dict[str, float], scenes: int, *, pointing: bool = False
) -> CameraFigures:
    right = n = 0
    errors: list[float] = []
    for seed in range(scenes):
        names = np.random.default_rng(seed).permutation(ALL_NAMES)[:OBJECTS].tolist()
        robot = create(seed=seed, objects=names, perception="camera", disturbances=wrong)
        try:
            if pointing:
                robot.point_gripper_to(robot.positions()[names[seed % OBJECTS]][:2])
            seen, truth = set(robot.get_obj_names()), robot.positions()
            places = {name: robot.get_obj_pos(name) for name in seen & set(truth)}
        finally:
            robot.close()
        right += len(places)
        n += len(seen | set(truth))
        errors += [math.dist(place, truth[name][:2]) for name, place in places.items()]
    return CameraFigures(camera, scenes, right, n, tuple(errors))
