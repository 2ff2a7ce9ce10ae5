"""The environments and arms there are, and what each environment holds: `environments.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

from cap.errors import UsageError, did_you_mean

DEFAULT = "Lift"
"""The environment if neither its name nor its objects are given."""
ARMS = ("Panda", "UR5e", "xArm7", "IIWA", "Kinova3")


@dataclass(frozen=True)
class NamedThing:
    """Something that programs know by a name."""

    name: str
    """As people call it."""
    body: str
    """Its body in the simulation."""
    geoms: tuple[str, ...] = ()
    """What a hand closes on; all of the body if none is named."""
    outer_m: float = 0.0
    """So far from their middle it closes, along their longest side, metres."""
    kind: str = "object"
    """`object`, `part` (of something), `handle` (that turns), or `peg` or `bin`, a place."""

    @property
    def is_place(self) -> bool:
        """Whether it stays where it is."""
        return self.kind in ("peg", "bin")


@dataclass(frozen=True)
class Environment:
    """One of robosuite's environments, as this robot uses it."""

    name: str
    """As robosuite calls it."""
    things: tuple[NamedThing, ...]
    """What programs know by name."""
    arms: int = 1
    """How many arms it has."""


@cache
def environments() -> dict[str, Environment]:
    """Return the environments there are, by name."""
    text = Path(__file__).with_name("environments.toml").read_text(encoding="utf-8")
    found = msgspec.convert(tomllib.loads(text)["environment"], list[Environment])
    return {environment.name: environment for environment in found}


def environment_of(name: str | None, objects: Sequence[str] | None) -> Environment:
    """Return the environment of a name; if None the first one that has all the objects.

    Raises:
        UsageError: There is none.
    """
    known = environments()
    if name is None and objects is not None:
        for each in known.values():
            if {thing.name for thing in each.things}.issuperset(objects):
                return each
        raise UsageError(
            f"no environment of robosuite has {', '.join(objects)}; see docs/robosuite.md, or "
            "name one with -R env=Stack"
        )
    name = name or DEFAULT
    if name not in known:
        raise UsageError(
            f"no environment {name!r}.{did_you_mean(name, known)} Known: {', '.join(known)}"
        )
    return known[name]
