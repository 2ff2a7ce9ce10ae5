"""The fourteen instruction families of the Code as Policies tabletop evaluation, and its splits.

The words that vary, and which of them count as seen, are that evaluation's; `right side` and
`middle` are in neither list of places, as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from benchmarks import task_file
from benchmarks.tabletop import goals
from benchmarks.tabletop.goals import Goal, Near, Words
from benchmarks.tabletop.judge import Positions


class Attributes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One list of each kind of word."""

    colors: tuple[str, ...]
    """Of blocks and bowls."""
    places: tuple[str, ...]
    """Corners and sides to put things on."""
    directions: tuple[str, ...]
    """Seen from the front edge."""
    distances: tuple[str, ...]
    """How near to a bowl, with the word that joins it: `closest to`."""
    magnitudes: tuple[str, ...]
    """How far something is moved."""
    ordinals: tuple[str, ...]
    """Which one, counted from a side."""
    lines: tuple[str, ...]
    """How a line runs."""


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One instruction family."""

    name: str
    """As `--tasks` takes it."""
    template: str
    """The instruction; words in braces are drawn."""
    group: Literal["long-horizon", "spatial-geometric"]
    """The paper's grouping."""
    seen: bool
    """True if prompts may hold this instruction."""
    coordinates: bool
    """True if it needs positions as numbers; false if names are enough."""
    goal: str
    """Function of `goals` that works out what must be true at the end, or refuses the scene."""
    blocks: tuple[int, int]
    """Least and most blocks in a scene."""
    bowls: tuple[int, int]
    """Least and most bowls; on top of the blocks' own, if those are asked for."""
    own_bowls: bool = False
    """Every block has a bowl of its colour."""
    also: tuple[str, ...] = ()
    """Other words for it: Inner Monologue's table has them."""
    near: Near = Near()
    """How near counts as on, in and at."""
    apart: bool = False
    """Objects keep Inner Monologue's distance from one another."""

    def goal_in(self, words: Words, scene: Positions) -> Goal | None:
        """Return what must be true at the end; None where a scene will not do."""
        found: Goal | None = getattr(goals, self.goal)(words, scene, self.near)
        return found


TASKS = task_file.load(Path(__file__).with_name("tasks.toml"), Task)
_WORDS = task_file.load_whole(Path(__file__).with_name("attributes.toml"), dict[str, Attributes])
SEEN, UNSEEN = _WORDS["seen"], _WORDS["unseen"]
EVERY = Attributes(
    **{
        **{name: (*getattr(SEEN, name), *getattr(UNSEEN, name)) for name in SEEN.__struct_fields__},
        "places": (*goals.CORNERS, *goals.SIDES, "middle"),
    }
)
"""What Inner Monologue's scenes draw from: ten colours and nine places."""
SPLITS: Mapping[str, tuple[bool, Attributes]] = {
    "SA-SI": (True, SEEN),
    "UA-SI": (True, UNSEEN),
    "UA-UI": (False, UNSEEN),
}
"""Whether the instructions are seen ones, and the attributes."""
