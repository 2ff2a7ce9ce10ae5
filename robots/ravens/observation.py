"""What programs know of a scene that a camera sees: what its picture shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from robots.arm import ur5e
from robots.arm.motion import PARK
from robots.perception.camera import Detection, Detector
from robots.perception.segmentation import Bowl, Shapes
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
from robots.ravens.state import WorldState
from robots.table.colors import COLORS
from robots.table.geometry import TABLE_X, TABLE_Y, yaw_quaternion
from robots.table.object_names import ALL_NAMES

if TYPE_CHECKING:
    from robots.ravens.physics import PhysicsTabletop

_WAITS_M = 0.02
"""An arm this near to where it waits hides nothing from the camera."""
CAMERA_DRAWS, MOTION_DRAWS = 1, 2
"""Noise of the two kinds comes from streams of their own: looking changes no motion."""


class CameraEyes:
    """Looks at one picture for each state of the world.

    While the gripper stands in the view, having touched nothing, the scene is as it was before.
    """

    def __init__(
        self, world: PhysicsTabletop, detector: Detector, disturbances: Disturbances
    ) -> None:
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
        self._looked: tuple[WorldState, Scene] | None = None

    def see(self, state: WorldState) -> Scene:
        """Return what the picture shows, objects in the order of `ALL_NAMES`."""
        if state.seen is not None:
            return state.seen
        if self._looked is None or self._looked[0] is not state:
            picture = self._camera.capture()
            frame = self._disturbances.of_frame(picture, state.generator(CAMERA_DRAWS))
            self._looked = state, scene_of(self._detector.detect(frame))
        return self._looked[1]

    def hindered(self, state: WorldState) -> bool:
        """Return whether the arm may hide objects: a stop left it elsewhere than it waits."""
        x, y, z = ur5e.forward(state.joints)[:3, 3].tolist()
        waits = math.dist((x, y), (PARK.x, PARK.y)) < _WAITS_M and z > PARK.z - _WAITS_M
        return state.seen is None and not waits

    def clear_view(self, state: WorldState) -> None:
        """Park an arm that may hide objects from the camera."""
        if self.hindered(state):
            self._world.recover()
            self._world.park()


SHAPES = Shapes(
    COLORS, 2 * BLOCK_HALF, Bowl(BOWL_RIM_R, BOWL_BASE_R, BOWL_HEIGHT, BOWL_WALL), TABLE_X, TABLE_Y
)


def scene_of(detections: tuple[Detection, ...]) -> Scene:
    """Return detections as a scene; names this world has not are left out."""
    found = {
        seen.name: Body(seen.name, seen.position, yaw_quaternion(seen.yaw)) for seen in detections
    }
    return Scene(tuple(found[name] for name in ALL_NAMES if name in found))
