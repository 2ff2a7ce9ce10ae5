"""What an instruction asks of the kitchen robot, as data; and what the kitchen lacks of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchmarks.planning.kitchen_skills import DRAWER, PERSON, PLACES, KitchenSkills
from robots.kitchen import KitchenRobot

NeedKind = Literal["bring", "hold", "release", "at", "open", "close", "stow"]
YOU = "you"
"""Where the person is, as a place to bring things to."""
EVERY = 0
"""As many as there were."""

Homes = Mapping[str, str | None]
"""Where each object was before: the robot's location by name."""


@dataclass(frozen=True)
class Need:
    """One thing that must be so in the end."""

    kind: NeedKind
    """`bring`: objects lie at a place; `hold`: one is in the gripper; `release`: it lies somewhere;
    `at`: the robot went to a place; `open`, `close`: the drawer; `stow`: objects lie in it."""
    objects: tuple[str, ...] = ()
    """Any of these will do."""
    to: str = ""
    """Where, for `bring` and `at`: one of the places, or `you`."""
    source: str = ""
    """Where they must come from; "" for anywhere, several with commas."""
    count: int = 1
    """How many of them; `EVERY` for all that were at the source."""


@dataclass(frozen=True)
class KitchenTask:
    """An instruction with what it asks for and how the kitchen is before."""

    family: str
    """Such as `NL verbs`."""
    words: str
    """What the person says."""
    needs: tuple[Need, ...]
    """All that must be so, in the order a good plan has them."""
    start: str = "table"
    """Where the robot is at first: a place, or `you`."""
    holding: str = ""
    """What it holds then."""
    scene: tuple[tuple[str, str], ...] = ()
    """Objects that stand elsewhere than usual, or are there besides: name and place."""
    without: tuple[str, ...] = ()
    """Objects that are not there."""
    question: str = ""
    """What a careful robot asks where somebody answers."""


USUAL: Mapping[str, tuple[str, ...]] = {
    "table": ("coke can", "7up", "sponge", "pepsi", "grapefruit soda", "red bull"),
    "close counter": (
        *("apple", "jalapeno chips", "rice chips", "kettle chips"),
        *("energy bar", "multigrain chips", "tea"),
    ),
    "far counter": ("water bottle", "lime soda"),
}
"""Where SayCan's fifteen objects stand unless a task says otherwise."""


def location(place: str) -> str:
    """Return the robot's location of a place."""
    return PERSON if place == YOU else PLACES[place]


def objects_of(task: KitchenTask) -> list[str]:
    """Return the objects of a task's kitchen as the robot's factory takes them."""
    found = {name: place for place, names in USUAL.items() for name in names}
    found.update(dict(task.scene))
    if task.holding:
        found[task.holding] = task.start
    return [
        f"{name} @ {location(place)}" for name, place in found.items() if name not in task.without
    ]


def set_up(robot: KitchenRobot, task: KitchenTask) -> None:
    """Bring the robot to where a task begins, by its own primitives."""
    place = location(task.start)
    robot.goto_loc(place)
    if task.holding:
        robot.pick_obj(task.holding)


def homes_of(robot: KitchenRobot) -> dict[str, str | None]:
    """Return where each object is now."""
    return {thing.name: robot.state.location_of(thing.name) for thing in robot.state.things}


def missed(task: KitchenTask, world: KitchenSkills, homes: Homes) -> str | None:
    """Return what the kitchen lacks of what was asked for; None if nothing."""
    last = next((n.kind for n in reversed(task.needs) if n.kind in ("open", "close")), None)
    needs = [n for n in task.needs if n.kind not in ("open", "close") or n.kind == last]
    return next((lack for need in needs if (lack := _lack(need, world, homes))), None)


def _lack(need: Need, world: KitchenSkills, homes: Homes) -> str:
    state = world.state
    match need.kind:
        case "hold":
            if state.held in _eligible(need, homes) or state.held in need.objects:
                return "" if state.held in _eligible(need, homes) else "it came from elsewhere"
            return f"the gripper holds {state.held or 'nothing'}"
        case "release":
            lying = state.location_of(need.objects[0]) is not None
            return "" if lying else f"the {need.objects[0]} is not put down"
        case "at":
            there = location(need.to) in world.visited or location(need.to) in _here(world)
            return "" if there else f"the robot was not at the {need.to}"
        case "open" | "close":
            opened = state.is_open(state.room.locations[DRAWER])
            return "" if opened == (need.kind == "open") else f"the {DRAWER} is not as asked"
    goal = DRAWER if need.kind == "stow" else location(need.to)
    there_now = [n for n in _eligible(need, homes) if state.location_of(n) == goal]
    wanted = need.count if need.count != EVERY else len(_eligible(need, homes))
    if len(there_now) >= wanted:
        return ""
    return f"{len(there_now)} of {wanted} are at the {need.to or DRAWER}"


def _eligible(need: Need, homes: Homes) -> Sequence[str]:
    """Return the objects that will do: of the right kind, from the right place, not there yet."""
    if not need.source:
        there = location(need.to) if need.kind == "bring" else ""
        return [name for name in need.objects if name in homes and homes[name] != there]
    places = [location(place.strip()) for place in need.source.split(",")]
    return [name for name in need.objects if homes.get(name) in places]


def _here(world: KitchenSkills) -> list[str]:
    return [place.name for place in world.state.here()]
