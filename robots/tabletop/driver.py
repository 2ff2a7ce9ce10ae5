"""The seam between the tabletop robot and the library that talks to its controller."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from robots.arm.gripper import Fingers

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


class ArmDriver(Protocol):
    """Moves an arm and says where it is. One thread moves; `stop` and `state` are safe from any.

    Every method raises `NotConnected` when the controller is not reached or its last word is too
    old, and `ProtectiveStop` when the safety controller has stopped the arm. A driver never
    unlocks a protective stop, and never sends a motion to a controller in such a state. After
    `stop` it moves nothing until `clear_stop`, in whatever moment the stop falls.
    """

    name: str
    """As people choose it: `urx` or `ur_rtde`."""
    heard: ArmState | None
    """The newest state of all that were asked for, also once the connection is lost."""

    @property
    def sent(self) -> int:
        """How many motions were sent, or would have been."""

    @property
    def fingers(self) -> Fingers:
        """How far its gripper opens."""

    @property
    def commanded_gap_m(self) -> float | None:
        """The distance last commanded to its fingers, metres; they may be under way.

        None before the first, and where a command was begun and did not end: it may have arrived.
        """

    def connect(self) -> None:
        """Open the connection and wait for the first state."""

    def state(self) -> ArmState:
        """Return the newest state."""

    def tcp_pose(self) -> TcpPose:
        """Return the measured pose of the tool centre point."""

    def move_linear(self, pose: TcpPose, *, speed_mps: float, acceleration_mps2: float) -> None:
        """Move the tool centre point straight to a pose and return once there.

        Raises:
            Timeout: It did not arrive in the time the distance and speed allow, with room.
            RobotError: `stop` was called, and `clear_stop` not since.
        """

    def refused(self, poses: Sequence[TcpPose]) -> TcpPose | None:
        """Return the first of the poses that the controller would not move to; nothing moves.

        Returns:
            None where it would move to all, or cannot be asked beforehand.
        """

    def gripper(self, gap_m: float) -> bool | None:
        """Drive the fingers to a distance and wait for them; 0 closes them.

        Returns:
            Whether they hold something; None where this gripper cannot tell.

        Raises:
            Collision: Something keeps them from a distance above 0.
            RobotError: As `move_linear`.
        """

    def holding(self) -> bool | None:
        """Return whether the fingers hold something now; None if closed, and it cannot tell."""

    def stop(self) -> None:
        """Brake now what was sent, and nothing else; what is under way raises `RobotError`.

        It never blocks for long.
        """

    def clear_stop(self) -> None:
        """Let it move again after a stop; for the thread that moves it, between two actions."""

    def close(self) -> None:
        """Stop and close the connection; doing so twice does no harm."""
