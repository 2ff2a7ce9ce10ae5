"""A name that is meant to be another: one edit away, or the same words written out."""

from __future__ import annotations

from collections.abc import Iterable

from cap.errors import one_edit

_WORDS = {
    "object": "obj",
    "location": "loc",
    "position": "pos",
    "trajectory": "traj",
    "point": "pt",
    "points": "pts",
    "velocity": "vel",
}
"""Words of names that are written out or short."""
_SHORTEST = 5
"""Names of fewer letters are too much alike."""


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a name is meant to be; None if it is a name of its own."""
    known = list(known)
    words = _words(name)
    for other in known:
        if words == _words(other) and name != other:
            return other
    if len(name) < _SHORTEST:
        return None
    return next((other for other in known if one_edit(name.lower(), other.lower())), None)


def _words(name: str) -> list[str]:
    spread = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return [_WORDS.get(word, word) for word in spread.split("_") if word]
