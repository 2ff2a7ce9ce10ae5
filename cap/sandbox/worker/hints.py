"""Type hints without `typing`, whose own kinds compile every text they are given.

A hint here keeps what it is given and evaluates nothing. It says what it is, can be compared and
combined, stands for a class in `isinstance`, and can be inherited from, as `typing`'s can.
"""

from __future__ import annotations

import collections
import collections.abc
import types
from collections.abc import Mapping
from typing import Any

from cap.sandbox.worker import records
from cap.sandbox.worker.builtin_function import shown_as


class Hint:
    """`List`, `List[int]`, `Any`, `Optional[str]` and the like."""

    __slots__ = ("_arguments", "_kind", "_name")

    def __init__(self, name: str, kind: Any = None, arguments: tuple[Any, ...] | None = None):
        """Make one.

        Args:
            name: What `typing` calls it.
            kind: The class it stands for, if there is one.
            arguments: What it was given in brackets; None if nothing.
        """
        self._name, self._kind, self._arguments = name, kind, arguments

    def __getitem__(self, given: Any) -> Any:
        """Return the hint for something in brackets."""
        arguments = given if isinstance(given, tuple) else (given,)
        if self._name == "Optional":
            return either(*arguments, None)
        if self._name == "Union":
            return either(*arguments)
        return Hint(self._name, self._kind, arguments)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """Make an instance of the class it stands for."""
        if self._name not in _MADE:
            use = f"; use {self._kind.__name__}() instead" if self._kind else ""
            raise TypeError(f"Type {self._name} cannot be instantiated{use}")
        return self._kind(*args, **named)

    def __instancecheck__(self, value: Any) -> bool:
        """Tell whether a value is of the class it stands for."""
        return isinstance(value, self._checked())

    def __subclasscheck__(self, kind: Any) -> bool:
        """Tell whether a class is below the one it stands for."""
        return issubclass(kind, self._checked())

    def _checked(self) -> Any:
        if self._name == "Union" and self._arguments:
            return self._arguments
        if self._arguments is not None or self._kind is None:
            raise TypeError(f"{self!r} cannot be used with isinstance() or issubclass()")
        return self._kind

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        """Return the class to inherit from."""
        if self._kind is None:
            raise TypeError(f"Cannot subclass {self!r}")
        return (self._kind,)

    def __or__(self, other: Any) -> Any:
        """Return the hint for either."""
        return either(self, other)

    def __ror__(self, other: Any) -> Any:
        """Return the hint for either."""
        return either(other, self)

    def __eq__(self, other: object) -> bool:
        """Compare what they are made of."""
        return isinstance(other, Hint) and self._parts() == other._parts()

    def __hash__(self) -> int:
        """Return a number that is the same for equal ones."""
        return hash(self._parts())

    def _parts(self) -> tuple[Any, ...]:
        arguments = self._arguments
        if self._name == "Union" and arguments is not None:
            return self._name, frozenset(arguments)
        return self._name, arguments

    def __repr__(self) -> str:
        """Return what `typing` would show."""
        arguments = self._arguments
        if arguments is None:
            return f"typing.{self._name}"
        if self._name == "Union" and len(arguments) == 2 and type(None) in arguments:
            (other,) = (entry for entry in arguments if entry is not type(None))
            return f"typing.Optional[{_shown(other)}]"
        plain = {"Literal": 0, "Annotated": 1}.get(self._name, len(arguments))
        parts = [*map(_shown, arguments[:plain]), *map(repr, arguments[plain:])]
        return f"typing.{self._name}[{', '.join(parts)}]"


def either(*given: Any) -> Any:
    """Return a union of what is given, each part once."""
    parts: list[Any] = []
    for entry in given:
        union = isinstance(entry, Hint) and entry._name == "Union" and entry._arguments
        for part in union or (entry,):
            part = type(None) if part is None else part
            if part not in parts:
                parts.append(part)
    return parts[0] if len(parts) == 1 else Hint("Union", None, tuple(parts))


def _shown(value: Any) -> str:
    if value is ...:
        return "..."
    if isinstance(value, str):
        return f"ForwardRef({value!r})"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if type(value) is types.GenericAlias or not isinstance(value, type):
        return repr(value)
    module = "" if value.__module__ == "builtins" else f"{value.__module__}."
    return f"{module}{value.__qualname__}"


class Variable:
    """Stand in for `TypeVar`, whose bounds may be texts."""

    __slots__ = ("__name__",)

    def __init__(self, name: str, *_: Any, **__: Any) -> None:
        """Keep the name; bounds and variance mean nothing when a program runs."""
        self.__name__ = str(name)

    def __or__(self, other: Any) -> Any:
        """Return the hint for either."""
        return either(self, other)

    def __ror__(self, other: Any) -> Any:
        """Return the hint for either."""
        return either(other, self)

    def __repr__(self) -> str:
        """Return what `typing` would show."""
        return f"~{self.__name__}"


class Generic:
    """Stand in for `typing.Generic` and `Protocol` below a program's class."""

    __slots__ = ()
    __class_getitem__: Any = classmethod(types.GenericAlias)


def same(decorated: Any) -> Any:
    """Stand in for decorators that only tell a type checker something."""
    return decorated


def cast(kind: Any, value: Any) -> Any:
    """Return the value as it is, as `typing.cast` does."""
    return value


shown_as(Hint, "typing", "_GenericAlias")
shown_as(Variable, "typing", "TypeVar")
shown_as(Generic, "typing", "Generic")
_ABC = collections.abc
_MADE = ("Counter", "DefaultDict", "Deque")
"""The hints that are called to make what they stand for."""
_KINDS: dict[str, Any] = {
    **{"Dict": dict, "FrozenSet": frozenset, "List": list, "Set": set, "Tuple": tuple},
    **{"Counter": collections.Counter, "DefaultDict": collections.defaultdict},
    **{"Deque": collections.deque, "Generic": Generic, "Protocol": Generic},
    **{name: getattr(_ABC, name) for name in _ABC.__all__},
    "AbstractSet": _ABC.Set,
}
_NAMES = (
    *("Any", "Callable", "ClassVar", "Counter", "DefaultDict", "Deque", "Dict", "Final"),
    *("FrozenSet", "Generator", "Generic", "Hashable", "Iterable", "Iterator", "List", "Literal"),
    *("Mapping", "MutableMapping", "MutableSequence", "NoReturn", "Optional", "Protocol"),
    *("Sequence", "Set", "Tuple", "Type", "Union", "AbstractSet", "Annotated", "Collection"),
    *("Container", "MutableSet", "Reversible", "Self", "Sized", "TypeAlias"),
)
TYPING: Mapping[str, Any] = {
    **{name: Hint(name, _KINDS.get(name)) for name in _NAMES},
    **{"Text": str, "TypeVar": Variable, "cast": cast, "NamedTuple": records.TypedTuple()},
    "TypedDict": records.TypedDictionary(),
    **{"AnyStr": Variable("AnyStr"), "TYPE_CHECKING": False, "final": same, "overload": same},
}
"""What stands for each name of `typing`."""
