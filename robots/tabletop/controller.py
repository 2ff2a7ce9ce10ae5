"""What every UR controller has, whatever drives it: modes, dashboard, script port; its driver."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from cap.errors import NotConnected
from robots.arm.gripper import OPEN_GAP_M, Fingers
from robots.tabletop.driver import ArmState, Mode, Safety, TcpPose
from robots.tabletop.gripper import Output, gripper_for
from robots.tabletop.trajectory import Motion, Mover

SCRIPT_PORT = 30002
DASHBOARD_PORT = 29999
_FRESH_S = 0.5
_PATIENCE_S = 0.1
"""How long an old state is given to become a new one."""
_POLL_S = 0.02
_DASHBOARD_S = 0.5
_BRAKE_S = 0.5

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
    """What the drivers of a UR controller have in common; see `ArmDriver`."""

    name: str
    """As people choose it."""
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
        self._mover = Mover(self, slack_s=slack_s)

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
            if state is not None and state.age_s <= _FRESH_S:
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
        """Move the tool centre point straight to a pose and return once there."""
        self._mover.go(Motion(pose, speed_mps, acceleration_mps2))

    def refused(self, poses: Sequence[TcpPose]) -> TcpPose | None:
        """Return none: this interface cannot be asked what the pendant's limits allow."""
        return None

    @property
    def fingers(self) -> Fingers:
        """How far its gripper opens."""
        return self._gripper.fingers

    @property
    def commanded_gap_m(self) -> float | None:
        """The distance last commanded to its fingers, metres."""
        return self._gripper.told_m

    @property
    def sent(self) -> int:
        """How many motions were sent."""
        return self._mover.sent

    def gripper(self, gap_m: float) -> bool | None:
        """Drive the fingers to a distance (m); None where they cannot tell what they hold."""
        self._remote = remote_control(self.host)
        self._mover.wait(0.0)
        return self._gripper.set(gap_m, self._mover.wait)

    def holding(self) -> bool | None:
        """Return whether the fingers hold something now; None if closed, and they cannot tell."""
        return self._gripper.holding()

    def stop(self) -> None:
        """Brake now; what is under way raises `RobotError`, and nothing moves from here on."""
        self._mover.stop()

    def clear_stop(self) -> None:
        """Let it move again."""
        self._mover.clear_stop()

    def close(self) -> None:
        """Stop what moves and close the connection."""
        with contextlib.suppress(NotConnected):
            self._mover.brake()
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
    def brake(self) -> None:
        """Stop the arm: by a new connection where this one is gone.

        Raises:
            NotConnected: There is none to be had either.
        """

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
