"""Reading answers out of text, and comparing them with what is right.

What an answer may look like
    Thoughts between `<think>` tags are dropped. The answer is what follows the last `answer =`,
    `answer:` or `answer is`, up to a blank line; without one it is the last line that says
    anything. Quotes, brackets, commas, full stops and the words a sentence is made of (`the`,
    `and`, `is`, `at`, ...) count for nothing. What is left must be names of the scene, and nothing
    else (`none` stands for no object); or pairs of plain numbers, `(0.1, -0.4)` or
    `x = 0.1, y = -0.4`, in metres. Anything else is malformed: other words, other units, numbers
    that are not finite.

What is right
    Objects: the same names, each once; in the same order where the question gives an order.
    Positions: as many points, each coordinate within `TOLERANCE_M`; in the same order where the
    question gives one, else each right point met by a point of its own. One point may stand in a
    list of its own, as one name may.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reasoning.question import ReasoningQuestion

TOLERANCE_M = 0.01
"""How far each coordinate of a position may be off."""
_LONGEST = 4000
"""Characters of an answer that are read, once the answer is found."""
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"\banswers?\**\s*(?:=|:|\bis\b:?|\bare\b:?)\**", re.IGNORECASE)
_SIGNS = re.compile(r"[\s,;.:'\"`*\[\](){}]+")
_FILLERS = frozenset(["a", "and", "answer", "are", "at", "i", "in", "is", "it", "of", "order", "s"])
_FILLERS |= frozenset(["object", "objects", "point", "points", "position", "positions", "ret_val"])
_FILLERS |= frozenset(["that", "the", "then", "they", "this", "to", "=", "would", "be", "m", "np"])
_FILLERS |= frozenset(["array", "meters", "metres"])
# Possessive quantifiers: a long run of digits or spaces must not backtrack.
_NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"
_PAIR = re.compile(
    rf"[(\[]\s*+(?P<x>{_NUMBER})\s*+m?\s*+,\s*+(?P<y>{_NUMBER})\s*+m?\s*+,?\s*+[)\]]"
    rf"|\bx\s*[=:]\s*(?P<x2>{_NUMBER})\s*+m?\s*+(?:,|and|,\s*and)\s*y\s*[=:]\s*(?P<y2>{_NUMBER})",
    re.IGNORECASE,
)


class Malformed(ValueError):
    """A text that is no answer of the kind asked for; the message says why."""


def read_names(text: str, known: Sequence[str]) -> list[str]:
    """Return the objects a text answers with, in its order.

    Raises:
        Malformed: It says something else than names of the scene, or nothing.
    """
    words = _said(text).lower().replace("grey", "gray")
    pattern = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in known))
    found = pattern.findall(words)
    rest = _rest(pattern.sub(" ", words))
    if rest == ["none"] and not found:
        return []
    if rest:
        raise Malformed(f"{_shown(rest)} is no object of the scene")
    if not found:
        raise Malformed("the answer names no object")
    return found


def read_points(text: str) -> NDArray[np.float64]:
    """Return the points a text answers with, xy in metres, shape (n, 2).

    Raises:
        Malformed: It says something else than pairs of finite numbers, or nothing.
    """
    said = _said(text)
    points = [
        (float(match["x"] or match["x2"]), float(match["y"] or match["y2"]))
        for match in _PAIR.finditer(said)
    ]
    if rest := _rest(_PAIR.sub(" ", said).lower()):
        raise Malformed(f"{_shown(rest)} is no pair of numbers (x, y) in metres")
    if not points:
        raise Malformed("the answer has no pair of numbers (x, y)")
    if not all(math.isfinite(value) for point in points for value in point):
        raise Malformed("a number of the answer is not finite")
    return np.array(points)


def _said(text: str) -> str:
    """Return the part of a text that is its answer."""
    text = _THOUGHTS.sub("", text).replace("\u2212", "-")
    marks = list(_MARK.finditer(text))
    if marks:
        return text[marks[-1].end() :].strip().partition("\n\n")[0][:_LONGEST]
    lines = [line for line in text.splitlines() if line.strip(" \t`")]
    return lines[-1][:_LONGEST] if lines else ""


def _rest(words: str) -> list[str]:
    """Return the words that mean something."""
    return [word for word in _SIGNS.split(words) if word and word not in _FILLERS]


def _shown(words: Sequence[str]) -> str:
    told = " ".join(words)
    return repr(told if len(told) <= 60 else told[:57] + "...")


def wrong(question: ReasoningQuestion, right: Any, given: Any) -> str | None:
    """Return what is wrong with an answer of the right kind; None if it is right.

    Args:
        question: What was asked.
        right: Names in a list, or an array of points.
        given: A name or names, a point or points.
    """
    if question.kind == "object":
        names = [given] if isinstance(given, str) else list(given)
        if names == right or (not question.ordered and sorted(names) == sorted(right)):
            return None
        return f"answered {', '.join(names) or 'none'}; right is {', '.join(right)}"
    return _wrong_points(question, np.asarray(right), np.asarray(given, dtype=float))


def _wrong_points(
    question: ReasoningQuestion, right: NDArray[np.float64], given: NDArray[np.float64]
) -> str | None:
    wanted, found = np.atleast_2d(right), np.atleast_2d(given)
    if found.shape != wanted.shape:
        return f"answered {found.shape} numbers; right are {wanted.shape}: points, x and y"
    if not np.isfinite(found).all():
        return "a number of the answer is not finite"
    off = np.abs(found[:, None] - wanted[None]).max(axis=2)
    if question.ordered or len(wanted) == 1:
        missed = float(off.diagonal().max())
        if missed <= TOLERANCE_M:
            return None
        return f"off by {missed:.3f} m; right is {_written(wanted)}, answered {_written(found)}"
    # Right points lie farther apart than twice the tolerance, so a match is unique if there is one.
    near = off <= TOLERANCE_M
    if (near.sum(axis=0) == 1).all() and (near.sum(axis=1) == 1).all():
        return None
    return f"right are {_written(wanted)}, answered {_written(found)}"


def _written(points: NDArray[np.float64]) -> str:
    return ", ".join(f"({x:.3f}, {y:.3f})" for x, y in points)


def as_text(question: ReasoningQuestion, right: Any) -> str:
    """Return a right answer in words, for those who answer in language."""
    return ", ".join(right) if question.kind == "object" else _written(np.atleast_2d(right))
