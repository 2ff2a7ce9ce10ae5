"""Calling a function that a program defined, many times in one worker; what comes back is data.

The worker calls it and sends all answers at once. Each is what the function gave at that moment,
whatever later calls do to it. What comes back is wider than
the wire, which takes plain types only: a subclass of a builtin becomes that builtin, a fraction or
decimal the number exactly as large if there is one, a view of a dictionary a set, an iterator the
list it yields, and so does what can be iterated over and is none of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from cap.errors import clipped
from cap.program.private_names import shown
from cap.sandbox.wire import codec

MOST_YIELDED = 10_000
"""Values an iterator may yield."""


@dataclass(frozen=True)
class CallList:
    """What a program's function is called with."""

    function: str
    """Its name."""
    arguments: bytes
    """The list of `[args, kwargs]`, encoded."""
    plain: bool = False
    """No argument is a value of numpy or shapely."""


@dataclass(frozen=True)
class CallAnswer:
    """What came of one call; nothing in it is more than data."""

    kind: Literal["value", "yields", "raises"]
    """It returned a value, an iterator, or raised."""
    value: Any
    """The value, or the list of what the iterator yielded; for `raises` the exception's name."""
    message: str = ""
    """Of the exception."""


_TYPES: Mapping[str, type] = {"value": object, "yields": list, "raises": str}
"""What each kind of answer brings."""
_GROUPS: tuple[Any, ...] = (list, tuple, set, frozenset)
_BASES: Mapping[type, Callable[[Any], Any]] = {
    int: int.__pos__,
    float: float.__pos__,
    str: str.__str__,
    bytes: bytes.__bytes__,
}
_VIEWS: tuple[type[Iterable[Any]], ...] = (type({}.keys()), type({}.items()))


def call_each(space: Mapping[str, Any], name: str, calls: bytes) -> list[list[Any]]:
    """Call a function of a program with each of its arguments; in the worker.

    Args:
        space: The names of the program that ended.
        name: The function's.
        calls: As in `CallList.arguments`.

    Returns:
        For each call `[kind, encoded value, message]`.

    Raises:
        NameError: There is no such function.
        WireError: A result is no plain data.
    """
    if name not in space:
        raise NameError(f"the program ended without defining '{name}'")
    function = space[name]
    return [_answer(function, args, named) for args, named in codec.decode(calls)]


def read_answers(
    value: Any, count: int, watch: Callable[[], None] | None = None
) -> list[CallAnswer] | None:
    """Return what `call_each` sent, in the parent; None if the worker sent something else.

    Args:
        value: What the worker sent.
        count: How many answers it should be.
        watch: Called for each answer, and while a large one is read; what it raises ends that.
    """
    if type(value) is not list or len(value) != count:
        return None
    answers = []
    for entry in value:
        if type(entry) is not list or [*map(type, entry)] != [str, bytes, str]:
            return None
        kind, data, message = entry
        if watch is not None:
            watch()
        try:
            given = codec.decode(data, watch)
        except codec.WireError:
            return None
        if not isinstance(given, _TYPES.get(kind, ())):
            return None
        if kind == "raises":
            given = clipped(str(given))
        answers.append(CallAnswer(kind, given, codec.one_line(message)))
    return answers


def _answer(function: Any, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    try:
        value = function(*args, **named)
        kind = "yields" if hasattr(type(value), "__next__") else "value"
        if kind == "yields":
            value = _taken(value)
    except Exception as error:  # whatever a program's function raises is its answer
        message = codec.one_line(shown(str(error)))
        return ["raises", codec.encode(shown(type(error).__name__)), message]
    try:
        return [kind, codec.encode(value), ""]
    except codec.WireError:
        plain = _plain(value)
    if plain is value and hasattr(type(value), "__iter__"):  # equal to no list, yet may become one
        kind, plain = "yields", _plain(_taken(iter(value)))
    return [kind, codec.encode(plain), ""]


def _taken(values: Iterable[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if len(found) == MOST_YIELDED:
            raise TypeError(f"a result that yields more than {MOST_YIELDED} values")
        found.append(value)
    return found


def _plain(value: Any) -> Any:
    """Return a value with every part of it of a type that crosses, if it has one."""
    if isinstance(value, dict):
        return {_plain(key): _plain(entry) for key, entry in dict.items(value)}
    if isinstance(value, _VIEWS):
        return {_plain(entry) for entry in value}
    for group in _GROUPS:
        if isinstance(value, group):
            return group([_plain(entry) for entry in group.__iter__(value)])
    for base, plain in _BASES.items():
        if isinstance(value, base):
            return plain(value)
    from decimal import Decimal  # loaded in every worker; whoever only reads answers needs neither
    from fractions import Fraction

    if isinstance(value, Decimal | Fraction):
        for number in (int(value), float(value)):
            if number == value:
                return number
    return value
