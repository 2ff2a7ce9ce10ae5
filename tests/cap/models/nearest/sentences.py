"""Everyday instructions with the effect each must have, to measure the offline model.

`sentences.jsonl` has them in sets, each written down before its failures were looked at: sessions
of one or more turns, the scene they begin in, and the checks that hold after the last turn. Without
checks no program of the ravens prompts serves the last turn: running anything for it is an error.
`blocks` and `bowls` in a check stand for each one in the scene.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tests.cap.models.nearest.nearest_world import World

SCENES: dict[str, dict[str, tuple[float, float]]] = {
    "usual": {
        "red block": (-0.15, -0.35),
        "blue block": (0.12, -0.30),
        "green block": (-0.05, -0.62),
        "yellow block": (0.18, -0.55),
        "red bowl": (0.03, -0.45),
        "blue bowl": (-0.18, -0.55),
        "green bowl": (0.20, -0.72),
        "yellow bowl": (-0.05, -0.26),
    },
    "other": {
        "pink block": (-0.20, -0.32),
        "cyan block": (0.10, -0.44),
        "brown block": (-0.05, -0.66),
        "gray block": (0.20, -0.28),
        "orange bowl": (0.00, -0.30),
        "purple bowl": (-0.15, -0.50),
        "gray bowl": (0.17, -0.64),
        "pink bowl": (0.02, -0.53),
    },
    "paths": {"red block": (0.1, -0.4), "green block": (-0.1, -0.5), "blue bowl": (0.15, -0.6)},
}


@dataclass(frozen=True)
class Checks:
    """What may hold in a world; lengths are in metres."""

    world: World
    begin: dict[str, tuple[float, float]]
    """Where things were at first."""

    def every(self, kind: str) -> list[str]:
        """Return the names of all `blocks` or `bowls`, or the one name that is given."""
        names = [name for name in self.begin if f"{name.split()[-1]}s" == kind]
        return names or [kind]

    def at(self, name: str, x: float, y: float, tolerance: float = 0.01) -> bool:
        """True if the object lies near a point."""
        places = [self.world.xy[each] for each in self.every(name)]
        return all(np.hypot(*(place - (x, y))) <= tolerance for place in places)

    def on(self, name: str, target: str | None) -> bool:
        """True if the object was last put on or in the target."""
        return all(self.world.below[each] == target for each in self.every(name))

    def off(self, name: str, target: str, low: list[float], high: list[float]) -> bool:
        """True if the object's offset from the target lies in a box."""
        offset = self.world.xy[name] - self.world.xy[target]
        return bool(np.all(offset >= low) and np.all(offset <= high))

    def apart(self, name: str, target: str, low: float, high: float) -> bool:
        """True if the object is so far from the target."""
        return bool(low < np.hypot(*(self.world.xy[name] - self.world.xy[target])) < high)

    def clear(self, name: str, least: float) -> bool:
        """True if the object is so far from all others."""
        return all(self.apart(name, other, least, 9.0) for other in self.begin if other != name)

    def shifted(self, name: str, dx: float, dy: float) -> bool:
        """True if the object moved by this much."""
        begins = [(each, *self.begin[each]) for each in self.every(name)]
        return all(self.at(each, x + dx, y + dy, 0.002) for each, x, y in begins)

    def moved(self, name: str, axis: int, low: float, high: float) -> bool:
        """True if the object moved by a length in this range along an axis."""
        return bool(low < self.world.xy[name][axis] - self.begin[name][axis] < high)

    def said(self, *words: str) -> bool:
        """True if the last thing said holds one of the words."""
        last = (self.world.said or [""])[-1].lower()
        return not {*words}.isdisjoint(last.replace(".", " ").replace(",", " ").split())

    def stacked(self, count: int, kind: str) -> bool:
        """True if so many things stand on one of a kind."""
        return sum(str(below).endswith(kind) for below in self.world.below.values()) == count

    def pile(self, *names: str) -> bool:
        """True if each object stands on the one named before it."""
        return all(self.on(upper, lower) for lower, upper in pairwise(names))

    def how_many(self, count: int, target: str) -> bool:
        """True if so many things were put in or on the target."""
        return list(self.world.below.values()).count(target) == count

    def aligned(self, axis: int, *names: str) -> bool:
        """True if the objects stand on a line across an axis."""
        return bool(np.ptp(self._points(*names)[:, axis]) < 0.01)

    def spread(self, axis: int) -> bool:
        """True if the blocks stand on a line along one axis, clear of one another."""
        along = np.sort(self._points("blocks")[:, axis])
        return self.aligned(1 - axis, "blocks") and bool(np.all(np.diff(along) > 0.05))

    def ring(self) -> bool:
        """True if the blocks stand on one circle, clear of one another."""
        points = self._points("blocks")
        radii = np.hypot(*(points - points.mean(axis=0)).T)
        gaps = [np.hypot(*(a - b)) for i, a in enumerate(points) for b in points[:i]]
        return bool(np.ptp(radii) < 0.02 and radii.mean() > 0.05 and min(gaps) > 0.05)

    def corners(self) -> bool:
        """True if the four blocks stand in four different corners."""
        points = self._points("blocks") - (0, -0.5)
        return (
            np.allclose(np.abs(points), 0.25, atol=0.006)
            and len(np.unique(points > 0, axis=0)) == 4
        )

    def paired(self, same: bool) -> bool:
        """True if every block lies in a bowl of its own colour, or of another."""
        under = {name: self.world.below[name] or "" for name in self.every("blocks")}
        return all(
            target.endswith("bowl") and (name.split()[0] == target.split()[0]) is same
            for name, target in under.items()
        )

    def pointed(self, target: str) -> bool:
        """True if the gripper points to the target."""
        return np.allclose(self.world.pointed, self.world.xy[target], atol=0.01)

    def circled(self, name: str, radius: float) -> bool:
        """True if the gripper's last path is a circle around the object."""
        path, away = self._path(name)
        return len(path) > 16 and np.allclose(away, radius) and np.allclose(path[0], path[-1])

    def polygon(self, count: int, name: str) -> bool:
        """True if it has so many corners, equally far from the object."""
        path, away = self._path(name)
        return len(path) == count + 1 and np.allclose(away, away[0])

    def path_ends(self, *points: Any) -> bool:
        """True if it leads from the one place or point to the other."""
        place = self.world.get_obj_pos
        wanted = [place(each) if isinstance(each, str) else each for each in points]
        return np.allclose(self._path("middle")[0][[0, -1]], wanted)

    def path_moved(self, dx: float, dy: float) -> bool:
        """True if it leads so far from its beginning."""
        path, _ = self._path("middle")
        return np.allclose(path[-1] - path[0], [dx, dy])

    def paths(self, count: int, speed: float) -> bool:
        """True if there were so many paths, the last one at a speed in metres a second."""
        followed = self.world.followed
        return len(followed) == count and bool(np.isclose(followed[-1][1], speed))

    def avoided(self, *names: str) -> bool:
        """True if the last path was planned around these objects alone."""
        return self.world.avoided == [*names]

    def _path(self, name: str) -> tuple[Any, Any]:
        """Return the last path, shape (n, 2), and how far its points are from a place."""
        path = self.world.followed[-1][0]
        return path, np.linalg.norm(path - self.world.get_obj_pos(name), axis=1)

    def _points(self, *names: str) -> Any:
        return np.array([self.world.xy[each] for name in names for each in self.every(name)])


@dataclass(frozen=True, eq=False)
class Sentence:
    """A short session and what must hold after its last instruction."""

    set: str
    """The set it is in."""
    turns: list[str]
    """The user's words."""
    holds: list[list[Any]] | None
    """Checks, each with its arguments; None: the last instruction must be declined."""
    scene: str = "usual"
    """Where things are at first."""

    def right(self, world: World) -> bool:
        """Tell whether all checks hold."""
        checks = Checks(world, SCENES[self.scene])
        return all(getattr(checks, name)(*rest) for name, *rest in self.holds or ())


@cache
def _all() -> list[Sentence]:
    lines = Path(__file__).with_name("sentences.jsonl").read_text(encoding="utf-8").splitlines()
    return [Sentence(**json.loads(line)) for line in lines]


def sentences(*sets: str) -> list[Sentence]:
    """Return the sentences of sets of `sentences.jsonl`."""
    return [sentence for sentence in _all() if sentence.set in sets]
