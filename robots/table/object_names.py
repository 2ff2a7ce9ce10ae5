"""The names of what may stand on a table, and how a name that a person or program writes is read.

Besides coloured blocks and bowls that is fruit and plates, as boxes: fruit is as broad as a gripper
can take; a plate is flat, and only what stands on it is moved.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from cap.errors import NotFound, UsageError, clipped, did_you_mean, misspelt
from robots.table.colors import COLORS, Color
from robots.table.geometry import Vec3

_THINGS: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("things.toml").read_text(encoding="utf-8")
)
SIZES: Mapping[str, Vec3] = {name: tuple(thing["size_m"]) for name, thing in _THINGS.items()}
"""Length, width and height, metres, by name."""
COLOR_OF: Mapping[str, Color] = {name: tuple(thing["color"]) for name, thing in _THINGS.items()}
"""Red, green and blue, 0 to 255."""


def color_of(name: str) -> Color:
    """Return the colour of an object, that its name begins with, or gray; RGB, 0 to 255."""
    return COLOR_OF.get(name) or COLORS.get(name.split()[0], COLORS["gray"])


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
