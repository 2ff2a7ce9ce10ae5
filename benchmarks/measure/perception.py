"""Names and places from pictures alone, beside the truth.

Random scenes of eight blocks and bowls that hide nothing of each other, seen once with the arm
parked, and once with it in view, pointing at one of them. A name is right if it is on the table
and was seen; one that was seen and is not there counts as wrong.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.measure.measurement import Measurement, run
from robots.ravens import create
from robots.table.object_names import ALL_NAMES

NOISE = {"camera_color": 3.0, "camera_depth_m": 0.003}
OBJECTS = 8
MEDIAN_LIMIT_MM = 3.0
NAMES_LIMIT = 0.99


def measure(scenes: int) -> Iterator[Measurement]:
    """Look at so many scenes, with a perfect camera and a noisy one, and with the arm in view."""
    for camera, noise in (("perfect camera", {}), ("noisy camera", NOISE)):
        for pointing in (False, True):
            yield from _look(f"{camera}{', arm in view' * pointing}", noise, scenes, pointing)


def _look(camera: str, noise: dict[str, float], scenes: int, pointing: bool) -> list[Measurement]:
    right = named = 0
    errors_mm: list[float] = []
    for seed in range(scenes):
        names = np.random.default_rng(seed).permutation(ALL_NAMES)[:OBJECTS].tolist()
        robot = create(seed=seed, objects=names, perception="camera", disturbances=noise)
        try:
            if pointing:
                robot.point_gripper_to(robot.positions()[names[seed % OBJECTS]][:2])
            seen, truth = set(robot.get_obj_names()), robot.positions()
            places = {name: robot.get_obj_pos(name) for name in seen & set(truth)}
        finally:
            robot.close()
        right += len(places)
        named += len(seen | set(truth))
        errors_mm += [1e3 * math.dist(place, truth[name][:2]) for name, place in places.items()]
    names = f"{right} of {named} names, {camera}"
    return [
        Measurement(names, "share", [right / named], NAMES_LIMIT, at_least=True),
        Measurement(f"error, {camera}", "mm", errors_mm or [math.inf], MEDIAN_LIMIT_MM),
    ]


if __name__ == "__main__":
    run(measure, 60, __doc__)
