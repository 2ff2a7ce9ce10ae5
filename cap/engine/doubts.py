"""Words against effect: what must be so in every reading of an instruction, and is not.

The effect of a turn is known, so many faults of a program can be seen without another request: a
thing that was named and not moved, two moved where three were asked for, left for right, 8 cm for
10. Where the words are open there is no doubt: a rule does not apply to a group with a restriction
("on the left", "that", "except"), to several steps, or to something other than moving.
"""

from __future__ import annotations

import cmath
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cap.engine.answer import State
from cap.engine.effect import HELD, INK, ITSELF, VELOCITY, Effect
from cap.engine.measures import UNITS, missing_in_drawing
from cap.engine.sentence import COLORS, INSIDE, KINDS, MOVE, Placing, mentions, plain_words, wishes
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
LENGTH_SHARE, LENGTH_M = 0.15, 0.012
"""A length may be off by this share of itself, and by so much more: what is put down slides."""
BODIES_M = 0.06
"""A distance may be meant from edge to edge: so much more lies between the middles."""
TOUCHING_M, BESIDE_M, BACK_M = 0.07, 0.25, 0.04
"""On or in a thing, next to it, and again where it was: not farther apart than this."""
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "both": 2}
DRIVEN_SHARE = 0.02
"""A drive may be off by this share of the length that was said, and by `LENGTH_M`."""
TURNED_DEG = 20.0
"""A turn may be off by so much."""
DIRECTIONS = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, 1),
    "down": (0, -1),
    "away": (0, 1),
    "towards": (0, -1),
}
"""In the frame of a table, x to the right and y away from its front edge."""
HEADINGS = {"forward": 0, "ahead": 0, "left": 90, "right": -90, "back": 180, "around": 180}
"""Degrees from where a robot that drives looks, to its left."""
_NEAR = ("next to", "beside", "near", "by")
_BESIDE = (*_NEAR, "left of", "right of", "between", "behind", "in front of")
_TOGETHER = re.compile(
    r"\b(?:row|line|column|circle|tower|stack|pile|order|together|apart|each other|one another"
    r"|next to|table|out of|off|left|right|above|below|behind|in front)\b"
)
"""Where some of a group may stay as they are."""
_ABSENT = (
    "pear|lemon|lime|peach|grapes?|carrot|tomato|potato|mug|glass|plate|fork|knife|spoon|milk|bread"
    "|egg|ball|book|phone|key|pen|hat|shoe|pan|pot|teapot|kettle|triangle|ring"
)
"""Things of everyday life that some worlds have and others do not."""
_DEPENDS = re.compile(r"\b(?:if|unless|until|while|when|whenever|undo)\b")
_SEVERAL = re.compile(
    r"\b(?:then|after that|again|instead|first|finally|(?<!everything )(?<!all )but|back)\b|;"
)
_OPEN = re.compile(
    r"\b(?:except|apart|save|other than|besides|without|not|no|that|which|who|with|whose|any|some"
    r"|or)\b"
)
_CHOSEN = re.compile(
    r"\b(?:near|nearest|clos\w+|left\w*most|right\w*most|top\w*|big\w*|small\w*|same|different"
    r"|match\w*|on the|at the)\b"
)
"""What a group is restricted by."""
_GROUP = re.compile(
    rf"(?:^{MOVE} |[:,] |^)(?:(?P<all>all|every|each|both)(?: of)?(?: the)?|(?:the )?(?P<number>two"
    rf"|three|four|five|six)|the) (?P<kind>{KINDS})(?P<plural>s?)\b(?P<rest>.*)"
)
_EVERYTHING = re.compile(
    rf"^{MOVE} (?:everything|all (?:the )?(?:things|objects)) (?:that is )?(?:on|in|from|off)"
    r"(?: the)? ([\w ]+?)(?: (?:to|on|onto|in|into)\b.*)?$"
)
_EVERYTHING_BUT = re.compile(
    rf"^{MOVE} (?:everything|all things|all objects) (?:but|except)(?: for)? (?:the )?"
    rf"(?P<kind>{KINDS})s?\b"
)
_PLACE = re.compile(r"\b(?:in|into|inside|onto|on|to|next|beside|by|at)\b")
_WAY = re.compile(
    rf"^{MOVE} (?:the (?P<name>[\w ]+?)|it|that)(?: by)?"
    r"(?: (?P<before>\d+(?:\.\d+)?) ?(?P<unit>mm|cm|m))?(?: (?:to the|to your|to my))?"
    r" (?P<way>left|right|up|down|away|towards)(?: from)?(?: (?:you|me|yourself))?(?: by)?"
    r"(?: (?P<after>\d+(?:\.\d+)?) ?(?P<unit2>mm|cm|m))?(?: a (?:bit|little))?\W*$"
)
_OTHER = re.compile(rf"\bthe other (?:one|{KINDS})\b")
_REST = re.compile(rf"\bthe (?:rest|others|remaining (?:{KINDS})s)\b")
_ASKS = re.compile(
    r"(?:what|which|where|how|who|is|are|do (?:you|we|i|any)|does|can you see|tell me|say|count"
    r"|name|list|describe|check (?:if|whether)|find out)\b"
)
_SAME = re.compile(r"\bthe same (?:thing )?(?:with|for|to) the ")
_BACK = re.compile(r"\bback\b(?: (?:to )?(?:where it was|its (?:old |first )?place))?\W*$")
_EXPLAINS = re.compile(
    r"\b(?:no|not|none|cannot|only|but|instead|except|without|too|already|fits?|room|as far as"
    r"|left)\b|n't\b|\?"
)
"""What a robot says that explains why it did something else; "done" alone explains nothing."""
_FROM = re.compile(
    r"\b(?P<length>\d+(?:\.\d+)?) ?(?P<unit>cm|m) (?:away )?from (?:the )?(?P<name>[\w ]+)$"
)
"""How far from a thing a robot that drives is to stand, at the end of a sentence."""
FURNITURE_M = 1.0
"""A distance to a thing in a room may be meant to its edge: so much more lies to its middle."""
_SPEED = re.compile(
    r"\bat (\d+(?:\.\d+)?) ?m(?:/s| per second| a second)? for (\d+(?:\.\d+)?) ?(?:s|seconds?)\b"
)
_DRIVEN = re.compile(
    r"^(?:drive|move|go) (?:straight )?(?P<way>forward|ahead|back|left|right)?(?:wards?)?"
    r" ?(?:by |for )?(?P<length>\d+(?:\.\d+)?) ?(?P<unit>cm|met(?:er|re)s?|m)\b"
    r"(?: to (?:the|your) (?P<then>left|right)| (?P<last>forward|ahead|back)(?:wards?)?)?"
    r"(?! (?:away )?from\b)"
)
_DRIVE = re.compile(r"^(?:drive|move) (?:\w+ )?(?:\d+(?:\.\d+)?|one|two|half a) ?(?:m|met\w+|cm)\b")
_TURN = re.compile(
    r"^(?:turn|rotate|spin)(?: yourself)?(?: to (?:the|your))? ?(?P<way>left|right|around)?"
    r"(?: by)?(?: ?(?P<degrees>\d+) ?(?:deg\w*|°))?\W*$"
)
_GO = re.compile(
    r"^(?:(?:go|drive|move|head|walk|navigate|come|return)(?: over| back)? to|visit)\b"
)
_DRIVES = re.compile(r"(?:drive|move|go|follow)\b")
_LEG = re.compile(
    r"(\d+(?:\.\d+)?) ?(cm|m)\b(?! (?:from|of|past|away|behind|left of|right of|in front))"
)
_WAYS = re.compile(
    r"(\d+(?:\.\d+)?) ?(cm|m) (?:to (?:the|your) )?(left|right|forward|ahead|back)"
    r"|(?:to (?:the|your) )?\b(left|right|forward|ahead|back)(?:wards?)?(?: by)? (\d+(?:\.\d+)?)"
    r" ?(cm|m)\b"
)
"""A leg of a drive: how far and which way, or which way and how far."""
_FIGURE = re.compile(r"\b(circle|square|triangle)\b")
FIGURES = {
    ("circle", True): math.tau,
    ("circle", False): math.pi,
    ("square", False): 4.0,
    ("square", True): 4.0,
    ("triangle", False): 3.0,
    ("triangle", True): 3.0,
}
"""How many times its size a figure is long: of a circle its radius or diameter, else its side."""
_LAST = re.compile(r"(?:to|then|visit|and)(?: the)? $")
_BESIDES = re.compile(r"\b(?:closest|nearest|next|near|front|side)\b")
_DOORS = re.compile(r"^(?P<do>open|close|shut) (?P<all>all|both|every|each|the)\b")


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


def is_order(words: str) -> bool:
    """Return whether words ask for something to be moved, or drawn."""
    return bool(_ORDER.match(words))


def left_as_it_was(effect: Effect) -> Failure | None:
    """Return the failure of a program for an order that changed nothing, or None.

    To say something instead is an answer; to set a velocity and not drive is no motion.
    """
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
    silent = not (effect.said or effect.answered or effect.moved or INK in effect.changed)
    if _ASKS.match(text) and silent:
        return ("it was a question, and nothing was said",)
    declined = explained(effect) and not effect.altered
    if declined or effect.unseen or _DEPENDS.search(text):
        return ()
    followed = tuple(_followed(text, before, effect, moved_before))
    if _SEVERAL.search(text):
        gone = [*_visited(text, before, after), *_travelled(text, before, after)]
        if re.search(r"\bback\b", text):
            return (*followed, *gone)
        return (*followed, *_wished(text, before, after, effect, steps=True), *gone)
    new = [line for line in after.drawn if line not in before.drawn]
    found = [
        *_absent(text, before, effect),
        *_wished(text, before, after, effect),
        *_grouped(text, before, effect),
        *_directed(text, before, effect),
        *followed,
        *missing_in_drawing(text, before, after, new),
        *_visited(text, before, after),
        *_driven(text, before, after),
        *_travelled(text, before, after),
        *_apart(text, before, after),
        *_opened(text, after),
    ]
    left_on = effect.changed.get(VELOCITY, (None, None))[1]
    if (_DRIVE.match(text) or re.match(r"(?:stop|halt)\b", text)) and left_on:
        found.append(f"a velocity of {left_on} is left on")
    return tuple(dict.fromkeys(found))


def _absent(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield things that are named and not there, if something moved all the same."""
    if not effect.moved:
        return
    named = re.findall(rf"\bthe (({COLORS}) ({KINDS}))\b", text)
    kinds = {name.split()[-1] for name in before.positions}
    for name, _, kind in named:
        if name not in before.positions and kind in kinds:
            yield f"there is no {name!r}"
    for noun in re.findall(rf"\bthe ({_ABSENT})\b", text):
        if not any(noun.rstrip("s") in name for name in before.positions):
            yield f"there is no {noun!r}"


def _wished(
    text: str, before: Observation, after: Observation, effect: Effect, steps: bool = False
) -> Iterator[str]:
    """Yield things that were to be moved and were not, or are not where they were to be.

    Of several steps one may move what another has moved, so that places say nothing.
    """
    places = [str(name) for name in before.facts.get("locations", ())]
    asked = {wish.name: wish for wish in wishes(text, before.positions, places)}
    if text.startswith("stack"):  # the lowest of them stays
        asked = {name: wish for name, wish in asked.items() if wish.target}
    if re.search(r"\b(?:swap|exchange|switch)\b", text):
        if steps or len(asked) != 2:
            return
        one, other = asked
        apart = [
            math.dist(after.positions.get(a, (9, 9))[:2], before.positions[b][:2])
            for a, b in ((one, other), (other, one))
        ]
        if max(apart) > TOUCHING_M:
            yield f"{one!r} and {other!r} are not each where the other was"
        return
    for name, wish in asked.items():
        there = _is_so(wish, after)
        if name in _held(after):
            if wish.relation in INSIDE and wish.relation != "to":
                yield f"{name!r} is still held"
            continue
        if name not in effect.moved and there is not True:
            if effect.altered:
                yield f"{name!r} was not moved"
        elif there is False and name in effect.moved and not steps:
            yield _misplaced(wish, after)


def _misplaced(wish: Placing, seen: Observation) -> str:
    """Return in words where a thing is, that is not where it was to be."""
    here, there = seen.positions[wish.name], seen.positions.get(wish.target)
    if wish.length_m is None or there is None:
        return f"{wish.name!r} is not {wish.relation} {wish.target!r}"
    apart = math.dist(here[:2], there[:2])
    return (
        f"{wish.name!r} is {100 * apart:.0f} cm from {wish.target!r}, where "
        f"{100 * wish.length_m:g} cm {wish.relation} it were asked for"
    )


def _held(seen: Observation) -> str:
    return str(seen.condition.get(HELD, ""))


def _is_so(wish: Placing, seen: Observation) -> bool | None:
    """Tell whether a thing is where it was to be; None where that is open."""
    name, target = wish.name, wish.target
    if not target or wish.relation == "from" or name not in seen.positions:
        return None
    place, drives = seen.whereabouts.get(name), ITSELF[0] in seen.condition
    if wish.relation in INSIDE and place is not None:
        under = place
        while under and under != target:
            under = seen.whereabouts.get(under, "")
        if under == target:
            return True
        if place and place != seen.whereabouts.get(target):
            return False
    elif place and place in seen.positions and wish.relation in _BESIDE:
        return False  # it was to be beside a thing, and is in one
    if target not in seen.positions:
        return False if wish.relation in INSIDE and place else None
    here, there = seen.positions[name], seen.positions[target]
    apart = math.dist(here[:2], there[:2])
    sides = {"left of": here[0] < there[0], "right of": here[0] > there[0]}
    if not drives and not sides.get(wish.relation, True):
        return False
    if wish.length_m is not None and not wish.relation.startswith("toward"):
        slack = LENGTH_SHARE * wish.length_m + LENGTH_M
        return wish.length_m - slack <= apart <= wish.length_m + slack + BODIES_M
    if wish.relation in INSIDE and wish.relation != "to":
        return None if apart <= TOUCHING_M else False
    near = wish.relation in _NEAR or wish.relation == "to"
    return False if near and apart > BESIDE_M and not drives else None


def _grouped(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield what is lacking of all, both, or so many of a kind."""
    named = [name for name, _, _ in mentions(text, before.positions)]
    if re.search(r"\b(?:tower|pile|stack) of\b|^stack\b", text) and len(named) > 1:
        still = [name for name in named if name not in effect.moved]
        if effect.moved and len(still) > 1:
            yield f"{_list(still)} were not moved"
    if (most := _EVERYTHING_BUT.match(text)) and effect.moved and ITSELF[0] not in before.condition:
        lacking = [
            name
            for name in before.positions
            if not name.endswith(most["kind"]) and name not in effect.moved
        ]
        if lacking:
            yield f"{_list(lacking)} {'was' if len(lacking) == 1 else 'were'} not moved"
    if (whole := _EVERYTHING.search(text)) and effect.moved:
        there = [name for name, at in before.whereabouts.items() if at == whole[1]]
        if lacking := [name for name in there if name not in effect.moved]:
            yield f"{_list(lacking)} {'was' if len(lacking) == 1 else 'were'} not moved"
    match = _GROUP.search(text)
    if match is None or not effect.moved or _OPEN.search(text):
        return
    if _TOGETHER.search(match["rest"]) or not _PLACE.search(match["rest"]):
        return
    whose = _PLACE.split(match["rest"], maxsplit=1)[0]
    several = match["all"] or match["number"] or match["plural"]
    into = re.search(r"\b(?:in|into|inside|to) (?:the |their )?.*\bbowls?\b", match["rest"])
    if not several or not (match["all"] or match["number"] or into):
        return
    kind = match["kind"]
    there = [name for name in before.positions if name.endswith(kind)]
    moved = [name for name in effect.moved if name.endswith(kind)]
    number = NUMBERS.get(match["number"] or match["all"] or "")
    if number is not None:
        more = match["number"] and not _CHOSEN.search(whose) and len(moved) > number
        ends = {effect.places.get(name, ("", ""))[1] for name in moved} - {""}
        now = len(moved) + sum(before.whereabouts.get(name, "") in ends for name in there)
        if now < number or more:
            yield f"{len(moved)} of the {kind}s were moved, where {number} were asked for"
        return
    on_the_left = re.match(r"\s+(?:on|in|at|from|between|of|around)\b", match["rest"])
    if _CHOSEN.search(whose) or (
        on_the_left and re.search(r"\b(?:to|into|onto|in|on)\b", match["rest"][4:])
    ):
        return  # "the blocks on the left to ..." restricts them
    ends = {effect.places.get(name, ("", ""))[1] for name in moved} - {""}
    lacking = [
        name
        for name in there
        if name not in moved
        and before.whereabouts.get(name, "") not in ends
        and name not in ends
        and name not in text
    ]
    if lacking:
        yield f"{_list(lacking)} {'was' if len(lacking) == 1 else 'were'} not moved"


def _directed(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield a thing that moved another way, or by another length, than was said."""
    match = _WAY.match(text)
    if match is None or len(effect.moved) != 1:
        return
    ((name, (start, end)),) = effect.moved.items()
    if match["name"] not in (None, name) or not name.endswith(tuple(KINDS.split("|"))):
        return
    dx, dy = (after - was for was, after in zip(start[:2], end[:2], strict=True))
    x, y = DIRECTIONS[match["way"]]
    along, across = dx * x + dy * y, abs(dx * y) + abs(dy * x)
    length, unit = match["before"] or match["after"], match["unit"] or match["unit2"]
    if along <= 0 or across > along:
        yield f"{name!r} did not move {match['way']}"
    elif length:
        wanted = float(length) * UNITS[unit]
        if abs(along - wanted) > LENGTH_SHARE * wanted + LENGTH_M:
            yield f"{name!r} moved {100 * along:.1f} cm, where {100 * wanted:g} cm were asked for"


def _followed(
    text: str, before: Observation, effect: Effect, moved_before: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what is otherwise than the turn before makes it: the other one, the same, back."""
    if _OTHER.search(text) and effect.moved and set(effect.moved) <= set(moved_before):
        yield f"'the other one' is not {_list(effect.moved)}, which was moved before"
    kinds = {name.split()[-1] for name in moved_before}
    if _REST.search(text) and effect.moved and len(kinds) == 1:
        (kind,), had = kinds, {*moved_before, *effect.moved}
        lacking = [n for n in before.positions if n.endswith(kind) and n not in had]
        if lacking:
            yield f"{_list(lacking)} {'was' if len(lacking) == 1 else 'were'} not moved"
    if (same := _SAME.search(text)) and effect.moved:
        for name, begin, stop in mentions(text, before.positions):
            whose = text.startswith("'s", stop)
            if begin == same.end() and name not in effect.moved and not whose:
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


def _driven(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield how far and which way the robot is from where it was, where that was said otherwise."""
    base = ITSELF[0]
    if base not in before.condition:
        return
    x, y, angle = before.condition[base][:3]
    end_x, end_y, end_angle = after.condition[base][:3]
    match, numbers = _DRIVEN.match(text), len(re.findall(r"\d+(?:\.\d+)?", text))
    if match is not None and numbers == 1:
        wanted = float(match["length"]) * UNITS[match["unit"][:2].rstrip("e")]
        way_m = math.dist((x, y), (end_x, end_y))
        if abs(way_m - wanted) > DRIVEN_SHARE * wanted + LENGTH_M:
            yield f"the robot is {way_m:.2f} m from where it was, where {wanted:g} m were asked for"
        way = match["way"] or match["then"] or match["last"]
        went = math.atan2(end_y - y, end_x - x) - angle
        if way and way_m > LENGTH_M and math.cos(went - math.radians(HEADINGS[way])) < 0.5:
            yield f"the robot did not drive {way}"
    if (turn := _TURN.match(text)) is not None:
        degrees = float(turn["degrees"] or (0 if turn["way"] in ("left", "right") else 180))
        turned = math.degrees(math.remainder(end_angle - angle, math.tau))
        wanted = -degrees if turn["way"] == "right" else degrees
        off = abs(math.remainder(turned - wanted, 360))
        right = turned < 0 if turn["way"] == "right" else turned > 0
        if (degrees and off > TURNED_DEG) or (not degrees and not right):
            way = turn["way"] if turn["way"] in HEADINGS else "left"
            asked = f"{degrees:g} degrees to the {way}" if degrees else f"a turn to the {way}"
            yield f"the robot turned by {turned:.0f} degrees to its left; asked for: {asked}"


def _travelled(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield how far the robot drove, where its legs, or the figure it was to drive, are longer."""
    travel = ITSELF[2]
    if travel not in before.condition or not _DRIVES.match(text):
        return
    legs = [float(number) * UNITS[unit] for number, unit in _LEG.findall(text)]
    figure = _FIGURE.search(text)
    wanted = sum(legs) if " then " in text and len(legs) > 1 else 0.0
    if speed := _SPEED.search(text):
        wanted = float(speed[1]) * float(speed[2])
    if len(legs) == 1 and re.search(r"\b(?:and|then) (?:come |go |drive )?back\b", text):
        wanted = 2 * legs[0]
    ways = [(a or e, c or d, b or f) for a, b, c, d, e, f in _WAYS.findall(text)]
    if not wanted and len(ways) == len(legs) > 1:
        net = sum(
            float(number) * UNITS[unit] * cmath.exp(1j * math.radians(HEADINGS[way]))
            for number, way, unit in ways
        )
        wanted = abs(net)
    if figure is not None and len(legs) == 1:
        wanted = legs[0] * FIGURES[figure[1], "radius" in text]
    way_m = after.condition[travel] - before.condition[travel]
    if way_m < (1 - DRIVEN_SHARE) * wanted - LENGTH_M:
        yield f"the robot drove {way_m:.2f} m, where {wanted:.2f} m were asked for"


def _apart(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield how far from a thing the robot is, where another distance was asked for."""
    base, match = ITSELF[0], _FROM.search(text)
    if base not in after.condition or match is None:
        return
    at = after.positions.get(match["name"])
    if at is None:
        return
    wanted = float(match["length"]) * UNITS[match["unit"]]
    apart = math.dist(at[:2], after.condition[base][:2])
    if not wanted * (1 - DRIVEN_SHARE) - LENGTH_M <= apart <= wanted + FURNITURE_M:
        where = f"{apart:.2f} m from {match['name']!r}"
        yield f"the robot is {where}, where {wanted:g} m were asked for"


def _visited(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield the place that the robot was to go to last and is not at."""
    places = [str(name) for name in before.facts.get("locations", ())]
    named = mentions(text, places) if _GO.match(text) else []
    if not named or named[-1][2] != len(text):
        return
    name, begin, _ = named[-1]
    last = _LAST.search(text[:begin]) and not _BESIDES.search(text[:begin])
    if last and after.facts.get("at", name) != name:
        yield f"the robot is not at {name!r}"


def _opened(text: str, after: Observation) -> Iterator[str]:
    """Yield what was to be opened or closed and is not."""
    match = _DOORS.match(text)
    if match is None or re.search(r" (?:open|close|shut)\b", text):
        return
    doors = {name: is_so for name, is_so in after.condition.items() if is_so in ("open", "closed")}
    named = [name for name, _, _ in mentions(text, doors)]
    everything = match["all"] in ("all", "both", "every", "each") and not named
    for name in doors if everything and len(doors) > 1 else named:
        if doors[name] != ("open" if match["do"] == "open" else "closed"):
            yield f"{name!r} is {doors[name]}"


def _list(names: Mapping[str, object] | Sequence[str]) -> str:
    return ", ".join(map(repr, names))
