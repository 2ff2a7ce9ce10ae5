"""What an order says of the things it names: which are to be moved, and where to.

It reads the plain form alone, "VERB things PREPOSITION thing and things PREPOSITION thing"; of
anything else it says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

COLORS = "red|green|blue|yellow|orange|purple|pink|cyan|brown|gray|white|black"
KINDS = "block|bowl"
MOVE = (
    r"(?:put|place|position|move|bring|throw|drop|push|slide|shift|nudge|take|set|stack|sort|lay|carry|fetch"
    r"|get|return|deliver|transfer|pick up|grab|insert|swap|exchange|switch)"
)
"""Verbs after which a thing is elsewhere."""
INSIDE = ("in", "into", "inside", "inside of", "on", "onto", "on top of", "atop", "to")
_QUESTION = re.compile(
    r"^(?:is|are|was|what|which|where|how|who|why|do|does|did|can you see)\b|\?$"
)
_LEFT = r"(?:(?:to|on|at) the )?(left|right)(?: hand)?(?: side)? of"
_RELATION = re.compile(
    rf"\b(?:{_LEFT}|(on top of|atop|in front of|next to|inside of|inside|into|onto|in|on|to"
    r"|behind|above|below|underneath|under|beneath|over|beside|near|by|around|between|from|off"
    r"|out of|with|of|than|except|but|not|at|for|towards?|like|as))"
    r"(?: all| both)?(?: the| a| an| your| its| my)?\s*$"
)
_ELLIPSIS = re.compile(rf"\b({COLORS})(,? and (?:the )?|, (?:the )?)({COLORS}) ({KINDS})s?\b")
_STATES = re.compile(
    r"(?:i want|i would like|i'd like) (?=the )"
    r"|(?=the [\w ]+? (?:goes|belongs|(?:should|must) (?:go|be|stand|lie)) (?:in|on|to|next|at))"
)
"""How a sentence without a verb of moving may begin: "the red block goes into the bowl"."""
_LEFT_OUT = ("than", "except", "but", "not")
_OPEN = re.compile(
    r"\b(?:closest|nearest|farthest|furthest|closer|nearer|further|that|which)\b"
    r"|\b(?:in|on|into|onto|at|to) (?:the|a) \w+"
)
"""Before a preposition: it is said of another thing than the one that is moved."""
_REFERS = re.compile(r"\b(?:where|as|like|than|same \w+)\b")
"""Before a name that only says where or how."""
_AND = re.compile(r"^(?:,|and|, and|\s)*(?:both |also )?(?:the |a |an )?\s*$")
_THEN_WHERE = re.compile(r"^(?:,|\s)*(?:in|into|inside|on|onto|to|next to|beside|by|left|right)\b")
_LENGTH = re.compile(r"(\d+(?:\.\d+)?) ?(mm|cm|m)\b")
_NUMBERS = {
    **{"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6},
    **{"seven": 7, "eight": 8, "nine": 9, "ten": 10},
}


def _in_metres(match: re.Match[str]) -> str:
    number = 1.0 if match[1] in ("a", "an", "one") else float(match[1])
    return f"{1000 * number:g} m"


_USUAL: Mapping[str, str | Callable[[re.Match[str]], str]] = {
    r"\bcube(s?)\b": r"block\1",
    r"\bgrey\b": "gray",
    r"\bcenti ?met(?:er|re)s?\b": "cm",
    r"\bmilli ?met(?:er|re)s?\b": "mm",
    r"\b(?:a|one) half (?=met|kilomet|cm)": "0.5 ",
    r"\bhalf (?:a|an|of a) (?=met|kilomet|cm\b)": "0.5 ",
    r"\bthree quarters of a (?=met|kilomet)": "0.75 ",
    r"\b(?:a quarter|one quarter) of a (?=met|kilomet)": "0.25 ",
    r"\b(\d+(?:\.\d+)?|an?|one) kilomet(?:er|re)s?\b": _in_metres,
    **{rf"\b{word} (?=met(?:er|re)s?\b)": f"{number} " for word, number in _NUMBERS.items()},
    r"(?<=\d )met(?:er|re)s?\b|(?<=\d)met(?:er|re)s?\b": "m",
    r"(?<=\d) ?[x×] ?(?=\d)": " by ",
    r"\b(\d+(?:\.\d+)?) by (\d+(?:\.\d+)?) ?(mm|cm|m)\b": r"\1 \3 by \2 \3",
}
"""What is said in several ways, and how it is written here."""
UNITS_M = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}


@dataclass(frozen=True)
class Placing:
    """A thing that is to be moved."""

    name: str
    """The thing, as the scene calls it."""
    relation: str = ""
    """Where to, as a preposition; "" where no thing is named there."""
    target: str = ""
    """The thing or place it is said of."""
    length_m: float | None = None
    """How far from it, metres."""


def plain_words(words: str) -> str:
    """Return an instruction in small letters, with no polite words and whole names."""
    text = " ".join(words.lower().strip().rstrip(".!").split())
    for said, usual in _USUAL.items():
        text = re.sub(said, usual, text)
    if asked := re.match(r"(?:could|can|would|will) you (?:please )?", text):
        text = text[asked.end() :].rstrip("? ")
    text = re.sub(r"^(?:please|now|ok|and|also|robot)[, ]+", "", text)
    text = re.sub(r"^please ", "", text)
    text = re.sub(r",? (?:please|for me|now)\??$", "", text)
    for _ in range(3):
        text = _ELLIPSIS.sub(r"\1 \4\2\3 \4", text)
    return text


def mentions(text: str, names: Collection[str]) -> list[tuple[str, int, int]]:
    """Return the things that a text names, with where each begins and ends."""
    if not names:
        return []
    return [(m[1], m.start(), m.end()) for m in _names(tuple(names)).finditer(text)]


@lru_cache(maxsize=64)
def _names(names: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(longest)})\b")


def wishes(text: str, things: Collection[str], places: Collection[str]) -> Iterator[Placing]:
    """Yield what is to be moved, and where to.

    Args:
        text: The instruction, as `plain_words` has it.
        things: What can be moved.
        places: What else things can be brought to.
    """
    verb = re.search(rf"\b{MOVE}\b", text) or _STATES.match(text)
    if verb is None or _QUESTION.search(text):
        return
    named = [one for one in mentions(text, [*things, *places]) if one[1] >= verb.end()]
    moved, before = list[str](), list[str]()
    last, end = "", verb.end()
    for name, begin, stop in named:
        gap = text[end:begin]
        found = _RELATION.search(gap)
        joined = bool(_AND.match(gap)) and last != ""
        end = stop
        if found is not None:
            last = f"{found[1]} of" if found[1] else found[2]
            if not moved and re.search(r"\b(?:it|them|both)\b", gap):
                moved = before
            length = _LENGTH.search(gap)
            metres = float(length[1]) * UNITS_M[length[2]] if length else None
            for one in moved:
                is_open = _OPEN.search(gap[: found.start()] + " ") or text.startswith("'s", stop)
                yield Placing(one) if is_open else Placing(one, last, name, metres)
            before, moved = moved or before, []
        elif joined and last in _LEFT_OUT:
            continue
        elif (
            name in things
            and not _REFERS.search(gap)
            and not text.startswith("'s", stop)
            and (last in ("", "moved") or not joined or _goes_on(text, stop))
        ):
            moved.append(name)
            last = "moved"
    for one in moved:
        yield Placing(one)


def _goes_on(text: str, at: int) -> bool:
    """Tell whether a place follows: "... and the blue block in the bowl"."""
    return bool(_THEN_WHERE.match(text[at:]))
