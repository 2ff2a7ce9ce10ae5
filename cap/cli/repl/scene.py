"""The scene in a terminal: a small map in text, and sentences to try in it."""

from __future__ import annotations

import string
from collections.abc import Container, Mapping
from operator import itemgetter
from textwrap import wrap

import numpy as np

from cap.prompt.examples import RECALLED
from cap.prompt.prompt import Prompt
from cap.robot.protocol import Xyz

MOST_COLUMNS, MOST_ROWS = 48, 12
_LEAST_COLUMNS = 8
_HARD_SPACE = "\N{NO-BREAK SPACE}"
"""Keeps a thing and its name in one line."""
_MARKS = string.ascii_lowercase + string.ascii_uppercase
_SEEN = ("moved", "drew", "drove")
"""What a person sees come of a sentence."""
_POINTING_BACK = {"it", "that", "again", "them", "both", "one", "same", "now", "back", "no,"}
"""Words of sentences that need an earlier one."""


def scene_map(places: Mapping[str, Xyz], width: int) -> list[str]:
    """Return lines that show where things are, seen from above; none of one thing or none.

    Things that share a place stand side by side.

    Args:
        places: Where each is, xyz in metres.
        width: Of the terminal, in characters.
    """
    columns = min(width - 4, MOST_COLUMNS)
    if not 2 <= len(places) <= len(_MARKS) or columns < _LEAST_COLUMNS:
        return []
    spots = np.array([place[:2] for place in places.values()])
    spots -= spots.min(axis=0)
    span_x, span_y = np.maximum(spots.max(axis=0), 0.01)
    # A character is twice as high as it is wide.
    per_m = min((columns - 1) / span_x, 2 * (MOST_ROWS - 1) / span_y)
    cells = np.rint(spots * (per_m, per_m / 2)).astype(int)
    columns, rows = cells.max(axis=0) + 1
    columns = max(columns, min(len(places), _LEAST_COLUMNS))
    grid = [["."] * columns for _ in range(rows)]
    for mark, (column, row) in zip(_MARKS, cells, strict=False):
        line = grid[-1 - row]
        if free := [at for at in range(columns) if line[at] == "."]:
            line[min(free, key=lambda at: abs(at - column))] = mark
    entries = (f"{mark} {name}" for mark, name in zip(_MARKS, places, strict=False))
    legend = "  ".join(entry.replace(" ", _HARD_SPACE) for entry in entries)
    lines = wrap(legend, width - 4, break_long_words=False, break_on_hyphens=False)
    return [*map("".join, grid), *(line.replace(_HARD_SPACE, " ") for line in lines)]


def to_try(prompt: Prompt, things: Container[str], count: int = 2) -> list[str]:
    """Return sentences of a prompt that can be said first in a scene, those that move things first.

    Args:
        prompt: What answers a person.
        things: The objects of the scene, by name.
        count: How many at most.
    """
    found: list[tuple[int, str]] = []
    for example in prompt.examples:
        words, listed = example.instruction.split(), example.context.split("'")[1::2]
        named = [name for name in listed if name in example.instruction]
        if not example.effects or RECALLED in example.effects:
            continue
        if example.follows and not (named and _POINTING_BACK.isdisjoint(words)):
            continue
        effect = example.effects[0]
        if "all" in words:  # of fewer it would not do what it is known to do
            named = [name for name in listed if name in effect]
        if all(name in things for name in named):
            found.append(
                (example.follows + 2 * (not effect.startswith(_SEEN)), example.instruction)
            )
    return [words for _, words in sorted(found, key=itemgetter(0))[:count]]
