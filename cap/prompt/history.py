"""A session's earlier turns, kept within a token budget.

The oldest turns leave whole, and one line says how many have left. The last ones keep their
programs, whatever their length: "that" means them. Of a long instruction its beginning stays, and
of a long effect, such as that of a loop which was stopped. Nothing changes as long as the turns
fit; once they do not, more leave than need be, so that the text of the prompt up to the newest turn
stays the same, byte for byte, for many turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cap.prompt.prompt import PastTurn, tokens_of

_KEPT_OF_BUDGET = 0.75
_LAST = 3
"""Turns that stay whatever their length."""
_WORDS_CHARS = 1_000
"""How much of an instruction, of its effect and of its failure is shown again."""


def tokens(turn: PastTurn) -> int:
    """Return about how many tokens a turn takes in a prompt, rounded up."""
    text = turn.context, turn.instruction, turn.code, turn.effect, turn.note
    return tokens_of(sum(len(part) + 1 for part in text if part))


def within(turns: Sequence[PastTurn], budget_tokens: int) -> tuple[PastTurn, ...]:
    """Return the turns that fit a budget, after one that says how many were left out.

    Args:
        turns: Oldest first; the first may count others left out before.
        budget_tokens: The most they may take. Beyond it they are cut down to three quarters, but
            never to fewer than the last three.
    """
    kept = [_short(turn) for turn in turns]
    total = sum(map(tokens, kept))
    if total <= budget_tokens:
        return tuple(kept)
    left = kept.pop(0).left_out if kept and kept[0].left_out else 0
    while len(kept) > _LAST and total > budget_tokens * _KEPT_OF_BUDGET:
        total -= tokens(kept.pop(0))
        left += 1
    if not left:
        return tuple(kept)
    many = f"{left} earlier instructions are" if left > 1 else "1 earlier instruction is"
    return (PastTurn("", "", note=f"{many} left out here", left_out=left), *kept)


def _short(turn: PastTurn) -> PastTurn:
    """Return a turn with as much of its words, its effect and its failure as is shown again."""
    words, effect, note = (
        _beginning(turn.instruction),
        _beginning(turn.effect),
        _beginning(turn.note),
    )
    return replace(turn, instruction=words, effect=effect, note=note)


def _beginning(text: str) -> str:
    return text if len(text) <= _WORDS_CHARS else f"{text[:_WORDS_CHARS].rstrip()} ... (cut here)"
