"""The scene in a terminal: a small map in text."""

from __future__ import annotations

import string
from collections.abc import Mapping
from textwrap import wrap

import numpy as np

from cap.robot.protocol import Xyz

MOST_COLUMNS, MOST_ROWS = 48, 12
_LEAST_COLUMNS = 8
_HARD_SPACE = "\N{NO-BREAK SPACE}"
"""Keeps a thing and its name in one line."""
_MARKS = string.ascii_lowercase + string.ascii_uppercase


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
