"""What a program has in addition to its context, as lines for its model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

_VALUE_CHARS = 400
"""How much of one value is shown."""
_DIGITS = 4
_MANY = 8
"""Of more things their number is shown as well, since not all of them may fit."""
_SOURCE_CHARS = 1_200
"""How much of a program is shown; of a longer one, the lines around the calls."""
_LINES_ABOUT, _WORDS_CHARS = 5, 200


def value_lines(given: Mapping[str, Any]) -> str:
    """Return a line for each of some variables: its kind and what is in it."""
    return "\n".join(f"{name} = {_shown(value)}" for name, value in given.items())


def program_lines(words: str, source: str, lines: Iterable[int]) -> str:
    """Return the program that calls a function which is to be written, for its model to read.

    Args:
        words: The instruction that program was written for.
        source: Its text.
        lines: The lines that call the function, from 1.
    """
    shown = source.strip("\n")
    if len(shown) > _SOURCE_CHARS:
        every = shown.split("\n")
        near = {n for at in lines for n in range(at - _LINES_ABOUT, at + _LINES_ABOUT)}
        shown = "\n".join(line for n, line in enumerate(every, 1) if n in near)[:_SOURCE_CHARS]
    asked = f" for '{words[:_WORDS_CHARS]}'" if words else ""
    return f"It is called by this program{asked}, which is written already:\n{shown}"


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        text, kind = repr(np.round(value, _DIGITS).tolist()), f"array of shape {value.shape}: "
        if value.dtype.kind not in "biuf":
            text = repr(value.tolist())
    elif hasattr(value, "wkt"):
        text, kind = value.wkt, ""
    elif isinstance(value, float):
        text, kind = repr(round(value, _DIGITS)), ""
    else:
        try:
            text, kind = repr(value), ""
            if isinstance(value, list | tuple | set | dict) and len(value) > _MANY:
                kind = f"{type(value).__name__} of {len(value)}: "
        except ValueError:  # Python shows no integer of more than 4300 digits
            return f"<{type(value).__name__}>"
    text = " ".join(text.split())
    return f"{kind}{text if len(text) <= _VALUE_CHARS else text[: _VALUE_CHARS - 3] + '...'}"
