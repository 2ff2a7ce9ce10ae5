"""What undo and redo restore: all that a turn may change, as it was before it or after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cap.engine.answer import State
from cap.robot.protocol import Rewindable

if TYPE_CHECKING:
    from cap.session.session import Session
    from cap.session.turn import Turn


@dataclass(frozen=True)
class Checkpoint:
    """A session as it was between two turns."""

    state: State
    """Variables, kept functions, history."""
    programs: int
    """Programs run so far: each has random numbers of its own, by its number."""
    origins: Mapping[str, str]
    """The instruction each kept function was written for, by name."""
    world: Any
    """The robot's snapshot; None where there is none, as of hardware."""

    @classmethod
    def of(cls, session: Session) -> Checkpoint:
        """Return how a session is now."""
        robot = session.robot
        world = robot.snapshot() if isinstance(robot, Rewindable) else None
        return cls(session.state, session.engine.programs, session.origins, world)

    def restore(self, session: Session) -> bool:
        """Put a session back; return whether its world went back as well."""
        session.state = self.state
        session.engine.programs = self.programs
        session.memory.forget()
        session.origins = self.origins
        if isinstance(session.robot, Rewindable):
            session.robot.restore(self.world)
            return True
        return False


@dataclass(frozen=True)
class Undone:
    """Turns that were taken back, and can be put back."""

    turns: Sequence[Turn]
    """In order."""
    before: Sequence[Checkpoint]
    """The session before each."""
    after: Checkpoint
    """The session after the last."""
