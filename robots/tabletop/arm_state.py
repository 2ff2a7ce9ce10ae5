"""What the controller says of the arm, what it must say before the arm moves, and one motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from cap.errors import NotConnected, ProtectiveStop
from robots.arm.rotations import rotation_of, rotation_vector

Joints = tuple[float, ...]
"""Six angles, radians, base to wrist 3."""
TcpPose = tuple[float, float, float, float, float, float]
"""x, y, z in metres and a rotation vector in radians, in the base frame."""
Safety = Literal[
    "normal",
    "reduced",
    "protective_stop",
    "safeguard_stop",
    "emergency_stop",
    "fault",
    "unknown",
]
Mode = Literal["running", "idle", "power_off", "disconnected", "unknown"]
STALE_S = 0.5
"""The arm does not move on a state older than this, seconds."""
_NEAR_M = 0.001
_NEAR_RAD = 0.01
_ROTATION_M = 0.1
"""Radius at which a turn of the tool counts as a path."""


@dataclass(frozen=True)
class ArmState:
    """What the controller last said of the arm."""

    joints: Joints
    """Measured joint angles."""
    tcp_pose: TcpPose
    """Measured pose of the tool centre point."""
    mode: Mode
    """Whether the arm is powered and its brakes are released (`running`)."""
    safety: Safety
    """What the safety controller says."""
    remote: bool | None
    """Whether remote control is on; None where this driver cannot tell."""
    moving: bool
    """Whether a program runs or the arm still moves."""
    age_s: float
    """Seconds since the controller said so."""
    outputs: int = 0
    """Digital outputs as bits: standard from 0, configurable from 8, at the tool from 16."""


@dataclass(frozen=True)
class Motion:
    """One straight motion of the tool centre point."""

    target: TcpPose
    """x, y, z (m) and rotation vector (rad)."""
    speed: float
    """m/s."""
    acceleration: float
    """m/s^2."""

    def reached(self, state: ArmState) -> bool:
        """Return whether the arm is there, within 1 mm and 0.01 rad."""
        near = math.dist(self.target[:3], state.tcp_pose[:3]) < _NEAR_M
        return near and turn(self.target[3:], state.tcp_pose[3:]) < _NEAR_RAD

    def duration_s(self, state: ArmState) -> float:
        """Return the time it takes from there at its speed and acceleration."""
        turned = turn(self.target[3:], state.tcp_pose[3:])
        length = max(math.dist(self.target[:3], state.tcp_pose[:3]), _ROTATION_M * turned)
        return length / self.speed + self.speed / self.acceleration

    def left(self, state: ArmState) -> str:
        """Return how far away the arm is, for people."""
        return f"{math.dist(self.target[:3], state.tcp_pose[:3]) * 100:.1f} cm"


def require_ready(state: ArmState) -> None:
    """Raise unless the arm may move.

    Raises:
        ProtectiveStop: The safety controller has stopped it.
        NotConnected: It is not powered, or the pendant has control.
    """
    if state.safety not in ("normal", "reduced"):
        raise ProtectiveStop(
            f"the safety controller says {state.safety.replace('_', ' ')}: "
            "look at the arm, clear the cause, and release it on the pendant"
        )
    if state.mode != "running":
        raise NotConnected(
            f"the arm is not ready to move ({state.mode.replace('_', ' ')}): "
            "power it on and release its brakes on the pendant"
        )
    if state.remote is False:
        raise NotConnected(
            "the pendant has control: switch the controller from local to remote control"
        )


def raised(pose: TcpPose, by_m: float) -> TcpPose:
    """Return a pose raised by a height, metres."""
    return (*pose[:2], pose[2] + by_m, *pose[3:])


def turn(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the angle between two orientations given as rotation vectors, radians."""
    return float(np.linalg.norm(rotation_vector(rotation_of(a).T @ rotation_of(b))))
