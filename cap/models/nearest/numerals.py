"""Numbers as people write and say them: signs, fractions, number words and units."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

Kind = Literal["word", "cardinal", "ordinal", "length", "angle"]

NUMBER = r"(?:(?<![\w.-])-)?(?:\d+(?:\.\d+)?|(?<!\d)\.\d+)"
"""A number in digits; what joins '5-10' is no sign."""


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CARDINALS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_ORDINALS = _words("first second third fourth fifth sixth seventh eighth ninth tenth")
_TENS = _words("twenty thirty forty fifty sixty seventy eighty ninety")
_PARTS = {"half": 0.5, "quarter": 0.25}
_ROUND = {"hundred": "100", "dozen": "12"}
_METRES = {
    **dict.fromkeys(("mm", "millimeter", "millimetre"), 0.001),
    **dict.fromkeys(("cm", "centimeter", "centimetre"), 0.01),
    **dict.fromkeys(("m", "meter", "metre"), 1.0),
    "inch": 0.0254,
}
_DEGREES = ("degree", "deg", "°")
LENGTHS = rf"(?:{'|'.join(_METRES)})(?:e?s)?"
"""Matches a unit of length."""
_COUNT = rf"(?:{'|'.join(CARDINALS[1:])}|\d+)"
_SPOKEN: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = (
    (re.compile(r"[−–](?=\.?\d)"), "-"),
    (re.compile(r"(?<![\w.])\+ ?(?=\.?\d)"), ""),
    (re.compile(r"(?<=\d)-(?=[^\W\d_])"), " "),
    (re.compile(rf"(?<=\d)(?=(?:{LENGTHS}|deg(?:ree)?s?)\b)"), " "),
    (
        re.compile(rf"\b({'|'.join(_TENS)})(?:[- ]({'|'.join(CARDINALS[1:10])}))?\b"),
        lambda match: str(20 + 10 * _TENS.index(match[1]) + CARDINALS.index(match[2] or "zero")),
    ),
    (re.compile(r"\b(?:an?|one) (hundred|dozen)\b"), lambda match: _ROUND[match[1]]),
    (re.compile(r"\ba (?:couple|pair)(?: of)?(?= )"), "2"),
    (
        re.compile(rf"\b({_COUNT}) and a (half|quarter)(?= {LENGTHS}\b)"),
        lambda match: f"{_value(match[1]) + _PARTS[match[2]]:g}",
    ),
    (re.compile(rf"\bhalf (?:of )?an? (?={LENGTHS}\b)"), "0.5 "),
    (re.compile(rf"\b(?:a )?quarter (?:of )?an? (?={LENGTHS}\b)"), "0.25 "),
    (re.compile(rf"\ban? (?={LENGTHS}\b)"), "1 "),
    (re.compile(rf"\b(?:minus|negative) ({_COUNT})\b"), lambda match: f"-{_value(match[1]):g}"),
)
"""What is said otherwise in digits, in the order in which it is put into them."""


def in_digits(text: str) -> str:
    """Return lower-case text with what signs, fractions and large number words say in digits.

    >>> in_digits("minus twenty-five cm or half a metre")
    '-25 cm or 0.5 metre'
    """
    for pattern, replacement in _SPOKEN:
        text = pattern.sub(replacement, text)
    return text


def number(word: str) -> tuple[Kind, float] | None:
    """Return whether a word is a cardinal or an ordinal, and its value."""
    if word[-1].isdigit():
        return "cardinal", float(word)
    if word in CARDINALS:
        return "cardinal", float(CARDINALS.index(word))
    if word in _ORDINALS:
        return "ordinal", float(_ORDINALS.index(word) + 1)
    return None


def unit(word: str) -> tuple[Kind, float] | None:
    """Return what a unit in the singular measures, and its size in metres or degrees."""
    if word in _METRES:
        return "length", _METRES[word]
    return ("angle", 1.0) if word in _DEGREES else None


def _value(word: str) -> float:
    found = number(word)
    return found[1] if found else 0.0
