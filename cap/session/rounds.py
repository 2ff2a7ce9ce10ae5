"""Rounds: a program, then its result, and the model goes on or says that all is done.

All rounds of an instruction are one turn for the user. The turn ends when the model writes a
program that does nothing, when two rounds in a row have no effect, when the same program comes
twice, when the user or a failure of the model stops it, or at the limit of rounds. Where the last
program failed, the model's claim that all is done is not enough for success: the expected effect is
needed, or a check of the world.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cap.engine.answer import Answer, Instruction, State, joined, with_failure
from cap.engine.doubts.doubts import doubts
from cap.engine.effect import Effect
from cap.engine.engine import Engine
from cap.engine.goal import GOAL, NOT_SO, SAYS_NO
from cap.prompt.prompt import PastTurn, one_line
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
    asked: Instruction
    """The instruction, with the facts shown in the first."""
    before: Observation
    """The world before the first of them."""
    turn: int
    """The turn's number."""

    def run(self, most: int) -> Answer:
        """Ask until all is done, at most so many times; return the answer of all rounds."""
        engine, trace = self.engine, self.engine.trace
        mark = engine.tally.mark()
        verify = engine.settings.sampling.verify
        goal = engine.goal_check(self.asked.words, self.before) if verify == GOAL else None
        asked = replace(self.asked, compared=False, goal=goal, expect=(), moved_before={})
        view, idle, reason = self.before, False, ""
        answer = last = self._round(asked)
        for number in range(2, most + 1):
            now = Observation.of(engine.robot, world=True)
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
            idle, view = still, now
            trace.event("round", number=number, came=effect.line)
            state = self._after(asked, last, effect.detail)
            context = asked.prompt.context_of(now.facts)
            asked = replace(asked, context=context, state=state, before=now)
            further = self._round(asked)
            result = further.result
            if result.failure is None and not result.calls and not result.stdout.strip():
                reason = "the model says it is done"
                if failure is not None and self._is_right(answer, last, now):
                    answer = with_failure(answer, None)
                break
            same = further.ran and further.shown == last.shown
            earlier = (*answer.earlier, replace(answer, earlier=()).source)
            last = further
            answer = replace(joined(answer, last), earlier=earlier, found=state)
            if same:
                reason, done = "the same program was written twice", number
                break
        else:
            reason, done = "the limit was reached", most
        trace.event("rounds_ended", rounds=done, reason=reason)
        usage, by_lmp = engine.tally.since(mark), engine.tally.by_lmp(mark)
        answer = replace(answer, usage=usage, by_lmp=by_lmp)
        if answer.result.failure is not None or not engine.author.repairs:
            return answer
        found = list[str]()
        if verify != "off":
            now = Observation.of(engine.robot)
            effect = Effect.of(self.before, now, answer.result, answer.earlier_calls)
            found += doubts(self.asked.words, self.before, now, effect, self.asked.moved_before)
        found += [NOT_SO] if answer.denied == SAYS_NO else []
        return replace(answer, doubts=tuple(found))

    def _round(self, asked: Instruction) -> Answer:
        """Run one, and have the goal check look at the world after it."""
        answer = self.engine.run(asked)
        if asked.goal is None:
            return answer
        verdict = asked.goal.says(self.engine.robot)
        return replace(answer, accepted=verdict is True, denied=asked.goal.denial(verdict))

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
        met = all(word in words for word in self.asked.expect)
        return met and (bool(self.asked.expect) or last.accepted)

    def _after(self, asked: Instruction, last: Answer, effect: str) -> State:
        """Return what the next program finds: what the last one left, and how it went."""
        failure, printed = last.result.failure, one_line(last.result.stdout)[:_PRINTED_CHARS]
        state, notes = asked.state, [f"printed: {printed}"] if printed else []
        if failure is None:
            state = after_turn(state, last, self.turn)
        else:
            notes.insert(0, f"failed: {failure}")
        note = "; ".join(notes)
        entry = PastTurn(asked.words, last.shown, asked.context.text, effect, note)
        return replace(state, history=(*state.history, entry), given=GO_ON, goes_on=True)
