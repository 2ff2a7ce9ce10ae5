"""A session's earlier turns, kept within a token budget.

The oldest turns lose their code first, then what is noted of them; what the person said always
stays. Nothing changes as long as the turns fit; once they do not, more is dropped than need be, so
that the text of the prompt up to the newest turn stays the same, byte for byte, for many turns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice

from cap.prompt.prompt import PastTurn

CHARS_PER_TOKEN = 4
"""A rule of thumb; no tokenizer is asked."""
LEFT_OUT = "the program of this instruction is left out"
_KEPT_OF_BUDGET = 0.75


def tokens(turn: PastTurn) -> int:
    """Return about how many tokens a turn takes in a prompt, rounded up."""
    text = turn.context, turn.instruction, turn.code, turn.note
    return -(-sum(len(part) + 1 for part in text if part) // CHARS_PER_TOKEN)


def within(turns: Sequence[PastTurn], budget_tokens: int) -> tuple[PastTurn, ...]:
    """Return turns that fit a budget, as far as dropping code and notes can make them fit.

    Args:
        turns: Oldest first; some may have lost their code before.
        budget_tokens: The most they may take. Beyond it they are cut down to three quarters, the
            newest turn last and only if it alone is too much.
    """
    kept = list(turns)
    if _total(kept) <= budget_tokens:
        return tuple(kept)
    goal = int(budget_tokens * _KEPT_OF_BUDGET)
    for drop in (_without_code, _without_note):
        _shorten(kept, len(kept) - 1, goal, drop)
    for drop in (_without_code, _without_note):
        _shorten(kept, len(kept), budget_tokens, drop)
    return tuple(kept)


def _shorten(
    turns: list[PastTurn], count: int, goal: int, drop: Callable[[PastTurn], PastTurn]
) -> None:
    """Drop something from turns, the oldest first, until all of them fit."""
    total = _total(turns)
    for number, turn in enumerate(islice(turns, count)):
        if total <= goal:
            return
        turns[number] = drop(turn)
        total += tokens(turns[number]) - tokens(turn)


def _total(turns: Sequence[PastTurn]) -> int:
    return sum(map(tokens, turns))


def _without_code(turn: PastTurn) -> PastTurn:
    if not turn.code:
        return turn
    return replace(turn, code="", context="", note=turn.note or LEFT_OUT)


def _without_note(turn: PastTurn) -> PastTurn:
    return replace(turn, note="")
