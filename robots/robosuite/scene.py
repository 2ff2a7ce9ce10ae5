"""What stands around: where things are, the boxes they fill, and what is under a point."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from robots.robosuite.environments import NamedThing
from robots.robosuite.world import Array, Simulation


@dataclass(frozen=True)
class OrientedBox:
    """A box in any turn."""

    center: Array
    """Its middle, xyz in metres."""
    rotation: Array
    """Its axes as columns, shape (3, 3)."""
    half: Array
    """Half its edges along those, metres."""


class Surroundings:
    """The things of an environment, as they are at the moment they are asked for."""

    def __init__(self, simulation: Simulation) -> None:
        """Find the shapes that are solid and neither the floor nor an arm's."""
        self._simulation = simulation
        self._model = model = simulation.model
        self.things = {thing.name: thing for thing in simulation.environment.things}
        roots = model.body_rootid[model.geom_bodyid]
        self._around = {
            geom
            for geom, root in enumerate(roots)
            if simulation.solid[geom] and not model.body(root).name.startswith(("world", "robot"))
        }

    def geoms(self, thing: NamedThing) -> set[int]:
        """Return the shapes that a hand closes on."""
        if thing.geoms:
            return {self._model.geom(name).id for name in thing.geoms}
        return self.whole(thing)

    def whole(self, thing: NamedThing) -> set[int]:
        """Return all solid shapes of a thing."""
        body = self._model.body(thing.body).id
        found = set()
        for geom in self._around:
            owner = self._model.geom_bodyid[geom]
            while owner not in (0, body):
                owner = self._model.body_parentid[owner]
            if owner == body:
                found.add(geom)
        return found

    def origin(self, thing: NamedThing) -> Array:
        """Return where a thing's body has its origin, xyz."""
        return np.array(self._simulation.seen.xpos[self._model.body(thing.body).id])

    def position(self, thing: NamedThing) -> Array:
        """Return a thing's middle, xyz; of a peg its top, of a bin the middle of its floor."""
        if thing.kind in ("part", "handle"):
            return self.box(thing).center
        place = self.origin(thing)
        if thing.kind == "peg":
            place[2] = self.bounds(self.whole(thing))[1][2]
        elif thing.kind == "bin":
            loose = [self.whole(each) for each in self.things.values() if not each.is_place]
            place[2] = self.floor(place[None], set().union(*loose))[0]
        return place

    def rotation(self, thing: NamedThing) -> Array:
        """Return how a thing is turned, shape (3, 3)."""
        body = self._model.body(thing.body).id
        return np.array(self._simulation.seen.xmat[body]).reshape(3, 3)

    def yaw(self, thing: NamedThing) -> float:
        """Return the direction of a thing's own x axis seen from above, radians."""
        x, y, _ = self.rotation(thing)[:, 0]
        return math.atan2(y, x)

    def outwards(self, handle: NamedThing) -> Array:
        """Return the axis about which a handle turns, away from what it is fixed to, xyz."""
        joint = self._model.body(handle.body).jntadr[0]
        axis: Array = self.rotation(handle) @ self._model.jnt_axis[joint]
        return axis if axis @ (self.position(handle) - self.origin(handle)) > 0 else -axis

    def box(self, thing: NamedThing) -> OrientedBox:
        """Return the box around what a hand closes on."""
        geoms, axes = self.geoms(thing), self.rotation(thing)
        if len(geoms) == 1:
            axes = np.array(self._simulation.seen.geom_xmat[[*geoms]]).reshape(3, 3)
        corners = self._simulation.corners(geoms).reshape(-1, 3) @ axes
        low, high = corners.min(axis=0), corners.max(axis=0)
        return OrientedBox(axes @ ((low + high) / 2), axes, (high - low) / 2)

    def bounds(self, geoms: set[int]) -> tuple[Array, Array]:
        """Return the least and the greatest xyz of shapes, metres."""
        corners = self._simulation.corners(geoms).reshape(-1, 3)
        return corners.min(axis=0), corners.max(axis=0)

    def top(self, without: set[int]) -> float:
        """Return the height of the highest thing around, metres."""
        return float(self.bounds(self._around - without)[1][2])

    def floor(self, points: Array, without: set[int]) -> Array:
        """Return the height of the highest surface under each point; 0 where there is none.

        Args:
            points: Their xy or xyz in metres, one in a row.
            without: Shapes that are not looked at.
        """
        corners = self._simulation.corners(self._around - without)
        low, high = corners.min(axis=1), corners.max(axis=1)
        xy = points[:, None, :2]
        above = (low[:, :2] <= xy) & (xy <= high[:, :2])
        heights: Array = np.where(above.all(axis=2), high[:, 2], 0.0).max(axis=1)
        return heights

    def in_the_way(self, spots: Array, without: set[int]) -> int:
        """Return how many of a hand's spots, xyz in metres, would be in something."""
        return int((self.floor(spots, without) > spots[:, 2]).sum())

    def peg_at(self, point: Array, most_m: float) -> NamedThing | None:
        """Return the peg within a distance of a point seen from above, if there is one."""
        for thing in self.things.values():
            if thing.kind == "peg" and math.dist(self.origin(thing)[:2], point[:2]) < most_m:
                return thing
        return None
