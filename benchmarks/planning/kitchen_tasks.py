"""The kitchen's tasks: what an instruction asks for, as data, and what the kitchen lacks of it.

The tasks are SayCan's 101 instructions in seven families, its drawer tasks, and Inner Monologue's
eight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import msgspec

from benchmarks import task_file
from benchmarks.planning.kitchen_skills import DRAWER, PERSON, PLACES, KitchenSkills
from robots.kitchen import KitchenRobot
from robots.kitchen.state import KitchenState

NeedKind = Literal["bring", "hold", "release", "at", "visit", "open", "close", "stow"]
YOU = "you"
"""Where the person is, as a place to bring things to."""
EVERY = 0
"""As many as there were."""
_NAMED = 3
"""So many objects that would do are named in a message."""


class Need(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that must be so in the end."""

    kind: NeedKind
    """`bring`: objects lie at a place; `hold`: one is in the gripper; `release`: what was held
    lies at a place; `at`: the robot is there in the end; `visit`: it was there, and ends at one of
    the places to visit; `open`, `close`: the drawer; `stow`: objects lie in it."""
    objects: tuple[str, ...] = ()
    """Any of these will do."""
    to: str = ""
    """Where, for `bring`, `release`, `at` and `visit`: one of the places, or `you`."""
    source: str = ""
    """Where they must come from; "" for anywhere, several with commas."""
    count: int = 1
    """How many of them; `EVERY` for all that were at the source."""


class KitchenTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
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


@dataclass(frozen=True)
class KitchenBefore:
    """How the kitchen was before anything was done in it."""

    homes: Mapping[str, str | None]
    """Where each object was, by the robot's locations; None in the gripper."""
    opened: frozenset[str]
    """Drawers that were open."""


def look(robot: KitchenRobot) -> KitchenBefore:
    """Return how the kitchen is now."""
    state = robot.state
    homes = {thing.name: state.location_of(thing.name) for thing in state.things}
    return KitchenBefore(homes, _opened(state))


def _opened(state: KitchenState) -> frozenset[str]:
    places = state.room.locations.values()
    return frozenset(p.name for p in places if p.drawer and state.is_open(p))


def missed(
    task: KitchenTask,
    world: KitchenSkills,
    before: KitchenBefore,
    carried: Mapping[str, str] = MappingProxyType({}),
) -> str | None:
    """Return what the kitchen lacks of what was asked for, or what is otherwise than it was.

    Args:
        task: What was asked.
        world: The kitchen as it is in the end.
        before: As it was.
        carried: Where somebody else took objects meanwhile.
    """
    slides = [n for n in task.needs if n.kind in ("open", "close")]
    needs = [n for n in task.needs if n not in slides[:-1]]
    lack = next((found for need in needs if (found := _lack(need, world, before.homes))), None)
    return lack or _disorder(task, world, before, carried) or None


def nothing_to_do(task: KitchenTask, world: KitchenSkills, before: KitchenBefore) -> str | None:
    """Return why a task cannot be begun: all is so already, or objects are lacking."""
    if missed(task, world, before) is None:
        return "is so already"
    for need in task.needs:
        free = _eligible(need, before.homes)
        wanted = (need.count or 1) if need.objects else 0
        of = ", ".join(need.objects[:_NAMED])
        there = [name for name in need.objects if name in before.homes]
        if len(there) < wanted:
            return f"needs {wanted} of: {of}; in the kitchen there is {len(there) or 'none'}"
        if len(free) < wanted:
            where = f"from the {need.source}" if need.source else f"not yet {_at(need)}"
            return f"needs {wanted} of: {of}; {where} there is {len(free) or 'none'}"
    return None


def _at(need: Need) -> str:
    """Return where a need wants things, in words."""
    return {"": f"in the {DRAWER}", YOU: "with you"}.get(need.to, f"at the {need.to}")


def _lack(need: Need, world: KitchenSkills, homes: Mapping[str, str | None]) -> str:
    state = world.state
    there = location(need.to) if need.to else ""
    match need.kind:
        case "hold":
            if state.held in _eligible(need, homes) or state.held in need.objects:
                return "" if state.held in _eligible(need, homes) else "it came from elsewhere"
            return f"the gripper holds {state.held or 'nothing'}"
        case "release":
            lies = state.location_of(need.objects[0])
            if lies == there:
                return ""
            if lies is None:
                return f"the {need.objects[0]} is not put down"
            return f"the {need.objects[0]} is not at the {need.to}"
        case "at":
            return "" if there in _here(world) else f"the robot is not at the {need.to}"
        case "visit":
            been = there in world.visited or there in _here(world)
            return "" if been else f"the robot was not at the {need.to}"
        case "open" | "close":
            opened = state.is_open(state.room.locations[DRAWER])
            return "" if opened == (need.kind == "open") else f"the {DRAWER} is not as asked"
    goal = DRAWER if need.kind == "stow" else there
    there_now = [n for n in _eligible(need, homes) if state.location_of(n) == goal]
    wanted = need.count if need.count != EVERY else len(_eligible(need, homes))
    if len(there_now) == wanted:
        return ""
    if len(need.objects) == wanted == 1:
        return f"the {need.objects[0]} is not {_at(need)}"
    return f"{len(there_now)} of {wanted} are {_at(need)}"


def _disorder(
    task: KitchenTask, world: KitchenSkills, before: KitchenBefore, carried: Mapping[str, str]
) -> str:
    """Return what nobody asked for and is otherwise than it was."""
    state = world.state
    asked: set[str] = set()
    for need in task.needs:
        goal = DRAWER if need.kind == "stow" else location(need.to) if need.to else None
        asked |= {
            name
            for name in _eligible(need, before.homes)
            if (name == state.held if need.kind == "hold" else state.location_of(name) == goal)
        }
    bins = [name for name in state.room.locations if name.endswith("bin")]
    for name, home in before.homes.items():
        now = state.location_of(name) if any(t.name == name for t in state.things) else None
        if name in asked or now == carried.get(name, home):
            continue
        if home is None and now is not None and now not in bins:
            continue  # what it held at first had to go somewhere
        place = "in the gripper" if name == state.held else f"at the {now}" if now else "elsewhere"
        return f"the {name} is {place}, which nobody asked for"
    if not any(need.kind in ("open", "close") for need in task.needs):
        for name in sorted(_opened(state) ^ before.opened):
            return f"the {name} is not as it was, which nobody asked for"
    visits = [location(need.to) for need in task.needs if need.kind == "visit"]
    if visits and not set(visits) & set(_here(world)):
        return "the robot ended elsewhere than at a place it was to visit"
    return ""


def _eligible(need: Need, homes: Mapping[str, str | None]) -> Sequence[str]:
    """Return the objects that will do: of the right kind, from the right place, not there yet."""
    if not need.source:
        there = location(need.to) if need.kind == "bring" else ""
        return [name for name in need.objects if name in homes and homes[name] != there]
    places = [location(place.strip()) for place in need.source.split(",")]
    return [name for name in need.objects if homes.get(name) in places]


def _here(world: KitchenSkills) -> list[str]:
    return [place.name for place in world.state.here()]


class KitchenTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `kitchen_tasks.toml` holds."""

    groups: dict[str, tuple[str, ...]]
    """What names in a task's `objects` stand for, also in groups after it."""
    usual: dict[str, tuple[str, ...]]
    """Where SayCan's fifteen objects stand unless a task says otherwise."""
    saycan: tuple[str, ...]
    """The families of SayCan's 101 tasks, in the order of the paper's table."""
    monologue: tuple[str, ...]
    """Those of Inner Monologue's."""
    task: tuple[KitchenTask, ...]


_FILE = task_file.load_whole(Path(__file__).with_suffix(".toml"), KitchenTable)
USUAL = _FILE.usual


def _spelled_out(names: Sequence[str]) -> tuple[str, ...]:
    """Return names with those of groups in their place."""
    spelled = [_spelled_out(_FILE.groups[n]) if n in _FILE.groups else (n,) for n in names]
    return tuple(name for part in spelled for name in part)


EVERYTHING = _spelled_out(["everything"])
TASKS = tuple(
    msgspec.structs.replace(
        task,
        needs=tuple(
            msgspec.structs.replace(need, objects=_spelled_out(need.objects)) for need in task.needs
        ),
    )
    for task in _FILE.task
)


FAMILIES: Mapping[str, tuple[KitchenTask, ...]] = {
    name: tuple(task for task in TASKS if task.family == name) for name in _FILE.saycan
}
"""SayCan's tasks by family, in the order of the paper's table."""
SAYCAN = tuple(task for tasks in FAMILIES.values() for task in tasks)
"""The 101."""
MONOLOGUE = tuple(task for task in TASKS if task.family in _FILE.monologue)
"""Inner Monologue's, in three families."""


def plain(words: str) -> str:
    """Return an instruction without what does not tell instructions apart."""
    text = " ".join(words.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split())
    text = text.removeprefix("how would you ").removeprefix("please ")
    return text.strip(" .?!")


BY_WORDS: Mapping[str, KitchenTask] = {
    plain(task.words): task
    for task in (*(task for task in TASKS if task not in SAYCAN), *reversed(SAYCAN))
}
"""Every task by its plain words."""
