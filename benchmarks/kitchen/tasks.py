"""The tasks: what is said, a program that does it, and what the kitchen must then be like."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from benchmarks.kitchen.judge import (
    ASIDE_CM,
    Way,
    at,
    beside,
    first_of,
    holds,
    in_bowl,
    lies,
    said_where,
    shut,
    stopped_on_seeing,
    undisturbed,
)
from benchmarks.robot_suite import RobotCase, RobotSuite, RobotTask, robot_task
from cap.errors import RobotError
from robots.kitchen import KitchenRobot, create
from robots.kitchen.objects import KINDS
from robots.kitchen.state import DETECT_RAD, Base

Rng = np.random.Generator
A = TypeVar("A")
B = TypeVar("B")
SURFACES = ("table", "countertop", "cart", "desk")
_TARGETS = (*SURFACES, "recycle bin", "wood chair", "steel chair")
_DRAWERS = ("top drawer", "middle drawer", "bottom drawer")
_PLURALS = {"fruit": "all the fruit", "drink": "all the drinks", "snack": "all the snacks"}
_FASTEST_MPS = 0.4
_UNSEEN_M = 0.05
"""So far beyond its camera's sight an object is not seen at once."""
_AWAY_M = 0.1
"""An object nearer than this to where it is to be is there already."""
TASKS: list[RobotTask] = []
"""In report order, that of this file."""


def _one(rng: Rng, names: Sequence[str]) -> str:
    return str(rng.choice(list(names)))


def _small(robot: KitchenRobot) -> list[str]:
    """Return the objects that stand about and go anywhere."""
    names = [thing.name for thing in robot.state.things if thing.name != "bowl"]
    return [name for name in names if robot.state.location_of(name) in SURFACES]


def _alone(robot: KitchenRobot) -> list[str]:
    """Return the locations that share no furniture: at a drawer one is at all of its chest."""
    places = robot.state.room.locations
    shared = Counter(place.piece.name for place in places.values())
    return [name for name, place in places.items() if shared[place.piece.name] == 1]


def _place(robot: KitchenRobot, name: str) -> str:
    return str(robot.state.location_of(name))


def _carry(names: Sequence[str], source: str, place: str, robot: KitchenRobot) -> None:
    """Carry objects, one after the other, from one location to another."""
    for name in names:
        robot.goto_loc(source)
        robot.pick_obj(name)
        robot.goto_loc(place)
        robot.place_at_obj(place)


def _fits(robot: KitchenRobot, act: Callable[[KitchenRobot], object]) -> bool:
    """Return whether something can be done, tried out in an instant twin of the kitchen."""
    twin = create(seed=0, mode="instant")
    twin.restore(robot.snapshot())
    try:
        act(twin)
    except RobotError:
        return False
    return True


@robot_task(TASKS, "go-to")
def _go(rng: Rng, robot: KitchenRobot) -> RobotCase:
    place = _one(rng, [name for name in _alone(robot) if name != "table"])
    return RobotCase(
        (f"go to the {place}",),
        f"goto_loc('{place}')",
        first_of(at(place), undisturbed(robot, [])),
    )


@robot_task(TASKS, "fetch")
def _fetch(rng: Rng, robot: KitchenRobot) -> RobotCase:
    for name, place in _pairs(rng, _small(robot), _TARGETS):
        source = _place(robot, name)
        if place != source and _fits(robot, partial(_carry, [name], source, place)):
            break
    return RobotCase(
        (f"take the {name} from the {source} to the {place}",),
        f"goto_loc('{source}')\npick_obj('{name}')\ngoto_loc('{place}')\nplace_at_obj('{place}')",
        first_of(lies(name, place), undisturbed(robot, [name])),
    )


def _pairs(rng: Rng, first: Sequence[A], second: Sequence[B]) -> Iterator[tuple[A, B]]:
    """Yield every pair in a random order."""
    pairs = list(itertools.product(first, second))
    for number in rng.permutation(len(pairs)):
        yield pairs[number]


@robot_task(TASKS, "throw-away")
def _throw_away(rng: Rng, robot: KitchenRobot) -> RobotCase:
    name = _one(rng, _small(robot))
    source = _place(robot, name)
    return RobotCase(
        (f"go to the {source}", f"throw the {name} away"),
        (
            f"goto_loc('{source}')",
            f"pick_obj('{name}')\ngoto_loc('trash bin')\nplace_at_obj('trash bin')",
        ),
        first_of(lies(name, "trash bin"), undisturbed(robot, [name])),
        on_the_way=(at(source),),
    )


@robot_task(TASKS, "into-bowl")
def _bowl(rng: Rng, robot: KitchenRobot) -> RobotCase:
    fruit = [name for name in _small(robot) if KINDS[name].category == "fruit"]
    name, bowl = _one(rng, fruit), _place(robot, "bowl")
    source = _place(robot, name)
    words = (
        f"go to the {source}",
        f"pick up the {name}",
        f"go to the {bowl}",
        "put it in the bowl",
    )
    return RobotCase(
        words,
        (
            f"goto_loc('{source}')",
            f"pick_obj('{name}')",
            f"goto_loc('{bowl}')",
            "place_at_obj('bowl')",
        ),
        first_of(in_bowl(name), undisturbed(robot, [name])),
        on_the_way=(at(source), holds(name), at(bowl)),
    )


@robot_task(TASKS, "all-of-a-kind")
def _all_of_a_kind(rng: Rng, robot: KitchenRobot) -> RobotCase:
    for category, source in _pairs(rng, list(_PLURALS), SURFACES):
        alike = [name for name in _small(robot) if KINDS[name].category == category]
        moved = [name for name in alike if _place(robot, name) == source]
        place = _one(rng, [name for name in SURFACES if name != source])
        if moved and _fits(robot, partial(_carry, moved, source, place)):
            break
    judges = [lies(name, place) for name in moved]
    return RobotCase(
        (f"take {_PLURALS[category]} from the {source} to the {place}",),
        f"for name in {moved!r}:\n    goto_loc('{source}')\n    pick_obj(name)\n"
        f"    goto_loc('{place}')\n    place_at_obj('{place}')",
        first_of(*judges, undisturbed(robot, moved)),
    )


@robot_task(TASKS, "into-drawer")
def _into_drawer(rng: Rng, robot: KitchenRobot) -> RobotCase:
    low = [name for name in _small(robot) if KINDS[name].size[2] < 0.13]
    sponge = robot.state.location_of("sponge")
    name, drawer = _one(rng, low), _one(rng, [name for name in _DRAWERS if name != sponge])
    source = _place(robot, name)
    return RobotCase(
        (f"go to the {source}", f"put the {name} in the {drawer}"),
        (
            f"goto_loc('{source}')",
            f"goto_loc('{drawer}')\nopen_drawer('{drawer}')\n"
            f"goto_loc('{source}')\npick_obj('{name}')\n"
            f"goto_loc('{drawer}')\nplace_at_obj('{drawer}')\nclose_drawer('{drawer}')",
        ),
        first_of(lies(name, drawer), shut(drawer), undisturbed(robot, [name])),
        on_the_way=(at(source),),
    )


@robot_task(TASKS, "out-of-drawer")
def _out_of_drawer(rng: Rng, robot: KitchenRobot) -> RobotCase:
    drawer = _place(robot, "sponge")
    place = _one(rng, ("table", "countertop", "desk"))
    return RobotCase(
        (
            f"take the sponge out of the {drawer}",
            f"put it on the {place}",
            f"close the {drawer}",
        ),
        (
            f"goto_loc('{drawer}')\nopen_drawer('{drawer}')\npick_obj('sponge')",
            f"goto_loc('{place}')\nplace_at_obj('{place}')",
            f"goto_loc('{drawer}')\nclose_drawer('{drawer}')",
        ),
        first_of(lies("sponge", place), shut(drawer), undisturbed(robot, ["sponge"])),
        on_the_way=(
            # In the gripper it is at no location.
            lambda robot: "the sponge is still in" if _place(robot, "sponge") == drawer else None,
            lies("sponge", place),
        ),
    )


@robot_task(TASKS, "find")
def _find(rng: Rng, robot: KitchenRobot) -> RobotCase:
    name = _one(rng, _small(robot))
    place = _place(robot, name)
    return RobotCase(
        (f"find the {name}, and say just where it is",),
        f"for loc in get_loc_names():\n    goto_loc(loc)\n    if is_obj_visible('{name}'):\n"
        "        say(f'at the {loc}')\n        break",
        first_of(at(place), said_where(name, place), undisturbed(robot, [])),
    )


@robot_task(TASKS, "beside")
def _beside(rng: Rng, robot: KitchenRobot) -> RobotCase:
    sides = {"left": -1.0, "right": 1.0}

    def together(name: str, other: str) -> bool:
        return _place(robot, name) == _place(robot, other)

    def put(robot: KitchenRobot) -> None:
        robot.goto_loc(place)
        robot.pick_obj(name)
        rest = robot.place_at_pos([*where, 0.0])
        if math.dist((float(rest[0]), float(rest[1])), where) > 0.01:
            raise RobotError("the spot is taken")
        if robot.state.location_of(name) != place:
            raise RobotError("the spot is elsewhere")

    two = [pair for pair in itertools.permutations(_small(robot), 2) if together(*pair)]
    for (name, other), (side, cm) in _pairs(rng, two, list(itertools.product(sides, ASIDE_CM))):
        place = _place(robot, name)
        x, y = robot.state[other].xy
        where = (x + sides[side] * cm / 100, y)
        away = math.dist(robot.state[name].xy, where) > _AWAY_M
        if away and _fits(robot, put):
            break
    else:
        raise RuntimeError("no two objects leave room beside them in this kitchen")
    return RobotCase(
        (f"go to the {place}", f"put the {name} {cm} cm to the {side} of the {other}"),
        (
            f"goto_loc('{place}')",
            f"target = get_obj_pos('{other}')\npick_obj('{name}')\n"
            f"place_at_pos(target + {sides[side] * cm / 100} * np.array([1, 0, 0]))",
        ),
        first_of(beside(name, where), undisturbed(robot, [name])),
        on_the_way=(at(place),),
    )


@robot_task(TASKS, "until-seen")
def _until_seen(rng: Rng, robot: KitchenRobot) -> RobotCase:
    offered: list[tuple[float, str, str]] = []
    for name in _small(robot):
        source = _place(robot, name)
        across, ahead = Base(*robot.state.room.locations[source].stand).local(robot.state[name].xy)
        beyond = abs(across) - math.tan(DETECT_RAD) * ahead
        if beyond > _UNSEEN_M or source != "table":
            offered.append((beyond, name, source))
    _, name, source = max(offered)
    start = Base(*robot.state.room.locations[source].stand)
    side = "right" if start.local(robot.state[name].xy)[0] > 0 else "left"
    speed, way = 0.2 if side == "right" else -0.2, Way()
    return RobotCase(
        (f"go to the {source}", f"move to the {side} until you see the {name}"),
        (
            f"goto_loc('{source}')",
            f"while not detect_object('{name}'):\n    set_velocity(x={speed}, y=0, turn=0)\nstop()",
        ),
        first_of(
            at(source),
            stopped_on_seeing(name, start, _FASTEST_MPS, way),
            undisturbed(robot, []),
        ),
        on_the_way=(at(source),),
        watch=way.watch,
    )


def kitchen() -> RobotSuite:
    """Return the suite."""
    return RobotSuite("kitchen", "7", "kitchen", TASKS, "ten errands in a kitchen")
