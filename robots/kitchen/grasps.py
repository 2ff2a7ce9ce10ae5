"""How the gripper takes hold of an object or a drawer's handle, decided on plain data.

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

from cap.errors import Collision, Unreachable
from robots.arm.clearance import finger_outlines, first_touched
from robots.arm.gripper import PALM_SIZE, Grip
from robots.arm.travel import KITCHEN
from robots.kitchen import arm
from robots.kitchen.base_pose import standing
from robots.kitchen.objects import DISH_WALL_M, Thing, footprint
from robots.kitchen.room import HANDLE_M, HANDLE_UP_M, OPENING_M, Location, Point, inside
from robots.kitchen.state import Base, KitchenState, carried
from robots.table.geometry import Rectangle, corners, distance

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
_AROUND = (0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6)
"""Twelfths of a turn."""
_RIM_SPAN_M = 0.012
_ASIDE_M = 0.008
"""How far beside the middle, along the width of the fingers, an object may be taken."""
_NEARBY_M = 0.9
_FOREARM_M = 0.075
"""What is so far from the middle of the forearm is not touched."""
_ALONG_FOREARM = tuple(step / 12 for step in range(13))


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
    others = nearby(state, thing)
    sides = walls(state, place)
    riders = state.contents(thing)
    too_tall = ""
    grips = free_grips(grips_of(thing), others, sides, f"take {name!r}")
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
    shape = footprint(folded)
    outline = (*folded.xy, shape.length / 2, shape.width / 2, shape.yaw)
    _, elbow, wrist, _ = (np.array(point) for point in arm.links(arm.PARK_JOINTS))
    for share in _ALONG_FOREARM:
        x, y, z = (elbow + share * (wrist - elbow)).tolist()
        if z - _FOREARM_M < folded.top and distance(outline, (x, y)) < _FOREARM_M:
            return True
    return False


def place_of(state: KitchenState, name: str) -> Location | None:
    """Return the location where an object is; None on the floor."""
    at = state.location_of(name)
    return None if at is None else state.room.locations[at]


def nearby(state: KitchenState, thing: Thing) -> list[Thing]:
    """Return the objects around one that the gripper could touch."""
    skipped = {thing.name, *state.load()}
    return [
        other
        for other in state.things
        if other.name not in skipped and math.dist(other.xy, thing.xy) < 0.4
    ]


def place_named(thing: Thing) -> str:
    """Return an object's name and where it is, for messages."""
    return f"{thing.name!r} at ({thing.xy[0]:.2f}, {thing.xy[1]:.2f}) m"


def walls(state: KitchenState, place: Location | None) -> Rectangle | None:
    """Return the inside of a bin or drawer, seen from above; None for what has no walls."""
    if place is None or not place.walled:
        return None
    x, y, length, width, yaw = state.area(place)
    return (x, y, length - 0.002, width - 0.002, yaw)


def height_over(state: KitchenState, point: Point, place: Location | None) -> float:
    """Return a fingertip height from which nothing near a point is touched, metres."""
    load = state.load()
    near = [t for t in state.things if t.name not in load and math.dist(t.xy, point) < _NEARBY_M]
    floor = 0.3 if place is None else max(place.piece.height, place.floor_z)
    if place is not None and place.drawer:
        floor = place.floor_z + 0.2
    return max([floor, *(thing.top for thing in near)]) + KITCHEN.lift


def free_grips(
    grips: Iterable[Grip], around: Sequence[Thing], walls: Rectangle | None, doing: str
) -> list[Grip]:
    """Return those grips that touch nothing else, in their order.

    Args:
        grips: Ways to hold the object, best first.
        around: Other objects near it.
        walls: The inside of the bin or drawer it is in, seen from above.
        doing: For the message.

    Raises:
        Collision: There is none; the message names what is in the way.
    """
    free: list[Grip] = []
    blockers: Counter[str] = Counter()
    for grip in grips:
        found = _blocker(grip, around, walls)
        if found is None:
            free.append(grip)
        else:
            blockers[found] += 1
    if not free:
        most = [f"{blocker} is in the way" for blocker, _ in blockers.most_common(2)]
        reason = " or ".join(most) or "it is too wide for the fingers"
        raise Collision(f"no room for the fingers to {doing}: {reason}")
    return free


def grips_of(thing: Thing) -> Iterator[Grip]:
    """Yield the ways to hold an object, best first."""
    if thing.kind.shape == "dish":
        rim_r = thing.radius - DISH_WALL_M
        for step in _AROUND:
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


def _blocker(grip: Grip, around: Iterable[Thing], walls: Rectangle | None) -> str | None:
    """Return what the open gripper would touch, or None."""
    if walls is not None:
        points = [point for finger in finger_outlines(grip) for point in corners(finger)]
        if not all(inside(walls, point) for point in points):
            return "a wall"
    touched = first_touched(grip, _HAND, around)
    return None if touched is None else place_named(touched)


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
    out = piece.depth / 2 + state.opening_m(place.name) + HANDLE_M - 0.015
    handle = (*piece.local(place.handle_x, -out), place.floor_z + HANDLE_UP_M - 0.012)
    grip = Grip(handle, piece.facing, 0.05)
    base = Base(*place.stand)
    yaw = arm.wrist_yaw(base, handle[:2], grip.yaw)
    goal = OPENING_M if opened else 0.0
    return Slide(place.name, base, replace(grip, yaw=yaw), goal, handle[2] + 0.15)
