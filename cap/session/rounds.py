"""Rounds: a program, then its result, and the model goes on or says that all is done.

All rounds of an instruction are one turn for the user. The turn ends when the model writes a
program that does nothing, when two rounds in a row have no effect, when the same program comes
twice, when the user or a failure of the model stops it, or at the limit of rounds. Where the last
program failed, the model's claim that all is done is not enough for success: the expected effect is
needed, or a check of the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cap.engine.answer import Answer, State
from cap.engine.doubts import doubts
from cap.engine.effect import Effect
from cap.engine.engine import Engine
from cap.engine.goal import GOAL, NOT_SO, SAYS_NO, GoalCheck
from cap.prompt.context import Context
from cap.prompt.prompt import PastTurn, Prompt, one_line
from cap.robot.observation import Observation
from cap.session.state import after_turn

GO_ON = (
    "The program above was run for this instruction, with its result (#=, #!).\n"
    "If something is left to do, write a program for that alone; if all is done, write only: pass"
)
"""The request for each further round."""
_PRINTED_CHARS = 1000
_ENDED = ("interrupted", "refused", "model")
"""Failures after which no further round is asked for."""


@dataclass
class Rounds:
    """The rounds of one instruction."""

    engine: Engine
    """Has the programs written and runs them."""
    prompt: Prompt
    """The prompt that answers the user."""
    words: str
    """The instruction."""
    before: Observation
    """The world before the first of them."""
    begun: State
    """What the last program found."""
    turn: int
    """The turn's number."""
    expect: Sequence[str] = ()
    """The effect it must have."""
    moved_before: Mapping[str, Any] = field(default_factory=dict)
    """What the turn before it moved."""

    def run(self, context: Context, most: int) -> Answer:
        """Ask until all is done; return the answer of all rounds.

        Args:
            context: The facts shown in the first.
            most: How many there may be.
        """
        engine, robot, trace = self.engine, self.engine.robot, self.engine.trace
        mark = engine.tally.mark()
        verify = engine.settings.sampling.verify
        goal = engine.goal_check(self.words, self.before) if verify == GOAL else None
        view, state, idle, reason = self.before, self.begun, 0, ""
        answer = last = self._round(context, state, view, goal)
        for number in range(2, most + 1):
            now = Observation.of(robot, world=True)
            effect = Effect.of(view, now, last.result, last.earlier_calls)
            still = effect.still and not effect.said and not effect.answered
            failure, done = last.result.failure, number - 1
            if failure is not None and (failure.kind in _ENDED or not last.ran):
                reason = f"{failure.error} ended it"
            elif idle and still:
                reason = "two rounds had no effect"
            elif last.accepted and goal is not None:
                reason = "the goal check accepts it"
            if reason:
                break
            idle = idle + 1 if still else 0
            trace.event("round", number=number, came=effect.line)
            state = self._after(state, last, context, effect.detail)
            context, view = self.prompt.context_of(now.facts), now
            further = self._round(context, state, view, goal)
            result = further.result
            if result.failure is None and not result.calls and not result.stdout.strip():
                reason = "the model says it is done"
                if last.result.failure is not None and self._is_right(answer, last, now):
                    answer = replace(answer, result=replace(answer.result, failure=None))
                break
            self.begun = state
            same = further.ran and further.shown == last.shown
            answer, last = _with_round(answer, further), further
            if same:
                reason, done = "the same program was written twice", number
                break
        else:
            reason, done = "the limit was reached", most
        trace.event("rounds_ended", rounds=done, reason=reason)
        usage, by_lmp = engine.tally.since(mark), engine.tally.by_lmp(mark)
        return self._doubted(replace(answer, usage=usage, by_lmp=by_lmp))

    def _round(
        self,
        context: Context,
        state: State,
        before: Observation,
        goal: GoalCheck | None,
    ) -> Answer:
        """Run one, and have the goal check look at the world after it."""
        answer = self.engine.run(
            *(self.prompt, self.words, context, state),
            before=before,
            compared=False,
            goal=goal,
        )
        if goal is None:
            return answer
        verdict = goal.says(self.engine.robot)
        return replace(answer, accepted=verdict is True, denied=goal.denial(verdict))

    def _doubted(self, answer: Answer) -> Answer:
        """Return the answer of all rounds with its doubts."""
        engine = self.engine
        if answer.result.failure is not None or not engine.author.repairs:
            return answer
        found = list[str]()
        if engine.settings.sampling.verify != "off":
            now = Observation.of(engine.robot)
            effect = Effect.of(self.before, now, answer.result, answer.earlier_calls)
            found += doubts(self.words, self.before, now, effect, self.moved_before)
        found += [NOT_SO] if answer.denied == SAYS_NO else []
        return replace(answer, doubts=tuple(found))

    def _is_right(self, answer: Answer, last: Answer, now: Observation) -> bool:
        """Return whether more than the model's claim says so: the expected effect, or a goal check.

        Args:
            answer: The answer of all rounds.
            last: The answer of the last of them, which failed.
            now: The world after it.
        """
        if last.denied and not last.accepted:
            return False
        words = Effect.of(self.before, now, answer.result, answer.earlier_calls).words
        met = all(word in words for word in self.expect)
        return met and (bool(self.expect) or last.accepted)

    def _after(self, state: State, last: Answer, context: Context, effect: str) -> State:
        """Return what the next program finds: what the last one left, and how it went."""
        failure, printed = last.result.failure, one_line(last.result.stdout)[:_PRINTED_CHARS]
        note = f"printed: {printed}" if printed else ""
        if failure is None:
            state = after_turn(state, last, self.turn)
        else:
            note = "; ".join(part for part in (f"failed: {failure}", note) if part)
        entry = PastTurn(self.words, last.shown, context.text, effect, note)
        return replace(state, history=(*state.history, entry), given=GO_ON, goes_on=True)


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
    )
