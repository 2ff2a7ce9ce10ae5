"""A kitchen's objects from a file: anything anywhere, as long as it would stay there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

from cap.errors import UsageError
from robots.kitchen.objects import DISH_FLOOR_M, Thing, footprint, scene_entries
from robots.kitchen.room import BASE_R, ROOM_X, ROOM_Y, Point, Room, inside
from robots.simulation.scene_file import PlacedObject, read_scene, scene_text
from robots.table.geometry import distance, yaw_quaternion

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


def things_of(placed: Iterable[PlacedObject], room: Room, start: Point) -> tuple[Thing, ...]:
    """Return the objects of a file in a room.

    Args:
        placed: The objects as they are written.
        room: The furniture.
        start: Where the robot's base begins, metres.

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
        beside_furniture = all(distance(piece.rectangle, thing.xy) > 0 for piece in room.pieces)
        if beside_furniture and math.dist(thing.xy, start) < thing.radius + BASE_R:
            raise entry.wrong(
                f"is where the robot begins, at ({start[0]:.2f}, {start[1]:.2f}) m; keep it "
                f"{thing.radius + BASE_R:.2f} m away"
            )
        foot = math.inf if entry.z is None else entry.z - thing.half_height  # or on the highest
        height_m, on = min(surfaces, key=lambda surface: abs(surface[0] - foot))
        z = entry.settled(height_m, thing.half_height, f"'{on}'" if on in things else f"the {on}")
        thing = thing.at((*entry.xy, z))
        if (below := things.get(on)) and below.kind.shape != "dish":
            wide = footprint(thing).width > 2 * footprint(below).width
            if wide or not below.kind.flat_top:
                raise entry.wrong(f"would not stay on {on!r}; put it beside")
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
        if other.kind.shape != "dish":
            if apart < other.radius / 2:
                yield other.top, other.name
        elif apart <= other.kind.foot_r - thing.radius:
            yield other.bottom + DISH_FLOOR_M, other.name
    margin = min(thing.radius, _FROM_EDGE_M)
    for place in room.locations.values():
        if inside(place.piece.rectangle, thing.xy, margin):
            yield place.floor_z, place.name
    x, y = thing.xy
    (left, right), (front, back) = ROOM_X, ROOM_Y
    r = thing.radius
    in_room = left + r <= x <= right - r and front + r <= y <= back - r
    if in_room and all(distance(piece.rectangle, thing.xy) >= r for piece in room.pieces):
        yield 0.0, "floor"


def text_of(things: Iterable[Thing], about: str) -> str:
    """Return objects as the text of such a file."""
    return scene_text(about, ((thing.name, thing.position, thing.yaw) for thing in things))
