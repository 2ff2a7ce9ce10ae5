"""Rounds: a program, then what came of it, and the model goes on or says that all is done.

All rounds of an instruction are one turn for the person. The turn ends when the model writes a
program that does nothing, when two rounds in a row have no effect, when a person or the model stops
it, or with the last round there may be. Where the last program failed, the model's word that all is
done does not make the turn good: only the effect that was expected does, or a check of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cap.engine.answer import Answer, State
from cap.engine.doubts import doubts
from cap.engine.effect import Effect, WorldView
from cap.engine.goal import GOAL, NOT_SO, SAYS_NO, GoalCheck
from cap.engine.idle_program import is_order
from cap.models.base import Usage
from cap.prompt.context import Context
from cap.prompt.prompt import PastTurn, one_line
from cap.robot.protocol import Rewindable
from cap.session.state import after_turn

if TYPE_CHECKING:
    from cap.session.session import Session

MOST_ROUNDS = 20
GO_ON = (
    "The program above was carried out for this instruction, with what came of it (#=, #!).\n"
    "If something is left to do, write a program for that alone; if all is done, write only: pass"
)
"""What the model is told before each further round."""
_PRINTED_CHARS = 1000
_ENDED = ("interrupted", "refused", "model")
"""Failures after which nobody is asked for a further round."""


class Rounds:
    """The rounds of one instruction."""

    def __init__(
        self,
        session: Session,
        words: str,
        expect: Sequence[str],
        view: WorldView,
        context: Context,
    ) -> None:
        """Prepare to ask.

        Args:
            session: Whose robot and model.
            words: The instruction.
            expect: The effect it must have.
            view: The world as it is.
            context: The facts shown in the first round.
        """
        self._session, self.words, self.expect = session, words, expect
        self.view, self.context = view, context
        self._robot = session.robot
        self.begun = session.state
        """What the last program found."""

    def run(self, state: State, world: Any, most: int) -> Answer:
        """Ask until all is done; return what came of all rounds.

        Args:
            state: What the first program finds.
            world: The snapshot of a simulated robot's world.
            most: How many rounds there may be.
        """
        engine, trace = self._session.engine, self._session.trace
        turns = self._session.turns
        moved_before = tuple(turns[-1].moved) if turns else ()
        if most == 1:
            return engine.run(
                *(self._session.prompt, self.words, self.context, state),
                world=world,
                expect=self.expect,
                view=self.view,
                moved_before=moved_before,
            )
        verify = engine.settings.sampling.verify
        goal = engine.goal_check(self.words, self.view) if verify == GOAL else None
        seen = engine.look()
        context, view, idle = self.context, self.view, 0
        answer = engine.run(
            self._session.prompt, self.words, context, state, world=world, goal=goal
        )
        answer = last = self._judged(answer, goal)
        for number in range(2, most + 1):
            now = WorldView.of(self._robot)
            effect = Effect.of(view, now, last.result, last.earlier_calls)
            why = self._ended(last, effect, idle)
            if not why and last.accepted and goal is not None:
                why = "the goal check accepts it"
            if why:
                trace.event("rounds_ended", rounds=number - 1, reason=why)
                break
            idle = idle + 1 if _without_effect(effect) else 0
            trace.event("round", number=number, came=effect.line)
            state = self._after(state, last, context, effect.detail)
            context, view = self._session.prompt.context_of(now.facts), now
            world = self._robot.snapshot() if isinstance(self._robot, Rewindable) else None
            further = engine.run(
                *(self._session.prompt, self.words, context, state),
                world=world,
                seen=seen,
                goal=goal,
            )
            result = further.result
            if result.failure is None and not result.calls and not result.stdout.strip():
                answer = replace(
                    answer,
                    usage=answer.usage.plus(further.usage),
                    by_lmp=_usage_of_both(answer, further),
                )
                if last.result.failure is not None and self._is_right(answer, last, now):
                    answer = replace(answer, result=replace(answer.result, failure=None))
                trace.event("rounds_ended", rounds=number - 1, reason="the model says it is done")
                break
            self.begun = state
            further = self._judged(further, goal)
            same = further.ran and further.shown == last.shown
            answer, last = _with_round(answer, further), further
            if same:
                reason = "the same program was written twice"
                trace.event("rounds_ended", rounds=number, reason=reason)
                break
        else:
            trace.event("rounds_ended", rounds=most, reason="the limit was reached")
        return self._doubted(answer, moved_before)

    def _judged(self, answer: Answer, goal: GoalCheck | None) -> Answer:
        """Return what came of a round with what the goal check says of the world after it."""
        if goal is None:
            return answer
        verdict = goal.says(self._robot)
        return replace(answer, accepted=verdict is True, denied=goal.denial(verdict))

    def _doubted(self, answer: Answer, moved_before: Sequence[str]) -> Answer:
        """Return what came of all rounds with what is to be doubted of it."""
        engine = self._session.engine
        if answer.result.failure is not None or not engine.author.repairs:
            return answer
        found = list[str]()
        if engine.settings.sampling.verify != "off" and is_order(self.words):
            now = WorldView.of(self._robot)
            effect = Effect.of(self.view, now, answer.result, answer.earlier_calls)
            found += doubts(self.words, self.view, now, effect, moved_before)
        found += [NOT_SO] if answer.denied == SAYS_NO else []
        return replace(answer, doubts=tuple(found))

    def _ended(self, last: Answer, effect: Effect, idle: int) -> str:
        """Return why there is no further round; "" if there is one."""
        failure = last.result.failure
        if failure is not None and (failure.kind in _ENDED or not last.ran):
            return f"{failure.error} ended it"
        return "two rounds had no effect" if idle and _without_effect(effect) else ""

    def _is_right(self, answer: Answer, last: Answer, now: WorldView) -> bool:
        """Tell whether more than the model's word says so: what was expected, or a goal check.

        Args:
            answer: What came of all rounds.
            last: What came of the last of them, which failed.
            now: The world after it.
        """
        if last.denied and not last.accepted:
            return False
        words = Effect.of(self.view, now, answer.result, answer.earlier_calls).words
        met = all(word in words for word in self.expect)
        return met and (bool(self.expect) or last.accepted)

    def _after(self, state: State, last: Answer, context: Context, told: str) -> State:
        """Return what the next program finds: what the last one left, and how it went."""
        failure, printed = last.result.failure, one_line(last.result.stdout)[:_PRINTED_CHARS]
        note = f"printed: {printed}" if printed else ""
        if failure is None:
            state = after_turn(state, last, self._session.trace.turn)
        else:
            note = "; ".join(part for part in (f"failed: {failure}", note) if part)
        entry = PastTurn(self.words, last.shown, context.text, told, note)
        return replace(state, history=(*state.history, entry), given=GO_ON, goes_on=True)


def _without_effect(effect: Effect) -> bool:
    return effect.still and not effect.said and not effect.answered


def _with_round(before: Answer, after: Answer) -> Answer:
    """Return a turn's answer with one more round."""
    return replace(
        after,
        result=replace(
            after.result,
            calls=(*before.result.calls, *after.result.calls),
            stdout=before.result.stdout + after.result.stdout,
        ),
        earlier_calls=len(before.result.calls) + after.earlier_calls,
        earlier=(*before.earlier, replace(before, earlier=()).source),
        attempts=before.attempts + after.attempts,
        tried=before.tried + after.tried,
        usage=before.usage.plus(after.usage),
        by_lmp=_usage_of_both(before, after),
    )


def _usage_of_both(before: Answer, after: Answer) -> dict[str, Usage]:
    by_lmp = dict(before.by_lmp)
    for name, usage in after.by_lmp.items():
        by_lmp[name] = by_lmp[name].plus(usage) if name in by_lmp else usage
    return by_lmp
