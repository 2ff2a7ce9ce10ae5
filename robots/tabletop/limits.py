"""What the arm is allowed to do, checked before anything is sent.

These limits are not safety-rated. What protects people is the robot's own safety configuration, an
emergency stop within reach and a risk assessment; these keep programs from asking for more than
was meant.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from cap.errors import LimitExceeded, UsageError
from robots.arm.rotations import rotation_of
from robots.tabletop.arm_state import TcpPose

CEILING_MPS = 0.25
"""Speed of the tool no option raises: the 250 mm/s of reduced speed in ISO 10218-1."""
_CEILING_MPS2 = 1.5
_MOST_TILT_DEG = 45.0
TOOL_TOLERANCE_M = 0.02
"""How far the tool may be from where the arm model has it: arms differ by a few millimetres."""
TOOL_TOLERANCE_RAD = math.radians(8.0)
"""How far it may be turned from there; beyond this the fingers miss what they should hold."""
Range = tuple[float, float]


@dataclass(frozen=True)
class MotionLimits:
    """A box for the fingertips in the table frame, and how they may move in it."""

    x_m: Range = (-0.40, 0.40)
    """Left and right end."""
    y_m: Range = (-0.90, -0.12)
    """Front and back end."""
    z_m: Range = (0.0, 0.60)
    """Floor and ceiling above the table."""
    speed_mps: float = 0.10
    """Of the fingertips."""
    acceleration_mps2: float = 0.30
    """Of the fingertips."""
    step_m: float = 1.0
    """Longest single move."""
    tilt_deg: float = 15.0
    """Greatest angle between the tool and straight down."""

    def __post_init__(self) -> None:
        """Refuse limits that limit nothing.

        Raises:
            UsageError: A number is out of range; the message says which and what may be said.
        """
        for field in fields(MotionLimits):
            values = np.asarray(getattr(self, field.name), dtype=float)
            if not np.isfinite(values).all():
                raise UsageError(f"{field.name} must be finite, not {getattr(self, field.name)}")
        _within("speed_mps", self.speed_mps, CEILING_MPS)
        _within("acceleration_mps2", self.acceleration_mps2, _CEILING_MPS2)
        _within("step_m", self.step_m, 2.0)
        _within("tilt_deg", self.tilt_deg, _MOST_TILT_DEG)
        for name in ("x_m", "y_m", "z_m"):
            low, high = getattr(self, name)
            if low >= high:
                raise UsageError(f"{name} must be [least, greatest], not [{low}, {high}]")
        if self.z_m[0] < 0:
            raise UsageError(
                f"z_m must begin at the table top or above it, 0 m, not {self.z_m[0]}: where the "
                "table is, say with table_z_m"
            )

    def check(self, pose: TcpPose, start: TcpPose, *, moves: bool = True) -> None:
        """Refuse a move; nothing was sent.

        Args:
            pose: Where the fingertips are to go, in the table frame.
            start: Where they are.
            moves: Whether they are to move at all.

        Raises:
            LimitExceeded: It leads out of the box, too far at once, or tilts the tool.
        """
        if not np.isfinite(pose).all():
            raise LimitExceeded(f"a pose with numbers that are not finite: {pose}")
        for name, value, (low, high) in zip(
            "xyz", pose, (self.x_m, self.y_m, self.z_m), strict=False
        ):
            if not low <= value <= high:
                remedy = (
                    "; nothing was sent: keep the way inside, or, if the room is free, widen the "
                    f"box with -R '{name}_m=[least, greatest]'"
                )
                raise LimitExceeded(
                    f"{name} = {value:.3f} m is outside the workspace box, {low} to {high} m"
                    f"{remedy if moves else ''}"
                )
        if (step := math.dist(pose[:3], start[:3])) > self.step_m:
            raise LimitExceeded(f"a move of {step:.2f} m, longer than step_m = {self.step_m} m")
        if (tilt_deg := math.degrees(tilt_of(pose))) > self.tilt_deg:
            raise LimitExceeded(
                f"the tool would lean {tilt_deg:.0f} degrees from straight down; at most "
                f"{self.tilt_deg:.0f} are allowed"
            )

    def check_way(self, poses: Iterable[TcpPose], start: TcpPose) -> None:
        """Refuse a way through poses, as `check`, if a part of it is not allowed."""
        for pose in poses:
            self.check(pose, start)
            start = pose

    def check_start(self, pose: TcpPose) -> None:
        """Refuse to move off from where no program should have left the arm.

        Raises:
            LimitExceeded: The fingertips are outside the box, or lean.
        """
        try:
            self.check(pose, pose, moves=False)
        except LimitExceeded as error:
            raise LimitExceeded(
                f"the arm stands where it may not start: {error}; jog it over the table, tool "
                "straight down, with the pendant"
            ) from None


def _within(name: str, value: float, most: float) -> None:
    if not 0 < value <= most:
        raise UsageError(f"{name} must be above 0 and at most {most:g}, not {value:g}")


def tilt_of(pose: TcpPose) -> float:
    """Return the angle between the tool's axis and straight down, radians."""
    along = rotation_of(pose[3:])[2, 2]  # how far up the tool's z axis points
    return math.acos(max(-1.0, min(1.0, -along)))


def straight_down(x: float, y: float, z: float, yaw: float) -> TcpPose:
    """Return the pose of fingertips that point straight down and close along `yaw` (radians).

    The rotation is half a turn about a level axis at half of `yaw`, as a UR5e with an
    upright base holds its flange there (`robots.arm.ur5e`).
    """
    return (x, y, z, math.pi * math.cos(yaw / 2), math.pi * math.sin(yaw / 2), 0.0)


def yaw_of(pose: TcpPose) -> float:
    """Return the direction in which fingers that point straight down close, radians."""
    return 2 * math.atan2(pose[4], pose[3])
