"""What a camera gives and what a detector makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """One picture with depth, and where it was taken from."""

    rgb: NDArray[np.uint8]
    """Colours, shape (height, width, 3)."""
    depth_m: NDArray[np.float64]
    """Distance along the optical axis, shape (height, width), metres; 0 or nan where unknown."""
    intrinsics: Array
    """Pinhole matrix, shape (3, 3), pixels; the first pixel's centre is at (0.5, 0.5)."""
    pose: Array
    """The camera in the robot's frame, shape (4, 4): its x right, y down, z forward, metres."""
    robot: NDArray[np.bool_] | None = None
    """Which pixels show the robot itself, shape (height, width), where that is known: its model at
    its joint angles covers them. What they hide is not seen."""

    def points(self) -> Array:
        """Return what each pixel sees, xyz in the robot's frame: (height, width, 3), metres.

        A pixel of unknown depth gives nan.
        """
        height, width = self.depth_m.shape
        columns, rows = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
        depth = np.where(self.depth_m > 0, self.depth_m, np.nan)
        rays = np.stack([columns, rows, np.ones_like(columns)], axis=-1)
        rays = rays @ np.linalg.inv(self.intrinsics).T
        seen = rays * depth[..., None]
        points: Array = seen @ self.pose[:3, :3].T + self.pose[:3, 3]
        return points


@dataclass(frozen=True)
class Detection:
    """One object that was seen."""

    name: str
    """Such as `red block`."""
    position: tuple[float, float, float]
    """Its centre in the robot's frame, metres."""
    yaw: float = 0.0
    """Rotation about the vertical, radians; 0 for what looks the same from all sides."""
    pixels: int = 0
    """How many pixels show it."""
    size_m: tuple[float, float, float] | None = None
    """Its edges: along its yaw, across, and up; None where they are not known."""


class Camera(Protocol):
    """Anything that takes pictures with depth."""

    def capture(self) -> Frame:
        """Take a picture of what is before the camera now.

        Raises:
            NotConnected: The camera does not answer.
        """

    def close(self) -> None:
        """Release the camera; doing so twice does no harm."""


class Detector(Protocol):
    """Anything that finds named objects in a frame."""

    def detect(self, frame: Frame) -> tuple[Detection, ...]:
        """Return the objects seen, each name once, the surest first."""
