"""What the kitchen lacks of what was asked for, judged on its true state."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Collection

from benchmarks.utterances import bare, last_said, none_of
from robots.kitchen import KitchenRobot
from robots.kitchen.robot import LOOK_S
from robots.kitchen.state import DETECT_RAD, Base

Judge = Callable[[KitchenRobot], str | None]
DISTURBED_M = 0.05
"""What nobody asked to move may be this far from where it was."""
SHUT_M = 0.02
"""A drawer pulled out less than this is shut."""
ASIDE_CM = (20, 25, 30)
"""How far beside another an object is asked to be."""
ASIDE_M = min(b - a for a, b in itertools.pairwise(ASIDE_CM)) / 2 / 100
"""How far it may be from there: half the smallest difference between two distances."""
LINE_M = 0.05
"""How far a robot may stray from a straight line."""
_AT = re.compile(r"^(?:at|in|on) ")
LATE_STEPS = 3
"""Looks within which a robot that saw what it waited for must have stopped."""


def first_of(*judges: Judge) -> Judge:
    """Return a judge that finds what the first of several finds."""

    def missed(robot: KitchenRobot) -> str | None:
        return next((found for judge in judges if (found := judge(robot))), None)

    return missed


def lies(name: str, place: str) -> Judge:
    """Return a judge of whether an object is at a location, let go."""

    def missed(robot: KitchenRobot) -> str | None:
        if robot.state.held == name:
            return f"the {name} is still in the gripper"
        found = robot.state.location_of(name)
        return None if found == place else f"the {name} is at {found or 'no location'}, not {place}"

    return missed


def in_bowl(name: str) -> Judge:
    """Return a judge of whether an object is in the bowl, let go."""

    def missed(robot: KitchenRobot) -> str | None:
        inside = [thing.name for thing in robot.state.contents(robot.state["bowl"])]
        if name in inside and robot.state.held is None:
            return None
        return f"the {name} is not in the bowl"

    return missed


def shut(drawer: str) -> Judge:
    """Return a judge of whether a drawer is shut."""

    def missed(robot: KitchenRobot) -> str | None:
        out = robot.state.opening_m(drawer)
        return None if out < SHUT_M else f"the {drawer} is {100 * out:.0f} cm open"

    return missed


def at(place: str) -> Judge:
    """Return a judge of whether the robot is at a location and stands still."""

    def missed(robot: KitchenRobot) -> str | None:
        if robot.state.velocity != (0.0, 0.0, 0.0):
            return "the robot still moves"
        here = [found.name for found in robot.state.here()]
        return None if place in here else f"the robot is at {here or 'no location'}, not {place}"

    return missed


def said_where(name: str, place: str) -> Judge:
    """Return a judge of whether an object's location was said last, and nothing beside it.

    It may follow `at`, `in` or `on`, and `the`.
    """

    def missed(robot: KitchenRobot) -> str | None:
        said = bare(_AT.sub("", last_said(robot.spoken)))
        places = robot.get_loc_names()
        if said not in places:
            return none_of(robot.spoken, places)
        return None if said == place else f"it said {said!r}, but the {name} is at the {place}"

    return missed


def holds(name: str) -> Judge:
    """Return a judge of whether an object is in the gripper."""

    def missed(robot: KitchenRobot) -> str | None:
        held = robot.state.held
        return None if held == name else f"the gripper holds {held or 'nothing'}, not the {name}"

    return missed


def undisturbed(first: KitchenRobot, but: Collection[str]) -> Judge:
    """Return a judge of whether all else is where it was: objects, drawers, a robot at rest.

    Args:
        first: The robot before anything was done.
        but: The objects that may be elsewhere.
    """
    before, drawers = dict(first.positions()), dict(first.state.drawers)

    def missed(robot: KitchenRobot) -> str | None:
        if robot.state.velocity != (0.0, 0.0, 0.0):
            return "the robot still moves"
        for drawer, out in robot.state.drawers:
            if abs(out - drawers[drawer]) > SHUT_M:
                return f"the {drawer} was left {100 * out:.0f} cm open"
        now = robot.positions()
        moved = [
            name
            for name, place in before.items()
            if name not in but and math.dist(place, now[name]) > DISTURBED_M
        ]
        return f"the {moved[0]} was moved, too" if moved else None

    return missed


def beside(name: str, where: tuple[float, float]) -> Judge:
    """Return a judge of whether an object stands at a point, metres, let go."""

    def missed(robot: KitchenRobot) -> str | None:
        if robot.state.held is not None:
            return f"the {robot.state.held} is still in the gripper"
        off = math.dist(robot.state[name].xy, where)
        return None if off <= ASIDE_M else f"the {name} is {100 * off:.0f} cm from its place"

    return missed


class Way:
    """Where a robot was after each of its calls, as a judge of its way sees it."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.points: list[tuple[float, float]] = []
        """On the floor, metres."""

    def watch(self, robot: KitchenRobot) -> None:
        """Note where the robot is."""
        self.points.append(robot.state.base.xy)


def stopped_on_seeing(name: str, start: Base, mps: float, way: Way) -> Judge:
    """Return a judge of whether the robot went sideways until its camera saw an object.

    It keeps to one line and one direction, and stops within `LATE_STEPS` looks of the place where
    it first saw the object: on the way and in the end.

    Args:
        name: The object.
        start: Where it began; it goes along a line to its right or left from there.
        mps: Fastest speed of the way.
        way: Where it was.
    """

    def missed(robot: KitchenRobot) -> str | None:
        across, ahead = start.local(robot.state[name].xy)
        side = math.copysign(1.0, across)
        edge = math.tan(DETECT_RAD) * ahead
        late = edge - LATE_STEPS * mps * LOOK_S
        arrived = [math.dist(point, start.xy) < LINE_M for point in way.points]
        since = way.points[arrived.index(True) :] if True in arrived else []
        for point in (*since, robot.state.base.xy):
            went, strayed = start.local(point)
            if abs(strayed) > LINE_M:
                return "the robot left its line"
            if side * went < -LINE_M:
                return "the robot went the other way"
            if abs(went) > 0.01 and side * (across - went) < late:
                return f"the robot went on after it saw the {name}"
        went, _ = start.local(robot.state.base.xy)
        if side * (across - went) > edge + 0.01:
            return f"the {name} is not ahead of the camera"
        return None

    return missed
