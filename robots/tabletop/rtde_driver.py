"""The arm by `ur_rtde`: states at 125 Hz, motions by its control script, a watchdog behind both.

The library runs in a process of its own (`rtde_child` says why). Every request to it has a
deadline; past that the process is ended, and the controller's watchdog ends the motion.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import selectors
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from cap.errors import MissingExtra, NotConnected, RobotError, Unreachable
from robots.tabletop import controller
from robots.tabletop.driver import ArmState, Joints, TcpPose
from robots.tabletop.gripper import Output, gripper_for
from robots.tabletop.travel import Motion, Mover, fresh, require_ready

_START_S = 15.0
_PREPARE_S = 10.0
_ANSWER_S = 2.0
_ENVIRONMENT = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "TZ")
"""What the library's process may know of ours; keys are not among it."""


class RtdeDriver:
    """A UR arm with RTDE: e-Series, or CB3 with software from 3.4 on."""

    name = "ur_rtde"

    def __init__(
        self,
        host: str,
        *,
        gripper: str = "tool_io",
        gripper_wait_s: float = 1.0,
        slack_s: float = 5.0,
    ) -> None:
        """Prepare; `connect` connects.

        Args:
            host: The controller's address.
            gripper: `none`, `robotiq`, `tool_io[:0-1]` or `standard_io[:0-7]`.
            gripper_wait_s: Time a gripper on an output needs, seconds.
            slack_s: What a motion may take beyond twice its time, seconds.

        Raises:
            UsageError: No such gripper.
            MissingExtra: `ur_rtde` is not installed.
        """
        if importlib.util.find_spec("rtde_control") is None:
            raise MissingExtra(
                "the driver ur_rtde needs the package ur_rtde, which is not installed: "
                "pip install 'code-as-policies[rtde]' (CPython 3.11 or 3.12, Linux x86-64)"
            )
        self.host = host
        self._child: _Child | None = None
        self._remote: bool | None = None
        self._kind = "movel"
        self._gripper = gripper_for(gripper, host, self._switch, wait_s=gripper_wait_s)
        self._mover = Mover(self, slack_s=slack_s)

    def connect(self) -> None:
        """Open the connection and wait for the first state; the arm's program is left alone.

        Raises:
            NotConnected: Nothing listens there, or it sends no states.
        """
        self.close()
        self._child = _Child(self.host)
        try:
            self._child.read(_START_S)
            self.state()
        except BaseException:
            self.close()
            raise
        self._remote = controller.remote_control(self.host)

    def state(self) -> ArmState:
        """Return the newest state, at most 0.5 s old."""
        state = fresh(self._newest)
        if state is None:
            raise NotConnected(
                f"the controller at {self.host} has said nothing for 0.5 s: check the cable, "
                "then connect again"
            )
        return state

    def tcp_pose(self) -> TcpPose:
        """Return the measured pose of the tool centre point."""
        return self.state().tcp_pose

    def move_joints(
        self, joints: Joints, *, speed_radps: float, acceleration_radps2: float
    ) -> None:
        """Move to joint angles (rad) and return once there."""
        self._go(Motion("movej", tuple(joints), speed_radps, acceleration_radps2))

    def move_linear(self, pose: TcpPose, *, speed_mps: float, acceleration_mps2: float) -> None:
        """Move the tool centre point straight to a pose and return once there."""
        self._go(Motion("movel", tuple(pose), speed_mps, acceleration_mps2))

    def gripper(self, closed: bool) -> bool | None:
        """Close or open the gripper and wait for it; None where it cannot tell what it holds."""
        self._remote = controller.remote_control(self.host)
        require_ready(self.state())
        return self._gripper.set(closed, self._mover.pauses())

    def stop(self) -> None:
        """Brake now; the motion that is under way raises `RobotError`."""
        self._mover.stop()

    def close(self) -> None:
        """Stop what moves and close the connection."""
        child = self._child
        if child is not None:
            if self._mover.busy:
                with contextlib.suppress(NotConnected):
                    self.stop()
            self._child = None
            child.close()
        self._gripper.close()

    def send(self, motion: Motion) -> None:
        """Have the controller start a motion."""
        self._kind = motion.kind
        told = self._ask(
            {
                "do": "move",
                "kind": motion.kind,
                "target": motion.target,
                "speed": motion.speed,
                "acceleration": motion.acceleration,
            }
        )
        if not told["started"]:
            require_ready(self.state())
        if not told["allowed"]:
            raise Unreachable(
                "the controller does not allow that target: it is out of the arm's reach, or "
                "outside the safety limits set on the pendant"
            )
        if not told["started"]:
            raise RobotError("the controller refused the motion: see its log for why")

    def brake(self) -> None:
        """Stop the arm: by a new connection where this one is gone."""
        try:
            if self.state().safety in ("normal", "reduced"):
                self._ask({"do": "stop", "kind": self._kind})
        except NotConnected:
            if self._child is None:
                raise
            with contextlib.suppress(OSError):
                controller.brake(self.host)
            raise

    def _newest(self) -> ArmState:
        told = self._ask({"do": "state"})
        return ArmState(
            joints=tuple(told["joints"]),
            tcp_pose=tuple(told["tcp_pose"]),
            mode=controller.ROBOT_MODES.get(told["mode"], "unknown"),
            safety=controller.SAFETY_MODES.get(told["safety"], "unknown"),
            remote=self._remote,
            moving=told["moving"],
            age_s=told["age_s"],
        )

    def _go(self, motion: Motion) -> None:
        self._remote = controller.remote_control(self.host)
        require_ready(self.state())
        self._ask({"do": "prepare"}, _PREPARE_S)
        self._mover.go(motion)

    def _switch(self, output: Output, on: bool) -> None:
        kind, number = output
        told = self._ask({"do": "output", "kind": kind, "number": number, "on": on}, _PREPARE_S)
        if not told["set"]:
            raise RobotError(f"the controller refused to set {kind} output {number}")

    def _ask(self, request: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        child = self._child
        if child is None:
            raise NotConnected(f"the arm at {self.host} is not connected: connect first")
        return child.ask(request, _ANSWER_S if seconds is None else seconds)


class _Child:
    """The process, and the lines to and from it."""

    def __init__(self, host: str) -> None:
        program = Path(__file__).with_name("rtde_child.py")
        self._host = host
        self._lock = threading.Lock()
        self._rest = b""
        self._asked = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(program), host],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ},
            start_new_session=True,
        )

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return its answer.

        Raises:
            NotConnected: There is no answer in time, or the library says so.
        """
        with self._lock:
            self._asked += 1
            with contextlib.suppress(OSError, ValueError):
                line = json.dumps(request | {"id": self._asked})
                self._stdin.write(line.encode() + b"\n")
                self._stdin.flush()
            return self.read(seconds)

    def read(self, seconds: float) -> dict[str, Any]:
        """Return the answer to the newest request."""
        deadline = time.monotonic() + seconds
        while True:
            told = self._message(deadline)
            # The answer to a request that Ctrl-C ended comes late.
            if told.get("id", self._asked) == self._asked:
                return self._answer(told)

    def _message(self, deadline: float) -> dict[str, Any]:
        line = self._line(deadline)
        if line is None:
            self._end()
            raise NotConnected(
                f"ur_rtde does not answer for the controller at {self._host}: connect again"
            )
        told: dict[str, Any] = json.loads(line) if line else {"lost": "its process ended"}
        return told

    def _answer(self, told: dict[str, Any]) -> dict[str, Any]:
        if "ok" in told:
            answer: dict[str, Any] = told["ok"]
            return answer
        if "error" in told:
            raise RobotError(f"ur_rtde refused: {told['error']}")
        raise NotConnected(
            f"ur_rtde has no connection to the controller at {self._host} "
            f"({told['lost']}): check it, then connect again"
        )

    def close(self) -> None:
        """Have it stop the arm and end; end it if it does not."""
        with self._lock:
            with contextlib.suppress(OSError, ValueError):
                self._stdin.write(b'{"do": "close"}\n')
                self._stdin.flush()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_ANSWER_S)
            self._end()

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    def _line(self, deadline: float) -> bytes | None:
        """Return one line; empty if it ended, None if it is too late."""
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as ready:
            try:
                ready.register(self._process.stdout, selectors.EVENT_READ)
            except ValueError:
                return b""
            while b"\n" not in self._rest:
                if not ready.select(max(0.0, deadline - time.monotonic())):
                    return None
                if not (more := os.read(self._process.stdout.fileno(), 65536)):
                    return b""
                self._rest += more
        line, self._rest = self._rest.split(b"\n", 1)
        return line

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
