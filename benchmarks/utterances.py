"""What was said last, in the form that the task's sentence asks for, and in no other.

A sentence asks for a form that can be read exactly: yes or no, a place, names with commas between.
Whatever else is said instead is no answer. Case, spaces and a final `.` or `!` are free.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

_ARTICLE = re.compile(r"^(?:the|an?) ")


def last_said(spoken: Sequence[str]) -> str:
    """Return what was said last, in lower case, with single spaces and no mark at its end."""
    words = " ".join(spoken[-1].split()).casefold() if spoken else ""
    return re.sub(r" ?[.!]+$", "", words)


def bare(name: str) -> str:
    """Return a name without its article."""
    return _ARTICLE.sub("", name)


def none_of(spoken: Sequence[str], known: Collection[str]) -> str:
    """Return the reason that what was said last is none of the answers there are."""
    said = f"{spoken[-1]!r}" if spoken else "nothing"
    return f"it said {said}, not one of: {', '.join(known)}"
