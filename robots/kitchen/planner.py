"""Where the robot stands, how its gripper takes hold of something, and where it puts it down.

Both worlds decide this on plain data before anything moves, so they refuse the same commands for
the same reasons.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import shapely
import shapely.affinity

from cap.errors import Collision, Unreachable
from robots.arm.gripper import PALM_SIZE, Grip, finger_outlines, first_touched
from robots.arm.motion import KITCHEN
from robots.kitchen import arm, paths
from robots.kitchen.arguments import Relation, taken
from robots.kitchen.arm import Array
from robots.kitchen.objects import DISH_FLOOR_M, DISH_WALL_M, UPRIGHT_RAD, Thing, footprint
from robots.kitchen.room import (
    HANDLE_M,
    HANDLE_UP_M,
    OPENING_M,
    Location,
    Point,
    obstacles,
)
from robots.kitchen.state import Base, KitchenState, carried, turned
from robots.table.geometry import Vec3, carried_point, corners, distance, inside, point_in, polygon

NEAR_M = 0.15
"""If a spot is taken, an object is put at the nearest free one within this."""
ANYWHERE_M = 1.5
"""Where only the location is named, any free spot of it will do."""
_GRID_M = 0.02
_SPOTS_TRIED = 60
_TURNS = tuple(step * math.pi / 6 for step in range(12))
_LYING = tuple(step * math.pi / 12 for step in range(12))
"""Turns that a long object, which has no front, can be laid down with."""
_RELEASE_M = 0.009
"""How far each finger opens to let go."""
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
_BEARINGS = 24
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


@dataclass(frozen=True)
class Place(Reach):
    """Where the gripper puts down what it holds."""

    result: Thing
    """Where it should come to rest."""
    where: str
    """Where that is, for messages."""
    dish: str | None = None
    """The bowl or plate that it should be in, if any."""


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
    for radius, turn in itertools.product(_RADII_M, range(_BEARINGS)):
        angle = 2 * math.pi * turn / _BEARINGS + facing
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


# Where to put down.

Spot = tuple[Thing, Sequence[float]]
"""Where an object may be put, and the turns of the hand, radians, that serve there."""


def put(state: KitchenState, point: Point, within_m: float = NEAR_M) -> Place:
    """Plan how what is held is put down at a point, or at the nearest free spot.

    Args:
        state: The world; something is held.
        point: x and y, metres.
        within_m: How far from it the object may go.

    Raises:
        Collision: No free spot that near.
        Unreachable: The point is on no surface, or out of reach.
    """
    dish = _dish_at(state, point)
    if dish is not None:
        return put_in(state, dish)
    place = surface_at(state, point)
    spots = clear_spots(state, state.held_thing, point, place, within_m)
    return _first(state, _any_way(spots), place, f"at ({point[0]:.2f}, {point[1]:.2f}) m")


def put_back(state: KitchenState, was: Thing) -> Place:
    """Plan how what is held is put where it was, as near as there is room.

    Raises:
        Collision: Its place is taken.
        Unreachable: It is out of reach, or its drawer is closed.
    """
    dish = _dish_at(state, was.xy)
    where = f"back at ({was.xy[0]:.2f}, {was.xy[1]:.2f}) m"
    # It stands as it hangs in the hand now, on what it stood on; as it lay, if that can be.
    upright = state[was.name]
    spot = upright.at((*was.xy, was.bottom + upright.half_height))
    ways = [(spot, (was.yaw - upright.yaw,)), (spot, _TURNS)]
    found = _first(state, ways, surface_at(state, was.xy), where)
    return found if dish is None else replace(found, dish=dish.name)


def put_by(state: KitchenState, other: Thing, relation: Relation) -> Place:
    """Plan how what is held is put in, on or beside an object, or as it takes things.

    Raises:
        Collision: There is no room.
        Unreachable: It takes nothing that way, or is out of reach.
    """
    thing = state.held_thing
    if relation == "beside":
        place = state.place_of(other.name)
        spots = clear_spots(state, thing, other.xy, place, thing.radius + other.radius + 0.12)
        return _first(state, _any_way(spots), place, f"beside the {other.name}")
    if other.kind.shape == "dish":
        taken(relation, other.kind.bowl, other.name)
        return put_in(state, other)
    if relation == "on":
        return _put_on_top(state, other)
    raise Unreachable(f"nothing goes in the {other.name}; say relation='beside', or 'on'")


def put_at(state: KitchenState, place: Location, relation: Relation) -> Place:
    """Plan how what is held is put on or in a location, wherever there is room.

    Raises:
        Collision: There is none.
        Unreachable: It takes nothing that way, a closed drawer, or out of reach.
    """
    if relation == "beside":
        raise Unreachable(f"beside the {place.name} is the floor; place_at_pos reaches it")
    takes = taken(relation, place.walled, place.name)
    check_open(state, place)
    x, y, _ = place.middle(state.opening_m(place.name))
    if place.piece.kind in ("table", "counter"):  # nearer the front, in easy reach
        area, ahead = place.area(), state.base.world(0.0, 0.62)
        _, _, length, width, yaw = area
        along, aside = Base(x, y, yaw + math.pi / 2).local(ahead)  # its length to the right
        x, y = point_in(area, min(max(along, -length), length), min(max(aside, -width), width))
    spots = clear_spots(state, state.held_thing, (x, y), place, ANYWHERE_M)
    return _first(state, _any_way(spots), place, f"{takes} the {place.name}")


def put_in(state: KitchenState, dish: Thing) -> Place:
    """Plan how what is held is put into a bowl or on a plate.

    Raises:
        Collision: There is no room in it.
        Unreachable: It is out of reach.
    """
    thing = state.held_thing
    z = dish.bottom + DISH_FLOOR_M
    floor_r = min(dish.inner_r(z + 0.02), dish.kind.foot_r - DISH_WALL_M)
    if (room := floor_r - thing.girth_m / 2) < 0:
        raise Collision(f"{thing.name!r} is too wide for the {dish.name}")
    there = state.contents(dish)
    free = [xy for xy in _rings(dish.xy, room) if apart(xy, thing, there, 0.0)]
    free.sort(key=lambda xy: -min((math.dist(xy, t.xy) for t in there), default=0.0))
    upright = (thing.at((x, y, z + thing.half_height)) for x, y in free)
    spots = itertools.chain(_any_way(upright), _lying_beside(thing, dish, floor_r, there))
    where = f"{'in' if dish.kind.bowl else 'on'} the {dish.name}"
    names = ", ".join(repr(other.name) for other in there)
    full = f"{thing.name!r} does not fit beside {names}" if there else ""
    try:
        found = _first(state, spots, state.place_of(dish.name), where, full)
    except Collision as error:
        if not there:
            raise
        raise Collision(f"there is no free spot {where}: {error}") from None
    return replace(found, dish=dish.name)


def _any_way(spots: Iterable[Thing]) -> Iterator[Spot]:
    """Yield spots at which the hand may be turned in any way."""
    return ((spot, _TURNS) for spot in spots)


def _lying_beside(
    thing: Thing, dish: Thing, floor_r: float, there: Sequence[Thing]
) -> Iterator[Spot]:
    """Yield how an object lies beside what is in a dish already, the most room first."""
    if not there:
        return
    z = dish.bottom + DISH_FLOOR_M + thing.half_height
    taken = shapely.union_all([_outline(other) for other in there])
    floor = shapely.Point(dish.xy).buffer(floor_r)
    turns = (0.0,) if footprint(thing).round else _LYING
    fitting: list[tuple[float, Spot]] = []
    for turn in turns:
        lying = _outline(replace(thing, quaternion=turned(thing.quaternion, turn)))
        ways = _TURNS if footprint(thing).round else (turn, turn + math.pi)
        for dx, dy in _grid(floor_r) + np.array(dish.xy) - np.array(thing.xy):
            moved = shapely.affinity.translate(lying, dx, dy)
            if floor.contains(moved) and (gap_m := taken.distance(moved)) >= GAP_M / 2:
                at = (thing.xy[0] + float(dx), thing.xy[1] + float(dy), z)
                fitting.append((gap_m, (thing.at(at), ways)))
    yield from (spot for _, spot in sorted(fitting, key=lambda each: -each[0]))


def _outline(thing: Thing) -> shapely.Polygon:
    """Return what an object covers as it lies now, seen from above."""
    if (around := thing.outline) is None:
        return shapely.Point(thing.xy).buffer(thing.girth_m / 2)
    return polygon(around)


def _put_on_top(state: KitchenState, below: Thing) -> Place:
    """Plan how what is held is put on top of an object.

    Raises:
        Collision: Something stands there already, or it would fall off.
        Unreachable: Nothing stays on it, or it is out of reach.
    """
    thing, (x, y) = state.held_thing, below.xy
    if not below.kind.flat_top or below.lean > UPRIGHT_RAD:
        raise Unreachable(f"nothing stays on the {below.name}; put it beside or elsewhere")
    if footprint(thing).width > 2 * footprint(below).width:
        raise Collision(f"{thing.name!r} is too wide to stay on the {below.name}")
    higher = [other for other in state.loose() if other.bottom > below.top - 0.01]
    if on_it := next((t for t in higher if not apart((x, y), thing, [t], 0.0)), None):
        raise Collision(f"{place_named(on_it)} stands on the {below.name} already")
    spots = _any_way([thing.at((x, y, below.top + thing.half_height))])
    return _first(state, spots, state.place_of(below.name), f"on the {below.name}")


def _dish_at(state: KitchenState, point: Point) -> Thing | None:
    """Return the bowl or plate in which a point lies."""
    dishes = (thing for thing in state.loose() if thing.kind.shape == "dish")
    return next((dish for dish in dishes if math.dist(dish.xy, point) < dish.kind.foot_r), None)


def surface_at(state: KitchenState, point: Point) -> Location | None:
    """Return the location under a point, the highest open one; None for the floor.

    Raises:
        Unreachable: Furniture on which nothing can be put is there.
    """
    places = [p for p in state.room.locations.values() if inside(state.area(p), point)]
    open_ = [place for place in places if state.is_open(place)]
    if open_:
        return max(open_, key=lambda place: place.floor_z)
    for name, shape in obstacles(state.room, state.drawers):
        if shape.contains(shapely.Point(point)):
            what = f"({point[0]:.3f}, {point[1]:.3f}) m is at the edge of '{name}'"
            on_it = [place for place in state.room.locations.values() if place.name == name]
            if not on_it:
                raise Unreachable(f"{what} or inside it, where nothing can be put")
            xs, ys = zip(*corners(state.area(on_it[0])), strict=True)
            raise Unreachable(
                f"{what}; things stand on it at x {min(xs):.3f} to {max(xs):.3f} and"
                f" y {min(ys):.3f} to {max(ys):.3f}"
            )
    return None


def clear_spots(
    state: KitchenState, thing: Thing, point: Point, place: Location | None, within_m: float
) -> Iterator[Thing]:
    """Yield where an object would stand clear on a surface, the nearest to a point first."""
    z = (0.0 if place is None else place.floor_z) + thing.half_height
    others = [t for t in state.loose() if t.bottom < z + 0.15 and t.top > z - 0.15]
    near = np.array(point) + _grid(within_m)
    clear = np.ones(len(near), dtype=bool)
    for other in others:
        least = (thing.girth_m + other.girth_m) / 2 + GAP_M
        clear &= np.linalg.norm(near - np.array(other.xy), axis=1) >= least
    near_wall = place is None or place.walled
    margin = thing.radius + 0.004 if near_wall else min(thing.radius, 0.06)
    area = None if place is None else state.area(place)
    for x, y in near[clear]:
        spot = (float(x), float(y))
        if area is None or inside(area, spot, margin):
            yield thing.at((*spot, z))


@lru_cache(maxsize=16)
def _grid(within_m: float) -> Array:
    """Return steps away from a point, the shortest first, shape (n, 2), metres."""
    count = round(within_m / _GRID_M)
    steps = np.arange(-count, count + 1) * _GRID_M
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    away = np.linalg.norm(grid, axis=1)
    order = np.argsort(away, kind="stable")
    found: Array = grid[order][away[order] <= within_m]
    return found


def _rings(middle: Point, most_m: float) -> Iterator[Point]:
    """Yield points in a dish, the outer ones first, so that more fits in beside."""
    for share, step in itertools.product((1.0, 0.5), range(12)):
        if most_m > 0:
            angle = math.pi / 2 + step * math.pi / 6
            r = share * most_m
            yield middle[0] + r * math.cos(angle), middle[1] + r * math.sin(angle)
    yield middle


def _first(
    state: KitchenState,
    spots: Iterable[Spot],
    place: Location | None,
    where: str,
    full: str = "",
) -> Place:
    """Return the first spot with room for the fingers and in reach; `full` says why none is free.

    Raises:
        Collision: There is none with room.
        Unreachable: There is none in reach.
    """
    failed: Collision | Unreachable = Collision(full or f"there is no free spot {where}")
    if place is not None:
        check_open(state, place)
    for spot, turns in itertools.islice(spots, _SPOTS_TRIED):
        try:
            return _at(state, spot, turns, place, where)
        except (Collision, Unreachable) as error:
            failed = error
    raise failed


def _at(
    state: KitchenState, spot: Thing, turns: Sequence[float], place: Location | None, where: str
) -> Place:
    """Return how what is held is put at a spot.

    Raises:
        Collision: There is no room for the fingers.
        Unreachable: It is out of reach.
    """
    x, y, z, yaw = arm.to_world(state.base, arm.forward(state.joints))
    held = state[spot.name]
    gap_m = min(max(state.gap_m, across(held, yaw)) + 2 * _RELEASE_M, STROKE_M)
    ways = (
        Grip(carried_point((x, y, z), held.position, spot.position, turn), yaw + turn, gap_m)
        for turn in turns
    )
    grips = free_grips(state, ways, spot, place, f"put {spot.name!r} {where}")
    hang_m = max(0.0, z - held.bottom)
    load_m = max(state[name].top for name in state.load()) - held.bottom
    # The full hand passes over what is around, and the empty one over what it has put down.
    travel_z = max(height_over(state, spot.xy, place) + hang_m, spot.bottom + load_m + KITCHEN.lift)
    for grip, base in standing(state, grips, travel_z, place):
        result = replace(spot, quaternion=turned(spot.quaternion, grip.yaw - yaw))
        return Place(spot.name, base, grip, travel_z, result, where)
    raise Unreachable(f"({spot.xy[0]:.2f}, {spot.xy[1]:.2f}) m is out of reach")
