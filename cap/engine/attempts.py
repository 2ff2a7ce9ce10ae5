"""Attempts: one instruction is tried, and tried again, each time from a true picture.

What failed while it ran is taken back where the world can go back, and the whole program is asked
for again; elsewhere it stays, with what it set, and a program for the rest is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cap.engine.answer import Answer, State, joined, told_attempt, unanswered, with_note
from cap.engine.doubts import DOUBTED, doubts
from cap.engine.effect import Effect, WorldView
from cap.engine.goal import NOT_SO, GoalCheck
from cap.engine.idle_program import UNCHANGED, is_order, left_as_it_was
from cap.engine.question import CutOff, Question
from cap.engine.repair import Repairs, acted, failed_turn, note_of, reason_of, sort_of
from cap.engine.stop_signals import stop_signals
from cap.errors import RobotError
from cap.program.program import AnsweredInWords
from cap.prompt.context import Context
from cap.prompt.prompt import Prompt
from cap.result import Failure
from cap.robot.protocol import Rewindable

if TYPE_CHECKING:
    from cap.engine.best_of import BestOf
    from cap.engine.engine import Engine


def interrupted() -> Failure:
    """Return the failure of a program that a person stopped, with how they did."""
    return Failure("interrupted", "Interrupted", stop_signals.why)


@dataclass
class Attempts:
    """The attempts at one instruction."""

    engine: Engine
    """Asks for each program and runs it."""
    prompt: Prompt
    """The LMP."""
    order: Question
    """With what the next program is asked for."""
    state: State
    """What the next program finds."""
    left: Repairs
    """How many repairs are left."""
    fixed: bool
    """The context is the caller's own; else it is read again where something was done."""
    rewindable: Rewindable | None = None
    """The robot, if its world goes back before a repair."""
    world: Any = None
    """Its snapshot of the world as it was before the first attempt."""
    best_of: BestOf | None = None
    """Tries several programs and chooses the first one; None to ask for one."""
    view: WorldView | None = None
    """The world before the turn; None where nobody asks whether it is otherwise."""
    moved_before: Sequence[str] = ()
    """What the turn before moved."""
    goal: GoalCheck | None = None
    """What each attempt's effect is held against; None where only the words are."""
    _doubted: bool = False
    _ended: tuple[Answer, Any] | None = None
    """A failed attempt that ran, which no other that ran has followed, and the world it left."""

    def run(self) -> Answer:
        """Try as long as a repair is left and changes something; return what came of it."""
        chosen = None if self.best_of is None else self.best_of.run()
        if chosen is None or chosen.program is not None:
            chosen = self.engine.attempt(self.prompt, self.order, self.state, again=chosen)
        assert chosen is not None
        answer = self._seen_done(chosen)
        while self._to_be_repaired(answer):
            try:
                answer, same = self._set_back(answer)
                if not same:
                    self.order = self._asked_again(answer)
                after = self.engine.attempt(
                    self.prompt, self.order, self.state, answer.written, answer if same else None
                )
            except KeyboardInterrupt:
                if self.engine.trace.depth:  # the outer program ends as well
                    raise
                stop_signals.taken()
                answer = replace(answer, result=replace(answer.result, failure=interrupted()))
                break
            if after is None:
                self.engine.trace.event("same_again", lmp=self.prompt.name)
                answer = replace(answer, attempts=answer.attempts + 1)
                break
            if unanswered(after):
                answer = with_note(answer, after)
                break
            answer = joined(answer, self._seen_done(after), self.order.instruction)
            self._ended = None if after.ran else self._ended
        if answer.result.failure is None:
            return answer
        answer = self._with_its_world(answer)
        if answer.result.failure and answer.result.failure.error == DOUBTED:  # it stays as it was
            answer = replace(answer, result=replace(answer.result, failure=None))
        return answer

    def _seen_done(self, answer: Answer) -> Answer:
        """Return an attempt with what is to be doubted of it, as failed if it may be done right.

        An order that left the world as it was has failed in any case.
        """
        view, words = self.view, self.order.instruction
        order = view is not None and bool(view.positions or view.condition) and is_order(words)
        if not answer.ran or answer.result.failure or self.state.goes_on:
            return answer
        if not order and self.goal is None:
            return answer
        try:
            now = WorldView.of(self.engine.robot)
        except RobotError:  # whoever looks at the turn says so
            return answer
        effect = Effect.of(now if view is None else view, now, answer.result)
        failure, found = None, list[str]()
        if order and view is not None:
            failure = left_as_it_was(effect)
            if failure is None and self.engine.settings.sampling.verify != "off":
                found += doubts(words, view, now, effect, self.moved_before)
        if failure is None and self.goal is not None:
            verdict = self.goal.says(self.engine.robot)
            found += [NOT_SO] if verdict is False else []
            denied = self.goal.denial(verdict)
            answer = replace(answer, accepted=verdict is True, denied=denied)
        once = not self._doubted and self.best_of is None
        if found and once and self.left.runtime:  # it may be done right
            self._doubted = True
            told = "; ".join([*found, f"it did this: {effect.detail}", "do all that was asked"])
            failure = Failure("value", DOUBTED, told)
        answer = replace(answer, doubts=tuple(found), seen=None if failure else now)
        return replace(answer, result=replace(answer.result, failure=failure))

    def _to_be_repaired(self, answer: Answer) -> bool:
        """Tell whether one more attempt is to be made, and count it."""
        failure = answer.result.failure
        if failure is None or not self.engine.author.repairs:
            return False
        sort = sort_of(failure, answer.last_calls, answer.ran)
        if sort is None or not self.left.allow(sort):
            return False
        self.left = self.left.without(sort)
        if failure.error == AnsweredInWords.__name__:  # told once how to speak
            self.left = replace(self.left, static=0)
        if failure.error == UNCHANGED:
            self.left = replace(self.left, static=0, runtime=0)
        self.engine.trace.event(
            "repair",
            lmp=self.prompt.name,
            attempt=answer.attempts + 1,
            reason=reason_of(failure),
            source=answer.shown,
        )
        return True

    def _set_back(self, answer: Answer) -> tuple[Answer, bool]:
        """Set world and state to where the next attempt begins.

        Returns:
            The failed attempt, and whether its program is to run again as it is: an LMP that it
            calls is asked for other points.
        """
        calls = answer.last_calls
        if not acted(calls):
            return answer, False
        if answer.ran and self.rewindable is not None:
            self._ended = answer, self.rewindable.snapshot()
            self._rewind(self.world)
            return replace(answer, back=True), self.engine.object_to_points(calls)
        self.state = replace(
            self.state,
            variables={**self.state.variables, **answer.result.variables},
            definitions=tuple(dict.fromkeys((*self.state.definitions, *answer.generated))),
        )
        return answer, False

    def _asked_again(self, answer: Answer) -> Question:
        """Return the question after a failed attempt: with its program, and why it failed."""
        order, failure, calls = self.order, answer.result.failure, answer.last_calls
        assert failure is not None
        kept = [name for name in answer.result.variables if name not in order.context.facts]
        returns = self.prompt.header.returns
        note = note_of(failure, answer.shown, calls, returns, back=answer.back, kept=kept)
        turn = failed_turn(order.instruction, order.context.text, answer.shown, note)
        order = replace(order, history=(*order.history, turn))
        if failure.error == CutOff.__name__:
            order = order.with_more_room()
        if acted(calls) and not answer.back and not self.fixed:
            now = self.engine.context(self.prompt)
            context = Context.of({**order.context.facts, **now.facts})
            order = replace(order, context=context)
            if order.pictures:
                order = replace(order, pictures=self.engine.look())
        return order

    def _with_its_world(self, answer: Answer) -> Answer:
        """Leave the world as the last failed program that ran left it, or take that back too."""
        if self.rewindable is None:
            return answer
        if self.left.undo:
            if answer.ran:
                self._rewind(self.world)
            return replace(answer, back=True)
        if self._ended is None:
            return answer
        failed, its_world = self._ended
        self._rewind(its_world)
        if answer.ran:  # it is that program, and no other followed
            return replace(answer, back=False)
        told = told_attempt(failed, self.order.instruction)
        return replace(answer, failed=(*answer.failed, told))

    def _rewind(self, world: Any) -> None:
        """Put the world back to a snapshot of it."""
        assert self.rewindable is not None
        self.rewindable.restore(world)
        self.engine.trace.event("rewound")
