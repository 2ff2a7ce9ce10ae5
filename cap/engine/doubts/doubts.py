"""Words against effect: what must be so in every reading of an instruction, and is not.

The effect of a turn is known, so many faults of a program can be seen without another request: a
thing that was named and not moved, two moved where three were asked for, left for right, 8 cm for
10. `cap.engine.doubts.sentence` reads which things are meant and where they are to be; `placing`,
`driving` and `drawing` compare that with the world. Where the words are open there is no doubt.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cap.engine.answer import State
from cap.engine.doubts.drawing import missing_in_drawing
from cap.engine.doubts.driving import driven_differently
from cap.engine.doubts.placing import PlacingCheck, quoted
from cap.engine.doubts.sentence import (
    COLORS,
    MOVES,
    OPEN_WORDS,
    SWAPS,
    mentions,
    plain_words,
    read,
    relation_before,
)
from cap.engine.effect import INK, ITSELF, VELOCITY, Effect
from cap.result import Failure, Result
from cap.robot.observation import Observation
from cap.sandbox.wire import encode

DOUBTED = "Doubted"
"""The failure's name, while the program is asked for again."""
DID_NOTHING = "NothingDone"
"""The failure's name."""
UNCHANGED = "NothingChanged"
_ORDER = re.compile(
    r"(?:(?:please|now|then|also|and|can you|could you|will you)[ ,]+)*"
    r"(?:put|place|move|stack|unstack|arrange|sort|swap|bring|fetch|carry|take|pick|drop|push|pull"
    r"|slide|shift|nudge|throw|draw|erase|wipe|drive|open|close|tidy|clear|line up|build)\s+\w",
    re.IGNORECASE,
)
"""How an order begins after which something is elsewhere."""
_FOR_CODE = re.compile(
    r"\b(?:def|fun[ck]|fonction|method|class|helper|procedure|routine|skill|teach|learn|remember"
    r"|write|code|program)|функц|関数|函数",
    re.IGNORECASE,
)
"""Words that ask for a function, and not for what it does."""
_ABSENT = re.compile(
    rf"\bthe ((?:{COLORS}) (?:block|bowl|plate|chair)|apple|banana|plum|cup|sponge|cola|pepsi"
    r"|pear|lemon|lime|peach|grapes?|carrot|tomato"
    r"|potato|mug|glass|plate|fork|knife|spoon|milk|bread|egg|ball|book|phone|key|pen|hat|shoe|pan"
    r"|pot|teapot|kettle|hallway|corridor|living room|bedroom|bathroom|dining room|next room|hall"
    r"|other room|office(?! chair)|garden|garage|balcony|terrace|basement|attic|street|pantry)\b"
)
"""Things and rooms that some worlds have and others do not."""
_STOPS_LAST = re.compile(
    r"(?:,|\band\b|\bthen\b) ?(?:then )?(?:stop|halt|stand still|come to a \w+)(?: there)?$"
)
_DEPENDS = re.compile(r"\b(?:if|unless|until|while|when|whenever|undo)\b")
_ENDS_AS_IT_BEGAN = re.compile(
    r"(?:\band\b|\bthen\b|,).*\b(?:back|return|again|erase|wipe|rub|clear|remove|get rid of)\b",
    re.IGNORECASE,
)
"""Of an order that may end as it began: "open it and close it again"."""
_ASKS = re.compile(
    r"(?:what|which|where|how|who|is|are|do (?:you|we|i|any)|does|can you see|tell me|say|count"
    r"|name|list|describe|check (?:if|whether)|find out)\b"
)
_MAY_BE_STILL = re.compile(
    r"\b(?:wait|stop|stay|halt|still|don't|do not|never|no|not|nothing|remember|call|note|save|look"
    r"|watch|see|check|keep|leave|hold|repeat|again|back|hello|hi|thanks?|ready|from now on|let"
    r"|means|home)\b"
)
"""Words after which everything may be as it was."""
_ONE_EACH = re.compile(
    r"\bone\b(?! of the other)(?: \w+){0,4}? (?:in|into|on|onto|to|at)\b.*(?:,|;|\band\b)"
    r" ?(?:\w+ )?the other(?: one| \w+)?(?: \w+){0,2}? (?:in|into|on|onto|to|at)\b"
)
"""Of two things, each of which goes somewhere: "one in the bowl, the other on the plate"."""
_TO_EACH = re.compile(
    r"\b(?:in|into|on|onto) one\b.*(?:,|;|\band\b).*\b(?:in|into|on|onto) the other\b"
)
"""Of two places to which things go: "the apple on one plate, the lime on the other"."""
_CUBES = re.compile(r"\bcube(s?)\b")
"""Blocks, where nothing is called a cube."""
_EXPLAINS = re.compile(
    r"\b(?:no|not|none|nothing|would|cannot|only|but|instead|except|without|too|already|fits?|room"
    r"|as far as|left)\b|n't\b|\?"
)
"""What a robot says that explains why it did something else; "done" alone explains nothing."""
_DOOR = re.compile(
    r"\b(?P<do>open|close|shut)\b(?! to\b)"
    r"(?P<what>(?:(?!,|\b(?:open|close|shut|then|put|take|get)\b|\band (?!the|both)).)*)"
)
_ALL_DOORS = re.compile(
    r"^ (?:all|both|every|each)\b(?: of)?(?: the)? (?:drawers?|doors?)|^ everything"
)


def did_nothing(
    result: Result, before: State, unread: Collection[str], words: str
) -> Failure | None:
    """Return the failure of a program for a person's words that did nothing at all, or None.

    It called nothing, said nothing, printed nothing, and left nothing for later programs, so
    success would be reported for nothing. Setting a variable counts as something, such as a name
    for a thing from now on; so do functions that it never calls, if the words ask for functions.

    Args:
        result: The result of the program.
        before: What it began with.
        unread: Names that only other prompts' programs answer in.
        words: The user's.
    """
    left_out = result.dropped or result.oversized
    if result.calls or result.stdout.strip() or left_out:
        return None
    defined = [name for name, line in result.defined.items() if line]
    if defined and _FOR_CODE.search(words):
        return None
    if any(entry.name not in result.defined for entry in before.definitions):  # it took one away
        return None
    was, left = (
        {name: some[name] for name in sorted(some) if name not in unread}
        for some in (before.variables, result.variables)
    )
    if was.keys() != left.keys() or encode(was) != encode(left):
        return None
    unused = "".join(f", and its {n!r} is not read" for n in unread if n in result.variables)
    message = (
        f"the program does nothing: it calls no function of the robot{unused}; "
        "to answer the user, call say('...')"
    )
    if defined:
        message = f"the program only defines '{defined[0]}' and never calls it; call it"
    return Failure("value", DID_NOTHING, message)


def left_as_it_was(words: str, effect: Effect) -> Failure | None:
    """Return the failure of a program for an order that changed nothing, or None.

    To say something instead is an answer; to set a velocity and not drive is no motion. What is
    done and undone again is as it was.
    """
    if not _ORDER.match(words) or (effect.acted and _ENDS_AS_IT_BEGAN.search(words)):
        return None
    velocity = effect.changed.get(VELOCITY)
    still = effect.still or (set(effect.changed) == {VELOCITY} and not effect.moved)
    if effect.said or effect.unseen or not still:
        return None
    left = "" if velocity is None else f", and a velocity of {velocity[1]} is left on"
    message = (
        f"nothing changed: everything is where it was{left}; "
        "do what was asked, or say('...') why it is not done"
    )
    return Failure("value", UNCHANGED, message)


def explained(effect: Effect) -> bool:
    """Return whether the robot said why it did something else: a repair would add nothing."""
    return any(_EXPLAINS.search(said.lower()) for said in effect.said)


def doubts(
    words: str,
    before: Observation,
    after: Observation,
    effect: Effect,
    moved_before: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return what an instruction asks for in every reading and the turn did not do; a line each.

    Args:
        words: The instruction.
        before: The world before the turn.
        after: The world after it.
        effect: What the turn did.
        moved_before: What the turn before it moved: where from and where to.
    """
    text = plain_words(words)
    if not any("cube" in name.split() for name in before.positions):
        text = _CUBES.sub(r"block\1", text)
    silent = not (effect.said or effect.answered or effect.altered)
    if _ASKS.match(text) and silent:
        return ("it was a question, and nothing was said",)
    left_on = effect.changed.get(VELOCITY, (None, None))[1]
    if left_on and _STOPS_LAST.search(text):
        return (f"a velocity of {left_on} is left on",)
    declined = explained(effect) and not effect.altered
    if declined or effect.unseen or _DEPENDS.search(text):
        return ()
    found = list[str]()
    known = " ".join(
        [*before.positions, *after.positions, *map(str, before.facts.get("locations", ()))]
    )
    for name in _ABSENT.findall(text) if effect.altered and not effect.said else ():
        drawn = INK in before.condition and " " not in name  # a shape may have any name
        if name.rstrip("s") not in known and not drawn:
            found.append(f"there is no {name!r}")
    if INK not in before.condition:
        found += _handled(text, before, after, effect, moved_before)
    found += driven_differently(text, before, after, effect)
    found += missing_in_drawing(text, before, after)
    found += _opened(text, before, after)
    names = {**before.positions, **before.landmarks} if INK not in before.condition else {}
    things = mentions(text, names) or re.search(r"\b(?:it|them)\b", text)
    if not found and (SWAPS.search(text) or not things) and _left_still(text, before, effect):
        return ("nothing changed: everything is where it was",)
    return tuple(dict.fromkeys(found))


def _left_still(text: str, before: Observation, effect: Effect) -> bool:
    """Tell whether nothing changed, after words that ask for a change.

    Other robots' actions than driving and drawing may change what is not observed: a light.
    """
    moves = MOVES.match(text) or SWAPS.search(text)
    open_words = _ASKS.match(text) or text.endswith("?") or _MAY_BE_STILL.search(text)
    if open_words or (effect.acted and _ENDS_AS_IT_BEGAN.search(text)):
        return False
    if len(text.split()) < 3 or not effect.still or effect.answered or explained(effect):
        return False
    observed = not effect.acted or {INK, ITSELF[0]} & before.condition.keys()
    return bool(moves or (observed and not effect.said))


def _handled(
    text: str,
    before: Observation,
    after: Observation,
    effect: Effect,
    moved_before: Mapping[str, Any],
) -> Iterator[str]:
    """Yield what differs from what was said of things that can be moved."""
    moved = effect.moved.items()
    ends = {effect.places.get(name, ("", ""))[1] or tuple(end) for name, (_, end) in moved}
    if len(effect.moved) == 1 and _ONE_EACH.search(text):
        yield f"{quoted(effect.moved)} alone was moved, where two were to be"
    elif effect.moved and len(ends) == 1 and _TO_EACH.search(text):
        yield f"{quoted(effect.moved)} are in one place, where two were named"
    other = re.search(r"\bthe other (?:one|block|bowl|cube|plate)(?!s)\b", text)
    where = other and relation_before(text[: other.start()])  # "in the other bowl"
    if other and not where and effect.moved and set(effect.moved) <= set(moved_before):
        yield f"'the other one' is not {quoted(effect.moved)}, which was moved before"
    if not (OPEN_WORDS.search(text) or _ASKS.match(text) or text.endswith("?")):
        it = tuple(effect.moved) if len(effect.moved) == 1 else ()
        reading = read(text, before, moved_before, it)
        yield from PlacingCheck(reading, before, after, effect).doubts()


def _opened(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield what was to be opened or closed, by what was said of it last, and is not."""
    doors = {
        name: "closed" if is_so == "closed" else "open"
        for name, is_so in after.condition.items()
        if isinstance(is_so, str) and (is_so == "closed" or is_so.endswith("open"))
    }
    if not doors or OPEN_WORDS.search(text) or _ASKS.match(text):
        return
    asked, last = dict[str, str](), list[str]()
    for match in _DOOR.finditer(text):
        named = [name for name, _, _ in mentions(match["what"], doors)]
        if _ALL_DOORS.match(match["what"]):
            named = list(doors)
        elif not named and re.match(r" (?:it|them|the (?:drawer|door))\b", match["what"]):
            named = last or [name for name, _, _ in mentions(text[: match.start()], doors)][-1:]
        asked |= dict.fromkeys(named, "open" if match["do"] == "open" else "closed")
        last = named
    for name, wanted in asked.items():
        if doors[name] != wanted:
            yield f"{name!r} is {doors[name]}"
