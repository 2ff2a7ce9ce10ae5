"""How a set of objects gets to a set of places: in which order, and what is set aside before.

Decided on plain data before anything moves. Each object is one of three: where it belongs, on its
way there, or set aside until its place is free. What is not of the set never moves.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cap.errors import Collision, Unreachable
from robots.arm.gripper import MARGIN_M as MARGIN
from robots.ravens import transfer
from robots.ravens.scene import Body, Scene
from robots.ravens.transfer import Hand
from robots.table.geometry import XY, yaw_quaternion

Goals = Mapping[str, XY]
"""Where objects belong, metres; of those that share a place the first is the lowest."""

THERE_M = 0.006
"""An object this close to where it belongs stays where it is, metres."""
_ONE_PLACE_M = 0.001
"""Places closer than this are one: a stack, whose objects follow its lowest, metres."""
_NEAR_M = 0.2
"""What is further from an object and from its place is not in its way, metres."""
_CLOSE_M = 0.06
"""Blocks closer than this, between centres, are turned to be in line, metres."""
_TURNED = 0.1
"""Blocks whose yaws differ by more (sine of twice the angle) are not in line."""
_STRAYED_M = 0.02
"""An object further than this from where it belongs in the end did not stay there, metres."""


@dataclass(frozen=True)
class Carry:
    """One object carried to one point."""

    name: str
    """Which."""
    xy: XY
    """Where to, metres."""
    onto: str | None = None
    """The object of the set that it is stacked on: where that truly stands then is where to."""
    yaw: float | None = None
    """How it is turned there, radians; as what it stands on, or as the table, if None."""


def plan(scene: Scene, goals: Goals, hand: Hand = transfer.WAITING) -> tuple[Goals, list[Carry]]:
    """Return where a set of objects belongs, and the steps that take them there.

    A bowl that the fingers cannot take as it is filled is emptied, carried and filled again: then
    what is in it belongs to the set.

    Raises:
        Unreachable: A place is off the table or out of reach.
        Collision: Something that is not of the set is in the way, or no order was found.
    """
    try:
        return goals, _steps(scene, goals, hand)
    except Collision:
        if (filled := _with_contents(scene, goals)) == goals:
            raise
        return filled, _steps(scene, filled, hand)


def _with_contents(scene: Scene, goals: Goals) -> Goals:
    """Return a set of objects with the blocks that its bowls hold, each to go where its bowl goes.

    A bowl in a bowl is left out: nobody asked for that to be taken apart.
    """
    found: dict[str, XY] = {}
    for name, xy in goals.items():
        found[name] = xy
        inside = transfer.resting_on(scene, name) if scene[name].kind == "bowl" else []
        if all(body.kind == "block" for body in inside):
            found |= {body.name: xy for body in inside if body.name not in goals}
    return found


def _steps(scene: Scene, goals: Goals, hand: Hand) -> list[Carry]:
    """Return the steps that take exactly these objects where they belong.

    Raises:
        Unreachable, Collision: As `plan`.
    """
    for xy in goals.values():
        transfer.check_target(xy)
    _Planner(scene, goals, list(goals), hand).check_goals()
    if not goals:
        return []
    middle = np.mean(list(goals.values()), axis=0)
    inside_out = sorted(goals, key=lambda name: math.dist(goals[name], middle))
    failure: Collision | Unreachable | None = None
    for order, cleared in (
        (list(goals), False),
        (list(goals), True),
        (inside_out, True),
        (inside_out[::-1], True),
    ):
        planner = _Planner(scene, goals, order, hand)
        try:
            if cleared:
                planner.clear_site()
            return planner.steps()
        except (Collision, Unreachable) as error:
            failure = failure or error
    assert failure is not None
    raise failure


def plan_stack(
    scene: Scene, names: Sequence[str], place: XY | None, hand: Hand = transfer.WAITING
) -> tuple[Goals, list[Carry]]:
    """Return where the objects of a stack belong, and the steps that build it.

    Args:
        scene: Where everything is.
        names: The objects from bottom to top; the lowest stays, if it stands on none of them.
        place: Where they are stacked instead, metres; or at the nearest free spot around it.
        hand: What is to carry them.

    Raises:
        Unreachable, Collision: As `plan`.
    """
    failure: Collision | Unreachable | None = None
    for spot in _spots(scene, names, place, hand):
        goals = dict.fromkeys(names, spot)
        try:
            transfer.check_target(spot)
            if math.dist(spot, scene[names[0]].xy) > THERE_M:
                alone = Scene(tuple(scene.others(*names[1:])))
                transfer.transfer(alone, names[0], spot, hand)
            return goals, _Planner(scene, goals, names, hand).steps()
        except (Collision, Unreachable) as error:
            failure = failure or error
    raise failure or Collision(f"no free spot on the table to build a stack on {names[0]!r}")


def _spots(
    scene: Scene, names: Sequence[str], place: XY | None, hand: Hand
) -> Iterator[tuple[float, float]]:
    """Yield where a stack may be built, the best first."""
    base = scene[names[0]]
    others = [name for name in names[1:] if transfer.stands_on(base, scene[name])]
    if place is not None:
        if math.dist(base.xy, place) > _STRAYED_M or others:
            yield from (place, *transfer.around(place, transfer.PLACE_RINGS))
            return
    elif others:
        on_it = [body.name for body in transfer.resting_on(scene, base.name)]
        free = Scene(tuple(scene.others(*on_it)))
        with contextlib.suppress(Collision, Unreachable):
            yield transfer.aside(free, base.name, hand).result[0].xy
        return
    yield base.xy


def check(scene: Scene, goals: Goals) -> None:
    """Make sure that every object stands where it belongs, on what it belongs on.

    Raises:
        Collision: One does not.
    """
    planner = _Planner(scene, goals, list(goals), transfer.WAITING)
    right = planner.right(scene, _STRAYED_M)
    for name, xy in goals.items():
        if name not in right:
            x, y, z = scene[name].position
            raise Collision(
                f"{name!r} should be at ({xy[0]:.2f}, {xy[1]:.2f}) but is at ({x:.2f}, {y:.2f}), "
                f"{z:.2f} m high: something pushed it, or it fell; look where things are now"
            )


def _carriers(scene: Scene, name: str) -> list[str]:
    """Return what an object stands on or in; of what is in a bowl, the bowl too."""
    return [each.name for each in scene.others(name) if transfer.stands_on(scene[name], each)]


def _at(body: Body, xy: XY, yaw: float) -> Body:
    """Return an object moved to a point (m) and turned to a yaw (rad)."""
    return replace(body, position=(*xy, body.position[2]), quaternion=yaw_quaternion(yaw))


def _in_line(scene: Scene, goals: Goals) -> dict[str, float]:
    """Return how blocks are turned that are to stand so close that they must be in line, radians.

    A block whose neighbours are in different directions is not turned.
    """
    turns: dict[str, list[float]] = {}
    blocks = [name for name in goals if scene[name].kind == "block"]
    for pair in itertools.combinations(blocks, 2):
        (x0, y0), (x1, y1) = (goals[name] for name in pair)
        yaw = math.atan2(y1 - y0, x1 - x0) % (math.pi / 2)
        one, other = (_at(scene[name], goals[name], yaw) for name in pair)
        if math.hypot(x1 - x0, y1 - y0) < _CLOSE_M and not transfer.meet(one, other, MARGIN):
            for name in pair:
                turns.setdefault(name, []).append(yaw)
    return {
        name: found[0]
        for name, found in turns.items()
        if all(abs(math.sin(2 * (yaw - found[0]))) < _TURNED for yaw in found)
    }


class _Planner:
    """Looks for an order, one step after the other."""

    def __init__(self, scene: Scene, goals: Goals, order: Sequence[str], hand: Hand) -> None:
        self._now = scene
        self._goals = goals
        self._order = order
        self._hand = hand
        self._steps: list[Carry] = []
        self._aside: set[str] = set()
        self._yaws = _in_line(scene, goals)
        self._there: dict[str, Body] = {}
        self._below: dict[str, list[str]] = {}
        for name, xy in goals.items():
            there = _at(scene[name], xy, self._yaws.get(name, 0.0))
            below = [lower for lower in self._there if transfer.meet(there, self._there[lower], 0)]
            for lower in self._yaws.keys() & set(below):  # what lies on it lies as it does
                self._yaws.setdefault(name, self._yaws[lower])
                there = _at(there, xy, self._yaws[name])
            self._there[name], self._below[name] = there, below

    def steps(self) -> list[Carry]:
        """Return the steps until everything is right.

        Raises:
            Collision, Unreachable: No step leads on; says why the first object cannot move.
        """
        while True:
            done = self.right(self._now)
            if not (left := [name for name in self._order if name not in done]):
                return self._steps
            ready = [name for name in left if not set(self._below[name]) & set(left)]
            failures: list[Collision | Unreachable] = []
            for name in ready:
                try:
                    self._bring(name)
                    break
                except (Collision, Unreachable) as error:
                    failures.append(error)
            else:
                if not any(self._make_way(name, left) for name in ready):
                    raise self._reason(ready[0]) or failures[0]

    def check_goals(self) -> None:
        """Refuse places that cannot all be taken, in whatever order they are.

        Raises:
            Collision: Two overlap, or one is taken by what is not of the set.
        """
        done = self.right(self._now)
        left = [name for name in self._goals if name not in done]
        loads = [body.name for name in left for body in transfer.resting_on(self._now, name)]
        stands = self._now.others(*left, *loads)
        for name in left:
            onto, body = self._stacked_on(name), self._now[name]
            below = next((each for each in stands if each.name == onto), None)
            xy = self._goals[name] if below is None else below.xy
            rest = Scene(tuple(stands))
            try:
                height, yaw = transfer.support(rest, body, xy, self._yaws.get(name))
            except Collision as error:
                raise self._reason(name) or error from None
            at = (*xy, height + body.half_height)
            # Of what is equally high the first carries: that shall be what is of the set.
            stands.insert(0, replace(body, position=at, quaternion=yaw_quaternion(yaw)))
            self._now = self._now.moved(stands[:1])

    def _reason(self, name: str) -> Collision | Unreachable | None:
        """Return what keeps an object from its place and is not of the set, if something does."""
        load = transfer.resting_on(self._now, name) if self._now[name].kind == "block" else []
        for body in load:
            if body.name not in self._goals:
                below = _carriers(self._now, body.name)[0]
                return transfer.stands_on_it(body.name, below)
        for lower in self._below[name]:
            for carrier in _carriers(self._now, lower):
                if carrier not in self._goals and self._now[carrier].kind == "block":
                    return Collision(
                        f"{carrier!r} stands where {lower!r} is to go; move {carrier!r} first"
                    )
        if load:
            try:
                self._set_aside(load[-1].name)
            except (Collision, Unreachable) as error:
                return error
        return None

    def clear_site(self) -> None:
        """Set aside what stands where others go, the topmost first, before it is built in."""
        there = self.right(self._now)
        left = [name for name in self._goals if name not in there]
        for name in sorted(left, key=lambda name: -self._now[name].position[2]):
            goals = [body for body in self._there.values() if body.name != name]
            if any(transfer.meet(self._now[name], goal, transfer.ASIDE_ROOM) for goal in goals):
                with contextlib.suppress(Collision, Unreachable):
                    self._set_aside(name)

    def right(self, scene: Scene, within_m: float = THERE_M) -> set[str]:
        """Return what is where it belongs, on nothing but what belongs below it."""
        found: set[str] = set()
        for name, below in self._below.items():  # the lower ones come first
            if not found.issuperset(below):
                continue
            body, onto = scene[name], self._stacked_on(name)
            xy = self._goals[name] if onto is None else scene[onto].xy
            turn = body.yaw - self._yaws.get(name, body.yaw)
            if math.dist(body.xy, xy) > within_m or abs(math.sin(2 * turn)) > _TURNED:
                continue
            carriers = _carriers(scene, name)
            if not self._strangers(scene, name) and (carriers or not below):
                found.add(name)
        return found

    def _strangers(self, scene: Scene, name: str) -> list[str]:
        """Return what an object stands on or in and is not to."""
        carriers = _carriers(scene, name)
        if not (below := self._below[name]):
            return [each for each in carriers if each in self._goals]
        deeper = [each for lower in below for each in _carriers(scene, lower)]
        return [each for each in carriers if each not in below and each not in deeper]

    def _stacked_on(self, name: str) -> str | None:
        """Return the object straight above which this one belongs, if there is one."""
        for lower in reversed(self._below[name]):
            if math.dist(self._goals[lower], self._goals[name]) < _ONE_PLACE_M:
                return lower
        return None

    def _bring(self, name: str) -> None:
        """Carry an object where it belongs.

        Raises:
            Collision, Unreachable: It cannot be, as everything stands.
        """
        onto = self._stacked_on(name)
        xy = self._now[onto].xy if onto is not None else self._goals[name]
        yaw = self._yaws.get(name)
        planned = transfer.transfer(self._now, name, xy, self._hand, yaw)
        after = self._now.moved(planned.result)
        if name not in self.right(after):
            carrier = (*self._strangers(after, name), *_carriers(after, name))[0]
            raise Collision(f"{carrier!r} stands where {name!r} is to go; move {carrier!r} first")
        self._now = after
        self._steps.append(Carry(name, xy, onto, yaw))

    def _make_way(self, name: str, left: Sequence[str]) -> bool:
        """Set something aside for an object to get where it belongs; return whether that helps.

        Best is what lets it get there at once; else whatever can be moved of what is near it.
        """
        ends = self._now[name].xy, self._goals[name]
        on_it = {other.name for other in transfer.resting_on(self._now, name)}
        apart = {
            other: min(math.dist(self._now[other].xy, end) for end in ends)
            for other in left
            if other not in self._aside
        }
        near = sorted(
            (other for other in apart if apart[other] < _NEAR_M),
            key=lambda other: (
                other not in on_it,
                other == name,
                round(apart[other], 2),
                -self._now[other].position[2],
            ),
        )
        begun = self._now, list(self._steps)
        useful: tuple[Scene, list[Carry], str] | None = None
        for other in near:
            self._now, self._steps = begun[0], list(begun[1])
            try:
                self._set_aside(other)
            except (Collision, Unreachable):
                continue
            useful = useful or (self._now, list(self._steps), other)
            if other == name:
                continue
            with contextlib.suppress(Collision, Unreachable):
                self._bring(name)
                self._aside.add(other)
                return True
        if useful is None:
            self._now, self._steps = begun
            return False
        self._now, self._steps, other = useful
        self._aside.add(other)
        return True

    def _set_aside(self, name: str) -> None:
        """Carry an object to where no other is to go.

        Raises:
            Collision, Unreachable: There is no such spot, or it cannot be taken.
        """
        goals = [body for body in self._there.values() if body.name != name]
        planned = transfer.aside(self._now, name, self._hand, goals)
        self._now = self._now.moved(planned.result)
        self._steps.append(Carry(name, planned.result[0].xy))
