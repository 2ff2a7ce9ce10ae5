"""How an object is picked up or a drawer moved, decided on plain data before anything moves.

Both modes use this module and `putting`, so they refuse the same commands for the same reasons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cap.errors import Collision, Unreachable
from robots.arm.gripper import Grip
from robots.kitchen import arm
from robots.kitchen.base_pose import standing
from robots.kitchen.grasps import free_grips, grips_of
from robots.kitchen.objects import Thing
from robots.kitchen.room import HANDLE_M, HANDLE_UP_M, OPENING_M, Location, Point
from robots.kitchen.state import Base, KitchenState
from robots.table.geometry import Rectangle, Vec3

LIFT_M = 0.04
"""Free height between what travels and what it passes over."""
_NEARBY_M = 0.9


@dataclass(frozen=True)
class Pick:
    """A grasp that nothing stands in the way of."""

    name: str
    """What is picked up."""
    base: Base
    """Where the robot stands."""
    grip: Grip
    """Where it is grasped."""
    travel_z: float
    """Fingertip height on the way there, metres."""
    lift_z: float
    """And on the way back, with what hangs below the fingers, metres."""


@dataclass(frozen=True)
class Slide:
    """A drawer pulled or pushed by its handle."""

    drawer: str
    """Its name."""
    base: Base
    """Where the robot stands."""
    grip: Grip
    """The handle as it is now."""
    opening_m: float
    """How far it is pulled out when it is done."""
    travel_z: float
    """Fingertip height on the way there, metres."""


def pick(state: KitchenState, name: str) -> Pick:
    """Plan how an object is picked up.

    Raises:
        Collision: Something leaves no room for the fingers.
        Unreachable: No place of the base from which the arm reaches it.
    """
    thing = state[name]
    place = place_of(state, name)
    others = nearby(state, thing, ignoring=[*_in(state, thing)])
    sides = walls(state, place)
    grips = free_grips(grips_of(thing), others, sides, f"take {name!r}")
    travel_z = height_over(state, thing.xy, place)
    lift_z = travel_z + max(0.0, grips[0].tip[2] - thing.bottom)
    for grip, base in standing(state, grips, lift_z, place):
        yaw = arm.wrist_yaw(base, grip.tip[:2], grip.yaw)
        return Pick(name, base, replace(grip, yaw=yaw), travel_z, lift_z)
    raise Unreachable(f"{name!r} is out of reach from everywhere the base can stand")


def place_of(state: KitchenState, name: str) -> Location | None:
    """Return the location where an object is; None on the floor."""
    at = state.location_of(name)
    return None if at is None else state.room.locations[at]


def _in(state: KitchenState, thing: Thing) -> list[str]:
    return [thing.name, *(other.name for other in state.contents(thing))]


def nearby(state: KitchenState, thing: Thing, ignoring: Sequence[str] = ()) -> list[Thing]:
    """Return the objects around one that the gripper could touch."""
    skipped = {*ignoring, *state.load()}
    return [
        other
        for other in state.things
        if other.name not in skipped and math.dist(other.xy, thing.xy) < 0.4
    ]


def walls(state: KitchenState, place: Location | None) -> Rectangle | None:
    """Return the inside of a bin or drawer, seen from above; None for what has no walls."""
    if place is None or not (place.drawer or place.piece.kind == "bin"):
        return None
    x, y, length, width, yaw = state.area(place)
    return (x, y, length - 0.002, width - 0.002, yaw)


def height_over(state: KitchenState, point: Point, place: Location | None) -> float:
    """Return a fingertip height from which nothing near a point is touched, metres."""
    tops = [thing.top for thing in state.things if math.dist(thing.xy, point) < _NEARBY_M]
    if state.held is not None:
        tops = [t.top for t in state.things if t.name not in state.load() and _near(t, point)]
    floor = 0.3 if place is None else max(place.piece.height, place.floor_z)
    if place is not None and place.drawer:
        floor = place.floor_z + 0.2
    return max([floor, *tops]) + LIFT_M


def _near(thing: Thing, point: Point) -> bool:
    return math.dist(thing.xy, point) < _NEARBY_M


def check_open(state: KitchenState, place: Location) -> None:
    """Refuse a drawer that is closed, or under one that is open.

    Raises:
        Unreachable: It is.
    """
    if not state.is_open(place):
        raise Unreachable(f"the {place.name} is closed; open_drawer({place.name!r}) first")
    check_not_covered(state, place)


def check_not_covered(state: KitchenState, place: Location) -> None:
    """Refuse a drawer under one that is open.

    Raises:
        Collision: It is.
    """
    for name, opening in state.drawers:
        other = state.room.locations[name]
        if opening > 0.01 and other.piece == place.piece and other.floor_z > place.floor_z:
            raise Collision(f"the open {name} is above the {place.name}; close it first")


def slide(state: KitchenState, place: Location, *, opened: bool) -> Slide:
    """Plan how a drawer is opened or closed.

    Raises:
        Collision: An open drawer above is in the way.
        Unreachable: The robot cannot get to it.
    """
    check_not_covered(state, place)
    piece = place.piece
    handle = handle_at(place, state.opening_m(place.name))
    grip = Grip(handle, piece.facing, 0.05)
    base = Base(*place.stand)
    yaw = arm.wrist_yaw(base, handle[:2], grip.yaw)
    goal = OPENING_M if opened else 0.0
    return Slide(place.name, base, replace(grip, yaw=yaw), goal, handle[2] + 0.15)


def handle_at(place: Location, opening_m: float) -> Vec3:
    """Return where the fingertips hold a drawer's handle, metres."""
    out = place.piece.depth / 2 + opening_m + HANDLE_M - 0.015
    return (*place.piece.local(place.handle_x, -out), place.floor_z + HANDLE_UP_M - 0.012)
