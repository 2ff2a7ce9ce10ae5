"""A driver that moves nothing: it writes down the very commands another one would send."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from cap.errors import RobotError
from robots.arm.gripper import ROBOTIQ_2F_85, Fingers
from robots.arm.motion import PARK, Pose
from robots.tabletop.arm_state import ArmState, TcpPose
from robots.tabletop.limits import straight_down, yaw_of


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.5f}" for value in values)


DIALECTS: Mapping[str, Callable[[TcpPose, float, float], str]] = {
    "urx": lambda pose, v, a: f"movel(p[{_numbers(pose)}], a={a:.3f}, v={v:.3f})",
    "ur_rtde": lambda pose, v, a: f"moveL([{_numbers(pose)}], {v:.3f}, {a:.3f})",
}
"""How a driver says a straight move of a pose, speed and acceleration: in URScript by the secondary
interface, or as a call of ur_rtde's control interface; metres, radians and seconds."""


@dataclass
class DryDriver:
    """An arm that is always where it was commanded to go."""

    name: str
    """Whose commands are written down."""
    commands: list[str] = field(default_factory=list)
    """What would have been sent, in order."""
    poses: list[TcpPose] = field(default_factory=list)
    """Where the fingertips would have been, in the base frame."""
    table_z_m: float = 0.0
    """Height of the table top: the arm begins above it, where it waits between motions."""
    fingers: Fingers = ROBOTIQ_2F_85
    """Of the gripper that would be there."""
    commanded_gap_m: float | None = None
    """The distance last commanded to the fingers, metres."""
    heard: ArmState | None = None
    """Nothing: there is always a newest state."""
    stopped: bool = False
    """Whether it was asked to stop, and not yet to go on."""

    def __post_init__(self) -> None:
        """Begin where the gripper waits between motions."""
        self._dialect = DIALECTS[self.name]
        above = dataclasses.replace(PARK, z=PARK.z + self.table_z_m)
        begin = straight_down(above.x, above.y, above.z, above.yaw)
        self.poses.append(begin)
        self._state = ArmState(above.joints(), begin, "running", "normal", True, False, 0.0)

    @property
    def sent(self) -> int:
        """How many motions would have been sent."""
        return len(self.poses) - 1

    def connect(self) -> None:
        """Connect to nothing."""

    def state(self) -> ArmState:
        """Return the state as if everything had been done."""
        return self._state

    def tcp_pose(self) -> TcpPose:
        """Return where the fingertips would be."""
        return self._state.tcp_pose

    def move_linear(self, pose: TcpPose, *, speed_mps: float, acceleration_mps2: float) -> None:
        """Write a straight move down."""
        self._require_going()
        self.commands.append(self._dialect(pose, speed_mps, acceleration_mps2))
        self.poses.append(pose)
        joints = Pose(pose[0], pose[1], pose[2] - self.table_z_m, yaw_of(pose)).joints()
        self._state = dataclasses.replace(self._state, tcp_pose=pose, joints=joints)

    def refused(self, poses: Sequence[TcpPose]) -> TcpPose | None:
        """Return none: there is nobody to ask."""
        return None

    def _require_going(self) -> None:
        if self.stopped:
            raise RobotError("the arm was stopped")

    def gripper(self, gap_m: float) -> bool | None:
        """Write it down; whether it would hold anything is not known."""
        self._require_going()
        self.commanded_gap_m = gap_m
        self.commands.append(f"gripper open {1000 * gap_m:.0f} mm" if gap_m else "gripper close")
        return None

    def holding(self) -> bool | None:
        """Return that open fingers hold nothing; of closed ones it is not known."""
        return None if self.commanded_gap_m == 0 else False

    def stop(self) -> None:
        """Go on with nothing; a stop is sent to an arm that moves, and this one is always there."""
        self.stopped = True

    def clear_stop(self) -> None:
        """Let it go on."""
        self.stopped = False

    def close(self) -> None:
        """Disconnect from nothing."""
