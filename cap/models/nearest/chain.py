"""Several instructions in one: 'put the red block in the bowl, then move it to the left'.

An instruction is cut where words or signs may join two, in the way that reads cheapest: 'and' in
'the red and the blue block' joins no instructions, since 'put the red' is none. A part without a
verb takes that of the part before it, and 'it' if it needs one: 'then to the left' is read as
'move it to the left'.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from cap.models.nearest.reading import Reading
from cap.models.nearest.words import ARTICLES, LEADING, QUANTIFIERS, is_plural, tokenise

_AFTER = (
    r"then|after (?:that|this|which)|afterwards?|next(?! to\b)|finally|lastly|subsequently"
    r"|(?:once|when|as soon as) (?:that|this|it) is (?:done|finished|there)"
    r"|(?:once|when) you(?:'re| are) (?:done|finished)"
)
_COUNT = r"(?:first(?:ly)?|second(?:ly)?|third(?:ly)?|last)"
_SURE = rf"(?:[;.!?]\s+|,?\s+)(?:(?:and|but)\s+)?(?:{_AFTER}),?\s+|[;.!?]\s+(?=\w)"
_JOINT = re.compile(rf"(?:{_SURE}|,\s+(?:and\s+)?|\s+and\s+)(?:{_COUNT},\s+)?", re.IGNORECASE)
_SURELY = re.compile(_SURE, re.IGNORECASE)
_FIRST = re.compile(
    r"^\s*(?:please\s+)?(?:first(?:ly)?(?: of all)?|to (?:begin|start)(?: with)?),?\s+",
    re.IGNORECASE,
)
_MOST = 8
"""Places where an instruction may be cut; work grows with their square."""
_CUT = 0.05
"""What each cut adds to the cost: one instruction comes first."""
_LIMIT = 0.4
"""Parts that cost more are no instructions: several doubtful readings are not run in a row."""
_ASIDE = ARTICLES | QUANTIFIERS | LEADING | frozenset(("left", "right", "up", "down", "back"))
"""What a part without a verb begins with, besides numbers."""


Read = Callable[[str], Reading]
Chain = tuple[float, tuple[Reading, ...]]
"""Cost and parts."""


def chain(said: str, read: Read) -> Chain | None:
    """Return the cheapest readings of an instruction's parts, or None if there is no way to cut it.

    Only the first part may hold words that neither prompt nor scene has: a later one must not turn
    out to be nonsense when the first has been carried out.
    """
    joints = list(_JOINT.finditer(said))
    if not 0 < len(joints) <= _MOST:
        return None
    starts = [_opening(said), *(joint.end() for joint in joints)]
    ends = [*(joint.start() for joint in joints), len(said.rstrip(" ?.!"))]
    best: list[Chain | None] = [(0.0, ())]
    for end in range(1, len(ends) + 1):
        first = int(end == len(ends) and starts[0] == 0)  # the whole is no chain
        found = [
            (before[0] + reading.cost + _CUT, (*before[1], reading))
            for start in range(first, end)
            if (before := best[start]) is not None
            and (reading := _part(said[starts[start] : ends[end - 1]], before[1], read))
        ]
        best.append(min(found, key=lambda entry: entry[0], default=None))
    return best[-1]


def certain_parts(said: str) -> list[str]:
    """Return the parts of an instruction that are instructions beyond doubt."""
    return [part.strip() for part in _SURELY.split(said[_opening(said) :]) if part.strip()]


def _opening(said: str) -> int:
    return match.end() if (match := _FIRST.match(said)) else 0


def _part(text: str, before: tuple[Reading, ...], read: Read) -> Reading | None:
    for way in _ways(text, before[-1].words if before else ""):
        reading = read(way)
        if not reading.refusal and reading.cost <= _LIMIT and (reading.known or not before):
            return reading
    return None


def _ways(text: str, before: str) -> Iterator[str]:
    """Return the part as it stands, then with what the words before it lend."""
    yield text
    tokens, lent = tokenise(text), tokenise(before)
    if tokens and lent and (tokens[0].text in _ASIDE or tokens[0].kind != "word"):
        verb = lent[0].text
        pronoun = "them" if lent[1:] and is_plural(lent[1:]) else "it"
        yield f"{verb} {text}"
        yield f"{verb} {pronoun} {text}"
