r"""Reading answers out of text, and comparing them with what is right.

What an answer may look like
    Thoughts between `<think>` tags are dropped. The answer is what stands in the last `\boxed{}` or
    `<answer>`, or follows the last `answer =`, `answer:` or `answer is`, up to a blank line;
    without either it is the last line that says anything, or the list that the text ends with.
    Quotes, brackets, dashes, numbers and labels before the entries of a list and the words a
    sentence is made of (`the`, `and`, `is`, `must be`, ...) count for nothing. What is left must be
    names of the scene, and nothing else; or pairs of numbers in metres, `(0.1, -0.4)` or
    `x=0.1 y=-0.4`.
    A sentence may repeat the question: "The rightmost block is the red block.", and give a reason:
    "The red block, because it is closest.". More sentences may follow that name nothing else.
    Anything else is malformed: other words, a question, a doubt, a no or an or, other units,
    numbers that are not finite. It goes back to the model once, with the reason.

What is right
    Objects: the same names, each once; in the same order where the question gives an order.
    Positions: as many points, each coordinate within `TOLERANCE_M`; in the same order where the
    question gives one, else each right point met by a point of its own. One point may stand in a
    list of its own, as one name may.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.reasoning.questions import ReasoningQuestion

TOLERANCE_M = 0.01
"""How far each coordinate of a position may be off."""
_LONGEST = 4000
"""Characters of an answer that are read, once the answer is found."""
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"\banswers?\**\s*(?:=|:|\bis\b:?|\bare\b:?)\**", re.IGNORECASE)
_BOXED = re.compile(
    r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}|<(?:final[ _-]?)?answer>([^<]*)</",
    re.IGNORECASE | re.DOTALL,
)
_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|textbf|left|right)\b|\\[()\[\],;! ]|\$|~")
_ENTRY = re.compile(r"^[ \t]*(?:[-*\u2022\u2013\u2014]|\(?\d{1,2}[.)])(?=\s)", re.MULTILINE)
_LABEL = re.compile(
    r"(?<![\w.])(?:(?:p|points?|corners?|objects?|blocks?|bowls?)?[ _#]?\d{1,2}|first|second|third"
    r"|fourth|last|(?:bottom|top)(?:[ -](?:left|right))?|left|right|middle|center|(?-i:[A-W]))"
    r"(?: (?:point|corner))?\**\s*(?:[:=]\**|(?=[(\[]))",
    re.IGNORECASE,
)
"""What a list's entries may be called by."""
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_COPULA = re.compile(r"\b(?:is|are|has|lies|would be|should be)\b:?|[:=]", re.IGNORECASE)
_REASON = re.compile(
    r",?\s*\b(?:because|since|(?:at|with) an? distance)\b|,\s*(?:as|so|which|whose)\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\?|\b(?:no|not|nor|neither|or|either|(?:is|are|ca|do)n't|except|cannot|unlikely|maybe|perhaps|"
    r"possibly|but|none|nothing|option|wrong|incorrect|false|unsure|unknown|know)\b",
    re.IGNORECASE,
)
"""Words that take an answer back, or leave it open."""
_SIGNS = re.compile(r"[\s,;.:&'\"`*\[\](){}!\u2248\u201c\u201d]+|(?<!\S)[-\u2013\u2014]+(?!\S)")
_FILLERS = (
    "a and answer are at i in is it of order s object objects point points position positions "
    "ret_val that the then they this to = would be np so array should therefore thus hence final "
    "located lies approximately about roughly coordinates think which its must has have say d m my "
    "believe clearly one name names result solution meters metres pick choose"
)
"""Words that mean nothing in an answer."""
# Possessive quantifiers: a long run of digits or spaces must not backtrack.
_NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?(?:\s*+(?:met(?:er|re)s?|m)\b)?"
_IS = r"(?:\s*+(?:[=:\u2248]|is\b)\s*+|\s++)"
_PAIR = re.compile(
    rf"[(\[<]\s*+({_NUMBER})(?:\s*+[,;]\s*+|\s++)({_NUMBER})\s*+,?\s*+[)\]>]"
    rf"|\bx[\"']?{_IS}({_NUMBER})\s*+(?:[,;]\s*+)?(?:and\s++)?[\"']?y[\"']?{_IS}({_NUMBER})",
    re.IGNORECASE,
)
_BARE = re.compile(rf"\s*+({_NUMBER})(?:\s*+,\s*+|\s++and\s++|\s++)({_NUMBER})[\s.]*+\Z")
"""Two numbers and nothing else."""

Point = tuple[float, float]
Read = Callable[[str], list[Any]]


class Malformed(ValueError):
    """A text that is no answer of the kind asked for; the message says why."""


def read_names(text: str, known: Sequence[str], asked: str = "") -> list[str]:
    """Return the objects a text answers with, in its order.

    Args:
        text: The answer.
        known: The names of the scene.
        asked: The words of the question, which the answer may repeat.

    Raises:
        Malformed: It says something else than names of the scene, or nothing, or two answers.
    """
    pattern = re.compile("|".join(rf"\b{name.replace(' ', '[ _-]')}\b" for name in known))

    def plain(words: str) -> str:
        return words.lower().replace("grey", "gray")

    def names_in(words: str) -> list[str]:
        return [re.sub("[_-]", " ", name) for name in pattern.findall(plain(words))]

    def read(words: str) -> list[str]:
        words = _LABEL.sub(" ", plain(words))
        _refuse_rest(pattern.sub(" ", words), "is no object of the scene")
        if not (found := names_in(words)):
            raise Malformed("the answer names no object")
        return found

    return _answer(text, read, names_in, asked)


def read_points(text: str, asked: str = "") -> NDArray[np.float64]:
    """Return the points a text answers with, xy in metres, shape (n, 2).

    Args:
        text: The answer.
        asked: The words of the question, which the answer may repeat.

    Raises:
        Malformed: It says something else than pairs of finite numbers, or nothing, or two answers.
    """

    def points_in(words: str) -> list[Point]:
        return [_point(match) for match in _PAIR.finditer(words)]

    def read(words: str) -> list[Point]:
        words = _LABEL.sub(" ", words)
        if bare := _BARE.match(words.strip("'\"`* ")):
            return [_point(bare)]
        _refuse_rest(_PAIR.sub(" ", words).lower(), "is no pair of numbers (x, y) in metres")
        if not (points := points_in(words)):
            raise Malformed("the answer has no pair of numbers (x, y)")
        return points

    return np.array(_answer(text, read, points_in, asked))


def _point(match: re.Match[str]) -> Point:
    """Return a pair of numbers.

    Raises:
        Malformed: One is not finite.
    """
    x, y = (float(re.sub(r"\s*m.*", "", number, flags=re.I)) for number in match.groups() if number)
    if not (math.isfinite(x) and math.isfinite(y)):
        raise Malformed("a number of the answer is not finite")
    return x, y


def _answer(text: str, read: Read, mentioned: Read, asked: str) -> list[Any]:
    """Return the answer of a text.

    Args:
        text: All of it.
        read: Reads an answer that says nothing else.
        mentioned: Finds what may be an answer in any words.
        asked: The question.

    Raises:
        Malformed: There is none, or more than one.
    """
    text = _THOUGHTS.sub("", text).replace("\u2212", "-").replace("\u2019", "'")
    text = re.sub(r"[\u2013\u2014](?=[\d.])", "-", text)
    if boxed := _BOXED.findall(text):
        said = "".join(boxed[-1])
    elif len(marked := _MARK.split(text)) > 1:
        said = marked[-1].strip().partition("\n\n")[0]
    else:
        said = _last(text)
    said = _plain(said)[:_LONGEST]
    if doubt := _DOUBT.search(said):
        raise Malformed(f"the answer is in doubt: {doubt[0]!r}")
    try:
        return read(said)
    except Malformed as error:
        why = error
    sentence, *more = _SENTENCE.split(said.strip(), maxsplit=1)
    sentence = _REASON.split(sentence)[0]
    known = mentioned(asked)
    sides = [(sentence, "")]
    for copula in _COPULA.finditer(sentence):
        before, after = sentence[: copula.start()], sentence[copula.end() :]
        sides += [(after, before), (before, after)]
    for side, question in sides:
        if all(entry in known for entry in mentioned(question)):
            try:
                found = read(side)
            except Malformed:
                continue
            if all(entry in (*found, *known) for entry in mentioned(" ".join(more))):
                return found
            raise Malformed("there are two answers, or an answer and more")
    raise why


def _plain(text: str) -> str:
    """Return a text without what typesets it, and without the signs before a list's entries."""
    return _ENTRY.sub(" ", re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}", r" \1 ", _LATEX.sub(" ", text)))


def _last(text: str) -> str:
    """Return the last line that says anything, with those that are a list with it."""
    lines = [line for line in text.splitlines() if line.strip(" \t`")]
    first = len(lines) - 1
    while first > 0 and all(_is_entry(line) for line in lines[first - 1 :]):
        first -= 1
    last = "\n".join(lines[first:])
    while first > 0 and last.count("]") > last.count("["):  # an array over several lines
        first -= 1
        last = f"{lines[first]}\n{last}"
    return last


def _is_entry(line: str) -> bool:
    return _ENTRY.match(line) is not None or _LABEL.match(line.lstrip()) is not None


def _refuse_rest(text: str, why: str) -> None:
    """Refuse words that mean something."""
    words = [word for word in _SIGNS.split(text) if word]
    if rest := " ".join(word for word in words if word not in _FILLERS.split()):
        raise Malformed(f"{rest if len(rest) <= 60 else rest[:57] + '...'!r} {why}")


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
