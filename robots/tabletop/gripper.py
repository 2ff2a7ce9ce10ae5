"""Grippers: by a digital output, or by the Robotiq socket."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Literal, Protocol

from cap.errors import NotConnected, RobotError, Timeout, UsageError

Pause = Callable[[float], None]
"""Wait so many seconds, or fail because the arm was stopped."""
Output = tuple[Literal["tool", "standard"], int]
"""A digital output: at the tool or in the control box, and its number."""

ROBOTIQ_PORT = 63352
_OPEN, _CLOSED = 0, 255
_FORCE = 50
"""Of 255: enough for a block, gentle on fingers."""
_POLL_S = 0.05
_ACTIVATED = 3
_MOVING, _CLOSED_ON_OBJECT = 0, 2


class Gripper(Protocol):
    """Two fingers."""

    def set(self, closed: bool, pause: Pause) -> bool | None:
        """Close or open, wait for it, and return whether it holds something, if it can tell.

        Raises:
            NotConnected: It is not reached.
            Timeout: It did not end its motion in time.
        """

    def close(self) -> None:
        """Let go of the connection, if there is one."""


class NoGripper:
    """Nothing at the flange."""

    def set(self, closed: bool, pause: Pause) -> bool | None:
        """Raise: there is none."""
        raise RobotError("this arm has no gripper: give one with the option gripper=robotiq")

    def close(self) -> None:
        """Do nothing."""


class OutputGripper:
    """A gripper on one digital output: on is closed. It cannot tell what it holds."""

    def __init__(
        self, output: Output, switch: Callable[[Output, bool], None], *, wait_s: float
    ) -> None:
        """Use an output.

        Args:
            output: The output.
            switch: Sets an output.
            wait_s: Time the fingers need.
        """
        self._output = output
        self._switch = switch
        self._wait_s = wait_s

    def set(self, closed: bool, pause: Pause) -> bool | None:
        """Set the output and wait for the fingers."""
        self._switch(self._output, closed)
        pause(self._wait_s)
        return None

    def close(self) -> None:
        """Do nothing: the output stays as it is, so nothing is dropped."""


class RobotiqGripper:
    """A Robotiq 2F by the ASCII socket that its URCap opens on the controller."""

    def __init__(self, host: str, *, timeout_s: float = 10.0) -> None:
        """Connect at the first use; a motion may take `timeout_s` seconds."""
        self._host = host
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None

    def set(self, closed: bool, pause: Pause) -> bool | None:
        """Close or open; holds something if the fingers were stopped while closing."""
        if self._get("STA") != _ACTIVATED:  # it sleeps; its fingers move once as it wakes up
            self._set("ACT 1")
            self._await(lambda: self._get("STA") == _ACTIVATED, pause)
        position = _CLOSED if closed else _OPEN
        self._set(f"SPE 255 FOR {_FORCE} POS {position} GTO 1")
        self._await(lambda: self._get("PRE") == position, pause)
        self._await(lambda: self._get("OBJ") != _MOVING, pause)
        return closed and self._get("OBJ") == _CLOSED_ON_OBJECT

    def close(self) -> None:
        """Close the socket; the fingers stay as they are."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _await(self, done: Callable[[], bool], pause: Pause) -> None:
        for _ in range(int(self._timeout_s / _POLL_S)):
            if done():
                return
            pause(_POLL_S)
        raise Timeout(f"the gripper at {self._host} did not end its motion: look at its fingers")

    def _set(self, values: str) -> None:
        if (answer := self._ask(f"SET {values}").strip()) != "ack":
            raise NotConnected(
                f"the gripper at {self._host} answered '{answer}' to SET {values}: restart it"
            )

    def _get(self, name: str) -> int:
        answer = self._ask(f"GET {name}").split()
        if len(answer) != 2 or answer[0] != name or not answer[1].isdigit():
            raise NotConnected(
                f"the gripper at {self._host} answered '{' '.join(answer)}' to GET {name}: "
                "restart it"
            )
        return int(answer[1])

    def _ask(self, command: str) -> str:
        try:
            if self._socket is None:
                self._socket = socket.create_connection((self._host, ROBOTIQ_PORT), 1.0)
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


def gripper_for(
    choice: str, host: str, switch: Callable[[Output, bool], None], *, wait_s: float
) -> Gripper:
    """Return the gripper a person chose.

    Args:
        choice: `none`, `robotiq`, `tool_io` or `standard_io`; the last two may be followed by
            the output's number, as in `tool_io:1`.
        host: The controller's address.
        switch: Sets a digital output.
        wait_s: Time the fingers need where only an output tells them what to do, seconds.

    Raises:
        UsageError: No such gripper.
    """
    kind, _, number = choice.partition(":")
    if choice == "none":
        return NoGripper()
    if choice == "robotiq":
        return RobotiqGripper(host)
    if kind == "tool_io" and number in ("", "0", "1"):
        return OutputGripper(("tool", int(number or 0)), switch, wait_s=wait_s)
    if kind == "standard_io" and number in ("", *"01234567"):
        return OutputGripper(("standard", int(number or 0)), switch, wait_s=wait_s)
    raise UsageError(
        f"there is no gripper '{choice}': use none, robotiq, tool_io[:0-1] or standard_io[:0-7]"
    )
