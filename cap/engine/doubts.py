"""Words against effect: what must be so in every reading of an instruction, and is not.

The effect of a turn is known, so many faults of a program can be seen without another request: a
thing that was named and not moved, two moved where three were asked for, left for right, 8 cm for
10. `cap.engine.sentence` reads which things are meant and where they are to be; `placing`,
`driving` and `drawing` compare that with the world. Where the words are open there is no doubt.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from cap.engine.answer import State
from cap.engine.drawing import missing_in_drawing
from cap.engine.driving import driven_otherwise
from cap.engine.effect import INK, ITSELF, VELOCITY, Effect
from cap.engine.placing import PlacingCheck, quoted
from cap.engine.sentence import COLORS, OPEN_WORDS, mentions, plain_words, read
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
_ABSENT = (
    "pear|lemon|lime|peach|grapes?|carrot|tomato|potato|mug|glass|plate|fork|knife|spoon|milk|bread"
    "|egg|ball|book|phone|key|pen|hat|shoe|pan|pot|teapot|kettle"
)
"""Things of everyday life that some worlds have and others do not."""
_ROOMS = re.compile(
    r"\b(hallway|corridor|living room|bedroom|bathroom|dining room|next room|other room|hall"
    r"|office(?! chair)|garden|garage|balcony|terrace|basement|attic|street|pantry|stairs|outside$"
    r"|(?<=out of the )(?:kitchen|room|house)|(?<=leave the )(?:kitchen|room|house))\b"
)
"""Places of a home that some worlds have and others do not."""
_DEPENDS = re.compile(r"\b(?:if|unless|until|while|when|whenever|undo)\b")
BACK_M, POINTED_M = 0.04, 0.05
"""Again where it was, and pointed at: not farther apart than this."""
_ENDS_AS_IT_BEGAN = re.compile(r"(?:\band\b|\bthen\b|,).*\b(?:back|return|again)\b", re.IGNORECASE)
"""Of an order that may end as it began: "open it and close it again"."""
_ASKS = re.compile(
    r"(?:what|which|where|how|who|is|are|do (?:you|we|i|any)|does|can you see|tell me|say|count"
    r"|name|list|describe|check (?:if|whether)|find out)\b"
)
_CUBES = re.compile(r"\bcube(s?)\b")
"""Blocks, where nothing is called a cube."""
_SAME = re.compile(r"\bthe same (?:thing )?(?:with|for|to) (?=the )")
_BACK = re.compile(r"\bback\b(?: (?:to )?(?:where it was|its (?:old |first )?place))?\W*$")
_EXPLAINS = re.compile(
    r"\b(?:no|not|none|nothing|would|cannot|only|but|instead|except|without|too|already|fits?|room"
    r"|as far as|left)\b|n't\b|\?"
)
"""What a robot says that explains why it did something else; "done" alone explains nothing."""
_POINTS = re.compile(r"^(?:point|hover|hold the gripper|move (?:your|the) (?:gripper|hand|arm))\b")
_DOOR = re.compile(r"\b(?P<do>open|close|shut)\b(?! to\b)")
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
    declined = explained(effect) and not effect.altered
    if declined or effect.unseen or _DEPENDS.search(text):
        return ()
    found = list[str]()
    if INK not in before.condition:
        found += _handled(text, before, after, effect, moved_before)
    found += _no_such_place(text, before, effect)
    found += driven_otherwise(text, before, after, effect)
    found += missing_in_drawing(text, before, after)
    found += _opened(text, before, after)
    return tuple(dict.fromkeys(found))


def _handled(
    text: str,
    before: Observation,
    after: Observation,
    effect: Effect,
    moved_before: Mapping[str, Any],
) -> Iterator[str]:
    """Yield what is otherwise than was said of things that can be moved."""
    yield from _absent(text, before, effect)
    yield from _followed(text, before, effect, moved_before)
    if OPEN_WORDS.search(text) or _ASKS.match(text) or text.endswith("?"):
        return
    it = tuple(effect.moved) if len(effect.moved) == 1 else ()
    reading = read(text, before, moved_before, it)
    yield from PlacingCheck(reading, before, after, effect).doubts()
    gripper = after.condition.get(ITSELF[1])
    if _POINTS.match(text) and gripper and not effect.moved:
        named = [name for name, _, _ in mentions(text, before.positions)]
        beside = re.search(r"\b(?:left|right|between|cm|beside|next)\b", text)
        at = before.positions[named[0]] if len(named) == 1 and not beside else gripper
        if math.dist(gripper[:2], at[:2]) > POINTED_M:
            yield f"the gripper is not at {named[0]!r}"


def _absent(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield things that are named and not there, if something moved all the same."""
    if not effect.moved:
        return
    kinds = {name.split()[-1] for name in before.positions}
    called = "|".join(sorted(map(re.escape, kinds)))
    for name in re.findall(rf"\bthe ((?:{COLORS}) (?:{called}))\b", text):
        if name not in before.positions:
            yield f"there is no {name!r}"
    for noun in re.findall(rf"\bthe ({_ABSENT})\b", text):
        if not any(noun.rstrip("s") in name for name in before.positions):
            yield f"there is no {noun!r}"


def _no_such_place(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield a room that a robot that drives was to go to and that is not there."""
    rooms = [str(name) for name in before.facts.get("locations", ())]
    for match in _ROOMS.finditer(text) if rooms and effect.altered else ():
        if match[1] not in " ".join(rooms):
            yield f"the robot cannot drive to, or out of, {match[1]!r}"


def _followed(
    text: str, before: Observation, effect: Effect, moved_before: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what is otherwise than the turn before makes it: the other one, the same, back."""
    kinds = "|".join({re.escape(name.split()[-1]) for name in before.positions})
    other = re.search(rf"\bthe other (?:one|{kinds})(?!s)\b", text)
    if other and effect.moved and set(effect.moved) <= set(moved_before):
        yield f"'the other one' is not {quoted(effect.moved)}, which was moved before"
    if (same := _SAME.search(text)) and effect.moved:
        for name, begin, stop in mentions(text, before.positions):
            whose = text.startswith("'s", stop)
            if begin == same.end() + len("the ") and name not in effect.moved and not whose:
                yield f"{name!r} was not moved"
    drives = ITSELF[0] in before.condition
    if (
        _BACK.search(text)
        and not drives
        and len(effect.moved) == 1
        and effect.moved.keys() <= moved_before.keys()
    ):
        ((name, (_, end)),) = effect.moved.items()
        if math.dist(end[:2], moved_before[name][0][:2]) > BACK_M:
            yield f"{name!r} is not back where it was"


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
        rest = re.split(r"\b(?:open|close|shut)\b", text[match.end() :])[0]
        rest = re.split(r",|\b(?:then|put|take|get|and (?!the|both))\b", rest)[0]
        named = [name for name, _, _ in mentions(rest, doors)]
        if _ALL_DOORS.match(rest):
            named = list(doors)
        elif re.match(r" (?:it|them)\b", rest):
            named = last or [name for name, _, _ in mentions(text[: match.start()], doors)][-1:]
        elif not named and (one := re.match(r" the (?:drawer|door)(s?)\b", rest)):
            named = last or [name for name, _, _ in mentions(text[: match.start()], doors)][-1:]
            if one[1] or not named:
                return
        asked.update(dict.fromkeys(named, "open" if match["do"] == "open" else "closed"))
        last = named or last
    for name, wanted in asked.items():
        if doors[name] != wanted:
            yield f"{name!r} is {doors[name]}"
