"""Where the robot and the objects of a seed begin."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence

import numpy as np

from cap.errors import UsageError, did_you_mean
from robots.kitchen import arm
from robots.kitchen.objects import KINDS, SceneEntry, Thing
from robots.kitchen.planner import STROKE_M
from robots.kitchen.room import Location, Room, inside, sample_room
from robots.kitchen.scene_file import things_of
from robots.kitchen.state import Arrival, Base, KitchenState
from robots.simulation.scene_file import PlacedObject
from robots.table.geometry import yaw_quaternion

START = "table"
"""Where the robot begins; and objects whose place is not said."""
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
    placed = [entry for entry in entries if isinstance(entry, PlacedObject)]
    asked = [entry for entry in entries if isinstance(entry, SceneEntry)]
    base = Base(*room.locations[START].stand)
    things = list(things_of(placed, room, base.xy))
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
        base,
        arm.PARK_JOINTS,
        STROKE_M,
        drawers,
        arriving=tuple(sorted(arriving, key=lambda arrival: arrival.at_s)),
    ).seen_here()


def arrival_of(room: Room, thing: Thing, at_s: float) -> Arrival:
    """Return when and where an object appears.

    Raises:
        UsageError: That is in a drawer.
    """
    places = room.locations.values()
    place = next((p for p in places if inside(p.piece.rectangle, thing.xy)), None)
    if place is None or place.drawer:
        raise UsageError(f"{thing.name!r} appears later: it needs a place that is no drawer")
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
    x, y, length, width, yaw = place.area(0.3 if place.drawer else 0.0)
    if place.drawer:  # it lies where it comes out with the drawer
        x, y = place.piece.local(0.0, -place.piece.depth / 2 + 0.15)
    for _ in range(_TRIES):
        along = float(rng.uniform(-length, length))
        inwards = float(rng.uniform(-width, min(width, _FROM_FRONT_M - width)))
        c, s = math.cos(yaw), math.sin(yaw)
        point = (x + c * along - s * inwards, y + s * along + c * inwards)
        turn = float(rng.uniform(-math.pi / 2, math.pi / 2))
        at = (*point, place.floor_z + KINDS[name].size[2] / 2)
        thing = Thing(name, at, yaw_quaternion(turn))
        wide = [t for t in things if abs(t.bottom - place.floor_z) < 0.02]
        roomy = thing.radius + (0.035 if place.drawer or place.piece.kind == "bin" else 0.0)
        if not inside((x, y, length, width, yaw), point, roomy):
            continue
        if all(math.dist(point, t.xy) > thing.radius + t.radius + _APART_M for t in wide):
            return thing
    raise UsageError(f"no room for {name!r} on the {place.name}; ask for fewer objects there")
