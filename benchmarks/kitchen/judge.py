"""What the kitchen lacks of what was asked for, judged on its true state; and what is asked for."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from benchmarks.suite_folder import WATCH, Before
from benchmarks.utterances import bare, last_said, none_of
from cap.errors import RobotError
from robots.kitchen import KitchenRobot, create
from robots.kitchen.objects import KINDS
from robots.kitchen.robot import LOOK_S
from robots.kitchen.state import DETECT_RAD, Base

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
LATE_STEPS = 3
"""Looks within which a robot that saw what it waited for must have stopped."""
FASTEST_MPS = 0.4
_AT = re.compile(r"^(?:at|in|on) ")
_SURFACES = ("table", "countertop", "cart", "desk")
_TARGETS = (*_SURFACES, "recycle bin", "wood chair", "steel chair")
_DRAWERS = ("top drawer", "middle drawer", "bottom drawer")
_KINDS = {"fruit": "all the fruit", "drink": "all the drinks", "snack": "all the snacks"}
_UNSEEN_M = 0.05
"""So far beyond its camera's sight an object is not seen at once."""
_AWAY_M = 0.1
"""An object nearer than this to where it is to be is there already."""

Rng = np.random.Generator
Words = Mapping[str, Any]
A = TypeVar("A")
B = TypeVar("B")


# --- what is asked for


def _one(rng: Rng, names: Sequence[str]) -> str:
    return str(rng.choice(list(names)))


def _pairs(rng: Rng, first: Sequence[A], second: Sequence[B]) -> Iterator[tuple[A, B]]:
    """Yield every pair in a random order."""
    pairs = list(itertools.product(first, second))
    for number in rng.permutation(len(pairs)):
        yield pairs[number]


def _small(robot: KitchenRobot) -> list[str]:
    """Return the objects that stand about and go anywhere."""
    names = [thing.name for thing in robot.state.things if thing.name != "bowl"]
    return [name for name in names if robot.state.location_of(name) in _SURFACES]


def _place(robot: KitchenRobot, name: str) -> str:
    return str(robot.state.location_of(name))


def _fits(robot: KitchenRobot, act: Callable[[KitchenRobot], object]) -> bool:
    """Return whether something can be done, tried out in an instant twin of the kitchen."""
    twin = create(seed=0, mode="instant")
    twin.restore(robot.snapshot())
    try:
        act(twin)
    except RobotError:
        return False
    return True


def _carry(names: Sequence[str], source: str, place: str, robot: KitchenRobot) -> None:
    """Carry objects, one after the other, from one location to another."""
    for name in names:
        robot.goto_loc(source)
        robot.pick_obj(name)
        robot.goto_loc(place)
        robot.place_at_obj(place)


def a_place(rng: Rng, robot: KitchenRobot) -> Words:
    """Draw a location that shares no furniture: at a drawer one is at all of its chest."""
    places = robot.state.room.locations
    shared = Counter(place.piece.name for place in places.values())
    alone = [name for name, place in places.items() if shared[place.piece.name] == 1]
    return {"place": _one(rng, [name for name in alone if name != "table"])}


def a_thing(rng: Rng, robot: KitchenRobot) -> Words:
    """Draw an object; `source` is where it is."""
    name = _one(rng, _small(robot))
    return {"name": name, "source": _place(robot, name)}


def a_thing_and_a_place(rng: Rng, robot: KitchenRobot) -> Words:
    """Draw an object and where to it can be carried."""
    for name, place in _pairs(rng, _small(robot), _TARGETS):
        source = _place(robot, name)
        if place != source and _fits(robot, partial(_carry, [name], source, place)):
            break
    return {"name": name, "source": source, "place": place}


def a_fruit_and_the_bowl(rng: Rng, robot: KitchenRobot) -> Words:
    """Draw a fruit; `place` is where the bowl is."""
    name = _one(rng, [name for name in _small(robot) if KINDS[name].category == "fruit"])
    return {"name": name, "source": _place(robot, name), "place": _place(robot, "bowl")}


def a_kind_and_places(rng: Rng, robot: KitchenRobot) -> Words:
    """Draw a kind of things, where they are, and where to they can be carried."""
    for category, source in _pairs(rng, list(_KINDS), _SURFACES):
        alike = [name for name in _small(robot) if KINDS[name].category == category]
        names = [name for name in alike if _place(robot, name) == source]
        place = _one(rng, [name for name in _SURFACES if name != source])
        if names and _fits(robot, partial(_carry, names, source, place)):
            break
    return {"kind": _KINDS[category], "names": names, "source": source, "place": place}


def a_low_thing_and_a_drawer(rng: Rng, robot: KitchenRobot) -> Words:
    """Draw an object that fits into a drawer, and a drawer without the sponge."""
    low = [name for name in _small(robot) if KINDS[name].size[2] < 0.13]
    sponge = robot.state.location_of("sponge")
    name, drawer = _one(rng, low), _one(rng, [name for name in _DRAWERS if name != sponge])
    return {"name": name, "source": _place(robot, name), "place": drawer}


def the_sponge_and_a_place(rng: Rng, robot: KitchenRobot) -> Words:
    """Draw where the sponge is to be put; `drawer` is where it is."""
    place = _one(rng, ("table", "countertop", "desk"))
    return {"name": "sponge", "drawer": _place(robot, "sponge"), "place": place}


def two_things_and_a_side(rng: Rng, robot: KitchenRobot) -> Words:
    """Draw an object, another at the same location, and how far beside it there is room.

    Raises:
        RuntimeError: There is none.
    """
    sides = {"left": -1.0, "right": 1.0}

    def put(robot: KitchenRobot) -> None:
        robot.goto_loc(source)
        robot.pick_obj(name)
        rest = robot.place_at_pos([*where, 0.0])
        if math.dist((float(rest[0]), float(rest[1])), where) > 0.01:
            raise RobotError("the spot is taken")
        if robot.state.location_of(name) != source:
            raise RobotError("the spot is elsewhere")

    pairs = itertools.permutations(_small(robot), 2)
    two = [(a, b) for a, b in pairs if _place(robot, a) == _place(robot, b)]
    for (name, other), (side, cm) in _pairs(rng, two, list(itertools.product(sides, ASIDE_CM))):
        source = _place(robot, name)
        x, y = robot.state[other].xy
        shift = sides[side] * cm / 100
        where = (x + shift, y)
        if math.dist(robot.state[name].xy, where) > _AWAY_M and _fits(robot, put):
            words = {"name": name, "other": other, "source": source, "side": side, "cm": cm}
            return {**words, "shift": shift, "where": where}
    raise RuntimeError("no two objects leave room beside them in this kitchen")


def a_thing_out_of_sight(rng: Rng, robot: KitchenRobot) -> Words:
    """Take the object that is farthest out of sight from where one stands at its location.

    `way` is where the robot was after each of its calls, on the floor, metres.
    """
    offered: list[tuple[float, str, str]] = []
    for name in _small(robot):
        source = _place(robot, name)
        across, ahead = Base(*robot.state.room.locations[source].stand).local(robot.state[name].xy)
        beyond = abs(across) - math.tan(DETECT_RAD) * ahead
        if beyond > _UNSEEN_M or source != "table":
            offered.append((beyond, name, source))
    _, name, source = max(offered)
    start = Base(*robot.state.room.locations[source].stand)
    right = start.local(robot.state[name].xy)[0] > 0
    way: list[tuple[float, float]] = []
    return {
        "name": name,
        "source": source,
        "side": "right" if right else "left",
        "speed": 0.2 if right else -0.2,
        "start": start,
        "way": way,
        WATCH: lambda robot: way.append(robot.state.base.xy),
    }


# --- what the kitchen lacks


def lies(robot: KitchenRobot, name: str, place: str) -> str | None:
    """Say that an object is not at a location, let go; None if it is."""
    if robot.state.held == name:
        return f"the {name} is still in the gripper"
    found = robot.state.location_of(name)
    return None if found == place else f"the {name} is at {found or 'no location'}, not {place}"


def shut(robot: KitchenRobot, drawer: str) -> str | None:
    """Say that a drawer is not shut; None if it is."""
    out = robot.state.opening_m(drawer)
    return None if out < SHUT_M else f"the {drawer} is {100 * out:.0f} cm open"


def at(robot: KitchenRobot, place: str) -> str | None:
    """Say that the robot is not at a location, or moves; None if it stands there."""
    if robot.state.velocity != (0.0, 0.0, 0.0):
        return "the robot still moves"
    here = [found.name for found in robot.state.here()]
    seen = " and ".join(here) or "no location"
    return None if place in here else f"the robot is at {seen}, not {place}"


def undisturbed(robot: KitchenRobot, before: Before, but: Collection[str] = ()) -> str | None:
    """Say what else is not where it was: objects, drawers, a robot that moves; None if nothing.

    Args:
        robot: The robot now.
        before: How all was before the first instruction.
        but: The objects that may be elsewhere.
    """
    if robot.state.velocity != (0.0, 0.0, 0.0):
        return "the robot still moves"
    drawers = dict(before.state.drawers)
    for drawer, out in robot.state.drawers:
        if abs(out - drawers[drawer]) > SHUT_M:
            return f"the {drawer} was left {100 * out:.0f} cm open"
    now = robot.positions()
    for name, place in before.positions.items():
        if name not in but and math.dist(place, now[name]) > DISTURBED_M:
            return f"the {name} was moved, too"
    return None


def said_where(robot: KitchenRobot, name: str, place: str) -> str | None:
    """Say that an object's location was not said last, and nothing beside it; None if it was.

    It may follow `at`, `in` or `on`, and `the`.
    """
    said = bare(_AT.sub("", last_said(robot.spoken)))
    places = robot.get_loc_names()
    if said not in places:
        return none_of(robot.spoken, places)
    return None if said == place else f"it said {said!r}, but the {name} is at the {place}"


def gone(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the robot is not at the place alone."""
    return at(robot, words["place"]) or undisturbed(robot, before)


def at_the_source(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the robot is not where the object is."""
    return at(robot, words["source"])


def at_the_place(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the robot is not at the place."""
    return at(robot, words["place"])


def picked_up(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the object is not in the gripper."""
    held, name = robot.state.held, words["name"]
    return None if held == name else f"the gripper holds {held or 'nothing'}, not the {name}"


def put_down(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the object is not at the place."""
    return lies(robot, words["name"], words["place"])


def carried(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the object, and it alone, is not at the place."""
    return put_down(before, robot, words) or undisturbed(robot, before, [words["name"]])


def thrown_away(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the object, and it alone, is not in the trash bin."""
    return carried(before, robot, {**words, "place": "trash bin"})


def all_carried(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the objects of the kind, and they alone, are not at the place."""
    missed = (lies(robot, name, words["place"]) for name in words["names"])
    return next(filter(None, missed), None) or undisturbed(robot, before, words["names"])


def in_the_bowl(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the object, and it alone, is not in the bowl, let go."""
    name = words["name"]
    inside = [thing.name for thing in robot.state.contents(robot.state["bowl"])]
    if name not in inside or robot.state.held is not None:
        return f"the {name} is not in the bowl"
    return undisturbed(robot, before, [name])


def in_the_shut_drawer(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the object, and it alone, is not in the drawer, which is shut."""
    drawer = words["place"]
    missed = put_down(before, robot, words) or shut(robot, drawer)
    return missed or undisturbed(robot, before, [words["name"]])


def taken_out(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the sponge is in the drawer; in the gripper it is at no location."""
    return "the sponge is still in" if _place(robot, "sponge") == words["drawer"] else None


def put_down_and_shut(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the sponge, and it alone, is not at the place, the drawer shut."""
    missed = put_down(before, robot, words) or shut(robot, words["drawer"])
    return missed or undisturbed(robot, before, ["sponge"])


def found(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the robot is not where the object is, or did not say so."""
    name, place = words["name"], words["source"]
    missed = at(robot, place) or said_where(robot, name, place)
    return missed or undisturbed(robot, before)


def beside(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the object, and it alone, is not at its point, let go."""
    if robot.state.held is not None:
        return f"the {robot.state.held} is still in the gripper"
    off = math.dist(robot.state[words["name"]].xy, words["where"])
    if off > ASIDE_M:
        return f"the {words['name']} is {100 * off:.0f} cm from its place"
    return undisturbed(robot, before, [words["name"]])


def stopped_on_seeing(before: Before, robot: KitchenRobot, words: Words) -> str | None:
    """Say that the robot did not go sideways until its camera saw the object; None if it did.

    It keeps to one line and one direction, and stops within `LATE_STEPS` looks of the place where
    it first saw the object: on the way and in the end.
    """
    start, name = words["start"], words["name"]
    if missed := at(robot, words["source"]):
        return missed
    across, ahead = start.local(robot.state[name].xy)
    side = math.copysign(1.0, across)
    edge = math.tan(DETECT_RAD) * ahead
    late = edge - LATE_STEPS * FASTEST_MPS * LOOK_S
    arrived = [math.dist(point, start.xy) < LINE_M for point in words["way"]]
    since = words["way"][arrived.index(True) :] if True in arrived else []
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
    return undisturbed(robot, before)
