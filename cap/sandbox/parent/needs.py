"""What a program needs, told by its words: whether it may run without numpy and shapely at all."""

from __future__ import annotations

import re
from typing import Any

from cap.checker.allowlist import NUMPY, SHAPELY_AFFINITY, SHAPELY_GEOMETRY, SHAPELY_OPS
from cap.program.scope import Scope

_WORD = re.compile(r"\w+")
_LIBRARIES = frozenset(
    [*NUMPY, *SHAPELY_GEOMETRY, *SHAPELY_AFFINITY, *SHAPELY_OPS, "affinity", "shapely"]
)
_ALL_NAMES = frozenset(["dir", "eval", "globals", "locals", "vars"])
"""Builtins that show every name there is, or read a name from a text."""
_PLAIN = frozenset([type(None), bool, int, float, str, bytes, complex, range])
_MOST_VALUES = 2000
"""Values looked at before a program is given the libraries unseen."""


def words_of(source: str, scope: Scope) -> set[str]:
    """Return the words of a program and of the definitions it is handed."""
    words = set(_WORD.findall(source))
    for entry in scope.definitions:
        words.update(_WORD.findall(entry.source))
    return words


def is_plain(words: set[str], scope: Scope) -> bool:
    """Tell whether a program can neither name numpy or shapely nor be handed a value of theirs.

    Args:
        words: Those of the program; a word in a text or a comment counts as well.
        scope: What it may use.
    """
    if not words.isdisjoint(_LIBRARIES) or not words.isdisjoint(_ALL_NAMES):
        return False
    if not words.isdisjoint(scope.primitives) or not words.isdisjoint(scope.groups):
        return False
    if not all(map(str.isascii, words)):  # Python reads other letters as these
        return False
    return are_plain([*scope.variables.values()])


def are_plain(values: list[Any]) -> bool:
    """Tell whether values are Python's own, with all they hold; False of very many."""
    for looked, value in enumerate(values):  # grows meanwhile
        kind = type(value)
        if looked > _MOST_VALUES:
            return False
        if kind is dict:
            values += [*value.keys(), *value.values()]
        elif kind in (list, tuple, set, frozenset):
            values += value
        elif kind not in _PLAIN:
            return False
    return True
