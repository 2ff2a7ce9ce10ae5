"""Best of several: programs for one instruction are tried, and the one to carry out is chosen.

Each is whole, checked and completed, and runs from a snapshot of the present world, which is put
back after it; a real robot's programs run in its twin. It is chosen by what it did: no failure, the
effect that was expected, a caller's own check, the goal check that an LMP wrote from the words of
the instruction alone, and what most of them agree on. The chosen one then takes the usual road:
what nested LMPs answered while it was tried is remembered, so that it does the same again.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cap.engine.answer import Answer, State
from cap.engine.doubts import doubts
from cap.engine.effect import Effect, WorldView
from cap.engine.failures import failure_of
from cap.engine.goal import GOAL, GoalCheck, TrialTrace, stage
from cap.engine.question import Question
from cap.errors import ModelError, RobotError, SpendLimit, UsageError
from cap.models.base import Completion
from cap.prompt.prompt import Prompt
from cap.result import Failure, Result
from cap.robot import snapshots
from cap.robot.protocol import Rewindable
from cap.sandbox.frames import WireError
from cap.sandbox.wire import encode
from cap.trace.trace import plain

if TYPE_CHECKING:
    from cap.engine.engine import Engine

MOST_SAMPLES = 100
"""Of more programs nobody waits for the last."""
INK_ALIKE_M = 0.01
"""Drawings whose lines are nowhere farther apart are the same."""
_NOT_BACK = (
    "the world did not come back as it was after programs were tried, so nothing was carried out; "
    "ask for one program (--samples 1)"
)
_TIMED_WAVE = 4
"""Where time is short, so many programs are asked for at once."""


@dataclass(frozen=True)
class Sampling:
    """How many programs are written for an instruction, and by what one of them is chosen."""

    samples: int = 1
    """How many at the most; with 1 nothing is tried before it is carried out."""
    agreement: bool = True
    """Whether what most of them do comes first."""
    goal: bool = True
    """Whether a goal check is written, where the robot has a prompt for it."""
    judge: Callable[[Any], bool] | None = None
    """A caller's own check of the robot's world after a trial; what it accepts is carried out."""
    max_tokens: int | None = None
    """No further program is asked for once they and their trials took so many tokens."""
    max_s: float | None = None
    """No further program is asked for after so many seconds."""
    verify: Literal["words", "goal", "off"] = "words"
    """What a turn's effect is compared with: the words, a goal check as well, or nothing."""


@dataclass(frozen=True)
class TriedProgram:
    """One program, and what it did where it was tried."""

    number: int
    """From 1, in the order in which they were written."""
    answer: Answer
    """The program and its result."""
    effect: Effect | None = None
    """What it did to the world; None if it was not run."""
    ink: Any = None
    """All that is drawn then, if the robot draws."""
    expected: bool = True
    """Whether it had the effect that was expected."""
    accepted: bool = True
    """Whether the caller's own check accepts it."""
    goal: bool | None = None
    """What the goal check says of it; None if it says nothing."""
    doubts: tuple[str, ...] = ()
    """What the words ask for in every reading and the world does not show: lines."""
    same_as: int = 0
    """The number of an earlier one with the very same text; 0 of none."""

    @property
    def rank(self) -> tuple[bool, ...]:
        """How good it is by itself."""
        marks = self.expected, self.accepted, self.goal is not False, self.goal is True
        good = self.answer.result.failure is None
        return good, *(good and mark for mark in marks)

    def named(self, words: str) -> int:
        """Return how many of the things that it moved an instruction names."""
        return sum(name in words for name in self.effect.moved) if self.effect is not None else 0

    def agrees(self, other: TriedProgram) -> bool:
        """Tell whether two programs did the same; what they told counts where they did nothing."""
        if self.effect is None or other.effect is None:
            return self.effect is other.effect
        if not self.effect.agrees(other.effect) or not drawn_alike(self.ink, other.ink):
            return False
        ours, theirs = self.answer.result, other.answer.result
        told = plain(ours.value) == plain(theirs.value) and ours.stdout == theirs.stdout
        return told or self.effect.altered

    @property
    def line(self) -> str:
        """What came of it, for people."""
        failure = self.answer.result.failure
        if failure is not None:
            return f"failed: {failure}"
        line = self.effect.line if self.effect is not None else ""
        return line or "what came of it cannot be seen"


@dataclass(frozen=True)
class Choice:
    """Which of them is carried out, and why."""

    chosen: TriedProgram
    """The one."""
    alike: int
    """How many did the same, itself included."""
    second: int
    """How many did what came next."""


class BestOf:
    """Several programs for one instruction."""

    def __init__(
        self,
        engine: Engine,
        prompt: Prompt,
        order: Question,
        state: State,
        expect: Sequence[str],
        world: Any,
        goal: GoalCheck | None,
        moved_before: Sequence[str] = (),
    ) -> None:
        """Prepare to ask.

        Args:
            engine: Asks for the programs; copies of it try them.
            prompt: Whose programs.
            order: What they are asked for with.
            state: What they find.
            expect: The effect they must have, in words of `cap.result.EFFECTS`.
            world: The snapshot of a simulated robot's world as it is; None to use its twin.
            goal: The instruction's goal check, if it has one.
            moved_before: What the turn before it moved.
        """
        self._engine, self._prompt, self._order, self._state = engine, prompt, order, state
        self._expect, self._world = expect, world
        self._settings = engine.settings.sampling
        self._goal = goal
        self._moved_before = moved_before
        self.tried: list[TriedProgram] = []
        self.accepted = False
        """Whether the goal check or the caller's own accepts the chosen one."""
        self.denied = ""
        """Why the goal check does not, where there is one."""

    def run(self) -> Answer:
        """Ask, try and choose; return the chosen program as it ended, which is not carried out."""
        trace, settings = self._engine.trace, self._settings
        trace.progress("trying", samples=settings.samples)
        digest = self._digest()
        mark, begin_s, stopped = self._engine.tally.mark(), time.monotonic(), ""
        try:
            while (left := settings.samples - len(self.tried)) and not stopped:
                orders = [
                    replace(self._order, sample=len(self.tried) + number)
                    for number in range(self._wave(left, mark))
                ]
                for given in self._engine.author.ask_all(self._prompt, orders):
                    if isinstance(given, SpendLimit) and self.tried:  # it was never asked for
                        stopped = str(given).partition("; ")[0]
                        continue
                    self.tried.append(self._try(len(self.tried) + 1, given))
                    failure = self.tried[-1].answer.result.failure
                    if failure is not None and failure.kind == "interrupted":
                        return Answer(Result(failure=failure))
                stopped = stopped or self._stopped(mark, begin_s)
        except RobotError as error:
            return Answer(Result(failure=replace(failure_of(error), robot=True)))
        finally:
            trace.progress("tried_all")
        if digest != self._digest():
            lost = Failure("raised", RobotError.__name__, _NOT_BACK, robot=True)
            return Answer(Result(failure=lost))
        choice = self._choice()
        chosen = choice.chosen
        if chosen.effect is not None:
            judged = settings.judge is not None and chosen.accepted
            self.accepted = judged or chosen.goal is True
        if self._goal is not None and (chosen.effect is not None or self._goal.unusable):
            self.denied = self._goal.denial(chosen.goal)
        self._tell(choice, stopped)
        return chosen.answer

    def judged(self, answer: Answer) -> Answer:
        """Return what came of the chosen program in the end, with what verifies it."""
        answer = replace(answer, tried=len(self.tried))
        if self._settings.verify == GOAL and not self.accepted:
            return answer  # it was judged where it was carried out
        accepted = self.accepted and answer.attempts == 1
        return replace(answer, accepted=accepted, denied=self.denied)

    def _wave(self, left: int, mark: int) -> int:
        """Return how many further programs are needed at least before one can be chosen.

        They are no more than a budget may hold, as far as those before tell.
        """
        settings, tried = self._settings, len(self.tried)
        sized = settings.max_tokens is None or tried
        if settings.judge is not None or not settings.agreement or not sized:
            return 1
        wave = settings.samples // 2 + 1
        if tried:
            choice = self._choice()
            wave = min(left, (choice.second + left - choice.alike) // 2 + 1)
        if settings.max_tokens is not None:
            used = self._tokens(mark)
            wave = min(wave, (settings.max_tokens - used) * tried // max(1, used))
        if settings.max_s is not None:
            wave = min(wave, _TIMED_WAVE)
        return max(1, wave)

    def _tokens(self, mark: int) -> int:
        usage = self._engine.tally.since(mark)
        return usage.prompt_tokens + usage.completion_tokens

    def _stopped(self, mark: int, begin_s: float) -> str:
        """Return why no further program is asked for; "" if one may be."""
        settings, left = self._settings, self._settings.samples - len(self.tried)
        tokens = self._tokens(mark)
        if settings.max_tokens is not None and tokens >= settings.max_tokens:
            return f"{tokens} tokens are used, of {settings.max_tokens}"
        if settings.max_s is not None and time.monotonic() - begin_s >= settings.max_s:
            return f"{settings.max_s:g} s are over"
        choice = self._choice()
        good, expected, accepted, allowed, goal = choice.chosen.rank
        decides = self._goal is not None and self._goal.accepts
        if not left or not (good and expected and accepted and allowed) or (decides and not goal):
            return ""
        if settings.judge is not None:
            return "the caller's check accepts it"
        if not settings.agreement:
            return "the goal check accepts it" if goal else "nothing else decides"
        ahead = choice.alike > choice.second + left
        return f"no other effect can overtake it with {left} more" if ahead else ""

    def _choice(self) -> Choice:
        """Return the best so far: by itself, then by how many did the same, then the first."""
        best = max(one.rank for one in self.tried)
        groups: list[list[TriedProgram]] = []
        for one in self.tried:
            if one.rank == best:
                group = next((some for some in groups if some[0].agrees(one)), None)
                if group is None:
                    groups.append(group := [])
                group.append(one)
        if self._settings.agreement and best[0]:
            groups.sort(key=self._order_of)
        second = len(groups[1]) if len(groups) > 1 else 0
        return Choice(groups[0][0], len(groups[0]), second)

    def _order_of(self, group: Sequence[TriedProgram]) -> tuple[Any, ...]:
        """Return what sorts the programs that did the same: the best first."""
        first, words = group[0], self._order.instruction
        return -len(group), _idle(first), bool(first.doubts), -first.named(words), first.number

    def _tell(self, choice: Choice, stopped: str) -> None:
        """Write down what was tried, which is chosen, and why."""
        chosen, settings = choice.chosen, self._settings
        why = []
        if chosen.answer.result.failure is not None:
            why = ["every program failed; the first goes on from there"]
        elif settings.agreement:
            why = [f"{choice.alike} of {len(self.tried)} did this"]
        if not chosen.expected:
            why.append("no program had the effect that was expected")
        if not chosen.accepted:
            why.append("the caller's check accepts none")
        elif settings.judge is not None and chosen.answer.result.failure is None:
            why.append("the caller's check accepts it")
        if self._goal is not None:
            why.append(self._said(self._goal, chosen))
        if all(map(_idle, self.tried)):
            why.append("all of them change nothing")
        self._engine.trace.event(
            "samples",
            tried=[
                {
                    "number": one.number,
                    "came": self._told(one),
                    "failed": one.answer.result.failure is not None,
                    "goal": one.goal,
                    "expected": one.expected,
                    "same_as": one.same_as,
                    "agrees": one.agrees(chosen) and one.rank[0],
                    "source": one.answer.written,
                }
                for one in self.tried
            ],
            chosen=chosen.number,
            why=why,
            stopped=stopped,
            asked=settings.samples,
        )

    @staticmethod
    def _said(goal: GoalCheck, chosen: TriedProgram) -> str:
        """Return what the goal check decided, for people."""
        if goal.unusable:
            return goal.unusable
        if goal.accepts:
            return f"the goal check accepts {'it' if chosen.goal else 'none'}"
        objects = "to all of them" if chosen.goal is False else "not to it"
        return f"the goal check is satisfied before anything is done, and objects {objects}"

    def _told(self, one: TriedProgram) -> str:
        """Return what came of a program; with where, if another did otherwise in the same words."""
        if not any(other.line == one.line and not one.agrees(other) for other in self.tried):
            return one.line
        ends = [
            f"{name} now at ({x:.2f}, {y:.2f})"
            for name, (_, (x, y, *_)) in (
                one.effect.moved if one.effect is not None else {}
            ).items()
        ]
        strokes = [np.array(stroke)[:, :2] for stroke in one.ink or ()]
        if strokes:
            length = sum(
                np.linalg.norm(np.diff(points, axis=0), axis=1).sum() for points in strokes
            )
            ink = np.concatenate(strokes)
            (left, low), (right, high) = ink.min(axis=0).tolist(), ink.max(axis=0).tolist()
            corners = f"({left:.2f}, {low:.2f}) to ({right:.2f}, {high:.2f})"
            ends.append(f"{length:.2f} m of ink, {corners}")
        return "; ".join([one.line, *ends])

    def _try(self, number: int, given: Completion | ModelError) -> TriedProgram:
        """Run one program from the present world, which is as it was again afterwards.

        Raises:
            RobotError: The world cannot be seen, or there is no twin of it.
        """
        if isinstance(given, ModelError):
            return TriedProgram(number, Answer(Result(failure=failure_of(given))))
        for one in self.tried:
            if one.answer.completion == given.text:  # the same from the same world
                return replace(one, number=number, same_as=one.same_as or one.number)
        with stage(self._engine, self._world) as robot:
            before = WorldView.of(robot)
            engine = self._engine.copy_for(robot, TrialTrace(self._engine.trace))
            answer = engine.attempt(self._prompt, self._order, self._state, given=given)
            assert answer is not None
            if not answer.ran:
                return TriedProgram(number, answer)
            after = WorldView.of(robot)
            effect = Effect.of(before, after, answer.result)
            words = self._order.instruction
            tried = TriedProgram(
                number,
                answer,
                effect,
                plain(getattr(robot, "strokes", None)),
                expected=all(word in effect.words for word in self._expect),
                accepted=self._accepted(robot),
                goal=None if self._goal is None else self._goal.says(robot),
                doubts=doubts(words, before, after, effect, self._moved_before),
            )
            self._engine.trace.progress("tried", number=number, robot=robot)
        return tried

    def _digest(self) -> bytes:
        """Return a hash of the world; b"" of one that cannot be written down, or of a real one."""
        robot = self._engine.robot
        if self._world is None or not isinstance(robot, Rewindable):
            return b""
        try:
            packed = encode(snapshots.pack(robot.snapshot(), snapshots.kind_of(robot)))
        except (snapshots.NotPlain, WireError):
            return b""
        return hashlib.blake2s(packed).digest()

    def _accepted(self, robot: Any) -> bool:
        """Return what the caller's own check says of a world.

        Raises:
            UsageError: It failed.
        """
        try:
            return self._settings.judge is None or bool(self._settings.judge(robot))
        except Exception as error:  # it may fail in any way
            why = f"{type(error).__name__}: {error}"
            raise UsageError(
                f"the check of your own, Sampling(judge=...), failed: {why}"
            ) from error


def _idle(one: TriedProgram) -> bool:
    """Tell whether a program ended well and changed nothing, nor said anything."""
    return one.effect is not None and one.effect.words == ("nothing",)


def drawn_alike(one: Any, other: Any) -> bool:
    """Tell whether two drawings are the same, however many strokes they are made of."""
    if not one or not other or one == other:
        return bool(one) == bool(other)
    from shapely import MultiLineString, hausdorff_distance

    ours, theirs = (
        MultiLineString([stroke for stroke in drawn if len(stroke) > 1]) for drawn in (one, other)
    )
    if ours.is_empty or theirs.is_empty:
        return False
    apart = float(hausdorff_distance(ours, theirs, densify=0.05))
    return math.isfinite(apart) and apart <= INK_ALIKE_M
