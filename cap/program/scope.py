"""What a program may use: primitives, groups of them, variables, kept definitions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cap.errors import UsageError

Kind = Literal["perception", "action", "lmp"]


@dataclass(frozen=True)
class Primitive:
    """One function a program may call; it runs in the trusted parent process."""

    name: str
    """The name programs call it by."""
    function: Callable[..., Any]
    """What is called, with plain data only."""
    kind: Kind
    """`perception` reads, `action` moves or speaks, `lmp` asks a model for a nested program."""
    signature: inspect.Signature
    """Its parameters, checked before each call."""
    doc: str
    """What a model or a person reads about it."""

    @classmethod
    def of(cls, function: Callable[..., Any], kind: Kind, name: str | None = None) -> Primitive:
        """Describe a function by its own name, signature and docstring."""
        return cls(
            name=name or function.__name__,
            function=function,
            kind=kind,
            signature=inspect.signature(function),
            doc=inspect.getdoc(function) or "",
        )


@dataclass(frozen=True)
class Definition:
    """A function or class kept as source."""

    name: str
    """The name it binds."""
    source: str
    """Its `def` or `class` statement."""
    origin: str = "program"
    """Where it came from: `program`, `generated`, `skill`."""


@dataclass(frozen=True)
class Scope:
    """The names one program may use, besides the library names every program has."""

    primitives: Mapping[str, Primitive] = field(default_factory=dict)
    """Functions that run in the parent."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """Plain data: context, keyword arguments, what the session remembers."""
    definitions: Sequence[Definition] = ()
    """Functions and classes put in place before the program, in order."""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Objects whose attributes are primitives: `robot.say(...)` for `{'robot': ['say']}`."""

    def __post_init__(self) -> None:
        """Refuse groups of what is not there.

        Raises:
            UsageError: A member of a group is no primitive.
        """
        for group, members in self.groups.items():
            for name in members:
                if name not in self.primitives:
                    raise UsageError(f"group '{group}' names '{name}', which is no primitive")

    def names(self) -> frozenset[str]:
        """Return every name this scope binds."""
        return frozenset(
            [
                *self.primitives,
                *self.variables,
                *self.groups,
                *(entry.name for entry in self.definitions),
            ]
        )
