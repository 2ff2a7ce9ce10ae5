"""What programs know of the scene: the truth, or what the camera's picture shows."""

from __future__ import annotations

from typing import Protocol

from robots.perception.camera import Camera, Detection, Detector
from robots.perception.segmentation import Shapes
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

CAMERA_DRAWS, MOTION_DRAWS = 1, 2
"""Noise of the two kinds comes from streams of their own: looking changes no motion."""


class Eyes(Protocol):
    """Tells where things seem to be."""

    def see(self, state: WorldState) -> Scene:
        """Return the scene as it is perceived in a state of the world."""


class Truth:
    """Knows everything exactly."""

    def see(self, state: WorldState) -> Scene:
        """Return the true scene."""
        return state.scene


class CameraEyes:
    """Looks at one picture for each state of the world."""

    def __init__(self, camera: Camera, detector: Detector, disturbances: Disturbances) -> None:
        """Look at nothing yet.

        Args:
            camera: Takes pictures of the world as it is.
            detector: Names what is in them.
            disturbances: How noisy the camera is.
        """
        self._camera = camera
        self._detector = detector
        self._disturbances = disturbances
        self._seen: tuple[WorldState, Scene] | None = None

    def see(self, state: WorldState) -> Scene:
        """Return what the picture shows, objects in the order of `ALL_NAMES`."""
        if self._seen is None or self._seen[0] is not state:
            picture = self._camera.capture()
            frame = self._disturbances.of_frame(picture, state.generator(CAMERA_DRAWS))
            self._seen = state, scene_of(self._detector.detect(frame))
        return self._seen[1]


SHAPES = Shapes(
    COLORS,
    2 * BLOCK_HALF,
    BOWL_RIM_R,
    BOWL_HEIGHT,
    TABLE_X,
    TABLE_Y,
    bowl_base_r_m=BOWL_BASE_R,
    bowl_wall_m=BOWL_WALL,
)


def scene_of(detections: tuple[Detection, ...]) -> Scene:
    """Return detections as a scene; names this world has not are left out."""
    found = {seen.name: seen for seen in detections}
    return Scene(tuple(_body(found[name]) for name in ALL_NAMES if name in found))


def _body(seen: Detection) -> Body:
    return Body(seen.name, seen.position, yaw_quaternion(seen.yaw))
