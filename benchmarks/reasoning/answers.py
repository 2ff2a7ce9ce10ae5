r"""Reading answers out of text, and comparing them with what is right.

What an answer may look like
    Thoughts between `<think>` tags are dropped. The answer is what stands in `\boxed{}` or
    `<answer>`, or follows `answer =`, `answer:` or `answer is`, up to a blank line; without either
    it is the last line that says anything, or the list that the text ends with. Quotes, brackets,
    dashes, numbers and labels before the entries of a list and the words a sentence is made of
    (`the`, `and`, `is`, `must be`, ...) count for nothing. What is left must be names of the scene,
    and nothing else (`none`, `nothing` or `[]` stand for no object, a colour for the one object of
    it that may be meant); or pairs of numbers, `(0.1, -0.4)` or `x=0.1 y=-0.4`, in metres unless a
    unit stands there.
    A sentence may repeat the question: "The rightmost block is the red block.", and give a reason:
    "The red block, because it is closest.". A question is no answer, nor is what is taken back.
    Anything else is malformed: other words, a no or an or, other units, numbers that are not
    finite. So are two answers, and an answer with other names or points behind it that the question
    does not hold: nobody knows which is meant.

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
_REMARK = re.compile(r"\([^()]*\)")
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
_NOTHING = re.compile(
    r"(?:there (?:is|are) )?(?:none|nothing|no(?: such)? (?:object|block|bowl)s?)"
    r"(?: of (?:them|these|the (?:object|block|bowl)s))?|"
)
"""No object, in words; of an empty list nothing is left."""
_DOUBT = frozenset(["no", "not", "nor", "neither", "or", "either", "isn't", "aren't", "except"])
_DOUBT |= frozenset(["?", "cannot", "can't", "unlikely", "maybe", "perhaps", "possibly", "but"])
_DOUBT |= frozenset(["none", "nothing", "option"])
_TAKEN_BACK = re.compile(
    r"\b(?:wrong|incorrect|false|unsure|unknown|(?:not|n't) (?:known|sure|certain|right|correct)|"
    r"(?:cannot|can't|can not) (?:say|tell|know|answer)|(?:do not|don't) know)\b"
    r"|(?:\A|[.!?;\n])\s*no[\s.!]*\Z",
    re.IGNORECASE,
)
_SIGNS = re.compile(r"[\s,;.:&'\"`*\[\](){}!\u2248\u201c\u201d]+|(?<!\S)[-\u2013\u2014]+(?!\S)")
_FILLERS = (
    "a and answer are at i in is it of order s object objects point points position positions "
    "ret_val that the then they this to = would be np so array should therefore thus hence final "
    "located lies approximately about roughly coordinates think which its must has have say d m my "
    "believe clearly one name names result solution meters metres pick choose"
)
"""Words that mean nothing in an answer."""
# Possessive quantifiers: a long run of digits or spaces must not backtrack.
_NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"
_UNIT = r"(?:(?:centi|milli)?met(?:er|re)s?|[cm]?m)\b"
_METRES = {"cm": 0.01, "centi": 0.01, "mm": 0.001, "milli": 0.001}
_PAIR = re.compile(
    rf"[(\[<]\s*+(?P<x>{_NUMBER})(?:\s*+(?P<ux>{_UNIT}))?(?:\s*+[,;]\s*+|\s++)(?P<y>{_NUMBER})\s*+"
    rf"(?P<uy>{_UNIT})?\s*+,?\s*+[)\]>](?:\s*+(?:in\s++)?[\[(]?(?P<u>{_UNIT})[\])]?)?"
    rf"|\bx[\"']?(?:\s*+(?:[=:\u2248]|is\b)\s*+|\s++)(?P<x2>{_NUMBER})\s*+(?P<ux2>{_UNIT})?\s*+"
    rf"(?:[,;]\s*+)?(?:and\s++)?[\"']?y[\"']?(?:\s*+(?:[=:\u2248]|is\b)\s*+|\s++)(?P<y2>{_NUMBER})(?:\s*+(?P<uy2>{_UNIT}))?",
    re.IGNORECASE,
)
_BARE = re.compile(
    rf"\s*+(?P<x>{_NUMBER})(?:\s*+(?P<ux>{_UNIT}))?(?:\s*+,\s*+|\s++and\s++|\s++)"
    rf"(?P<y>{_NUMBER})\s*+(?P<uy>{_UNIT})?[\s.]*+\Z"
)
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
    alone = _colors(known, asked)
    parts = [rf"\b{name.replace(' ', '[ _-]')}\b" for name in known]
    parts += [rf"\b{color}\b(?: one\b)?(?!\s+(?:block|bowl))" for color in alone]
    pattern = re.compile("|".join(parts))

    def names_in(words: str) -> list[str]:
        found = pattern.findall(words.lower().replace("grey", "gray"))
        plain = (re.sub("[_-]", " ", name).removesuffix(" one") for name in found)
        return [alone.get(name, name) for name in plain]

    def remark(match: re.Match[str]) -> str:
        """Return a remark in brackets that names something, or doubts it; of others nothing."""
        plain = not names_in(match[0]) and _DOUBT.isdisjoint(_words(match[0]))
        return " " if plain else match[0]

    def read(words: str) -> list[str]:
        words = words.lower().replace("grey", "gray")
        if re.search(r"\w|\[", words) and _NOTHING.fullmatch(" ".join(_words(words))):
            return []
        words = _LABEL.sub(" ", _REMARK.sub(remark, words))
        _refuse_rest(pattern.sub(" ", words), "is no object of the scene")
        if not (found := names_in(words)):
            raise Malformed("the answer names no object")
        return found

    names: list[str] = _answer(text, read, names_in, asked)
    return names


def _colors(known: Sequence[str], asked: str) -> dict[str, str]:
    """Return the one object that each colour alone may mean, where there is one."""
    for name in known:
        asked = asked.lower().replace(name, " ")
    kinds = {kind for kind in ("block", "bowl") if re.search(rf"\b{kind}s?\b", asked)}
    found: dict[str, list[str]] = {}
    for name in known:
        color, _, kind = name.partition(" ")
        if len(kinds) != 1 or kind in kinds:
            found.setdefault(color, []).append(name)
    return {color: names[0] for color, names in found.items() if len(names) == 1}


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
    """Return a pair of numbers in metres.

    Raises:
        Malformed: One has a unit and the other has none, or one is not finite.
    """
    given = match.groupdict()
    x, y = float(given["x"] or given["x2"]), float(given["y"] or given["y2"])
    first, last = given["ux"] or given.get("ux2"), given["uy"] or given.get("uy2") or given.get("u")
    if first and not last:
        raise Malformed(f"{match[0]!r} has a unit for one number alone")
    units = [(unit or "").lower() for unit in (first or last, last)]
    shares = [next((m for head, m in _METRES.items() if u.startswith(head)), 1.0) for u in units]
    if not (math.isfinite(x) and math.isfinite(y)):
        raise Malformed("a number of the answer is not finite")
    return x * shares[0], y * shares[1]


def _answer(text: str, read: Read, mentioned: Read, asked: str) -> Any:
    """Return the one answer of a text.

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
    known, behind = mentioned(asked), ""
    if parts := [match[1] or match[2] or "" for match in _BOXED.finditer(text)]:
        parts = [_plain(part) for part in parts]
    elif _MARK.search(text):
        _, *marked = _MARK.split(_plain(text))
        cut = [part.strip().partition("\n\n") for part in marked]
        parts, behind = [part for part, _, _ in cut], cut[-1][2]
    else:
        parts = [_plain(_last(text))]
    answers = [_said(parts[-1], read, mentioned, known)]
    _refuse_more(behind, answers[0], mentioned, known)
    for part in parts[:-1]:
        try:
            answers.append(_said(part, read, mentioned, known))
        except Malformed:  # a word in the middle of thoughts
            continue
    return _same(answers)


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


def _said(text: str, read: Read, mentioned: Read, known: Sequence[Any]) -> list[Any]:
    """Return the answer of a text that is one, or holds a sentence that is."""
    text = text[:_LONGEST]
    if taken_back := _TAKEN_BACK.search(text):
        raise Malformed(f"the answer is taken back: {taken_back[0].strip()!r}")
    try:
        return read(text)
    except Malformed as error:
        why = error
    answers, others = [], []
    for sentence in filter(str.strip, _SENTENCE.split(text)):
        found = _sentence(sentence, read, mentioned, known)
        if found is None:
            others.append(sentence)
        else:
            answers.append(found)
    if not answers:
        raise why
    _refuse_more(" ".join(others), answers[0], mentioned, known)
    return _same(answers)


def _sentence(text: str, read: Read, mentioned: Read, known: Sequence[Any]) -> list[Any] | None:
    """Return the answer of a sentence, which may repeat the question; None if it is none."""
    text, *reasons = _REASON.split(text, maxsplit=1)
    if not _DOUBT.isdisjoint(re.findall(r"[\w']+|\?", text.lower())):
        return None
    sides = [(text, "")]
    for copula in _COPULA.finditer(text):
        before, after = text[: copula.start()], text[copula.end() :]
        sides += [(after, before), (before, after)]
    for answer, question in sides:
        if all(entry in known for entry in mentioned(question)):
            try:
                found = read(answer)
            except Malformed:
                continue
            # A reason may name what was asked about, and what it is the reason for.
            reason = mentioned(" ".join(reasons))
            return found if all(one in (*found, *known) for one in reason) else None
    return None


def _same(answers: Sequence[list[Any]]) -> list[Any]:
    if any(answer != answers[0] for answer in answers):
        raise Malformed("there are two answers")
    return answers[0]


def _refuse_more(text: str, answer: Sequence[Any], mentioned: Read, known: Sequence[Any]) -> None:
    """Refuse words beside an answer that may be another one."""
    if any(entry not in answer and entry not in known for entry in mentioned(text)):
        raise Malformed("there are two answers, or an answer and more")


def _words(text: str) -> list[str]:
    return [word for word in _SIGNS.split(text) if word]


def _refuse_rest(text: str, why: str) -> None:
    """Refuse words that mean something."""
    if rest := " ".join(word for word in _words(text) if word not in _FILLERS.split()):
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
