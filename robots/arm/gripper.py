"""The two-finger gripper of every UR5e here, a Robotiq 2F-85: its sizes, forces and speed."""

from __future__ import annotations

from dataclasses import dataclass

from robots.table.geometry import Vec3

FINGER_LENGTH = 0.065
"""From the palm to the fingertips, metres."""
FINGER_THICKNESS = 0.010
"""In the closing direction, metres."""
FINGER_WIDTH = 0.022
"""Across the closing direction, metres: the published pad width of the Robotiq 2F-85."""
PALM_SIZE = (0.100, 0.060)
"""Along and across the closing direction, metres."""
OPEN_GAP_M = 0.085
"""The gripper's stroke: the published 85 mm of the Robotiq 2F-85."""
FINGER_SPEED_MPS = 0.15
"""Of each simulated finger while the gripper opens or closes."""
GRIP_FORCE_N = 20.0
"""With which each simulated finger closes on an object."""
FINGER_FORCE_N = 60.0
"""With which a simulated finger is driven to where it should be, but for closing."""
HOLD_FORCE_N = 60.0
"""Limit of the fixed joint that holds what both simulated fingers press on."""

_RELEASE_M = 0.016
"""How much further than the object is wide the fingers open to let it go, metres."""


@dataclass(frozen=True)
class Fingers:
    """How far the fingers of a gripper open."""

    stroke_m: float = OPEN_GAP_M
    """Their greatest distance."""
    stop_anywhere: bool = True
    """Whether they stop at any distance; else they are open as far as they go, or closed."""

    def opened(self, gap_m: float) -> float:
        """Return how far apart they are, metres, once they let go of what they held at a gap."""
        if self.stop_anywhere:
            return min(self.stroke_m, gap_m + _RELEASE_M)
        return self.stroke_m


ROBOTIQ_2F_85 = Fingers()
NO_FINGERS = Fingers(0.0)
"""Of an arm without a gripper: it goes anywhere, and takes nothing."""


@dataclass(frozen=True)
class Grip:
    """One pose of the gripper, pointing straight down."""

    tip: Vec3
    """Between the fingertips, metres."""
    yaw: float
    """Direction in which the fingers close, radians."""
    gap_m: float
    """Distance between the open fingers."""
