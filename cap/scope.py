"""What a program may use: primitives, variables, kept definitions; and the robot protocol."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, runtime_checkable

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

    def with_variables(self, variables: Mapping[str, Any]) -> Scope:
        """Return a copy with more variables; later ones win."""
        return replace(self, variables={**self.variables, **variables})


@runtime_checkable
class Robot(Protocol):
    """What the engine needs of a robot; its primitives are its decorated methods."""

    name: str
    """Registry name; also the folder of its prompts."""
    simulated: bool
    """False where a program moves real hardware and must be approved."""

    def primitives(self) -> Mapping[str, Primitive]:
        """Return the functions programs may call, by name."""

    def context(self) -> Mapping[str, Any]:
        """Return facts a prompt may ask for, such as `objects`: plain data."""

    def positions(self) -> Mapping[str, tuple[float, float, float]]:
        """Return where each object is now, xyz in metres; to tell what moved."""

    def stop(self) -> None:
        """Stop all motion at once; safe to call from any thread."""

    def close(self) -> None:
        """Release what the robot holds."""


@runtime_checkable
class Rewindable(Protocol):
    """A robot whose whole world can be kept and put back: a simulated one."""

    def snapshot(self) -> Any:
        """Return the world as it is: bodies, motors, grasp, random state, what was said."""

    def restore(self, snapshot: Any) -> None:
        """Put a snapshot back; what follows has the same bits as if nothing came between."""
