"""The names of blocks and bowls, and how a name that a person or a program writes is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from cap.errors import NotFound, UsageError, clipped, did_you_mean, misspelt
from robots.table.colors import COLORS
from robots.table.things import SIZES

Kind = Literal["block", "bowl"]
KINDS: tuple[Kind, ...] = ("block", "bowl")
ALL_NAMES = tuple(f"{color} {kind}" for kind in KINDS for color in COLORS)
DEFAULT_NAMES = tuple(
    f"{color} {kind}" for kind in KINDS for color in ("red", "green", "blue", "yellow")
)

_ALIASES = {
    "center": "middle",
    "centre": "middle",
    "grey block": "gray block",
    "grey bowl": "gray bowl",
}


def plain(name: str) -> str:
    """Return a name as this world writes it: lower case, no article, spaces for underscores."""
    words = name.replace("_", " ").lower().split()
    if words and words[0] in ("the", "a", "an"):
        words = words[1:]
    text = " ".join(words)
    return _ALIASES.get(text, text)


def find(name: str, known: Iterable[str], what: str = "object") -> str:
    """Return the known name that `name` means.

    Raises:
        NotFound: None of that name; the message lists the nearest and all of them.
    """
    if not isinstance(name, str):
        raise TypeError(f"expected the name of an {what} as text, got {type(name).__name__}")
    known = list(known)
    if (text := plain(name)) in known:
        return text
    hint = misspelt(text, known)
    raise NotFound(f"no {what} named {name!r:.80}.{hint} Known: {', '.join(known)}")


def check_names(names: Sequence[str], kinds: Sequence[Kind] = KINDS) -> tuple[str, ...]:
    """Return the objects of a scene by their exact names.

    Args:
        names: What they were called.
        kinds: What may be there, for the message of a name that is none.

    Raises:
        UsageError: A name is unknown or given twice.
    """
    found: list[str] = []
    for name in names:
        text = plain(name)
        if text not in ALL_NAMES and text not in SIZES:
            known = [name for name in ALL_NAMES if name.endswith(tuple(kinds))]
            raise UsageError(
                f"no object named {clipped(name)!r}.{did_you_mean(text, [*known, *SIZES])} An "
                f"object is a colour and {' or '.join(map(repr, kinds))}, or fruit or a plate such "
                f"as 'apple' and 'red plate'; colours: {', '.join(COLORS)}"
            )
        if text in found:
            raise UsageError(f"object {text!r} is given twice; each colour exists once per kind")
        found.append(text)
    return tuple(found)
