"""What every UR controller has, whatever drives it: modes, dashboard, script port; its driver.

A driver sends one motion at a time, follows it until it has arrived, and ends it at a stop.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import socket
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from cap.errors import LimitExceeded, NotConnected, ProtectiveStop, RobotError, Timeout
from robots.arm.gripper import OPEN_GAP_M, Fingers
from robots.tabletop import arm_state
from robots.tabletop.arm_state import ArmState, Mode, Motion, Safety, TcpPose, require_ready
from robots.tabletop.gripper import Output, gripper_for

SCRIPT_PORT = 30002
DASHBOARD_PORT = 29999
_PATIENCE_S = 0.1
"""How long an old state is given to become a new one."""
_POLL_S = 0.02
_DASHBOARD_S = 0.5
_BRAKE_S = 0.5
_START_S = 1.0
"""An arm at rest for so long, and not there, will not get there."""
_SENDING_S = 1.0
"""How long a stop waits for a motion that is being sent."""
_SETTLE_S = 0.2
"""Two states at 10 Hz: a motion that has not begun by then, and is there, had nowhere to go."""
_VERDICT_S = 0.2
"""How long after a motion's end the state may come that says why it ended."""

ROBOT_MODES: dict[int, Mode] = {
    -1: "disconnected",
    0: "disconnected",
    3: "power_off",
    4: "idle",
    5: "idle",
    7: "running",
}
"""Robot modes; 1, 2, 6, 8 (confirm safety, booting, backdrive, update) are `unknown`."""

SAFETY_MODES: dict[int, Safety] = {
    1: "normal",
    2: "reduced",
    3: "protective_stop",
    4: "fault",
    5: "safeguard_stop",
    6: "emergency_stop",
    7: "emergency_stop",
    8: "fault",
    9: "fault",
    12: "safeguard_stop",
    13: "safeguard_stop",
}
"""Safety modes; recovery (4) and violation (8) are faults, for they bar motion until repaired."""


def remote_control(host: str) -> bool | None:
    """Ask the dashboard whether remote control is on.

    Returns:
        None where there is no dashboard, or its software does not know the question.
    """
    answer = ask_dashboard(host, "is in remote control") or ""
    return {"true": True, "false": False}.get(answer.lower())


def ask_dashboard(host: str, question: str) -> str | None:
    """Ask the dashboard something that changes nothing; None where there is no dashboard."""
    try:
        with socket.create_connection((host, DASHBOARD_PORT), _DASHBOARD_S) as talk:
            talk.settimeout(_DASHBOARD_S)
            with talk.makefile("rw", encoding="utf-8", newline="\n") as lines:
                lines.readline()
                lines.write(f"{question}\n")
                lines.flush()
                return lines.readline().strip()
    except OSError:
        return None


def brake(host: str) -> None:
    """Brake by a connection of its own: for when the one in use is gone and the arm may move.

    Raises:
        OSError: The controller does not listen.
    """
    with socket.create_connection((host, SCRIPT_PORT), _BRAKE_S) as once:
        once.settimeout(_BRAKE_S)
        once.sendall(b"stopl(1.5)\n")
        # A connection closed with its states unread may lose what was sent.
        once.recv(4096)


def take_arm(host: str) -> int | None:
    """Hold an arm for this session alone, among all on this machine; return what `os.close` frees.

    Returns:
        None on systems without such locks.

    Raises:
        NotConnected: Another session holds it.
    """
    try:
        import fcntl
    except ImportError:
        return None
    path = Path(tempfile.gettempdir()) / f"cap-arm-{re.sub(r'[^0-9A-Za-z.-]', '_', host)}.lock"
    usual = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        file = os.open(path, usual)
    except FileNotFoundError:
        file = os.open(path, usual | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise NotConnected(
            f"another session on this machine has the arm at {host}: end that one first"
        ) from None
    return file


class ControllerDriver(ABC):
    """Moves an arm and says where it is. One thread moves; `stop` and `state` are safe from any.

    Every method raises `NotConnected` when the controller is not reached or its last state is too
    old, and `ProtectiveStop` when the safety controller has stopped the arm. A driver never
    unlocks a protective stop, and never sends a motion to a controller in such a state. After
    `stop` it moves nothing until `clear_stop`, in whatever moment the stop falls.
    """

    name: str
    """As people choose it: `urx` or `ur_rtde`."""
    heard: ArmState | None = None
    """The newest state of all that were asked for, also once the connection is lost."""
    _taken: int | None = None
    """Keeps other sessions from the arm."""

    def __init__(
        self,
        host: str,
        *,
        gripper: str = "tool_io",
        gripper_wait_s: float = 1.0,
        stroke_m: float = OPEN_GAP_M,
        slack_s: float = 5.0,
    ) -> None:
        """Prepare; `connect` connects.

        Args:
            host: The controller's address.
            gripper: `none`, `robotiq`, `tool_io[:0-1]` or `standard_io[:0-7]`.
            gripper_wait_s: Time a gripper on an output needs, seconds.
            stroke_m: Greatest distance of its fingers, metres.
            slack_s: What a motion may take beyond twice its time, seconds.

        Raises:
            UsageError: No such gripper.
            MissingExtra: The library is not installed.
        """
        self._find_library()
        self.host = host
        self._remote: bool | None = None
        self._gripper = gripper_for(
            gripper, host, self._switch, self._is_on, wait_s=gripper_wait_s, stroke_m=stroke_m
        )
        self._slack_s = slack_s
        self._sending = threading.Lock()
        self._stopped = threading.Event()
        self.sent = 0
        """How many motions were sent."""
        self._owes_brake = False
        """Whether a motion of ours may be under way: no other program's is ever braked."""

    def connect(self) -> None:
        """Open the connection and wait for the first state; the arm's program is left alone.

        Raises:
            NotConnected: Nothing listens there, it sends no states, or another session has it.
        """
        self.close()
        self._taken = take_arm(self.host)
        try:
            self._open()
        except BaseException:
            self._release()
            self._leave()
            raise
        self._remote = remote_control(self.host)

    def state(self) -> ArmState:
        """Return the newest state, at most 0.5 s old."""
        deadline = time.monotonic() + _PATIENCE_S
        while True:  # an old one is asked for again for a little: we may be late ourselves
            state = self._newest()
            if state is not None and state.age_s <= arm_state.STALE_S:
                self.heard = state
                return state
            if time.monotonic() > deadline:
                raise NotConnected(
                    f"the controller at {self.host} has said nothing for 0.5 s: check the cable, "
                    "then connect again"
                )
            time.sleep(_POLL_S)

    def tcp_pose(self) -> TcpPose:
        """Return the measured pose of the tool centre point."""
        return self.state().tcp_pose

    def move_linear(self, pose: TcpPose, *, speed_mps: float, acceleration_mps2: float) -> None:
        """Move the tool centre point straight to a pose and return once there.

        On any failure the arm is stopped.

        Raises:
            NotConnected: The controller is not reached, or the arm is not ready to move.
            ProtectiveStop: The safety controller has stopped the arm.
            LimitExceeded: The motion has no finite target, speed and acceleration above 0.
            Timeout: It did not arrive in twice its time and some slack.
            RobotError: It was stopped, or ended short of its target.
        """
        motion = Motion(pose, speed_mps, acceleration_mps2)
        numbers = (*motion.target, motion.speed, motion.acceleration)
        sound = len(motion.target) == 6 and all(math.isfinite(number) for number in numbers)
        if not sound or motion.speed <= 0.0 or motion.acceleration <= 0.0:
            raise LimitExceeded(
                f"{motion} cannot be made: give 6 finite numbers, and a speed and an acceleration "
                "above 0"
            )
        self.prepare()
        start = self.state()
        require_ready(start)
        try:
            with self._sending:
                self._require_going()
                self.sent += 1
                self._owes_brake = True
                try:
                    self.send(motion)
                finally:
                    self._owes_brake = True  # a stop may not have waited until it was sent
            self._follow(motion, start)
            self._owes_brake = False
        except ProtectiveStop:
            self._owes_brake = False
            raise
        except BaseException as error:
            with contextlib.suppress(NotConnected):
                self._brake_ours()
            if isinstance(error, RobotError) and not self._stopped.is_set():
                self._require_no_stop()
            raise

    def _brake_ours(self) -> None:
        """Stop the arm if a motion of ours may be under way: by a new connection if this is gone.

        Raises:
            NotConnected: That could not be done, and is still to be done.
        """
        if not self._owes_brake:
            return
        try:
            self._send_stop()
        except NotConnected as lost:
            try:
                brake(self.host)
            except OSError:
                raise lost from None
        self._owes_brake = False

    def _require_no_stop(self) -> None:
        """Raise `ProtectiveStop` if that ended a motion: the state may come after the end."""
        until = time.monotonic() + _VERDICT_S
        with contextlib.suppress(NotConnected):
            while time.monotonic() < until:
                require_ready(self.state())
                time.sleep(_POLL_S)

    def _wait(self, seconds: float) -> None:
        """Wait; fail once the arm was stopped, or may not move."""
        until = time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            self._stopped.wait(max(0.0, min(left, _POLL_S)))
            self._require_going()
            require_ready(self.state())
            if left <= 0.0:
                return

    def _follow(self, motion: Motion, start: ArmState) -> None:
        """Wait until the arm is there and at rest."""
        sent = time.monotonic()
        deadline = sent + self._slack_s + 2.0 * motion.duration_s(start)
        began, resting_from = False, None
        while True:
            self._stopped.wait(_POLL_S)
            self._require_going()
            state = self.state()
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
                    f"the arm is {motion.left(state)} short of its target after "
                    f"{now - sent:.1f} s: is the speed slider low, or something in its way?"
                )

    def _require_going(self) -> None:
        if self._stopped.is_set():
            raise RobotError("the arm was stopped")

    def refused(self, poses: Sequence[TcpPose]) -> TcpPose | None:
        """Return the first pose that the controller would not move to; nothing moves.

        Returns:
            None where it would move to all, or, as here, cannot be asked beforehand.
        """
        return None

    @property
    def fingers(self) -> Fingers:
        """How far its gripper opens."""
        return self._gripper.fingers

    @property
    def commanded_gap_m(self) -> float | None:
        """The distance last commanded to its fingers, metres; they may be under way.

        None before the first, and where a command was begun and did not end: it may have arrived.
        """
        return self._gripper.commanded_m

    def gripper(self, gap_m: float) -> bool | None:
        """Drive the fingers to a distance (m) and wait for them; 0 closes them.

        Returns:
            Whether they hold something; None where this gripper cannot tell.

        Raises:
            Collision: Something keeps them from a distance above 0.
            RobotError: As `move_linear`.
        """
        self._remote = remote_control(self.host)
        self._wait(0.0)
        return self._gripper.set(gap_m, self._wait)

    def holding(self) -> bool | None:
        """Return whether the fingers hold something now; None if closed, and they cannot tell."""
        return self._gripper.holding()

    def stop(self) -> None:
        """Brake what was sent, and nothing else; until `clear_stop` motions and waits fail.

        A motion that is just being sent is braked by its sender, should that take long.
        """
        self._stopped.set()
        waited = self._sending.acquire(timeout=_SENDING_S)
        try:
            self._brake_ours()
        finally:
            if waited:
                self._sending.release()

    def clear_stop(self) -> None:
        """Let motions begin again; one that could not be braked before is braked first."""
        with contextlib.suppress(NotConnected):
            self._brake_ours()
        self._stopped.clear()

    def close(self) -> None:
        """Stop what moves and close the connection."""
        with contextlib.suppress(NotConnected):
            self._brake_ours()
        self._release()
        self._gripper.close()
        self._leave()

    def _leave(self) -> None:
        """Let other sessions have the arm."""
        if self._taken is not None:
            os.close(self._taken)
            self._taken = None

    def prepare(self) -> None:
        """Ask who has control; nothing moves."""
        self._remote = remote_control(self.host)

    @abstractmethod
    def send(self, motion: Motion) -> None:
        """Have the controller start a motion."""

    @abstractmethod
    def _send_stop(self) -> None:
        """Have the controller stop the arm."""

    @abstractmethod
    def _find_library(self) -> None:
        """Raise `MissingExtra` if the library that talks to the controller is not installed."""

    @abstractmethod
    def _open(self) -> None:
        """Open the connection and wait for the first state."""

    @abstractmethod
    def _release(self) -> None:
        """Close the connection, if there is one."""

    @abstractmethod
    def _newest(self) -> ArmState | None:
        """Return the newest state, however old; None before the first."""

    def _is_on(self, output: Output) -> bool:
        """Return whether a digital output is on."""
        kind, number = output
        return bool(self.state().outputs >> (number + (16 if kind == "tool" else 0)) & 1)

    @abstractmethod
    def _switch(self, output: Output, on: bool) -> None:
        """Set a digital output."""
