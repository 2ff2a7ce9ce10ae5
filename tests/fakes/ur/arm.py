"""A simulated UR5e: it moves along its path evenly, can be stopped, and has digital outputs."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from robots.arm.rotations import rotation_of, rotation_vector
from tests.fakes.ur.kinematics import Array, joints_at, pose_of

HOME = (0.0, -math.pi / 2, math.pi / 2, -math.pi / 2, -math.pi / 2, 0.0)
"""Upper arm up, forearm level, tool straight down."""

RobotMode = Literal["running", "idle", "power_off", "disconnected"]
SafetyMode = Literal[
    "normal", "reduced", "protective_stop", "safeguard_stop", "emergency_stop", "fault"
]
MODE_NUMBERS: dict[RobotMode, int] = {"disconnected": 0, "power_off": 3, "idle": 5, "running": 7}
SAFETY_NUMBERS: dict[SafetyMode, int] = {
    "normal": 1,
    "reduced": 2,
    "protective_stop": 3,
    "safeguard_stop": 5,
    "emergency_stop": 7,
    "fault": 9,
}


_SHOWN = 3
"""A motion ends once so many states told of it, where somebody is told: it must be seen."""
_STEP_S = 0.004
"""Where an arm in motion is, is worked out anew after so long on the wall's clock."""


@dataclass(frozen=True)
class Move:
    """A motion the controller was told to make."""

    kind: Literal["movej", "movel"]
    """In joint space, or straight."""
    target: tuple[float, ...]
    """Joint angles (rad) for `movej`; x, y, z (m) and rotation vector (rad) for `movel`."""
    speed: float
    """rad/s for `movej`, m/s for `movel`."""
    acceleration: float
    """rad/s^2 or m/s^2."""


@dataclass(frozen=True)
class _Path:
    """A motion under way."""

    move: Move
    began: float
    duration: float
    joints: tuple[float, ...]
    pose: tuple[float, ...]


class SimulatedArm:
    """The body. Its clock runs `time_factor` times as fast as the wall's."""

    def __init__(
        self, *, time_factor: float, tool_m: float, joints: tuple[float, ...] = HOME
    ) -> None:
        self._factor = time_factor
        self._tool_m = tool_m
        self._clock = 0.0
        self._last = time.monotonic()
        self._followed = self._last
        self._followed_clock = 0.0
        self._path: _Path | None = None
        self.farthest_x = math.inf
        """A plane set on the pendant: beyond it the tool may not go, metres."""
        self.listeners = 0
        """How many are told of its states."""
        self._shown = 0
        self.held_at: float | None = None
        """Share of its time after which a motion waits, as long as this is so."""
        self.joints: tuple[float, ...] = joints
        self.joint_speeds: tuple[float, ...] = (0.0,) * 6
        self.pose: tuple[float, ...] = tuple(pose_of(joints, tool_m).tolist())
        self.mode: RobotMode = "running"
        self.safety: SafetyMode = "normal"
        self.remote = True
        """Whether the network has control."""
        self.outputs: dict[tuple[str, int], bool] = {}
        """Digital outputs by kind (`tool`, `standard`, `configurable`) and number."""

    @property
    def time_factor(self) -> float:
        """How much faster than the wall's the clock runs."""
        return self._factor

    @time_factor.setter
    def time_factor(self, factor: float) -> None:
        self.advance()
        self._factor = factor

    @property
    def ready(self) -> bool:
        """Whether it would move if told to."""
        return self.mode == "running" and self.safety in ("normal", "reduced")

    @property
    def moving(self) -> bool:
        """Whether a motion is under way."""
        return self._path is not None

    @property
    def output_bits(self) -> int:
        """Digital outputs as bits: standard from 0, configurable from 8, tool from 16."""
        first = {"standard": 0, "configurable": 8, "tool": 16}
        return sum(on << (n + first[kind]) for (kind, n), on in self.outputs.items())

    def advance(self) -> float:
        """Move to where it is by now; return its clock in seconds."""
        now = time.monotonic()
        self._clock += (now - self._last) * self._factor
        self._last = now
        if self._path is not None:
            elapsed = self._clock - self._path.began
            if self.held_at is not None:
                elapsed = min(elapsed, self.held_at * self._path.duration)
            if self.listeners and self._shown < _SHOWN:
                elapsed = min(elapsed, 0.99 * self._path.duration)
            if elapsed >= self._path.duration or now - self._followed >= _STEP_S:
                self._followed = now
                self._follow(self._path, elapsed)
        return self._clock

    def show(self) -> None:
        """Note that somebody is told its state."""
        self._shown += self.moving

    def reaches(self, pose: Sequence[float]) -> bool:
        """Return whether there are joint angles for a pose."""
        x = float(pose[0])
        return x <= self.farthest_x and joints_at(pose, self.joints, self._tool_m) is not None

    def begin(self, move: Move) -> None:
        """Start a motion; what it was doing before ends here. Out of reach stops it for safety."""
        self.advance()
        self._rest()
        self._followed_clock = self._clock
        if move.kind == "movel" and not self.reaches(move.target):
            self.safety = "protective_stop"
            return
        takes = self._length(move) / move.speed
        self._shown = 0
        self._path = _Path(move, self._clock, takes, self.joints, self.pose)

    def halt(self) -> None:
        """Stop where it is."""
        self.advance()
        self._rest()

    def _length(self, move: Move) -> float:
        if move.kind == "movej":
            return max(abs(b - a) for a, b in zip(self.joints, move.target, strict=True))
        turn = float(np.linalg.norm(_turn(self.pose, move.target)))
        return max(math.dist(self.pose[:3], move.target[:3]), 0.1 * turn)

    def _follow(self, path: _Path, elapsed: float) -> None:
        """Put joints and pose where the path is after so long."""
        share = 1.0 if elapsed >= path.duration else elapsed / path.duration
        before = self.joints
        if path.move.kind == "movej":
            self.joints = tuple(
                a + (b - a) * share for a, b in zip(path.joints, path.move.target, strict=True)
            )
            self.pose = tuple(pose_of(self.joints, self._tool_m).tolist())
        else:
            self.pose = between(path.pose, path.move.target, share)
            found = joints_at(self.pose, self.joints, self._tool_m)
            self.joints = self.joints if found is None else tuple(found.tolist())
        if share == 1.0:
            self._rest()
        else:
            seconds = max(1e-6, self._clock - self._followed_clock)
            turned = zip(before, self.joints, strict=True)
            self.joint_speeds = tuple((b - a) / seconds for a, b in turned)
        self._followed_clock = self._clock

    def _rest(self) -> None:
        self._path = None
        self.joint_speeds = (0.0,) * 6


def between(start: Sequence[float], end: Sequence[float], share: float) -> tuple[float, ...]:
    """Return the pose a share of the way from one to another, the rotation turning evenly."""
    if share == 1.0:
        return tuple(end)
    place = [a + (b - a) * share for a, b in zip(start[:3], end[:3], strict=True)]
    rotation = rotation_of(_turn(start, end) * share) @ rotation_of(start[3:])
    return (*place, *(float(v) for v in rotation_vector(rotation)))


def _turn(start: Sequence[float], end: Sequence[float]) -> Array:
    """Return the rotation vector (rad) that takes one pose's orientation to another's."""
    return rotation_vector(rotation_of(end[3:]) @ rotation_of(start[3:]).T)
