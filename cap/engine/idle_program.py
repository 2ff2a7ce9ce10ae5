"""Programs that do nothing at all: a person who asked for something is told so, not `ok`."""

from __future__ import annotations

import re
from collections.abc import Collection

from cap.engine.answer import State
from cap.engine.effect import VELOCITY, Effect
from cap.result import Failure, Result
from cap.sandbox.wire import encode

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
