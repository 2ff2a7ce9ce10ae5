"""The fourteen instruction families of the Code as Policies tabletop evaluation.

Eight are seen and six unseen; an unseen family never comes with seen attributes. What the paper
leaves open is decided here, and written down with each task: how many objects there are (all
counts are drawn evenly, both ends included), and what ambiguous words mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.tabletop import goals
from benchmarks.tabletop.attributes import SEEN, UNSEEN, Attributes
from benchmarks.tabletop.goals import Near, Resolve

Group = Literal["long-horizon", "spatial-geometric"]


@dataclass(frozen=True)
class Task:
    """One instruction family."""

    name: str
    """As `--tasks` takes it."""
    template: str
    """The instruction; words in braces are drawn."""
    group: Group
    """The paper's grouping."""
    seen: bool
    """True if prompts may hold this instruction."""
    coordinates: bool
    """True if it needs positions as numbers; false if names are enough."""
    rule: str
    """What its words mean where they could mean several things."""
    goal: Resolve
    """Works out what must be true at the end, or refuses the scene."""
    blocks: tuple[int, int]
    """Least and most blocks in a scene."""
    bowls: tuple[int, int]
    """Least and most bowls; on top of the blocks' own, if those are asked for."""
    own_bowls: bool = False
    """Every block has a bowl of its colour."""
    near: Near = field(default_factory=Near)
    """How near counts as on, in and at."""
    apart: bool = False
    """Objects keep Inner Monologue's distance from one another."""


SIDE_RULE = "At a place: the centre within 6 cm of the place's, at any height."

TASKS: tuple[Task, ...] = (
    Task(
        "pick-and-place",
        "Pick up the {block} and place it on the {target}",
        "long-horizon",
        seen=True,
        coordinates=False,
        rule="On a block: within 4 cm and half a block higher. In a bowl: within 6 cm and higher.",
        goal=goals.put_on,
        blocks=(2, 4),
        bowls=(1, 3),
    ),
    Task(
        "stack-blocks",
        "Stack all the blocks",
        "long-horizon",
        seen=True,
        coordinates=False,
        rule="One pile in any order, anywhere: within 3 cm of its axis, each 2 cm or more higher.",
        goal=goals.stack,
        blocks=(2, 4),
        bowls=(0, 2),
    ),
    Task(
        "blocks-on-place",
        "Put all the blocks on the {place}",
        "long-horizon",
        seen=True,
        coordinates=False,
        rule=SIDE_RULE + " Side by side or stacked.",
        goal=goals.all_at_place,
        blocks=(2, 4),
        bowls=(0, 2),
    ),
    Task(
        "blocks-in-bowl",
        "Put the blocks in the {bowl}",
        "long-horizon",
        seen=True,
        coordinates=False,
        rule="All the blocks, in one bowl, on one another if need be: within 6 cm and higher.",
        goal=goals.all_in_bowl,
        blocks=(2, 3),
        bowls=(1, 3),
    ),
    Task(
        "matching-bowls",
        "Put all the blocks in the bowls with matching colors",
        "long-horizon",
        seen=True,
        coordinates=False,
        rule="Every block has its bowl; there may be one bowl more, which stays as it is.",
        goal=goals.matching,
        blocks=(2, 3),
        bowls=(0, 1),
        own_bowls=True,
    ),
    Task(
        "block-beside-bowl",
        "Pick up the block to the {direction} of the {bowl} and place it on the {place}",
        "spatial-geometric",
        seen=True,
        coordinates=True,
        rule="One block lies there: 5 cm or more that way and no further across; the others lie "
        "5 cm or more the other way. " + SIDE_RULE,
        goal=goals.beside_bowl,
        blocks=(2, 4),
        bowls=(1, 2),
    ),
    Task(
        "block-by-distance",
        "Pick up the block {distance} the {bowl} and place it on the {place}",
        "spatial-geometric",
        seen=True,
        coordinates=True,
        rule="Centre to centre; the second is 3 cm or more behind. " + SIDE_RULE,
        goal=goals.by_distance,
        blocks=(2, 4),
        bowls=(1, 2),
    ),
    Task(
        "nth-block",
        "Pick up the {ordinal} block from the {direction} and place it on the {place}",
        "spatial-geometric",
        seen=True,
        coordinates=True,
        rule="Counted by x or y alone, in which neighbours differ by 2.5 cm or more. " + SIDE_RULE,
        goal=goals.nth,
        blocks=(2, 4),
        bowls=(0, 2),
    ),
    Task(
        "different-corners",
        "Put all the blocks in different corners",
        "long-horizon",
        seen=False,
        coordinates=False,
        rule="Any corner for any block. " + SIDE_RULE,
        goal=goals.corners,
        blocks=(2, 4),
        bowls=(0, 2),
    ),
    Task(
        "mismatched-bowls",
        "Put the blocks in the bowls with mismatched colors",
        "long-horizon",
        seen=False,
        coordinates=False,
        rule="Any bowl of another colour for each block; two blocks may share one.",
        goal=goals.mismatched,
        blocks=(2, 3),
        bowls=(0, 1),
        own_bowls=True,
    ),
    Task(
        "stack-on-place",
        "Stack all the blocks on the {place}",
        "long-horizon",
        seen=False,
        coordinates=False,
        rule="As for stacking, and every block within 6 cm of the place's centre.",
        goal=goals.stack_at_place,
        blocks=(2, 4),
        bowls=(0, 2),
    ),
    Task(
        "away-from-bowl",
        "Pick up the {block} and place it {magnitude} to the {direction} of the {bowl}",
        "spatial-geometric",
        seen=False,
        coordinates=True,
        rule="Centre to centre, at most 5 cm off the direction: a little is 5 to 15 cm, a lot 15 "
        "cm or more. At 12 and at 20 cm the table is free.",
        goal=goals.away_from_bowl,
        blocks=(2, 4),
        bowls=(1, 2),
    ),
    Task(
        "corner-by-distance",
        "Pick up the {block} and place it in the corner {distance} the {bowl}",
        "spatial-geometric",
        seen=False,
        coordinates=True,
        rule="Centre to centre; the second corner is 3 cm or more behind. " + SIDE_RULE,
        goal=goals.corner_by_distance,
        blocks=(2, 4),
        bowls=(1, 2),
    ),
    Task(
        "blocks-in-line",
        "Put all the blocks in a {line} line",
        "spatial-geometric",
        seen=False,
        coordinates=True,
        rule="At most 3 cm off one line, 3 cm or more from one another, in any order. Horizontal "
        "is along x, vertical along y; a diagonal, of either slope, within 15 degrees of 45.",
        goal=goals.in_line,
        blocks=(3, 4),
        bowls=(0, 2),
    ),
)

SPLITS: Mapping[str, tuple[bool, Attributes]] = {
    "SA-SI": (True, SEEN),
    "UA-SI": (True, UNSEEN),
    "UA-UI": (False, UNSEEN),
}
"""Whether the instructions are seen ones, and the attributes."""
