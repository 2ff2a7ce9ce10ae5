"""What programs know of a scene that a camera sees: what its picture shows."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from robots.perception.camera import Array, Camera, Detection, Detector
from robots.perception.model_fit import Bowl
from robots.perception.segmentation import Shapes
from robots.ravens import transfer
from robots.ravens.disturbances import Disturbances
from robots.ravens.scene import (
    BLOCK_HALF,
    BOWL_BASE_R,
    BOWL_HEIGHT,
    BOWL_RIM_R,
    BOWL_WALL,
    Body,
    Scene,
)
from robots.ravens.world import WorldState
from robots.table.colors import COLORS
from robots.table.geometry import TABLE_X, TABLE_Y, yaw_quaternion
from robots.table.object_names import ALL_NAMES

_TABLE = np.array(
    [(x, y, 0.0) for x in np.arange(*TABLE_X, 0.01) for y in np.arange(*TABLE_Y, 0.01)]
)
"""Points all over the table, metres."""
_BESIDE_M, _DENSE_M = 0.01, 0.005
"""What the robot covers that close to an object may hide some of it; how densely that is looked
for."""
CAMERA_DRAWS, MOTION_DRAWS = 1, 2
"""Noise of the two kinds comes from streams of their own: looking changes no motion."""


class FilmedWorld(Protocol):
    """A world before a camera, and in its view an arm that can be moved out of it."""

    def camera(self) -> Camera:
        """Return the camera."""

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, if anything."""

    def park(self) -> None:
        """Take the gripper to where it hides nothing from the camera."""


class CameraEyes:
    """Looks at one picture for each state of the world.

    What the robot hides in it stands where it was seen before the robot came in the way, if it was;
    else it is not known.
    """

    def __init__(self, world: FilmedWorld, detector: Detector, disturbances: Disturbances) -> None:
        """Look at nothing yet.

        Args:
            world: What the camera takes pictures of, as it is.
            detector: Names what is in them.
            disturbances: How noisy the camera is.
        """
        self._world = world
        self._camera = world.camera()
        self._detector = detector
        self._disturbances = disturbances
        self._looked: tuple[WorldState, Scene, bool] | None = None

    def see(self, state: WorldState) -> Scene:
        """Return what the picture shows, objects in the order of `ALL_NAMES`."""
        return self._look(state)[0]

    def hindered(self, state: WorldState) -> bool:
        """Return whether the robot hides a part of the table that was not seen before it came."""
        return self._look(state)[1]

    def clear_view(self, state: WorldState) -> None:
        """Take the arm out of the view, if it hides what was not seen before."""
        if self.hindered(state):
            self._world.recover()
            self._world.park()

    def _look(self, state: WorldState) -> tuple[Scene, bool]:
        if self._looked is None or self._looked[0] is not state:
            picture = self._camera.capture()
            frame = self._disturbances.of_frame(picture, state.generator(CAMERA_DRAWS))
            found = scene_of(self._detector.detect(frame))
            if state.seen is not None:
                # What carries something hidden may show a side, but not its top.
                known = {body.name: body for body in found.bodies}
                for body in state.seen.others(*found.names):
                    load = transfer.resting_on(state.seen, body.name)
                    if any(frame.hides(_around(each)) for each in (body, *load)):
                        known[body.name] = body
                found = Scene(tuple(known[name] for name in ALL_NAMES if name in known))
            self._looked = state, found, state.seen is None and frame.hides(_TABLE)
        return self._looked[1:]


SHAPES = Shapes(
    COLORS, 2 * BLOCK_HALF, Bowl(BOWL_RIM_R, BOWL_BASE_R, BOWL_HEIGHT, BOWL_WALL), TABLE_X, TABLE_Y
)


def scene_of(detections: tuple[Detection, ...]) -> Scene:
    """Return detections as a scene; names this world has not are left out."""
    found = {seen.name: seen for seen in detections}
    return Scene(tuple(_body(found[name]) for name in ALL_NAMES if name in found))


def _around(body: Body) -> Array:
    """Return points all through and a little around an object, shape (n, 3), metres."""
    low_x, low_y, high_x, high_y = body.bbox()
    spans = ((low_x, high_x), (low_y, high_y), (body.bottom, body.top))
    axes = [np.arange(low - _BESIDE_M, high + _BESIDE_M, _DENSE_M) for low, high in spans]
    return np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 3)


def _body(seen: Detection) -> Body:
    return Body(seen.name, seen.position, yaw_quaternion(seen.yaw))
