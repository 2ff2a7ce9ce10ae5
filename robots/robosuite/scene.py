"""What stands around: where things are, the boxes they fill, and what is under a point."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from robots.robosuite.environments import NamedThing
from robots.robosuite.hand import ArmHand
from robots.robosuite.world import Array, Simulation

_SPOTS = 5
"""Along each edge of a part of a hand, so many spots are looked at."""


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
        """Look at a simulation."""
        self._simulation = simulation
        model = simulation.model
        self.things = {thing.name: thing for thing in simulation.environment.things}
        bases = {
            model.body(f"robot{number}_base").id for number in range(len(simulation.env.robots))
        }
        roots = {int(model.body_rootid[base]) for base in bases}
        self._around = [
            geom
            for geom in simulation.geoms
            if simulation.solid[geom]
            and int(model.body_rootid[model.geom_bodyid[geom]]) not in roots
            if model.geom_size[geom].any() and np.isfinite(model.geom_aabb[geom]).all()
            if int(model.geom_bodyid[geom])
        ]

    def geoms(self, thing: NamedThing) -> set[int]:
        """Return the shapes that a hand closes on."""
        if thing.geoms:
            return {self._simulation.model.geom(name).id for name in thing.geoms}
        return self.whole(thing)

    def whole(self, thing: NamedThing) -> set[int]:
        """Return all solid shapes of a thing."""
        model = self._simulation.model
        body = model.body(thing.body).id
        found = set()
        for geom in self._around:
            owner = int(model.geom_bodyid[geom])
            while owner not in (0, body):
                owner = int(model.body_parentid[owner])
            if owner == body:
                found.add(geom)
        return found

    def position(self, thing: NamedThing) -> Array:
        """Return a thing's middle, xyz; of a peg its top, of a bin the middle of its floor."""
        seen = self._simulation.seen
        body = np.array(seen.xpos[self._simulation.model.body(thing.body).id])
        if thing.kind == "part" and thing.geoms:
            return self.box(thing).center
        if thing.kind == "peg":
            body[2] = self.bounds(self.whole(thing))[1][2]
        elif thing.kind == "bin":
            loose = [self.whole(each) for each in self.things.values() if each.kind == "object"]
            body[2] = self.floor(body[None, :2], set().union(*loose))[0]
        return body

    def rotation(self, thing: NamedThing) -> Array:
        """Return how a thing is turned, shape (3, 3)."""
        body = self._simulation.model.body(thing.body).id
        return np.array(self._simulation.seen.xmat[body]).reshape(3, 3)

    def box(self, thing: NamedThing) -> OrientedBox:
        """Return the box around what a hand closes on."""
        geoms, seen = sorted(self.geoms(thing)), self._simulation.seen
        if len(geoms) == 1:
            axes = np.array(seen.geom_xmat[geoms[0]]).reshape(3, 3)
        else:
            axes = self.rotation(thing)
        corners = self._simulation.corners(geoms).reshape(-1, 3) @ axes
        low, high = corners.min(axis=0), corners.max(axis=0)
        return OrientedBox(axes @ ((low + high) / 2), axes, (high - low) / 2)

    def bounds(self, geoms: Collection[int]) -> tuple[Array, Array]:
        """Return the least and the greatest xyz of shapes, metres."""
        corners = self._simulation.corners(sorted(geoms)).reshape(-1, 3)
        return corners.min(axis=0), corners.max(axis=0)

    def top(self, without: Collection[int]) -> float:
        """Return the height of the highest thing around, metres."""
        return float(self.bounds([geom for geom in self._around if geom not in without])[1][2])

    def floor(self, points: Array, without: Collection[int]) -> Array:
        """Return the height of the highest surface under each point; 0 where there is none.

        Args:
            points: Their xy in metres, shape (n, 2).
            without: Shapes that are not looked at.
        """
        corners = self._simulation.corners([geom for geom in self._around if geom not in without])
        low, high = corners.min(axis=1), corners.max(axis=1)
        above = (low[:, :2] <= points[:, None]) & (points[:, None] <= high[:, :2])
        heights: Array = np.where(above.all(axis=2), high[:, 2], 0.0).max(axis=1)
        return heights

    def in_the_way(
        self, point: Array, rotation: Array, hand: ArmHand, without: Collection[int]
    ) -> int:
        """Return how many spots of an open hand would be in something, at a point in a turn."""
        shares = np.linspace(0.0, 1.0, _SPOTS)
        grid = np.array([(x, y) for x in shares for y in shares])
        low, high = hand.boxes
        spots = low[:, None, :2] + grid * (high - low)[:, None, :2]
        spots = np.concatenate(
            [spots, np.broadcast_to(high[:, None, 2:], (*spots.shape[:2], 1))], 2
        )
        places = (point + spots @ rotation.T).reshape(-1, 3)
        return int((self.floor(places[:, :2], without) > places[:, 2]).sum())
