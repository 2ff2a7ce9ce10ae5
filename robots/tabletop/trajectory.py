"""A motion from its sending to its arrival, the same for every driver."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from cap.errors import LimitExceeded, NotConnected, ProtectiveStop, RobotError, Timeout
from robots.arm.rotations import rotation_of, rotation_vector
from robots.tabletop.driver import ArmState, TcpPose

_NEAR_M = 0.001
_NEAR_RAD = 0.01
_POLL_S = 0.02
_START_S = 1.0
"""An arm at rest for so long, and not there, will not get there."""
_SENDING_S = 1.0
"""How long a stop waits for a motion that is being sent."""
_SETTLE_S = 0.2
"""Two states at 10 Hz: a motion that has not begun by then, and is there, had nowhere to go."""
_VERDICT_S = 0.2
"""How long after a motion's end the state may come that says why it ended."""
_ROTATION_M = 0.1
"""Radius at which a turn of the tool counts as a path."""


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


class Link(Protocol):
    """What a driver gives to have its motions followed."""

    def state(self) -> ArmState:
        """Return the newest state, or raise `NotConnected`."""

    def prepare(self) -> None:
        """Make ready to send; nothing moves."""

    def send(self, motion: Motion) -> None:
        """Start a motion, or raise `NotConnected` without having done so."""

    def brake(self) -> None:
        """Stop the arm now, by whatever connection; raise `NotConnected` if there is none."""


class Mover:
    """Sends motions one at a time, waits for them, and ends them when it is stopped."""

    def __init__(self, link: Link, *, slack_s: float) -> None:
        """Use a link; a motion may take twice its time and `slack_s` seconds."""
        self._link = link
        self._slack_s = slack_s
        self._sending = threading.Lock()
        self._stopped = threading.Event()
        self.sent = 0
        """How many motions were sent."""
        self._owes_brake = False
        """Whether a motion of ours may be under way: no other program's is ever braked."""

    def go(self, motion: Motion) -> None:
        """Make a motion and return once there; on any failure the arm is stopped.

        Raises:
            NotConnected: The controller is not reached, or the arm is not ready to move.
            ProtectiveStop: The safety controller has stopped the arm.
            LimitExceeded: The motion has no finite target, speed and acceleration above 0.
            Timeout: It did not arrive in time.
            RobotError: It was stopped, or ended short of its target.
        """
        numbers = (*motion.target, motion.speed, motion.acceleration)
        sound = len(motion.target) == 6 and all(math.isfinite(number) for number in numbers)
        if not sound or motion.speed <= 0.0 or motion.acceleration <= 0.0:
            raise LimitExceeded(
                f"{motion} cannot be made: give 6 finite numbers, and a speed and an acceleration "
                "above 0"
            )
        self._link.prepare()
        start = self._link.state()
        require_ready(start)
        try:
            with self._sending:
                self._require_going()
                self.sent += 1
                self._owes_brake = True
                try:
                    self._link.send(motion)
                finally:
                    self._owes_brake = True  # a stop may not have waited until it was sent
            self._follow(motion, start)
            self._owes_brake = False
        except ProtectiveStop:
            self._owes_brake = False
            raise
        except BaseException as error:
            with contextlib.suppress(NotConnected):
                self.brake()
            if isinstance(error, RobotError) and not self._stopped.is_set():
                self._require_no_stop()
            raise

    def brake(self) -> None:
        """Stop the arm if a motion of ours may be under way.

        Raises:
            NotConnected: That could not be done, and is still to be done.
        """
        if self._owes_brake:
            self._link.brake()
            self._owes_brake = False

    def _require_no_stop(self) -> None:
        """Raise `ProtectiveStop` if that ended a motion: the state may come after the end."""
        until = time.monotonic() + _VERDICT_S
        with contextlib.suppress(NotConnected):
            while time.monotonic() < until:
                require_ready(self._link.state())
                time.sleep(_POLL_S)

    def wait(self, seconds: float) -> None:
        """Wait; fail once the arm was stopped, or may not move."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            self._stopped.wait(max(0.0, min(left, _POLL_S)))
            self._require_going()
            require_ready(self._link.state())
            if left <= 0.0:
                return

    def stop(self) -> None:
        """Brake; from now on motions and waits fail, until `clear_stop`.

        A motion that is just being sent is braked by its sender, should that take long.
        """
        self._stopped.set()
        waited = self._sending.acquire(timeout=_SENDING_S)
        try:
            self.brake()
        finally:
            if waited:
                self._sending.release()

    def clear_stop(self) -> None:
        """Let motions begin again; one that could not be braked before is braked first."""
        with contextlib.suppress(NotConnected):
            self.brake()
        self._stopped.clear()

    def _follow(self, motion: Motion, start: ArmState) -> None:
        """Wait until the arm is there and at rest."""
        sent = time.monotonic()
        deadline = sent + self._slack_s + 2.0 * motion.duration_s(start)
        began, resting_from = False, None
        while True:
            self._stopped.wait(_POLL_S)
            self._require_going()
            state = self._link.state()
            require_ready(state)
            now = time.monotonic()
            if state.moving:
                began, resting_from = True, None
            elif resting_from is None and now - sent > state.age_s:
                resting_from = now
            rest = 0.0 if resting_from is None else now - resting_from
            if rest > (0.0 if began else _SETTLE_S) and motion.reached(state):
                return
            if rest > _START_S and not began:
                raise RobotError(
                    "the controller did not start the motion: is it in remote control, "
                    "and does its log say why?"
                )
            if rest > _START_S:
                raise RobotError(
                    f"the motion ended {motion.left(state)} short of its target: see the "
                    "controller's log"
                )
            if now > deadline:
                raise Timeout(
                    f"the arm is {motion.left(state)} short of its target after {now - sent:.1f} s "
                    "and was stopped: is the speed slider low, or something in its way?"
                )

    def _require_going(self) -> None:
        if self._stopped.is_set():
            raise RobotError("the arm was stopped")


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


def turn(a: Sequence[float], b: Sequence[float]) -> float:
    """Return the angle between two orientations given as rotation vectors, radians."""
    return float(np.linalg.norm(rotation_vector(rotation_of(a).T @ rotation_of(b))))
