"""How what the gripper holds is put down, decided on plain data before anything moves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import shapely
import shapely.affinity

from cap.errors import Collision, Unreachable
from robots.arm.gripper import Grip
from robots.arm.travel import KITCHEN
from robots.kitchen import arm
from robots.kitchen.arm import Array
from robots.kitchen.grasps import (
    GAP_M,
    STROKE_M,
    Reach,
    across,
    apart,
    check_open,
    free_grips,
    height_over,
    place_named,
    standing,
)
from robots.kitchen.objects import DISH_FLOOR_M, DISH_WALL_M, UPRIGHT_RAD, Thing, footprint
from robots.kitchen.room import Location, Point, inside, obstacles
from robots.kitchen.state import KitchenState, turned
from robots.table.geometry import carried_point, corners

Relation = Literal["", "in", "on", "beside"]
"""How something is to be put down by an object or a location; "" for as that takes things."""
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


@dataclass(frozen=True)
class Place(Reach):
    """Where the gripper puts down what it holds."""

    result: Thing
    """Where it should come to rest."""
    where: str
    """Where that is, for messages."""
    dish: str | None = None
    """The bowl or plate that it should be in, if any."""


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
        takes = "in" if other.kind.bowl else "on"
        if relation not in ("", takes):
            raise Unreachable(f"things go {takes} the {other.name}, not {relation} it")
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
    takes = "in" if place.walled else "on"
    if relation == "beside":
        raise Unreachable(f"beside the {place.name} is the floor; place_at_pos reaches it")
    if relation not in ("", takes):
        raise Unreachable(f"things go {takes} the {place.name}, not {relation} it")
    check_open(state, place)
    x, y, _ = place.middle(state.opening_m(place.name))
    if place.piece.kind in ("table", "counter"):  # nearer the front, in easy reach
        _, _, length, width, yaw = place.area()
        c, s = math.cos(yaw), math.sin(yaw)
        ahead = state.base.world(0.0, 0.62)
        dx, dy = ahead[0] - x, ahead[1] - y
        along = min(max(c * dx + s * dy, -length), length)
        aside = min(max(c * dy - s * dx, -width), width)
        x, y = x + c * along - s * aside, y + s * along + c * aside
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
    return shapely.MultiPoint(list(corners(around))).convex_hull


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
            raise Unreachable(
                f"({point[0]:.2f}, {point[1]:.2f}) m is at the edge of '{name}' or inside it, "
                "where nothing can be put"
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
