"""Tokens where their number is not reported, or cannot be true."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cap.models.base import Completion

CHARS_PER_TOKEN = 4
"""Stands in where an endpoint counts no tokens: English and code have about so many."""
MOST_PER_CHAR = 10
"""No text has more tokens than this for each of its characters."""
UNSEEN = 300_000
"""So many may come on top: of pictures, hints and reasoning that stand in no text."""
MOST = 100_000_000
"""No request has more."""

ESTIMATED = "it counts no tokens: they are estimated from the length of the texts, and so its price"
UNBELIEVABLE = (
    "it counts tokens as they cannot be: they are estimated from the length of the texts, and so "
    "its price"
)


def estimate(chars: int) -> int:
    """Return about how many tokens a text of so many characters has."""
    return -(-chars // CHARS_PER_TOKEN)


def believable(tokens: Any, chars: int) -> bool:
    """Tell whether a text of so many characters, and what is unseen, may have so many tokens."""
    return type(tokens) is int and 0 <= tokens <= min(MOST, MOST_PER_CHAR * chars + UNSEEN)


def believed(prompt: str, completion: Completion, missing: str | None = None) -> Completion:
    """Return an answer whose counts can be true; what cannot be is estimated from the texts.

    Args:
        prompt: What was asked.
        completion: The answer.
        missing: Note on an answer without counts, which are estimated then; None to leave them.
    """
    counts = completion.prompt_tokens, completion.completion_tokens
    wrong = not all(map(believable, counts, (len(prompt), len(completion.text))))
    estimated = wrong or (missing is not None and not any(counts))
    if not estimated:
        return completion
    note = UNBELIEVABLE if wrong else missing
    return replace(
        completion,
        prompt_tokens=estimate(len(prompt)),
        completion_tokens=estimate(len(completion.text)),
        cached_tokens=0,
        reasoning_tokens=0,
        notes=(*completion.notes, note) if note else completion.notes,
        estimated=True,
    )
