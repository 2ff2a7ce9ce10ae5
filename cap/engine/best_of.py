"""Best of several: programs for one instruction are tried, and the one to run is chosen.

Each is complete and checked, and runs from a snapshot of the present world, which is restored
after it; a real robot's programs run in its twin. It is chosen by what it did: no failure, the
effect that was expected, a caller's own check, the goal check that an LMP wrote from the words of
the instruction alone, and what most of them agree on. The chosen one then runs in the
usual way: the answers of nested LMPs are remembered, so that it does the same again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import shapely
from shapely import MultiLineString

from cap.engine.answer import Answer, Instruction
from cap.engine.doubts.doubts import doubts
from cap.engine.effect import Effect
from cap.engine.goal_check import GOAL, NOT_SO, SAYS_NO
from cap.engine.model_request import Author, Question
from cap.engine.repair import failure_of
from cap.engine.settings import Sampling
from cap.errors import ModelError, RobotError, SpendLimit, UsageError
from cap.models.base import Completion
from cap.result import Result, plain
from cap.robot.observation import Observation

SAMPLE_TEMPERATURE = 0.8
"""Of further answers to the same question, where the model is asked at none of its own."""
INK_ALIKE_M = 0.01
"""Drawings whose lines are nowhere farther apart are the same."""


@dataclass(frozen=True)
class TriedProgram:
    """One program, and what it did where it was tried."""

    number: int
    """From 1, in the order in which they were written."""
    answer: Answer
    """The program and its result."""
    given: Completion | None = None
    """What the model wrote; None if it gave no answer."""
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
    """What every reading of the words asks for and the world does not show: lines."""
    same_as: int = 0
    """The number of an earlier one with the very same text; 0 of none."""

    @property
    def rank(self) -> tuple[bool, ...]:
        """How good it is by itself: the words outrank a goal check, which a model wrote."""
        goal = self.goal is not False, self.goal is True
        marks = self.expected, self.accepted, not self.doubts, *goal
        good = self.answer.failure is None
        return good, *(good and mark for mark in marks)

    @property
    def idle(self) -> bool:
        """Whether it ended well and changed nothing, nor said anything."""
        return self.effect is not None and self.effect.words == ("nothing",)

    def agrees(self, other: TriedProgram) -> bool:
        """Return whether two programs did the same; their output counts where they did nothing."""
        if self.effect is None or other.effect is None:
            return self.effect is other.effect
        if not self.effect.agrees(other.effect) or not drawn_alike(self.ink, other.ink):
            return False
        ours, theirs = self.answer.result, other.answer.result
        same_output = plain(ours.value) == plain(theirs.value) and ours.stdout == theirs.stdout
        return same_output or self.effect.altered

    @property
    def line(self) -> str:
        """Its result as a line, for people."""
        failure = self.answer.failure
        if failure is not None:
            return f"failed: {failure}"
        line = self.effect.line if self.effect is not None else ""
        return line or "its effect cannot be seen"


@dataclass
class BestOf:
    """Several programs for one instruction."""

    author: Author
    """Asks for them, and records what was tried."""
    asked: Instruction
    """The instruction, and what must be so after it."""
    question: Question
    """What they are asked for with."""
    sampling: Sampling
    """How many, and how one is chosen."""
    stage: Callable[[], AbstractContextManager[Any]]
    """Gives a robot in the present world to try one on."""
    run_on: Callable[[Any, Completion], Answer]
    """Runs an answer's program there."""
    tried: list[TriedProgram] = field(default_factory=list)
    """Those so far."""
    chosen: Completion | None = None
    """The answer with the chosen program."""
    accepted: bool = False
    """Whether the goal check or the caller's own accepts the chosen one."""
    denied: str = ""
    """Why the goal check does not, where there is one."""

    def run(self) -> Answer:
        """Ask, try and choose; return the chosen program with the result of its trial."""
        trace, sampling = self.author.trace, self.sampling
        trace.progress("trying", samples=sampling.samples)
        self._mark, self._begin_s, stopped = self.author.tally.mark(), time.monotonic(), ""
        try:
            while len(self.tried) < sampling.samples and not stopped:
                first = len(self.tried)
                questions = [
                    replace(self.question, sample=number, temperature=SAMPLE_TEMPERATURE)
                    for number in range(first, first + self._wave())
                ]
                for given in self.author.ask_all(questions):
                    if isinstance(given, SpendLimit) and self.tried:  # it was never asked for
                        stopped = str(given).partition("; ")[0]
                        continue
                    self.tried.append(self._try(len(self.tried) + 1, given))
                    failure = self.tried[-1].answer.failure
                    if failure is not None and failure.kind == "interrupted":
                        return Answer(Result(failure=failure))
                stopped = stopped or self._stopped()
        except RobotError as error:
            return Answer(Result(failure=replace(failure_of(error), robot=True)))
        finally:
            trace.progress("tried_all")
        chosen, alike, _ = self._choice()
        if chosen.effect is not None:
            judged = sampling.judge is not None and chosen.accepted
            self.accepted = judged or chosen.goal is True
        if self.asked.goal is not None and (chosen.effect is not None or self.asked.goal.unusable):
            self.denied = self.asked.goal.denial(chosen.goal)
        self._record(chosen, alike, stopped)
        self.chosen = chosen.given
        return chosen.answer

    def judged(self, answer: Answer) -> Answer:
        """Return the final answer of the chosen program, with what verifies it."""
        answer = replace(answer, tried=len(self.tried))
        if self.sampling.verify == GOAL and not self.accepted:
            return answer  # it was judged where it ran
        accepted = self.accepted and answer.attempts == 1
        refused = self.denied == SAYS_NO and answer.failure is None
        found = (*answer.doubts, NOT_SO) if refused and answer.attempts == 1 else answer.doubts
        return replace(answer, accepted=accepted, denied=self.denied, doubts=found)

    def _wave(self) -> int:
        """Return how many programs are asked for at once: as many as are needed at least.

        Where a budget or a check may end it after any of them, they are asked for one by one.
        """
        sampling = self.sampling
        limited = sampling.max_tokens is not None or sampling.max_s is not None
        single = limited or sampling.judge is not None or not sampling.agreement
        return 1 if single or self.tried else sampling.samples // 2 + 1

    def _stopped(self) -> str:
        """Return why no further program is asked for; "" if one may be."""
        sampling, left = self.sampling, self.sampling.samples - len(self.tried)
        usage = self.author.tally.since(self._mark)
        tokens = usage.prompt_tokens + usage.completion_tokens
        if sampling.max_tokens is not None and tokens >= sampling.max_tokens:
            return f"{tokens} tokens are used, of {sampling.max_tokens}"
        if sampling.max_s is not None and time.monotonic() - self._begin_s >= sampling.max_s:
            return f"{sampling.max_s:g} s are over"
        chosen, alike, second = self._choice()
        *good, _, allowed, goal = chosen.rank
        decides = self.asked.goal is not None and self.asked.goal.accepts
        if not left or not all((*good, allowed)) or (decides and not goal):
            return ""
        if sampling.judge is not None:
            return "the caller's check accepts it"
        if not sampling.agreement:
            return "the goal check accepts it" if goal else "nothing else decides"
        return f"no other effect can overtake it with {left} more" if alike > second + left else ""

    def _choice(self) -> tuple[TriedProgram, int, int]:
        """Return the best so far: by itself, then by how many did the same, then the first.

        With it come how many did the same, itself included, and how many did what came next.
        """
        best = max(one.rank for one in self.tried)
        groups: list[list[TriedProgram]] = []
        for one in self.tried:
            if one.rank == best:
                for group in groups:
                    if group[0].agrees(one):
                        group.append(one)
                        break
                else:
                    groups.append([one])
        words = self.asked.words

        def moved(one: TriedProgram) -> Iterable[str]:
            return one.effect.moved if one.effect is not None else ()

        if self.sampling.agreement and best[0]:
            groups.sort(
                key=lambda group: (
                    -len(group),
                    group[0].idle,
                    -sum(name in words for name in moved(group[0])),
                    group[0].number,
                )
            )
        return groups[0][0], len(groups[0]), len(groups[1]) if len(groups) > 1 else 0

    def _record(self, chosen: TriedProgram, alike: int, stopped: str) -> None:
        """Record what was tried, which is chosen, and why."""
        sampling, why = self.sampling, []
        if chosen.answer.failure is not None:
            why = ["every program failed; the first goes on from there"]
        elif sampling.agreement:
            why = [f"{alike} of {len(self.tried)} did this"]
        if not chosen.expected:
            why.append("no program had the effect that was expected")
        if not chosen.accepted:
            why.append("the caller's check accepts none")
        elif sampling.judge is not None and chosen.answer.failure is None:
            why.append("the caller's check accepts it")
        if self.asked.goal is not None:
            why.append(self.asked.goal.decision(chosen.goal))
        if all(one.idle for one in self.tried):
            why.append("all of them change nothing")
        self.author.trace.event(
            "samples",
            tried=[
                {
                    "number": one.number,
                    "came": self._came(one),
                    "failed": one.answer.failure is not None,
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
            asked=sampling.samples,
        )

    def _came(self, one: TriedProgram) -> str:
        """Return a program's result; with places, if another differs only in these."""
        alone = not any(other.line == one.line and not one.agrees(other) for other in self.tried)
        return one.line if alone or one.effect is None else one.effect.detail

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
        with self.stage() as robot:
            before = Observation.of(robot)
            answer = self.run_on(robot, given)
            if not answer.ran:
                return TriedProgram(number, answer, given)
            after = Observation.of(robot)
            effect = Effect.of(before, after, answer.result)
            words = self.asked.words
            tried = TriedProgram(
                number,
                answer,
                given,
                effect,
                plain(getattr(robot, "strokes", None)),
                expected=all(word in effect.words for word in self.asked.expect),
                accepted=self._accepted(robot),
                goal=None if self.asked.goal is None else self.asked.goal.says(robot),
                doubts=doubts(words, before, after, effect, self.asked.moved_before),
            )
            self.author.trace.progress("tried", number=number)
        return tried

    def _accepted(self, robot: Any) -> bool:
        """Return what the caller's own check says of a world.

        Raises:
            UsageError: It failed.
        """
        try:
            return self.sampling.judge is None or bool(self.sampling.judge(robot))
        except Exception as error:  # it may fail in any way
            why = f"{type(error).__name__}: {error}"
            raise UsageError(f"your own check, Sampling(judge=...), failed: {why}") from error


def drawn_alike(one: Any, other: Any) -> bool:
    """Return whether two drawings are the same, however many strokes they are made of."""
    if not one or not other or one == other:
        return bool(one) == bool(other)
    ours, theirs = (
        MultiLineString([stroke for stroke in drawn if len(stroke) > 1]) for drawn in (one, other)
    )
    if ours.is_empty or theirs.is_empty:
        return False
    apart = float(shapely.hausdorff_distance(ours, theirs, densify=0.05))
    return math.isfinite(apart) and apart <= INK_ALIKE_M
