"""Where the robot stands and how its gripper takes hold of something, decided on plain data.

Both worlds use this module and `placement` before anything moves, so they refuse the same commands
for the same reasons.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import shapely

from cap.errors import Collision, Unreachable
from robots.arm.clearance import finger_outlines, first_touched
from robots.arm.gripper import PALM_SIZE, Grip
from robots.arm.travel import KITCHEN
from robots.kitchen import arm, paths
from robots.kitchen.objects import DISH_WALL_M, Thing, footprint
from robots.kitchen.room import HANDLE_M, HANDLE_UP_M, OPENING_M, Location, Point, inside
from robots.kitchen.state import Base, KitchenState, carried
from robots.table.geometry import Vec3, corners, distance

STROKE_M = 0.10
"""Widest distance between the fingers."""
FINGER_M = 0.075
"""From the palm to the fingertips."""
_HAND_MARGIN_M = 0.004
_HAND = (
    (PALM_SIZE[0] / 2 + _HAND_MARGIN_M, PALM_SIZE[1] / 2 + _HAND_MARGIN_M, FINGER_M),
    (0.04 + _HAND_MARGIN_M, 0.04 + _HAND_MARGIN_M, 0.13),
)
"""The palm and the hand above it, with a margin; see `clearance.Part`."""
GAP_M = 0.012
"""Between objects that are put side by side."""
_DEPTH_M = 0.045
"""How far the fingertips reach below an object's top."""
_RIM_DEPTH_M = 0.02
_ABOVE_FLOOR_M = 0.007
"""The fingertips stay this far above what an object stands on."""
CLEARANCES_M = (0.009, 0.004)
"""Between each open finger and the object; the narrow one where room is short."""
_AROUND_RIM = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6)
"""Twelfths of a turn."""
_RIM_SPAN_M = 0.012
_ASIDE_M = 0.008
"""How far beside the middle, along the width of the fingers, an object may be taken."""
_AROUND_M, _NEARBY_M = 0.4, 0.9
"""What is nearer is what the gripper could touch, and what it passes over."""
_WALL_MARGIN_M = 0.002
_FOREARM_M = 0.075
"""What is so far from the middle of the forearm is not touched."""
_ALONG_FOREARM = np.arange(13)[:, None] / 12
_RADII_M = (0.62, 0.7, 0.55, 0.78, 0.48, 0.85)
"""How far from the base what is reached is, the best first."""
_LEAST_M = 0.4
"""What is nearer to the middle of the base is not reached."""
_TURNS = 24
_AHEAD_RAD = 1.9
"""What is further round than this is not reached without turning the base."""
_FRONT_RAD = math.radians(60)


@dataclass(frozen=True)
class Reach:
    """Where the robot stands and holds its gripper, with nothing in the way."""

    name: str
    """What is picked up or put down, or the drawer."""
    base: Base
    """Where the robot stands."""
    grip: Grip
    """Where it is grasped, or let go; there the gap is how far the fingers open."""
    travel_z: float
    """Fingertip height on the way there, metres."""


@dataclass(frozen=True)
class Pick(Reach):
    """An object taken hold of."""

    lift_z: float
    """Fingertip height on the way back, with what hangs below the fingers, metres."""


@dataclass(frozen=True)
class Slide(Reach):
    """A drawer pulled or pushed by its handle as it is now."""

    opening_m: float
    """How far it is pulled out when it is done."""


# Where to stand.


def standing(
    state: KitchenState, grips: Sequence[Grip], travel_z: float, place: Location | None
) -> Iterator[tuple[Grip, Base]]:
    """Yield grips with places of the base from which they are reached, best first.

    The robot stays where it is if it can; else it goes to the nearest place in front of the
    furniture.
    """
    ground = paths.ground(state)
    for base in (state.base, *_bases(state, ground, grips[0].tip, place)):
        if base != state.base and paths.way(ground, state.base.xy, base.xy) is None:
            continue
        for grip in sorted(grips, key=lambda grip: _wrist(base, grip)):
            x, y, z = grip.tip
            bearing = math.remainder(math.atan2(y - base.y, x - base.x) - base.angle, 2 * math.pi)
            if abs(bearing) > _AHEAD_RAD or math.dist((x, y), base.xy) < _LEAST_M:
                continue
            if arm.reaches(base, np.array([[x, y, z], [x, y, travel_z]])).all():
                yield grip, base


def _wrist(base: Base, grip: Grip) -> float:
    """Return how far the wrist is turned in a grip, in eighths of a turn."""
    turn = arm.wrist_turn(base, grip.tip[:2], grip.yaw)
    return round(abs(math.remainder(turn, 2 * math.pi)) / (math.pi / 4))


def _bases(
    state: KitchenState, ground: paths.Ground, point: Vec3, place: Location | None
) -> list[Base]:
    """Return free places of the base around a point that face it, the nearest first."""
    if place is not None and place.drawer:
        return [Base(*place.stand)]
    facing, around = (place.piece.facing, place.piece.around) if place else (0.0, True)
    found: list[tuple[float, Base]] = []
    for radius, turn in itertools.product(_RADII_M, range(_TURNS)):
        angle = 2 * math.pi * turn / _TURNS + facing
        if not around and abs(math.remainder(angle - facing, 2 * math.pi)) > _FRONT_RAD:
            continue
        x, y = point[0] - radius * math.cos(angle), point[1] - radius * math.sin(angle)
        base = Base(x, y, math.remainder(angle, 2 * math.pi))
        if shapely.covers(ground.free, shapely.Point(base.xy)):
            cost = math.dist(base.xy, state.base.xy) + 4 * abs(radius - _RADII_M[0])
            found.append((cost, base))
    return [base for _, base in sorted(found, key=lambda entry: entry[0])]


# How to take hold.


def pick(state: KitchenState, name: str) -> Pick:
    """Plan how an object is picked up.

    Raises:
        Collision: Something leaves no room for the fingers.
        Unreachable: No place of the base from which the arm reaches it.
    """
    thing = state[name]
    place = state.place_of(name)
    riders = state.contents(thing)
    too_tall = ""
    grips = free_grips(state, grips_of(thing), thing, place, f"take {name!r}")
    travel_z = height_over(state, thing.xy, place)
    lift_z = travel_z + max(0.0, grips[0].tip[2] - thing.bottom)
    for grip, base in standing(state, grips, lift_z, place):
        held = replace(grip, yaw=arm.wrist_yaw(base, grip.tip[:2], grip.yaw))
        touched = next((rider.name for rider in riders if _is_under_arm(rider, held)), "")
        if not touched:
            return Pick(name, base, held, travel_z, lift_z)
        too_tall = touched
    if too_tall:
        raise Collision(
            f"{too_tall!r} is too tall to ride on the {name}: the folded arm would push it; "
            "take it by itself"
        )
    raise Unreachable(f"{name!r} is out of reach from everywhere the base can stand")


def _is_under_arm(rider: Thing, grip: Grip) -> bool:
    """Return whether the folded arm would touch what is on a dish that is held so."""
    folded = carried(rider, (*grip.tip, grip.yaw), arm.PARK_POSE)
    _, elbow, wrist, _ = np.array(arm.links(arm.PARK_JOINTS))
    return any(
        z - _FOREARM_M < folded.top and distance(folded.rectangle, (x, y)) < _FOREARM_M
        for x, y, z in (elbow + _ALONG_FOREARM * (wrist - elbow)).tolist()
    )


def place_named(thing: Thing) -> str:
    """Return an object's name and where it is, for messages."""
    return f"{thing.name!r} at ({thing.xy[0]:.2f}, {thing.xy[1]:.2f}) m"


def height_over(state: KitchenState, point: Point, place: Location | None) -> float:
    """Return a fingertip height from which nothing near a point is touched, metres."""
    near = [thing for thing in state.loose() if math.dist(thing.xy, point) < _NEARBY_M]
    floor = 0.3 if place is None else max(place.piece.height, place.floor_z)
    if place is not None and place.drawer:
        floor = place.floor_z + 0.2
    return max([floor, *(thing.top for thing in near)]) + KITCHEN.lift


def free_grips(
    state: KitchenState, grips: Iterable[Grip], thing: Thing, place: Location | None, doing: str
) -> list[Grip]:
    """Return those grips that touch nothing else, in their order.

    Args:
        state: The kitchen.
        grips: Ways to hold the object, best first.
        thing: The object, where it is or is to be.
        place: The location there.
        doing: For the message.

    Raises:
        Collision: There is none; the message names what is in the way.
    """
    around = [
        other
        for other in state.loose()
        if other.name != thing.name and math.dist(other.xy, thing.xy) < _AROUND_M
    ]
    walls = None
    if place is not None and place.walled:
        x, y, length, width, yaw = state.area(place)
        walls = (x, y, length - _WALL_MARGIN_M, width - _WALL_MARGIN_M, yaw)
    free: list[Grip] = []
    blockers: Counter[str] = Counter()
    for grip in grips:
        fingers = [point for finger in finger_outlines(grip) for point in corners(finger)]
        if walls is not None and not all(inside(walls, point) for point in fingers):
            blockers["a wall"] += 1
        elif touched := first_touched(grip, _HAND, around):
            blockers[place_named(touched)] += 1
        else:
            free.append(grip)
    if not free:
        most = [f"{blocker} is in the way" for blocker, _ in blockers.most_common(2)]
        reason = " or ".join(most) or "it is too wide for the fingers"
        raise Collision(f"no room for the fingers to {doing}: {reason}")
    return free


def grips_of(thing: Thing) -> Iterator[Grip]:
    """Yield the ways to hold an object, best first."""
    if thing.kind.shape == "dish":
        rim_r = thing.radius - DISH_WALL_M
        for step in _AROUND_RIM:
            angle = thing.yaw + step * math.pi / 6
            x, y = thing.xy[0] + rim_r * math.cos(angle), thing.xy[1] + rim_r * math.sin(angle)
            yield Grip((x, y, thing.top - _RIM_DEPTH_M), angle, _RIM_SPAN_M + 2 * CLEARANCES_M[0])
        return
    shape = footprint(thing)
    z = max(thing.top - _DEPTH_M, thing.bottom + _ABOVE_FLOOR_M)
    turns = [shape.yaw + math.pi / 2]  # across the length
    if shape.round:
        turns = [shape.yaw + step * math.pi / 6 for step in range(6)]
    elif shape.length + 2 * CLEARANCES_M[0] < STROKE_M:
        turns.append(shape.yaw)
    x, y = thing.xy
    for aside, clearance in itertools.product((0.0, _ASIDE_M, -_ASIDE_M), CLEARANCES_M):
        for turn in turns:
            gap = across(thing, turn) + 2 * clearance
            if gap <= STROKE_M:
                tip = (x - aside * math.sin(turn), y + aside * math.cos(turn), z)
                yield Grip(tip, turn, gap)


def across(thing: Thing, yaw: float) -> float:
    """Return how wide an object is between fingers that close in a direction, metres."""
    if thing.kind.shape == "dish":
        return _RIM_SPAN_M
    shape = footprint(thing)
    if shape.round:
        return shape.length
    off = yaw - shape.yaw
    return shape.length * abs(math.cos(off)) + shape.width * abs(math.sin(off))


def apart(point: Point, thing: Thing, others: Iterable[Thing], gap_m: float = GAP_M) -> bool:
    """Return whether an object would stand clear of others at a point, however it is turned."""
    return all(
        math.dist(point, other.xy) >= (thing.girth_m + other.girth_m) / 2 + gap_m
        for other in others
    )


# Drawers.


def check_open(state: KitchenState, place: Location) -> None:
    """Refuse a drawer that is closed, or under one that is open.

    Raises:
        Unreachable: It is closed.
        Collision: One above it is open.
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
    """
    check_not_covered(state, place)
    piece, base = place.piece, Base(*place.stand)
    out = piece.depth / 2 + state.opening_m(place.name) + HANDLE_M - 0.015
    handle = (*piece.local(place.handle_x, -out), place.floor_z + HANDLE_UP_M - 0.012)
    grip = Grip(handle, arm.wrist_yaw(base, handle[:2], piece.facing), 0.05)
    return Slide(place.name, base, grip, handle[2] + 0.15, OPENING_M if opened else 0.0)
