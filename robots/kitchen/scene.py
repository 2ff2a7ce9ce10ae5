"""Where the robot and the objects begin: of a seed, or in a file that has them anywhere."""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cap.errors import UsageError, did_you_mean
from robots.kitchen import arm
from robots.kitchen.objects import DISH_FLOOR_M, KINDS, Thing, footprint, known_name
from robots.kitchen.planner import STROKE_M
from robots.kitchen.room import ROOM_X, ROOM_Y, Location, Room, sample_room
from robots.kitchen.state import Arrival, Base, KitchenState
from robots.simulation.scene_file import PlacedObject, read_scene, scene_text
from robots.table.geometry import distance, inside, point_in, yaw_quaternion
from robots.table.object_names import plain

DEFAULT_NAMES = (
    *("apple", "banana", "orange", "coke can", "water bottle", "juice box"),
    *("chip bag", "cracker box", "bowl", "cup", "sponge"),
)
START = "table"
"""Where the robot begins; and objects whose place is not said."""
_LATER = re.compile(r"(.+) after (\d{1,5}(?:\.\d+)?) ?s(?:econds)?")
_SPREAD_OVER = ("table", "countertop", "countertop", "cart", "desk")
_DRAWERS = ("top drawer", "middle drawer", "bottom drawer")
_DRAWN = ("sponge", "candy bar", "soap bottle")
"""In a scene of a seed these lie in one of them."""
_LOCATIONS_TRIED = 20
_TRIES = 100
_APART_M = 0.06
"""Between objects, more than they need."""
_FROM_FRONT_M = 0.40
"""Objects of a scene stand no further than this from the front of deep furniture."""


@dataclass(frozen=True)
class SceneEntry:
    """An object that a scene is to have."""

    name: str
    """Such as `coke can`."""
    place: str = ""
    """Location, if one was asked for."""
    after_s: float = 0.0
    """Simulated time after which it appears; 0 for what is there from the start."""


def scene_entries(names: Sequence[str]) -> tuple[SceneEntry, ...]:
    """Return the objects asked for, from `apple`, `apple @ desk` or `apple @ desk after 20 s`.

    Raises:
        UsageError: A name is unknown or given twice.
    """
    found: dict[str, SceneEntry] = {}
    for given in names:
        later = _LATER.fullmatch(given)
        what, after_s = (later[1], float(later[2])) if later else (given, 0.0)
        name, _, place = what.partition("@")
        text = known_name(name)
        if text not in KINDS:
            raise UsageError(
                f"no object named {name.strip()!r:.80}.{did_you_mean(text, KINDS)} "
                f"Known: {', '.join(KINDS)}"
            )
        if text in found:
            raise UsageError(f"object {text!r} is given twice; each exists once")
        found[text] = SceneEntry(text, plain(place), after_s)
    return tuple(found.values())


def sample(
    entries: Sequence[SceneEntry | PlacedObject], seed: int, scattered: bool
) -> KitchenState:
    """Return the kitchen of a seed.

    Args:
        entries: The objects.
        seed: Decides where furniture and objects stand.
        scattered: Objects without a place stand about the kitchen; else where the robot begins, as
            long as there is room.

    Raises:
        ConfigError: An object would not stay where it is placed.
        UsageError: An unknown place, a drawer for what appears later, or objects that do not fit.
    """
    rng = np.random.default_rng(seed)
    room = sample_room(rng)
    asked = [entry for entry in entries if isinstance(entry, SceneEntry)]
    things = [*things_of((one for one in entries if isinstance(one, PlacedObject)), room)]
    for entry in asked:
        if entry.place:
            if entry.place not in room.locations:
                hint = did_you_mean(entry.place, room.locations)
                known = ", ".join(room.locations)
                raise UsageError(f"no location named {entry.place!r}.{hint} Known: {known}")
            things.append(_put(entry.name, room.locations[entry.place], things, rng))
        else:
            first = [] if scattered else [START]
            things.append(_placed(entry.name, first, room, things, rng))
    later = {entry.name: entry.after_s for entry in asked if entry.after_s}
    arriving = [
        arrival_of(room, thing, later[thing.name]) for thing in things if thing.name in later
    ]
    drawers = tuple((name, 0.0) for name, p in room.locations.items() if p.drawer)
    return KitchenState(
        room,
        tuple(thing for thing in things if thing.name not in later),
        Base(*room.locations[START].stand),
        arm.PARK_JOINTS,
        STROKE_M,
        drawers,
        arriving=tuple(arriving),
    ).seen_here()


def arrival_of(room: Room, thing: Thing, at_s: float) -> Arrival:
    """Return when and where an object appears.

    Raises:
        UsageError: That is in a drawer.
    """
    places = room.locations.values()
    place = next((p for p in places if inside(p.piece.rectangle, thing.xy)), None)
    if place is None or place.drawer:
        raise UsageError(f"{thing.name!r} cannot appear in a drawer; name open furniture")
    return Arrival(at_s, place.name, thing)


def _placed(
    name: str, first: Sequence[str], room: Room, things: Sequence[Thing], rng: np.random.Generator
) -> Thing:
    """Return an object at the first of some locations, or else of those drawn, that has room.

    Raises:
        UsageError: None has.
    """
    among = _DRAWERS if name in _DRAWN else _SPREAD_OVER
    drawn = (str(rng.choice(among)) for _ in range(_LOCATIONS_TRIED))
    for place in itertools.chain(first, drawn):
        with contextlib.suppress(UsageError):
            return _put(name, room.locations[place], things, rng)
    raise UsageError(f"no room for {name!r} in the kitchen; ask for fewer objects")


def _put(name: str, place: Location, things: Sequence[Thing], rng: np.random.Generator) -> Thing:
    """Return an object somewhere on a location, clear of those already there.

    Raises:
        UsageError: There is no room.
    """
    area = place.area(0.3 if place.drawer else 0.0)
    _, _, length, width, _ = area
    if place.drawer:  # it lies where it comes out with the drawer
        area = (*place.piece.local(0.0, -place.piece.depth / 2 + 0.15), *area[2:])
    for _ in range(_TRIES):
        along = float(rng.uniform(-length, length))
        inwards = float(rng.uniform(-width, min(width, _FROM_FRONT_M - width)))
        point = point_in(area, along, inwards)
        turn = float(rng.uniform(-math.pi / 2, math.pi / 2))
        at = (*point, place.floor_z + KINDS[name].size[2] / 2)
        thing = Thing(name, at, yaw_quaternion(turn))
        wide = [t for t in things if abs(t.bottom - place.floor_z) < 0.02]
        roomy = thing.radius + (0.035 if place.drawer or place.piece.kind == "bin" else 0.0)
        if not inside(area, point, roomy):
            continue
        if all(math.dist(point, t.xy) > thing.radius + t.radius + _APART_M for t in wide):
            return thing
    raise UsageError(f"no room for {name!r} on the {place.name}; ask for fewer objects there")


_FROM_EDGE_M = 0.06
"""The middle of a large object is so far from the edge of what it stands on."""


def read(path: str | Path) -> list[PlacedObject]:
    """Return the objects that a file lists.

    Raises:
        ConfigError: The file cannot be used; the message says the line and the remedy.
    """

    def known(name: str) -> str:
        if "@" in name:
            raise UsageError(f"{name!r:.80} must be a name alone; its place is position_m")
        return scene_entries([name])[0].name

    return read_scene(path, known)


def things_of(placed: Iterable[PlacedObject], room: Room) -> tuple[Thing, ...]:
    """Return the objects of a file in a room.

    Raises:
        ConfigError: One would not stay where it is.
    """
    things: dict[str, Thing] = {}
    listed = list(placed)
    for entry in sorted(listed, key=lambda entry: entry.z or 0.0):  # the lower carry the higher
        thing = Thing(entry.name, (*entry.xy, 0.0), yaw_quaternion(entry.yaw))
        surfaces = list(_surfaces(thing, room, things.values()))
        if not surfaces:
            raise entry.wrong("is outside the room, inside furniture or half off its edge")
        foot = math.inf if entry.z is None else entry.z - thing.half_height  # or on the highest
        height_m, on = min(surfaces, key=lambda surface: abs(surface[0] - foot))
        z = entry.settled(height_m, thing.half_height, f"'{on}'" if on in things else f"the {on}")
        thing = thing.at((*entry.xy, z))
        for other in things.values():
            beside = math.dist(thing.xy, other.xy) >= thing.radius + other.radius
            apart = thing.bottom > other.top - 0.001 or thing.top < other.bottom + 0.001
            if other.name != on and not beside and not apart:
                raise entry.wrong(f"overlaps {other.name!r}; move one of them")
        things[entry.name] = thing
    return tuple(things[entry.name] for entry in listed)


def _surfaces(thing: Thing, room: Room, things: Iterable[Thing]) -> Iterator[tuple[float, str]]:
    """Yield what is below an object, what it would stand on first: its height (m) and name."""
    for other in sorted(things, key=lambda other: other.top, reverse=True):
        apart = math.dist(thing.xy, other.xy)
        if other.kind.flat_top:
            if apart < other.radius / 2 and footprint(thing).width <= 2 * footprint(other).width:
                yield other.top, other.name
        elif apart <= other.kind.foot_r - thing.radius:
            yield other.bottom + DISH_FLOOR_M, other.name
    margin = min(thing.radius, _FROM_EDGE_M)
    for place in room.locations.values():
        if inside(place.piece.rectangle, thing.xy, margin):
            yield place.floor_z, place.name
    (x, y), r = thing.xy, thing.radius
    (left, right), (front, back) = ROOM_X, ROOM_Y
    in_room = left + r <= x <= right - r and front + r <= y <= back - r
    if in_room and all(distance(piece.rectangle, thing.xy) >= r for piece in room.pieces):
        yield 0.0, "floor"


def text_of(things: Iterable[Thing], about: str) -> str:
    """Return objects as the text of such a file."""
    return scene_text(about, ((thing.name, thing.position, thing.yaw) for thing in things))
