"""Grippers: by a digital output, or by the Robotiq socket."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Literal

from cap.errors import Collision, NotConnected, RobotError, Timeout, UsageError
from robots.arm.gripper import NO_FINGERS, OPEN_GAP_M, Fingers

Wait = Callable[[float], None]
"""Wait so many seconds, or fail because the arm was stopped."""
Output = tuple[Literal["tool", "standard"], int]
"""A digital output: at the tool or in the control box, and its number."""

ROBOTIQ_PORT = 63352
_OPEN, _CLOSED = 0, 255
_WIDEST, _NARROWEST = 3, 230
"""Positions at which the fingers are as far apart as they go, and touch; evenly between."""
MAX_STROKE_M = 0.2
_FORCE = 50
"""Of 255: enough for a block, gentle on fingers."""
_POLL_S = 0.05
_ANSWER_S = 1.0
_ACTIVATED = 3
_SHOWN = 40
"""How much of an unreadable answer is shown."""
_MOVING, _CLOSED_ON_OBJECT, _THERE = 0, 2, 3


class Gripper:
    """Two fingers at the flange; of this class itself there are none."""

    fingers = NO_FINGERS
    """How far they open."""
    commanded_m: float | None = None
    """The distance last commanded, metres; None before the first, and where a command was
    begun and did not end: it may have arrived."""

    def set(self, gap_m: float, wait: Wait) -> bool | None:
        """Drive them to a distance, wait, and return whether they hold something, if known.

        Args:
            gap_m: The distance, metres; 0 closes them.
            wait: How to wait.

        Raises:
            Collision: Something keeps them from a distance above 0.
            NotConnected: It is not reached.
            RobotError: There are none.
            Timeout: It did not end its motion in time.
        """
        raise RobotError("this arm has no gripper: give one with the option gripper=robotiq")

    def holding(self) -> bool | None:
        """Return whether they hold something now; None if closed, and they cannot tell.

        Raises:
            NotConnected: The gripper is not reached.
        """
        return False

    def close(self) -> None:
        """Let go of the connection, if there is one; an output stays as it is."""


class OutputGripper(Gripper):
    """A gripper on one digital output: on is closed. It cannot tell what it holds."""

    def __init__(
        self,
        output: Output,
        switch: Callable[[Output, bool], None],
        is_on: Callable[[Output], bool],
        *,
        wait_s: float,
        stroke_m: float = OPEN_GAP_M,
    ) -> None:
        """Use an output.

        Args:
            output: The output.
            switch: Sets an output.
            is_on: Returns whether one is on.
            wait_s: Time the fingers need.
            stroke_m: How far they open, metres.
        """
        self.fingers = Fingers(stroke_m, stop_anywhere=False)
        self._output = output
        self._switch = switch
        self._is_on = is_on
        self._wait_s = wait_s

    def set(self, gap_m: float, wait: Wait) -> bool | None:
        """Set the output and wait for the fingers: off opens them as far as they go."""
        self.commanded_m = None
        self._switch(self._output, gap_m == 0)
        self.commanded_m = gap_m
        wait(self._wait_s)
        return None

    def holding(self) -> bool | None:
        """Return that open fingers hold nothing; of closed ones it cannot tell."""
        return None if self._is_on(self._output) else False


class RobotiqGripper(Gripper):
    """A Robotiq 2F by the ASCII socket that its URCap opens on the controller."""

    def __init__(self, host: str, *, timeout_s: float = 10.0, stroke_m: float = OPEN_GAP_M) -> None:
        """Connect at the first use; a motion may take `timeout_s` seconds."""
        self.fingers = Fingers(stroke_m)
        self._host = host
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None

    def set(self, gap_m: float, wait: Wait) -> bool | None:
        """Drive the fingers to a distance; closing, they hold what stopped them."""
        if self._get("STA") != _ACTIVATED:  # it sleeps; its fingers move once as it wakes up
            self._set("ACT 1")
            self._await(lambda: self._get("STA") == _ACTIVATED, wait)
        closing = gap_m == 0
        position = _CLOSED if closing else self._position(gap_m)
        self.commanded_m = None
        self._set(f"SPE 255 FOR {_FORCE} POS {position} GTO 1")
        self.commanded_m = gap_m
        self._await(lambda: self._get("PRE") == position, wait)
        self._await(lambda: self._get("OBJ") != _MOVING, wait)
        status = self._get("OBJ")
        if not closing and status != _THERE:
            raise Collision(
                f"something keeps the fingers from opening {100 * gap_m:.1f} cm: look at them"
            )
        return closing and status == _CLOSED_ON_OBJECT

    def holding(self) -> bool | None:
        """Return whether something stopped them while they closed, once they are at rest."""
        if self._get("STA") != _ACTIVATED:
            return False
        self._await(lambda: self._get("OBJ") != _MOVING, time.sleep)
        return self._get("OBJ") == _CLOSED_ON_OBJECT

    def _position(self, gap_m: float) -> int:
        """Return the position at which the fingers are a distance (m) apart."""
        share = gap_m / self.fingers.stroke_m
        if share >= 1.0:
            return _OPEN
        return round(_NARROWEST - share * (_NARROWEST - _WIDEST))

    def close(self) -> None:
        """Close the socket; the fingers stay as they are."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _await(self, done: Callable[[], bool], wait: Wait) -> None:
        for _ in range(int(self._timeout_s / _POLL_S)):
            if done():
                return
            wait(_POLL_S)
        raise Timeout(f"the gripper at {self._host} did not end its motion: look at its fingers")

    def _set(self, values: str) -> None:
        if (answer := self._ask(f"SET {values}").strip()) != "ack":
            raise NotConnected(
                f"the gripper at {self._host} answered {answer[:_SHOWN]!r} to SET {values}: "
                "restart it"
            )

    def _get(self, name: str) -> int:
        answer = self._ask(f"GET {name}")
        said, _, number = answer.strip().partition(" ")
        if said != name or not (number.isascii() and number.isdigit()):
            raise NotConnected(
                f"the gripper at {self._host} answered {answer[:_SHOWN]!r} to GET {name}: "
                "restart it"
            )
        return int(number)

    def _ask(self, command: str) -> str:
        try:
            if self._socket is None:
                self._socket = socket.create_connection((self._host, ROBOTIQ_PORT), _ANSWER_S)
            self._socket.sendall(f"{command}\n".encode())
            answer = self._socket.recv(1024)
        except OSError as error:
            self.close()
            raise NotConnected(
                f"no Robotiq gripper answers at {self._host}:{ROBOTIQ_PORT} ({error}): "
                "is its URCap running?"
            ) from error
        if not answer:
            self.close()
            raise NotConnected(f"the gripper at {self._host} closed the connection: restart it")
        return answer.decode("ascii", "replace")


def fingers_of(choice: str, stroke_m: float) -> Fingers:
    """Return how far the gripper that a person chose opens; see `gripper_for`."""
    gripper = gripper_for(
        choice, "", lambda output, on: None, lambda output: False, wait_s=0.0, stroke_m=stroke_m
    )
    return gripper.fingers


def gripper_for(
    choice: str,
    host: str,
    switch: Callable[[Output, bool], None],
    is_on: Callable[[Output], bool],
    *,
    wait_s: float,
    stroke_m: float = OPEN_GAP_M,
) -> Gripper:
    """Return the gripper a person chose.

    Args:
        choice: `none`, `robotiq`, `tool_io` or `standard_io`; the last two may be followed by
            the output's number, as in `tool_io:1`.
        host: The controller's address.
        switch: Sets a digital output.
        is_on: Returns whether one is on.
        wait_s: Time the fingers need where only an output commands them, seconds.
        stroke_m: Their greatest distance, metres.

    Raises:
        UsageError: No such gripper, or no such stroke.
    """
    if not (isinstance(stroke_m, int | float) and 0 < stroke_m <= MAX_STROKE_M):
        raise UsageError(
            f"stroke_m must be above 0 and at most {MAX_STROKE_M} m, not {stroke_m}: it is the "
            "greatest distance of the fingers"
        )
    kind, _, number = choice.partition(":")
    if choice == "none":
        return Gripper()
    if choice == "robotiq":
        return RobotiqGripper(host, stroke_m=stroke_m)
    if kind == "tool_io" and number in ("", "0", "1"):
        output: Output = ("tool", int(number or 0))
        return OutputGripper(output, switch, is_on, wait_s=wait_s, stroke_m=stroke_m)
    if kind == "standard_io" and number in ("", *"01234567"):
        output = ("standard", int(number or 0))
        return OutputGripper(output, switch, is_on, wait_s=wait_s, stroke_m=stroke_m)
    raise UsageError(
        f"there is no gripper '{choice}': use none, robotiq, tool_io[:0-1] or standard_io[:0-7]"
    )
