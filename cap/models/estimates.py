"""Tokens where their number is not reported."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cap.models.base import Completion

CHARS_PER_TOKEN = 4
"""Stands in where an endpoint counts no tokens: English and code have about so many."""

ESTIMATED = "it counts no tokens: they are estimated from the length of the texts, and so its price"


def estimate(chars: int) -> int:
    """Return about how many tokens a text of so many characters has."""
    return -(-chars // CHARS_PER_TOKEN)


def counted(prompt: str, completion: Completion, missing: str | None = None) -> Completion:
    """Return an answer with counts of tokens; those that are no numbers are estimated.

    Args:
        prompt: What was asked.
        completion: The answer.
        missing: Note on an answer without counts, which are estimated then; None to leave them.
    """
    counts: list[Any] = [completion.prompt_tokens, completion.completion_tokens]
    wrong = not all(type(count) is int and count >= 0 for count in counts)
    if not wrong and (missing is None or any(counts)):
        return completion
    note = ESTIMATED if wrong else missing
    return replace(
        completion,
        prompt_tokens=estimate(len(prompt)),
        completion_tokens=estimate(len(completion.text)),
        cached_tokens=0,
        reasoning_tokens=0,
        notes=(*completion.notes, note) if note else completion.notes,
        estimated=True,
    )
