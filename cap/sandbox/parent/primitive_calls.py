"""One call of a primitive: whether its arguments fit, and the record of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cap.errors import LimitExceeded
from cap.result import Call
from cap.scope import Primitive

_Fitting = tuple[Primitive, int, int]


class Primitives:
    """The primitives of one program, each with how many plain arguments fit it."""

    def __init__(self, primitives: Mapping[str, Primitive]) -> None:
        """Look at no signature before its first call."""
        self._primitives = primitives
        self._fitting: dict[str, _Fitting] = {}

    def kind(self, name: str) -> str:
        """Return a primitive's kind, `unknown` of what is none."""
        primitive = self._primitives.get(name)
        return "unknown" if primitive is None else primitive.kind

    def function(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """Return what to call, after a look at the arguments.

        Raises:
            LimitExceeded: There is no such primitive.
            TypeError: The arguments do not fit its signature.
        """
        primitive, least, most = self._fitting.get(name) or self._look(name)
        if kwargs or not least <= len(args) <= most:
            try:
                primitive.signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{name}{primitive.signature}: {error}") from None
        return primitive.function

    def _look(self, name: str) -> _Fitting:
        """Return a primitive, and how few and how many arguments surely fit by position."""
        primitive = self._primitives.get(name)
        if primitive is None:
            raise LimitExceeded(f"'{name}' is not in this program's scope")
        least = most = 0
        for parameter in primitive.signature.parameters.values():
            needed = parameter.default is parameter.empty
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                least, most = least + needed, most + 1
            elif parameter.kind is parameter.KEYWORD_ONLY and needed:
                least, most = 1, 0  # no number of plain arguments is enough
                break
        found = self._fitting[name] = (primitive, least, most)
        return found


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
