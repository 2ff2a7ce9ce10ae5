"""One call of a primitive: whether its arguments fit, and the record of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cap.errors import LimitExceeded
from cap.program.scope import Primitive
from cap.result import Call


def function_of(
    primitive: Primitive | None, name: str, args: list[Any], kwargs: dict[str, Any]
) -> Callable[..., Any]:
    """Return what to call, after a look at the arguments.

    Args:
        primitive: What the scope has under the name.
        name: As the program calls it.
        args: Given by position.
        kwargs: Given by name.

    Raises:
        LimitExceeded: There is no such primitive.
        TypeError: The arguments do not fit its signature.
    """
    if primitive is None:
        raise LimitExceeded(f"'{name}' is not in this program's scope")
    least, most = primitive.plain_arguments
    if kwargs or not least <= len(args) <= most:
        try:
            primitive.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}{primitive.signature}: {error}") from None
    return primitive.function


Entry = tuple[str, tuple[Any, ...], dict[str, Any], float, float, Any, str | None]
"""A served call as it is noted while the program runs, in the order of `Call`'s fields.

A plain tuple: making a `Call` takes longer, and ten thousand of them keep the collector busy.
"""


def record(entry: Entry, kind: str) -> Call:
    """Return the record of a call, past the slow `__init__` of a frozen dataclass."""
    call = _new(Call)
    name, args, kwargs, start_s, duration_s, result, error = entry
    fields = {
        "name": name,
        "args": args,
        "kwargs": kwargs,
        "start_s": start_s,
        "duration_s": duration_s,
        "result": result,
        "error": error,
        "kind": kind,
    }
    _set(call, "__dict__", fields)
    return call


_new, _set = object.__new__, object.__setattr__
