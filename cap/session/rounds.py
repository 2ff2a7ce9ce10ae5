"""Rounds: a program, then its result, and the model goes on or says that all is done.

All rounds of an instruction are one turn for the user. The turn ends when the model writes a
program that does nothing, when two rounds in a row have no effect, when the same program comes
twice, when the user or a failure of the model stops it, or at the limit of rounds. Where the last
program failed, the turn has failed, whatever the model says.
"""

from __future__ import annotations

from dataclasses import replace

from cap.engine.answer import Answer, Instruction, State, joined
from cap.engine.doubts.doubts import doubts
from cap.engine.effect import Effect
from cap.engine.engine import Engine
from cap.engine.goal_check import GOAL, NOT_SO, SAYS_NO
from cap.prompt.prompt import PastTurn, one_line
from cap.robot.observation import Observation
from cap.session.kept_state import after_turn

MOST_ROUNDS = 20
GO_ON = (
    "The program above was run for this instruction, with its result (#=, #!).\n"
    "If something is left to do, write a program for that alone; if all is done, write only: pass"
)
"""The request for each further round."""
_PRINTED_CHARS = 1000
_ENDED = ("interrupted", "refused", "model")
"""Failures after which no further round is asked for."""


def run_rounds(engine: Engine, asked: Instruction, turn: int, most: int) -> Answer:
    """Ask until all is done; return the answer of all rounds.

    Args:
        engine: Has the programs written and runs them.
        asked: The instruction, with the facts shown in the first round.
        turn: The turn's number.
        most: The most rounds.
    """
    trace, mark, verify = engine.trace, engine.tally.mark(), engine.settings.sampling.verify
    whole, before = asked, asked.before
    assert before is not None
    goal = engine.goal_check(asked.words, before) if verify == GOAL else None
    asked = replace(asked, compared=False, goal=goal, expect=(), moved_before={})
    view, idle, reason = before, False, ""
    answer = last = _round(engine, asked)
    for number in range(2, most + 1):
        now = Observation.of(engine.robot, world=True)
        effect = Effect.of(view, now, last.result, last.earlier_calls)
        still = effect.still and not effect.said and not effect.answered
        failure, done = last.failure, number - 1
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
        state = _after(asked, last, effect.detail, turn)
        context = asked.prompt.context_of(now.facts)
        asked = replace(asked, context=context, state=state, before=now)
        further = _round(engine, asked)
        result = further.result
        if result.failure is None and not result.calls and not result.stdout.strip():
            reason = "the model says it is done"
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
    found = list[str]()
    if answer.failure is None and engine.author.repairs:
        if verify != "off":
            now = Observation.of(engine.robot)
            effect = Effect.of(before, now, answer.result, answer.earlier_calls)
            found += doubts(asked.words, before, now, effect, whole.moved_before)
        found += [NOT_SO] if answer.denied == SAYS_NO else []
    usage, by_lmp = engine.tally.since(mark), engine.tally.by_lmp(mark)
    return replace(answer, usage=usage, by_lmp=by_lmp, doubts=tuple(found))


def _round(engine: Engine, asked: Instruction) -> Answer:
    """Run one, and have the goal check look at the world after it."""
    answer = engine.run(asked)
    if asked.goal is None:
        return answer
    verdict = asked.goal.says(engine.robot)
    return replace(answer, accepted=verdict is True, denied=asked.goal.denial(verdict))


def _after(asked: Instruction, last: Answer, effect: str, turn: int) -> State:
    """Return what the next program finds: what the last one left, and how it went."""
    failure, printed = last.failure, one_line(last.result.stdout)[:_PRINTED_CHARS]
    state, notes = asked.state, [f"printed: {printed}"] if printed else []
    if failure is None:
        state = after_turn(state, last, turn)
    else:
        notes.insert(0, f"failed: {failure}")
    entry = PastTurn(asked.words, last.shown, asked.context.text, effect, "; ".join(notes))
    return replace(state, history=(*state.history, entry), given=GO_ON, goes_on=True)
