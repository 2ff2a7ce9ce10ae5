"""Everything that decides what the kitchen does next: plain data, so a copy is a snapshot."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from robots.kitchen.objects import Pose4, Thing
from robots.kitchen.room import OPEN_M, Drawers, Location, Point, Room
from robots.simulation.simulated_robot import TurnHistory
from robots.table.geometry import Quat, Rectangle, Vec3, carried_point, distance, inside, moved

FACED_M = 1.0
"""What the robot faces is its present location if it is no further than this."""
BESIDE_M = 0.7
"""Where it faces nothing, the nearest furniture is, if it is no further than this."""
FLOOR_SIGHT_M = 1.2
"""Things on the floor are seen from this far."""
DETECT_M = 1.2
"""The camera ahead of the robot sees this far."""
DETECT_RAD = math.radians(25)
"""And so far to each side."""
_RAYS = 10
_MOVED = 0.001
"""Poses of the base that differ by less, in metres and radians, are the same."""
_ON_FLOOR_Z = 0.2


@dataclass(frozen=True)
class Base:
    """Where the robot's base is."""

    x: float
    """Metres."""
    y: float
    """Metres."""
    angle: float
    """Heading, radians, counter-clockwise from x."""

    @property
    def xy(self) -> Point:
        """Its middle, metres."""
        return (self.x, self.y)

    def world(self, right: float, ahead: float) -> Point:
        """Return the point so far to its right and so far ahead of it, metres."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        return (self.x + right * s + ahead * c, self.y - right * c + ahead * s)

    def local(self, point: Point) -> Point:
        """Return how far right and how far ahead of it a point is, metres; undoes `world`."""
        c, s = math.cos(self.angle), math.sin(self.angle)
        dx, dy = point[0] - self.x, point[1] - self.y
        return (s * dx - c * dy, c * dx + s * dy)

    @property
    def pose(self) -> Pose4:
        """Where it is, on the floor."""
        return (self.x, self.y, 0.0, self.angle)


MOST_DEEDS = 200
"""So many of the last deeds are remembered."""


@dataclass(frozen=True)
class Deed:
    """One pick, one placing, or one drawer pulled or pushed; what the arm did can be undone."""

    name: str
    """Of the object or the drawer."""
    was: Thing | None = None
    """Where an object was that was picked up; None for other deeds."""
    opening_m: float | None = None
    """How far a drawer was pulled out; None for other deeds."""


@dataclass(frozen=True)
class TurnStart:
    """What a turn began with: what an undo of it goes back to."""

    deeds_done: int
    """How much the arm had done."""
    base: Base
    """Where the robot was."""

    def same(self, other: TurnStart) -> bool:
        """Return whether nothing was done from one to the other, and the base is where it was."""
        turn = math.remainder(self.base.angle - other.base.angle, 2 * math.pi)
        near = math.dist((*self.base.xy, turn), (*other.base.xy, 0.0)) < _MOVED
        return self.deeds_done == other.deeds_done and near


@dataclass(frozen=True)
class Arrival:
    """An object that is not in the kitchen yet."""

    at_s: float
    """Simulated time since the reset at which it appears."""
    place: str
    """Location where it appears: furniture, no drawer."""
    thing: Thing
    """It, where it will stand if nothing else does."""


@dataclass(frozen=True)
class KitchenState:
    """The whole world."""

    room: Room
    """Furniture."""
    things: tuple[Thing, ...]
    """Every object, at rest."""
    base: Base
    """Where the robot is."""
    joints: tuple[float, ...]
    """Arm joint angles, radians."""
    gap_m: float
    """Distance between the fingers."""
    drawers: Drawers = ()
    """How far each drawer is pulled out, metres, by name."""
    held: str | None = None
    """What the gripper holds."""
    velocity: Vec3 = (0.0, 0.0, 0.0)
    """Of the base: to its right and ahead (m/s), turning left (rad/s)."""
    time_s: float = 0.0
    """Simulated time since the reset."""
    arriving: tuple[Arrival, ...] = ()
    """What will appear, the first first."""
    deeds: tuple[Deed, ...] = ()
    """What the arm did last, the first first, as far as it is remembered."""
    deeds_done: int = 0
    """How much it did in all that was not undone."""
    turns: TurnHistory[TurnStart] = field(default_factory=TurnHistory)
    """What each of the last turns began with."""
    known: tuple[tuple[str, str], ...] = ()
    """Objects the robot has seen, each with the location where it last saw it."""
    travel: float = 0.0
    """How far the base has driven and turned since the reset, metres and radians together."""

    def __getitem__(self, name: str) -> Thing:
        """Return one object by its exact name."""
        return next(thing for thing in self.things if thing.name == name)

    @property
    def held_thing(self) -> Thing:
        """What the gripper holds; there must be something."""
        assert self.held is not None
        return self[self.held]

    def opening_m(self, drawer: str) -> float:
        """Return how far a drawer is pulled out; 0 for what is none."""
        return dict(self.drawers).get(drawer, 0.0)

    def is_open(self, place: Location) -> bool:
        """Return whether things can be put into or taken from a location."""
        return not place.drawer or self.opening_m(place.name) > OPEN_M

    def area(self, place: Location) -> Rectangle:
        """Return where things can be put at a location, as it is now."""
        return place.area(self.opening_m(place.name))

    def with_drawer(self, drawer: str, opening_m: float) -> KitchenState:
        """Return a copy in which a drawer is pulled out so far."""
        found = {**dict(self.drawers), drawer: opening_m}
        return replace(self, drawers=tuple(found.items()))

    def moved(self, changes: Iterable[Thing]) -> KitchenState:
        """Return a copy in which these objects are elsewhere."""
        return replace(self, things=moved(self.things, changes))

    def having_done(self, deed: Deed) -> KitchenState:
        """Return a copy that remembers one more deed."""
        return replace(
            self, deeds=(*self.deeds, deed)[-MOST_DEEDS:], deeds_done=self.deeds_done + 1
        )

    @property
    def start(self) -> TurnStart:
        """What a turn that begins now begins with."""
        return TurnStart(self.deeds_done, self.base)

    def since(self, start: TurnStart) -> KitchenState:
        """Return a copy that remembers what this turn began with, if it has done anything."""
        if self.start.same(start):
            return self
        return replace(self, turns=self.turns.begun(start, TurnStart.same))

    def load(self) -> list[str]:
        """Return what the gripper holds, and what is in it."""
        if self.held is None:
            return []
        return [self.held, *(thing.name for thing in self.contents(self[self.held]))]

    def contents(self, dish: Thing) -> list[Thing]:
        """Return what is in a bowl or on a plate; nothing is in anything else."""
        if dish.kind.shape != "dish":
            return []
        return [
            thing
            for thing in self.things
            if thing.name != dish.name
            and math.dist(thing.xy, dish.xy) < dish.radius
            and dish.bottom - 0.01 < thing.bottom < dish.top + 0.02
        ]

    def loose(self) -> list[Thing]:
        """Return the objects that the gripper does not carry."""
        load = self.load()
        return [thing for thing in self.things if thing.name not in load]

    def contents_by_name(self) -> dict[str, list[str]]:
        """Return the names of what lies in or on each dish, drawer and bin."""
        loose = self.loose()
        dishes = [thing for thing in loose if thing.kind.shape == "dish"]
        found = {dish.name: [t.name for t in self.contents(dish) if t in loose] for dish in dishes}
        for name, place in self.room.locations.items():
            if place.walled:
                found[name] = [t.name for t in loose if self.location_of(t.name) == name]
        return found

    def place_of(self, name: str) -> Location | None:
        """Return the location where an object is; None in the gripper or on the floor."""
        thing = self[name]
        if name in self.load():
            return None
        for place in self.room.locations.values():
            above = thing.bottom - place.floor_z
            if -0.03 < above < place.headroom_m and inside(self.extent(place), thing.xy):
                return place
        return None

    def location_of(self, name: str) -> str | None:
        """Return the name of `place_of`."""
        place = self.place_of(name)
        return None if place is None else place.name

    def shut_in(self, name: str) -> bool:
        """Return whether an object is in a closed drawer."""
        place = self.place_of(name)
        return place is not None and not self.is_open(place)

    def whereabouts(self, thing: Thing) -> str:
        """Return the dish a thing is in or on, or else its location; "" where that is none."""
        for dish in self.things:
            if thing in self.contents(dish):
                return dish.name
        return self.location_of(thing.name) or ""

    def extent(self, place: Location) -> Rectangle:
        """Return where things count as being at a location, seen from above."""
        if not place.drawer:
            return place.piece.rectangle
        piece, opening = place.piece, self.opening_m(place.name)
        middle = piece.local(0.0, -opening / 2)
        return (*middle, piece.width / 2, (piece.depth + opening) / 2, piece.rectangle[4])

    def on_floor(self) -> list[Thing]:
        """Return the objects that stand or lie on the floor."""
        low = [thing for thing in self.loose() if thing.bottom < _ON_FLOOR_Z]
        return [thing for thing in low if self.place_of(thing.name) is None]

    # Sight.

    def here(self) -> list[Location]:
        """Return the present location: what the robot faces, or else the nearest beside it."""
        outlines = {piece.name: piece.rectangle for piece in self.room.pieces}
        rays = (self.base.world(0.0, FACED_M * step / _RAYS) for step in range(1, _RAYS + 1))
        faced = (n for point in rays for n, o in outlines.items() if distance(o, point) < 1e-9)
        name = next(faced, None)
        if name is None:
            away_m, name = min((distance(o, self.base.xy), n) for n, o in outlines.items())
            if away_m > BESIDE_M:
                return []
        return [place for place in self.room.locations.values() if place.piece.name == name]

    def visible(self) -> list[str]:
        """Return the objects at the present location that can be seen, in order."""
        here = [place for place in self.here() if self.is_open(place)]
        near = [t for t in self.on_floor() if math.dist(t.xy, self.base.xy) <= FLOOR_SIGHT_M]
        seen = [t for t in self.loose() if t in near or self.place_of(t.name) in here]
        return [thing.name for thing in seen]

    def in_view(self) -> list[str]:
        """Return the objects that can be seen here, and what the gripper holds."""
        return [*self.visible(), *self.load()]

    def visible_near(self, place: Location) -> list[str]:
        """Return the objects that can be seen at or beside a location, driving past it."""
        edge = place.piece.rectangle
        if distance(edge, self.base.xy) > DETECT_M or not self.is_open(place):
            return []
        return [
            thing.name
            for thing in self.loose()
            if (at := self.place_of(thing.name)) == place
            or (at is None and distance(edge, thing.xy) <= BESIDE_M)
        ]

    def seen_here(self) -> KitchenState:
        """Return a copy in which the robot knows what is to be seen from here, and what is not."""
        here = [place.name for place in self.here() if self.is_open(place)]
        visible = self.visible()
        gone = (*self.load(), *visible)
        known = [(name, at) for name, at in self.known if name not in gone and at not in here]
        known += [(name, self.location_of(name) or "floor") for name in visible]
        return replace(self, known=tuple(known))

    def ahead(self) -> list[str]:
        """Return the objects that the camera ahead of the robot sees, in order."""
        found = []
        for thing in self.loose():
            dx, dy = thing.xy[0] - self.base.x, thing.xy[1] - self.base.y
            off = math.remainder(math.atan2(dy, dx) - self.base.angle, 2 * math.pi)
            near = math.hypot(dx, dy) <= DETECT_M and abs(off) <= DETECT_RAD
            if near and not self.shut_in(thing.name):
                found.append(thing.name)
        return found


def carried(thing: Thing, start: Pose4, end: Pose4) -> Thing:
    """Return a thing moved as if it were fixed to what went from one pose to another."""
    turn = end[3] - start[3]
    place = carried_point(thing.position, start[:3], end[:3], turn)
    return replace(thing, position=place, quaternion=turned(thing.quaternion, turn))


def turned(quaternion: Quat, turn: float) -> Quat:
    """Return an orientation turned about the vertical by an angle, radians."""
    x, y, z, w = quaternion
    c, s = math.cos(turn / 2), math.sin(turn / 2)
    return (c * x - s * y, c * y + s * x, c * z + s * w, c * w - s * z)
