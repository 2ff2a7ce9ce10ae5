"""The environments and arms there are, and what each environment holds: `environments.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec

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
