r"""Reading answers out of text, and comparing them with what is right.

What an answer may look like
    As a person would take it. Thoughts between `<think>` tags are dropped. The answer is what
    stands in `\boxed{}` or `<answer>`, or follows `answer =`, `answer:` or `answer is`, up to a
    blank line; without either it is the last line that says anything, or the list that the text
    ends with. Quotes, brackets, dashes, numbers and labels before the entries of a list (`P1 =`,
    `top left:`) and the words a sentence is made of (`the`, `and`, `is`, `must be`, ...) count for
    nothing, nor does a remark in brackets that names nothing. What is left must be names of the
    scene, and nothing else (`none`, `nothing` or `[]` stand for no object, a colour for the one
    object of it that may be meant); or pairs of numbers, `(0.1, -0.4)` or `x=0.1 y=-0.4`, in metres
    unless a unit stands there.
    A sentence may repeat the question: "The rightmost block is the red block.", give a reason:
    "The red block, because it is closest.", and say what is not the answer: ", not the blue block".
    Ways and order must be those of the question: "The red block is the leftmost." answers nothing
    about the rightmost. What follows `so` is the answer of its sentence. A question is no answer,
    nor is what is taken back.
    Anything else is malformed: other words, a no or an or, other units, numbers that are not
    finite. So are two answers, and an answer with other names or points behind it that the question
    does not hold: nobody knows which is meant. Behind a *final* answer there may be a reason with
    others in it, if nothing there goes back on it.

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
_MARK = re.compile(r"\banswers?\**\s*(?:=|:|-(?=\s)|\bis\b:?|\bare\b:?)\**", re.IGNORECASE)
_BOXED = re.compile(
    r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
    r"|<(?:final[ _-]?)?answer>((?:(?!<).)*)</(?:final[ _-]?)?answer>",
    re.IGNORECASE | re.DOTALL,
)
_STRUCK = re.compile(r"~~.*?~~", re.DOTALL)
_EMPHASIS = re.compile(r"(?<!\w)_{1,3}(?=\w)|(?<=[^\W_])_{1,3}(?!\w)")
_LATEX = re.compile(r"\\(?:text|mathrm|mathbf|textbf|left|right)\b|\\[()\[\],;! ]|\$|~")
_ENTRY = re.compile(r"^[ \t]*(?:[-*\u2022\u2013\u2014]|\(?\d{1,2}[.)])(?=\s)", re.MULTILINE)
_LABELS = (
    r"(?<![\w.])(?:(?:p|points?|positions?|corners?|vertex|objects?|blocks?|bowls?|number|no)?"
    r"[ _#]?\d{1,2}|first|second|third|fourth|fifth|sixth|last|next|(?:bottom|top|upper|lower)"
    r"(?:[ -](?:left|right))?|left|right|middle|center|centre|(?-i:[A-W]))"
    r"(?: (?:one|point|corner|object|block|bowl))?\**\s*"
)
"""What a list's entries may be called by."""
_ROW = re.compile(rf"^[ \t]*(?:[-*\u2022]\s+)?\**{_LABELS}[:=]\**", re.MULTILINE | re.IGNORECASE)
_LABEL = re.compile(rf"{_LABELS}(?:[:=]|(?=[(\[]))", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_COPULA = re.compile(r"\b(?:is|are|has|lies|would be|should be)\b:?|[:=]", re.IGNORECASE)
_REASON = re.compile(
    r",?\s*\b(?:because|since|that is,|(?:at|with) (?:an? |the )?(?:distance|[xy]\b|coordinates?))"
    r"|,\s*(?:as|which|whose)\b",
    re.IGNORECASE,
)
_SO = re.compile(r"[,;]\s*(?:and )?(?:so|thus|hence|therefore)\b,?", re.IGNORECASE)
_AMONG = re.compile(
    r"\b(?:among|(?:out )?of)(?: all)?(?: of)?(?: the)?(?: blocks| bowls| objects| them),",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\((?=[^()]*\b(?:versus|vs|than|compared|against)\b)[^()]*\)", re.IGNORECASE
)
"""Brackets that compare the answer with others."""
_MOST, _LEAST = r"(?:largest|highest|greatest|biggest|max\w*)", r"(?:smallest|lowest|least|min\w*)"
_AXES = (
    ("right", "x", _MOST),
    ("left", "x", _LEAST),
    ("top", "y", _MOST),
    ("bottom", "y", _LEAST),
)
_FARTHEST = re.compile(
    r"\b(?:far|farthest|furthest|most)(?:[ -]+(?:to|on|at|the))*[ -]+(left|right|top|bottom)\b"
)
_SENSES = {
    "left": r"left(?:most)?",
    "right": r"right(?:most)?",
    "top": r"top(?:most)?|upper(?:most)?|above|up|highest",
    "bottom": r"bottom(?:most)?|lower(?:most)?|below|down|lowest",
    "near": r"clos(?:e|er|est)|near(?:er|est)?",
    "far": r"far|farther|farthest|further|furthest",
    "y before x": r"y\s*,\s*x",
    **dict.fromkeys(("first", "second", "third", "fourth", "fifth", "sixth", "last")),
}
"""Words that say where things are, and which of several is meant."""
_OPPOSITE = {"left": "right", "top": "bottom", "near": "far"}
_OPPOSITE |= {other: one for one, other in _OPPOSITE.items()}
_BACK = re.compile(
    r"\b(?:wait|actually|correction|instead|rather|sorry|hmm|no|not|oops|however|but|or|answer|"
    r"(?:must|should|would) be)\b|\?",
    re.IGNORECASE,
)
"""What may go back on an answer that was called final."""
_EMPTY = re.compile(r"[\s'\"`*.=]*(?:\[\s*\]|\(\s*\)|\{\s*\}|\u2205)[\s'\"`*.]*")
"""No object, as a list."""
_NOTHING = re.compile(
    r"(?:(?:there|it) (?:is|are) )?(?:none|nothing|an? empty (?:list|set)|empty(?: list| set)?|"
    r"(?:no|zero) (?:such )?(?:objects?|blocks?|bowls?|ones?)|"
    r"there (?:aren t|are not) any(?: such)?(?: objects?| blocks?| bowls?)?)"
    r"(?: of (?:the )?(?:them|these|those|objects?|blocks?|bowls?))?(?: there| here| at all)?"
)
"""No object, in words."""
_NO_SUCH = re.compile(
    r"(?:there (?:is|are) )?(?:no|none of the) (?:other )?(?:objects?|blocks?|bowls?)\b(.*)",
    re.DOTALL,
)
"""No object, with the question's words behind."""
_DOUBT = frozenset(["no", "not", "nor", "neither", "or", "either", "isn't", "aren't", "except"])
_DOUBT |= frozenset(["?", "cannot", "can't", "unlikely", "maybe", "perhaps", "possibly", "but"])
_DOUBT |= frozenset(["none", "nothing", "empty", "zero", "excluding"])
_DOUBT |= frozenset(["option", "options", "candidate", "alternative", "guess", "attempt"])
_TAKEN_BACK = re.compile(
    r"\b(?:wrong|incorrect|false|unsure|unknown|(?:not|n't) (?:known|sure|certain|right|correct)|"
    r"(?:cannot|can't|can not) (?:say|tell|know|answer)|(?:do not|don't) know)\b"
    r"|(?:\A|[.!?;\n])\s*no[\s.!]*\Z",
    re.IGNORECASE,
)
_SIGNS = re.compile(
    r"[\s,;.:&'\"`*\[\](){}!\u2248\u201c\u201d\u00ab\u00bb\u2713\u2714\u2705]+|(?<!\S)[-\u2013\u2014]+(?!\S)"
)
_FILLERS = frozenset(["a", "and", "answer", "are", "at", "i", "in", "is", "it", "of", "order", "s"])
_FILLERS |= frozenset(["object", "objects", "point", "points", "position", "positions", "ret_val"])
_FILLERS |= frozenset(["that", "the", "then", "they", "this", "to", "=", "would", "be", "np", "so"])
_FILLERS |= frozenset(["array", "should", "therefore", "thus", "hence", "final", "located", "lies"])
_FILLERS |= frozenset(["approximately", "about", "roughly", "coordinates", "think", "which", "its"])
_FILLERS |= frozenset(["must", "has", "have", "say", "d", "m", "my", "believe", "clearly", "one"])
_FILLERS |= frozenset(["definitely", "name", "names", "result", "solution", "meters", "metres"])
_FILLERS |= frozenset(["rounded", "coordinate", "pick", "choose", "select", "plus"])
# Possessive quantifiers: a long run of digits or spaces must not backtrack.
_NUMBER = r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?"
_UNIT = r"(?:(?:centi|milli)?met(?:er|re)s?|[cm]?m)\b"
_MEASURE = re.compile(
    r"\((?=[^()]*\d)(?:[^\w()]|[\d_]|(?<![a-z])(?:distance|at|x|y|about|is|away|from|it|units|"
    r"[cm]?m|met(?:er|re)s)(?![a-z]))*+\)"
)
"""Brackets that hold only how far off a thing is, or where."""
_METRES = {"cm": 0.01, "centi": 0.01, "mm": 0.001, "milli": 0.001}
_PAIR = re.compile(
    rf"[(\[<]\s*+(?P<x>{_NUMBER})(?:\s*+(?P<ux>{_UNIT}))?(?:\s*+[,;]\s*+|\s++)(?P<y>{_NUMBER})\s*+"
    rf"(?P<uy>{_UNIT})?\s*+,?\s*+[)\]>](?:\s*+(?:in\s++)?[\[(]?(?P<u>{_UNIT})[\])]?)?"
    rf"|\bx[\"']?(?:\s*+(?:[=:\u2248]|is\b)\s*+|\s++)(?P<x2>{_NUMBER})\s*+(?P<ux2>{_UNIT})?\s*+"
    rf"(?:[,;]\s*+)?(?:and\s++)?[\"']?y[\"']?(?:\s*+(?:[=:\u2248]|is\b)\s*+|\s++)(?P<y2>{_NUMBER})(?:\s*+(?P<uy2>{_UNIT}))?",
    re.IGNORECASE,
)
_READING = re.compile(rf"\s*:\s*[xy]\s*[=:\u2248]\s*{_NUMBER}(?:\s*{_UNIT})?")
"""Where a thing is, behind its name in a list."""
_TWO_LINES = re.compile(
    rf"^[ \t*-]*x\**\s*[:=]\**\s*({_NUMBER}(?:\s*{_UNIT})?)[ \t,;*]*\n[ \t*-]*y\**\s*[:=]\**",
    re.MULTILINE | re.IGNORECASE,
)
_FRACTION = re.compile(r"(?<![\w./])([+-]?\d{1,9})/([1-9]\d{0,8})(?![\w./])")
_Y_FIRST = re.compile(r"[(\[]?\by\s*,\s*x\b\s*[)\]]?\s*(?:[=:\u2248]|is\b)", re.IGNORECASE)
_EQUATION = re.compile(r"[)\]>]\s*(?:c?m\s*)?[=\u2248]\s*[(\[<]")
"""A point that is said twice, in other units perhaps."""
_BARE = re.compile(
    rf"\s*+(?P<x>{_NUMBER})(?:\s*+(?P<ux>{_UNIT}))?(?:\s*+,\s*+|\s++and\s++|\s++)"
    rf"(?P<y>{_NUMBER})\s*+(?P<uy>{_UNIT})?[\s.]*+\Z"
)
"""Two numbers and nothing else."""


class Malformed(ValueError):
    """A text that is no answer of the kind asked for; the message says why."""


Point = tuple[float, float]


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
    color = f"(?:{'|'.join(re.escape(entry.partition(' ')[0]) for entry in known)})"
    several = re.compile(
        rf"\b{color}(?:(?:,| and| the| an?)+ {color})+ (block|bowl)s\b", re.IGNORECASE
    )
    parts = [rf"\b{re.escape(name).replace(chr(92) + ' ', '[ _-]')}\b" for name in known]
    parts += [rf"\b{color}\b(?: one\b)?(?!\s+(?:block|bowl))" for color in alone]
    pattern = re.compile("|".join(parts))
    name = f"(?:{pattern.pattern})"
    identity = re.compile(rf"{name}\s+(?:is|=)\s+(?:the\s+|an?\s+)?{name}")

    def names_in(words: str) -> list[str]:
        found = pattern.findall(words.lower().replace("grey", "gray"))
        plain = (re.sub("[_-]", " ", name).removesuffix(" one") for name in found)
        return [alone.get(name, name) for name in plain]

    def read(words: str) -> list[str]:
        words = words.lower().replace("grey", "gray")
        said = " ".join(filter(None, _SIGNS.split(words)))
        if _EMPTY.fullmatch(words) or _NOTHING.fullmatch(said):
            return []
        if no := _NO_SUCH.fullmatch(said):
            repeats = set(names_in(no[1])) <= set(names_in(asked))
            if repeats and _DOUBT.isdisjoint(no[1].split()) and _senses(no[1]) <= _senses(asked):
                return []
        words = _LABEL.sub(" ", _READING.sub(" ", _MEASURE.sub(" ", words)))
        words = _AMONG.sub(" ", words).replace("followed by", " ")
        found = names_in(words)
        if identity.search(words):
            raise Malformed("one object is said to be another")
        rest = _rest(pattern.sub(" ", words))
        if rest:
            raise Malformed(f"{_shown(rest)} is no object of the scene")
        if not found:
            raise Malformed("the answer names no object")
        return found

    # `the red and yellow bowls` are a red bowl and a yellow bowl; what is compared is taken out.
    text = several.sub(
        lambda match: re.sub(rf"{color}\b(?! (?:block|bowl))", rf"\g<0> {match[1]}", match[0])[:-1],
        text,
    )
    other = rf",\s*(?:and )?(?:not|rather than|instead of|unlike|versus|vs\.?) (?:the )?{name}"
    text = re.sub(other, " ", _COMPARED.sub(" ", text), flags=re.IGNORECASE)
    names: list[str] = _answer(text, read, names_in, asked)
    return names


def _senses(words: str) -> set[str]:
    """Return where words say a thing is among others, and which of several."""
    words = _FARTHEST.sub(r"\1", words.lower().replace("not far", "near"))
    found = set()
    for sense, axis, most in _AXES:
        for pattern in (
            rf"\b{most} (?:value of )?(?:the )?{axis}\b",
            rf"\b{axis}\b[\w -]*? {most}\b",
        ):
            if re.search(pattern, words):
                found.add(sense)
                words = re.sub(pattern, " ", words)
    return found | {
        sense
        for sense, pattern in _SENSES.items()
        if re.search(rf"\b(?:{pattern or sense})\b", words)
    }


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
        if _Y_FIRST.search(words):
            return [(x, y) for y, x in read(_Y_FIRST.sub(" ", words))]
        words = _LABEL.sub(" ", words)
        if bare := _BARE.match(words.strip("'\"`* ")):
            return [_point(bare)]
        points = points_in(words)
        if _EQUATION.search(words):
            if not np.allclose(points, points[0], rtol=0, atol=TOLERANCE_M / 10):
                raise Malformed("one point is said to be another")
            return points[:1]
        if rest := _rest(_PAIR.sub(" ", words).lower()):
            raise Malformed(f"{_shown(rest)} is no pair of numbers (x, y) in metres")
        if not points:
            raise Malformed("the answer has no pair of numbers (x, y)")
        return points

    text = _TWO_LINES.sub(r"x = \1, y = ", text)
    text = _FRACTION.sub(lambda match: repr(int(match[1]) / int(match[2])), text)
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


def _answer(
    text: str,
    read: Callable[[str], list[Any]],
    mentioned: Callable[[str], list[Any]],
    asked: str,
) -> Any:
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
    text = re.sub(r"\bi\.\s?e\.,?", "that is,", _STRUCK.sub(" ", text))
    known = mentioned(asked)
    if boxed := [match[1] or match[2] or "" for match in _BOXED.finditer(text)]:
        return _same([_said(_plain(entry), read, mentioned, known, asked) for entry in boxed])
    if not _MARK.search(text):
        return _said(_plain(_last(text)), read, mentioned, known, asked)
    text = _plain(text)
    marks = list(_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    parts = [
        text[mark.end() : end].strip().partition("\n\n")
        for mark, end in zip(marks, ends, strict=True)
    ]
    last = _said(parts[-1][0], read, mentioned, known, asked)
    final = text[: marks[-1].start()].rstrip(" *_").lower().endswith("final")
    if not final or _BACK.search(parts[-1][2]):
        _refuse_more(parts[-1][2], last, mentioned, known)
    answers = [last]
    for part, _, _ in parts[:-1]:
        try:
            answers.insert(0, _said(part, read, mentioned, known, asked))
        except Malformed:  # a word in the middle of thoughts
            continue
    return _same(answers)


def _plain(text: str) -> str:
    """Return a text without what typesets it, and without the signs before a list's entries."""
    text = _ROW.sub(" ", _EMPHASIS.sub("", text))
    return _ENTRY.sub(" ", re.sub(r"\\(?:text|mathrm)\{([^{}]*)\}", r" \1 ", _LATEX.sub(" ", text)))


def _last(text: str) -> str:
    """Return the last line that says anything, with those that are a list with it."""
    lines = [line for line in text.splitlines() if line.strip(" \t`")]
    first = len(lines) - 1
    while first > 0 and all(_ENTRY.match(line) or _ROW.match(line) for line in lines[first - 1 :]):
        first -= 1
    last = "\n".join(lines[first:])
    while first > 0 and last.count("]") > last.count("["):  # an array over several lines
        first -= 1
        last = f"{lines[first]}\n{last}"
    return last


def _said(
    text: str,
    read: Callable[[str], list[Any]],
    mentioned: Callable[[str], list[Any]],
    known: Sequence[Any],
    asked: str,
) -> list[Any]:
    """Return the answer of a text that is one, or holds a sentence that is."""
    text = text[:_LONGEST]
    if taken_back := _TAKEN_BACK.search(text):
        raise Malformed(f"the answer is taken back: {taken_back[0].strip()!r}")
    if so := _SO.search(text):
        before, after = text[: so.start()], text[so.end() :]
        try:
            concluded = read(after)
        except Malformed:
            found = _sentence(after, read, mentioned, known, asked)
        else:
            found = concluded
        if found is not None:
            _refuse_more(before, found, mentioned, known)
            return found
    try:
        return read(text)
    except Malformed as error:
        why = error
    answers, others = [], []
    for sentence in filter(str.strip, _SENTENCE.split(text)):
        found = _sentence(sentence, read, mentioned, known, asked)
        if found is None:
            others.append(sentence)
        else:
            answers.append(found)
    if not answers:
        raise why
    answer = _same(answers)
    _refuse_more(" ".join(others), answer, mentioned, known)
    return answer


def _sentence(
    text: str,
    read: Callable[[str], list[Any]],
    mentioned: Callable[[str], list[Any]],
    known: Sequence[Any],
    asked: str,
) -> list[Any] | None:
    """Return the answer of a sentence, which may repeat the question; None if it is none."""
    reason = ""
    if because := _REASON.search(text):
        text, reason = text[: because.start()], text[because.end() :]
    if not _DOUBT.isdisjoint(re.findall(r"[\w']+|\?", text.lower())):
        return None
    senses = _senses(asked)
    if any(_OPPOSITE.get(sense) in senses and sense not in senses for sense in _senses(reason)):
        return None
    sides = [(text, "")]
    for copula in _COPULA.finditer(text):
        before, after = text[: copula.start()], text[copula.end() :]
        sides += [(after, before), (before, after)]
    for answer, question in sides:
        repeats = all(entry in known for entry in mentioned(question))
        if repeats and _senses(question) <= senses:
            try:
                found = read(answer)
            except Malformed:
                continue
            # A reason may name what was asked about, and what it is the reason for.
            return found if all(one in (*found, *known) for one in mentioned(reason)) else None
    return None


def _same(answers: Sequence[list[Any]]) -> list[Any]:
    if any(answer != answers[0] for answer in answers):
        raise Malformed("there are two answers")
    return answers[0]


def _refuse_more(
    text: str,
    answer: Sequence[Any],
    mentioned: Callable[[str], list[Any]],
    known: Sequence[Any],
) -> None:
    """Refuse words behind an answer that may be another one."""
    for entry in mentioned(text):
        if entry not in answer and entry not in known:
            raise Malformed("there are two answers, or an answer and more")


def _rest(words: str) -> list[str]:
    """Return the words that mean something."""
    return [word for word in _SIGNS.split(words) if word and word not in _FILLERS]


def _shown(words: Sequence[str]) -> str:
    text = " ".join(words)
    return repr(text if len(text) <= 60 else text[:57] + "...")


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
