"""Problems that are states and moves alone: solved by breadth-first search, tried by planners.

A puzzle has texts for its moves; `after` says what a move leads to. The shortest plan is what a
perfect model says, and what plans are measured against: the same problem's own, never another's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cap.planners.dialogue import DialogueLine
from cap.planners.loop import DONE, Action, StepOutcome
from cap.planners.stand_in_models import Advice, Knowledge

Part = Literal["train", "test", "generalise"]
State = Any
"""Of any kind that can be a key."""
MOST_STATES = 20_000
"""A search that has seen so many states gives up."""


@dataclass(frozen=True)
class Puzzle:
    """One problem."""

    goal: str
    """What is asked for."""
    opening: str
    """How it is at first."""
    moves: tuple[str, ...]
    """What can be said, whether it can be done or not; `done` left out."""
    start: State
    """How it is at first, for `after`."""
    after: Callable[[State, str], State | None]
    """Gives the state after a move; None where it cannot be made."""
    solved: Callable[[State], bool]
    """Returns whether a state is what is asked for."""
    names: tuple[str, ...] = ()
    """Words that stand for any other of their kind, such as colours."""
    expert: Callable[[State], tuple[str, ...] | None] | None = None
    """Gives the plan from a state, in place of the shortest one."""
    _plans: dict[State, tuple[str, ...] | None] = field(
        default_factory=dict, compare=False, repr=False
    )

    def plan(self, state: State) -> tuple[str, ...] | None:
        """Return the expert's plan from a state, or the shortest one; None if there is none."""
        if self.expert is not None:
            return self.expert(state)
        if state not in self._plans:
            found = self._searched(state)
            self._plans[state] = found
            for number, move in enumerate(found or ()):  # what is left of a shortest plan is one
                following = self.after(state, move)
                assert following is not None
                state = following
                self._plans.setdefault(state, (found or ())[number + 1 :])
            return found
        return self._plans[state]

    def _searched(self, start: State) -> tuple[str, ...] | None:
        came: dict[State, tuple[State, str] | None] = {start: None}
        waiting = deque([start])
        while waiting and len(came) < MOST_STATES:
            state = waiting.popleft()
            if self.solved(state):
                plan: list[str] = []
                while (step := came[state]) is not None:
                    state, move = step
                    plan.append(move)
                return tuple(reversed(plan))
            for move in self.moves:
                following = self.after(state, move)
                if following is not None and following not in came:
                    came[following] = (state, move)
                    waiting.append(following)
        return None

    def states(self, steps: Sequence[str]) -> Iterator[State]:
        """Yield the state after each step; one that cannot be made changes nothing."""
        state = self.start
        for step in steps:
            following = self.after(state, step) if step in self.moves else None
            state = state if following is None else following
            yield state


class UnseenWorld:
    """A world that answers nothing about its state: planners only take its steps."""

    name = "unseen"

    def __init__(self, actions: Sequence[Action]) -> None:
        """Offer some steps."""
        self._actions = tuple(actions)

    def actions(self) -> Sequence[Action]:
        """Return every step."""
        return self._actions

    def visible(self) -> Sequence[str]:
        """Return nothing: there is no scene to look at."""
        return ()

    def achieved(self, action: Action) -> bool:
        """Return False: the state is not observed."""
        return False

    def affordance(self, action: Action) -> float:
        """Return 1: the state is not observed."""
        return 1.0

    def satisfied(self, goal: str) -> bool | None:
        """Return None: the state is not observed."""
        return None


class StateWorld(UnseenWorld):
    """States and steps alone."""

    def __init__(
        self, actions: Sequence[Action], state: State, move: Callable[[State, str], State | str]
    ) -> None:
        """Begin in a state; `move` gives the state after a step's text, or why it cannot be."""
        super().__init__(actions)
        self.state, self._move = state, move

    def step(self, action: Action) -> StepOutcome:
        """Make a move."""
        following = self._move(self.state, action.text)
        if isinstance(following, str):
            return StepOutcome(action, False, following)
        self.state = following
        return StepOutcome(action, True)


def puzzle_world(puzzle: Puzzle) -> StateWorld:
    """Return a puzzle as planners see it."""

    def move(state: State, text: str) -> State | str:
        following = puzzle.after(state, text)
        return "it cannot be done now" if following is None else following

    actions = (*(Action("move", (), text) for text in puzzle.moves), DONE)
    return StateWorld(actions, puzzle.start, move)


class PuzzleKnowledge(Knowledge):
    """Knows the shortest plan after any steps of one puzzle."""

    def __init__(self, puzzle: Puzzle) -> None:
        """Know a puzzle."""
        self._puzzle = puzzle

    def advice(self, lines: Sequence[DialogueLine]) -> Advice | None:
        """Return the moves that are left; a step that cannot be made is taken to change nothing."""
        puzzle = self._puzzle
        if not any(line.text.rstrip(".") == puzzle.goal.rstrip(".") for line in lines):
            return None
        steps = [line.text for line in lines if line.kind == "step"]
        state = puzzle.start
        for state in puzzle.states(steps):  # noqa: B007  (the last is wanted)
            pass
        left = puzzle.plan(state)
        texts = [DONE.text] if left is None else [*left, DONE.text]
        others = tuple(move for move in (*puzzle.moves, DONE.text) if move != texts[0])
        return Advice(tuple((text,) for text in texts), others=others)
