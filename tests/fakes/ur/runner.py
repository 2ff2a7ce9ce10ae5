"""Runs URScript on the simulated arm, one program at a time, as the controller does."""

from __future__ import annotations

from collections import deque
from typing import Any

from tests.fakes.ur.arm import Move, SimulatedArm
from tests.fakes.ur.script import Program, Statement

_OUTPUTS = {
    "set_tool_digital_out": "tool",
    "set_standard_digital_out": "standard",
}


class Runner:
    """The program that runs, if any, and all that were sent."""

    def __init__(self, arm: SimulatedArm) -> None:
        self._arm = arm
        self._left: deque[Statement] = deque()
        self.controlled = False
        """Whether the control script of `ur_rtde` runs."""
        self.programs: list[str] = []
        self.moves: list[Move] = []
        self.deaf = False
        """Whether programs are ignored, as in local control."""

    @property
    def running(self) -> bool:
        """Whether a program runs."""
        return self.controlled or bool(self._left) or self._arm.moving

    def start(self, program: Program) -> None:
        """Run a program in place of the one that runs; beside it if secondary."""
        self.programs.append(program.text)
        if self.deaf or not self._arm.ready:
            return
        if program.secondary:
            for statement in program.statements:
                self._set_output(statement)
            return
        self.kill()
        if "def rtde_control(" in program.text:
            self.controlled = True
            return
        self._left.extend(program.statements)
        self.advance()

    def move(self, move: Move) -> None:
        """Start a motion by itself."""
        self.moves.append(move)
        self._arm.begin(move)

    def kill(self) -> None:
        """End the program and stop the arm."""
        self._left.clear()
        self.controlled = False
        self._arm.halt()

    def advance(self) -> None:
        """Go on with the program as far as it comes by now."""
        self._arm.advance()
        if not self._arm.ready:
            self._left.clear()
            self.controlled = False
        while self._left and not self._arm.moving:
            self._run(self._left.popleft())

    def _run(self, statement: Statement) -> None:
        if statement.name in ("movej", "movel"):
            self.move(_move(statement))
        elif statement.name in ("stopj", "stopl"):
            self._arm.halt()
        else:
            self._set_output(statement)

    def _set_output(self, statement: Statement) -> None:
        if kind := _OUTPUTS.get(statement.name):
            number, on = statement.arguments
            self._arm.outputs[kind, int(_number(number))] = bool(on)


def _move(statement: Statement) -> Move:
    target: Any = statement.arguments[0]
    named = {"a": 1.2, "v": 0.25} | statement.keywords
    values = tuple(float(v) for v in target)
    assert len(values) == 6
    kind = "movej" if statement.name == "movej" else "movel"
    return Move(kind, values, speed=_number(named["v"]), acceleration=_number(named["a"]))


def _number(value: object) -> float:
    assert isinstance(value, int | float)
    return float(value)
