"""What planners choose from and act on: steps of a world, and what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Action:
    """One step: a robot's skill with its arguments, or a word of the planner's own."""

    skill: str
    """Such as `pick`; of the planner's own: `done`, `ask`, `goal`, `think`."""
    args: tuple[str, ...] = ()
    """Names of what it is done to, or what is said."""
    text: str = ""
    """The step in words, as models read and choose it."""


DONE = Action("done", (), "done")
"""The planner has ended."""
SPOKEN = ("ask", "goal", "think")
"""What a planner says rather than does; no world carries it out."""


@dataclass(frozen=True)
class StepOutcome:
    """What came of a step."""

    action: Action
    """The step."""
    ok: bool
    """True if its effect is there: what a perfect detector of success would say."""
    message: str = ""
    """Why not, in one line; for the trace."""
    lines: tuple[str, ...] = ()
    """What feedback says after it: all that a planner's model may know of it."""


class World(Protocol):
    """A robot's skills as words, with what a planner may ask about each of them."""

    name: str
    """As `--robot` takes it."""

    def actions(self) -> Sequence[Action]:
        """Return every step that can be said, `DONE` among them; each text stands once."""

    def visible(self) -> Sequence[str]:
        """Return the objects that are seen now."""

    def achieved(self, action: Action) -> bool:
        """Return whether a step's effect is there already, so that it need not be taken."""

    def affordance(self, action: Action) -> float:
        """Return how likely a step would succeed now, 0 to 1, by the formulas of its kind."""

    def satisfied(self, goal: str) -> bool | None:
        """Return whether a sentence such as `red block in blue bowl` is true; None if unread."""

    def step(self, action: Action) -> StepOutcome:
        """Take a step; a failure is an outcome, not an error."""
