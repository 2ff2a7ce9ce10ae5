"""Programs that do nothing at all: a person who asked for something is told so, not `ok`."""

from __future__ import annotations

from collections.abc import Collection

from cap.engine.answer import State
from cap.result import Failure, Result
from cap.sandbox.wire.codec import encode_shared

DID_NOTHING = "NothingDone"
"""The failure's name."""


def did_nothing(result: Result, before: State, unread: Collection[str]) -> Failure | None:
    """Return the failure of a program for a person's words that did nothing at all, or None.

    It called nothing, said nothing, printed nothing, and left nothing for later programs: whoever
    gave the words would be told of a success that nobody can see. What it sets is something, such
    as the name of a thing from now on.

    Args:
        result: What came of the program.
        before: What it began with.
        unread: Names that only other prompts' programs answer in.
    """
    left_out = result.dropped or result.oversized
    if result.calls or result.stdout.strip() or left_out or any(result.defined.values()):
        return None
    if any(entry.name not in result.defined for entry in before.definitions):  # it took one away
        return None
    was, left = (
        {name: some[name] for name in sorted(some) if name not in unread}
        for some in (before.variables, result.variables)
    )
    if was.keys() != left.keys() or encode_shared(was) != encode_shared(left):
        return None
    told = "".join(f", and nobody reads its {n!r}" for n in unread if n in result.variables)
    message = (
        f"the program does nothing: it calls no function of the robot{told}; "
        "an answer is told to the person with say('...')"
    )
    return Failure("value", DID_NOTHING, message)
