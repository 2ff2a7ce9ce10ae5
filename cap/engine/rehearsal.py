"""Rehearsal: a program runs in a simulated twin of the robot before it runs on the robot.

The twin stands in the scene as it is seen now. What fails there, or passes a limit there, does not
run here. The model's answers to what the program asks on the way are remembered: the run that
follows gets the same, and whatever else has to be written then is shown to the person first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from cap.engine.effect import WorldView
from cap.errors import ModelError, RobotError
from cap.result import Failure, Result
from cap.robot.displacement import Moved
from cap.robot.protocol import Rehearsable, Robot
from cap.trace.trace import Event, Trace

Rehearse = Callable[[Robot, Trace], Result]
"""Carries the program out on a twin, telling a trace."""


@dataclass
class Rehearsal:
    """Rehearses the programs of one robot, and knows what it has seen."""

    robot: Rehearsable
    """Whose twin is used."""
    sources: dict[str, str] = field(default_factory=dict)
    """Programs of nested LMPs of the last rehearsal: the LMP by its program."""

    def run(self, rehearse: Rehearse, told: Trace) -> Rehearsed:
        """Have a program carried out on a new twin.

        Args:
            rehearse: Carries it out.
            told: Is told that it begins, and of the twin.

        Raises:
            RobotError: The scene cannot be seen, or the twin is real.
        """
        self.sources.clear()
        trace = Trace()
        trace.listeners.append(self._note)
        twin = self.robot.twin()
        if not twin.simulated:
            raise RobotError("the robot's twin is no simulation, so nothing can be rehearsed in it")
        told.progress("rehearsing", robot=twin)
        try:
            began = WorldView.of(twin)
            result = rehearse(twin, trace)
            moved, _ = WorldView.of(twin).since(began)
            return Rehearsed(result, moved, float(getattr(twin, "sim_time_s", 0.0)), began)
        finally:
            twin.close()

    def look(self) -> WorldView:
        """Return the world in which a rehearsal would start now.

        Raises:
            RobotError: The scene cannot be seen.
        """
        twin = self.robot.twin()
        try:
            return WorldView.of(twin)
        finally:
            twin.close()

    def knows(self, source: str) -> bool:
        """Tell whether a nested program is one the last rehearsal ran."""
        return source in self.sources

    def _note(self, event: Event) -> None:
        if event.kind == "program":
            self.sources[str(event.data["source"])] = str(event.data["lmp"])


_ENDLESS = ("CallLimit", "ActionLimit", "SimTimeLimit", "TimeLimit")
"""How a loop without an end is ended."""


@dataclass(frozen=True)
class Rehearsed:
    """How a rehearsal went."""

    result: Result
    """What came of the program there."""
    moved: Moved
    """Objects that moved: from where to where, metres."""
    sim_s: float
    """Simulated seconds it took; 0 in a twin without dynamics."""
    began: WorldView
    """The world that it started from."""

    @property
    def failure(self) -> Failure | None:
        """Why the program must not run; None if it may."""
        failed = self.result.failure
        if failed is None:
            return None
        message = f"in the rehearsal: {failed.message}; nothing moved"
        if failed.error in _ENDLESS:
            message += (
                "; a loop cannot wait there for something new: the twin sees what is there now"
            )
        if failed.exit_code == ModelError.exit_code:  # the model's, wherever it is found
            return replace(failed, message=message)
        return replace(failed, kind="rehearsal", message=message)
