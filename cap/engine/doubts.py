"""Words against effect: what must be so in every reading of an instruction, and is not.

The effect of a turn is known, so that much of what a program got wrong can be seen without asking
anybody: a thing that was named and not moved, two moved where three were asked for, left for right,
8 cm for 10. Where words are open nothing is said: what restricts a group ("on the left", "that",
"except"), asks for several steps or for something else than to move keeps a rule silent.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from cap.engine.answer import State
from cap.engine.effect import INK, ITSELF, NOTHING_DRAWN, VELOCITY, Effect
from cap.engine.measures import UNITS, missing_sizes
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
NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "both": 2}
DRIVEN_SHARE = 0.02
"""A drive may be off by this share of the length that was said, and by `LENGTH_M`."""
KINDS = {"block": "block", "cube": "block", "bowl": "bowl"}
"""What a kind of thing is called, and how the names of such things end."""
DIRECTIONS = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, 1),
    "down": (0, -1),
    "away": (0, 1),
}
"""In the frame of a table, x to the right and y away from its front edge."""
_MOVE = r"(?:please )?(?:put|place|move|bring|throw|drop|push|slide|shift|nudge|take|set)"
_SEVERAL = re.compile(
    r"\b(?:then|and then|after that|if|unless|until|while|when|undo|again)\b|;|\bback\b"
)
_OPEN = re.compile(
    r"\b(?:except|apart|save|but|other than|besides|without|not|no|that|which|who|with|whose|near"
    r"|nearest"
    r"|clos\w+|left\w*most|right\w*most|top\w*|big\w*|small\w*|same|match\w*|different|any|some|or)\b"
)
_WHERE_THEY_ARE = re.compile(
    r"\s+(?:on|in|at|from|left|right|behind|above|below|between|of|around)\b"
)
_GROUP = re.compile(
    rf"^{_MOVE} (?:(?P<all>all|every|each|both)(?: of)?(?: the)?|(?:the )?(?P<number>two|three|four"
    r"|five|six)) (?P<kind>block|cube|bowl)s?\b(?P<rest>.*)"
)
_SINGLE = re.compile(
    rf"^{_MOVE} the (?P<name>[\w ]+?) (?:in|into|on|onto|to|at|by|next|beside|\d)\b"
)
_WAY = re.compile(
    rf"^{_MOVE} (?:the (?P<name>[\w ]+?)|it|that)(?: by)?"
    r"(?: (?P<length>\d+(?:\.\d+)?) ?(?P<unit>mm|cm|m))?"
    r"(?: (?:to the|to your|towards the))? (?P<way>left|right|up|down|away)\W*$"
)
_OTHER = re.compile(rf"^(?:now )?{_MOVE} the other (?:one|block|bowl|cube)\b")
_ERASE = re.compile(
    r"^(?:please )?(?:erase|wipe|clear) (?:everything|all|it all|the board|the whole board)\W*$"
)
_EXPLAINS = re.compile(
    r"\b(?:no|not|none|cannot|only|but|instead|except|without|too|already|fits?|room|as far as"
    r"|left)\b|n't\b|\?"
)
"""What a robot says that did otherwise, and tells the person so; "done" alone is no reason."""
_DRIVEN = re.compile(
    r"^(?:please )?(?:drive|move|go) (?:straight )?(?:forward|ahead|backwards?|left|right)?"
    r" ?(?:by )?(?P<length>\d+(?:\.\d+)?) ?(?P<unit>cm|met(?:er|re)s?|m)\b"
)
_DRIVE = re.compile(
    r"^(?:please )?(?:drive|move) (?:\w+ )?(?:\d+(?:\.\d+)?|one|two|half a) ?(?:m|met\w+|cm)\b"
)


def did_nothing(
    result: Result, before: State, unread: Collection[str], words: str
) -> Failure | None:
    """Return the failure of a program for a person's words that did nothing at all, or None.

    It called nothing, said nothing, printed nothing, and left nothing for later programs: whoever
    gave the words would be told of a success that nobody can see. What it sets is something, such
    as the name of a thing from now on; functions that it never calls are, for who asks for them.

    Args:
        result: What came of the program.
        before: What it began with.
        unread: Names that only other prompts' programs answer in.
        words: The person's.
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
    told = "".join(f", and nobody reads its {n!r}" for n in unread if n in result.variables)
    message = (
        f"the program does nothing: it calls no function of the robot{told}; "
        "an answer is told to the person with say('...')"
    )
    if defined:
        message = f"the program only defines '{defined[0]}' and never calls it; call it"
    return Failure("value", DID_NOTHING, message)


def is_order(words: str) -> bool:
    """Tell whether a person's words ask for something to be elsewhere, or drawn."""
    return bool(_ORDER.match(words))


def left_as_it_was(effect: Effect) -> Failure | None:
    """Return the failure of a program that carried out an order and changed nothing, or None.

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


def doubts(
    words: str,
    before: Observation,
    after: Observation,
    effect: Effect,
    moved_before: Collection[str] = (),
) -> tuple[str, ...]:
    """Return what an instruction asks for in every reading and the turn did not do; a line each.

    Args:
        words: The instruction.
        before: The world before the turn.
        after: The world after it.
        effect: What the turn did.
        moved_before: What the turn before it moved.
    """
    text = " ".join(words.lower().strip().rstrip(".!").split())
    explained = any(_EXPLAINS.search(said.lower()) for said in effect.said)
    if explained or effect.unseen or _SEVERAL.search(text):
        return ()
    found = [
        *_absent(text, before, effect),
        *_named(text, before, effect),
        *_grouped(text, before, effect),
        *_directed(text, before, effect),
        *missing_sizes(text, [line for line in after.drawn if line not in before.drawn]),
        *_driven(text, before, after),
    ]
    if _OTHER.match(text) and effect.moved and set(effect.moved) <= set(moved_before):
        found.append(f"'the other one' is not {_list(effect.moved)}, which was moved before")
    if _ERASE.match(text) and effect.changed.get(INK, (None, NOTHING_DRAWN))[1] != NOTHING_DRAWN:
        found.append("there is still something drawn")
    left_on = effect.changed.get(VELOCITY, (None, None))[1]
    if _DRIVE.match(text) and left_on:
        found.append(f"a velocity of {left_on} is left on")
    return tuple(dict.fromkeys(found))


def _absent(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield coloured things that are named and not there, where something moved all the same."""
    colors = {name.split()[0] for name in before.positions if name.split()[-1] in KINDS.values()}
    if not effect.moved or not colors:
        return
    known = "red|green|blue|yellow|orange|purple|pink|cyan|brown|gr[ae]y|white|black"
    for color, kind in re.findall(rf"\bthe ({known}) ({'|'.join(KINDS)})\b", text):
        name = f"{color.replace('grey', 'gray')} {KINDS[kind]}"
        if name not in before.positions:
            yield f"there is no {name!r}"


def _named(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield the thing that is to be moved and was not."""
    match = _SINGLE.match(text)
    name = match["name"] if match else ""
    if name in before.positions and name not in effect.moved and effect.moved:
        yield f"{name!r} was not moved"


def _grouped(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield what is lacking of all, both, or so many of a kind."""
    match = _GROUP.match(text)
    if match is None or not effect.moved or _OPEN.search(text):
        return
    rest = match["rest"]
    if _WHERE_THEY_ARE.match(rest) and re.search(r"\b(?:to|into|onto|in|on)\b", rest[4:]):
        return  # "the blocks on the left to ..." restricts them
    kind = KINDS[match["kind"]]
    there = [name for name in before.positions if name.endswith(kind)]
    moved = [name for name in effect.moved if name.endswith(kind)]
    number = NUMBERS.get(match["number"] or match["all"] or "")
    if number is None:
        ends = {effect.places.get(name, ("", ""))[1] for name in moved} - {""}
        lacking = [
            name
            for name in there
            if name not in moved
            and before.whereabouts.get(name, "") not in ends
            and name not in ends
        ]
        if lacking:
            yield f"{_list(lacking)} {'was' if len(lacking) == 1 else 'were'} not moved"
    elif len(moved) < number <= len(there) or (len(moved) > number and match["number"]):
        yield f"{len(moved)} of the {kind}s were moved, where {number} were asked for"


def _directed(text: str, before: Observation, effect: Effect) -> Iterator[str]:
    """Yield a thing that moved another way, or by another length, than was said."""
    match = _WAY.match(text)
    if match is None or len(effect.moved) != 1:
        return
    ((name, (start, end)),) = effect.moved.items()
    if match["name"] not in (None, name) or not name.endswith(tuple(KINDS.values())):
        return
    dx, dy = (after - was for was, after in zip(start[:2], end[:2], strict=True))
    x, y = DIRECTIONS[match["way"]]
    along, across = dx * x + dy * y, abs(dx * y) + abs(dy * x)
    if along <= 0 or across > along:
        yield f"{name!r} did not move {match['way']}"
    elif match["length"]:
        wanted = float(match["length"]) * UNITS[match["unit"]]
        if abs(along - wanted) > LENGTH_SHARE * wanted + LENGTH_M:
            yield f"{name!r} moved {100 * along:.1f} cm, where {100 * wanted:g} cm were asked for"


def _driven(text: str, before: Observation, after: Observation) -> Iterator[str]:
    """Yield how far the robot is from where it was, where another length was said."""
    match, base = _DRIVEN.match(text), ITSELF[0]
    if match is None or base not in before.condition or len(re.findall(r"\d+(?:\.\d+)?", text)) > 1:
        return
    wanted = float(match["length"]) * UNITS[match["unit"][:2].rstrip("e")]
    way = math.dist(before.condition[base][:2], after.condition[base][:2])
    if abs(way - wanted) > DRIVEN_SHARE * wanted + LENGTH_M:
        yield f"the robot is {way:.2f} m from where it was, where {wanted:g} m were asked for"


def _list(names: Mapping[str, object] | Sequence[str]) -> str:
    return ", ".join(map(repr, names))
