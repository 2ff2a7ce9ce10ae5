"""The robots that get the same instructions: what stands around them and what they did.

To add one, say how it is made and what it can do. What traces needs a primitive `get_obj_pos` that
knows `things` and the places the tasks name ('middle' and the corners), xy first and in metres;
what carries needs a bowl among its objects; each needs prompts for its models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from shapely.geometry import MultiLineString

from cap.errors import RobotError
from cap.robot import registry
from robots.drawing import board
from robots.kitchen.objects import KINDS
from robots.ravens import route
from robots.ravens.scene import BOWL_RIM_R

Array = NDArray[np.float64]
Traces = Sequence[MultiLineString]
Skill = Literal["trace", "carry", "look"]
"""What a task asks for: leading a tool along points, moving things, answering."""
_THINGS = ("red block", "green block", "blue block")
_MOST_STROKES = 256
"""Strokes of the gripper that may make one figure: a circle may be one short way after another."""


@dataclass(frozen=True)
class Embodiment:
    """One robot as the tasks see it."""

    robot: str
    """Registered robot; reports show it as the split."""
    things: tuple[str, ...]
    """Names of at least three things that can be named, surrounded or carried; two if it only
    traces."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How its factory makes the scene."""
    mode: str = ""
    """The only one it has; any that is asked for, if empty."""
    act: str = ""
    """Statement that leads its tool along `pts`, shape (n, 2), metres; empty if none can be led."""
    refuses: Callable[[Any, Array], None] = lambda robot, path: None
    """Raises `RobotError` if a robot's tool cannot follow a path in its scene."""
    traces: Callable[[Any], Traces] = lambda robot: ()
    """What a robot's tool has done, as geometry: each way to read it."""
    ink: bool = False
    """What it traced stays: a later figure is added to it. Else it may be the last one alone."""
    hands: str = ""
    """Defines `put_in(name, bowl)`, `put_beside(name, other)` and `put_between(name, one, other)`;
    empty if it carries nothing."""
    bowl: str = ""
    """What an instruction calls 'the bowl'."""
    bowl_r_m: float = 0.0
    """Radius of its rim, metres."""
    seen: str = ""
    """Expression for the names of what it sees; empty if it does not tell."""

    @property
    def skills(self) -> frozenset[Skill]:
        """What it can be asked for."""
        has: dict[Skill, str] = {"trace": self.act, "carry": self.hands, "look": self.seen}
        return frozenset(skill for skill, how in has.items() if how)

    def make(self, seed: int, mode: str) -> Any:
        """Return the robot in the scene of a seed."""
        return registry.make_robot(self.robot, seed=seed, mode=self.mode or mode, **self.options)

    def follows(self, robot: Any, paths: Sequence[Array | None]) -> bool:
        """Return whether there are paths, and a robot's tool can follow them in its scene."""
        try:
            for path in paths:
                if path is None:
                    return False
                self.refuses(robot, path)
        except RobotError:
            return False
        return True


def _gripper_traces(robot: Any) -> Traces:
    """Return the last path, the last two, and so on: ways to where a figure begins are no figure.

    Ways that follow it are: a gripper leaves no ink, but it shows how it ends.
    """
    paths = robot.paths if robot.name == "tabletop" else robot.state.paths
    return [MultiLineString(paths[-n:]) for n in range(1, min(len(paths), _MOST_STROKES) + 1)]


_TABLE = {"objects": [*_THINGS, "cyan bowl"]}
_TABLE_HANDS = """\
def put_in(name, bowl):
    put_first_on_second(name, bowl)

def put_beside(name, other):
    put_first_on_second(name, find_free_region([0.1, 0.1], near=other, moving=[name]))

def put_between(name, one, other):
    put_first_on_second(name, (get_obj_pos(one) + get_obj_pos(other)) / 2)

"""
_KITCHEN_HANDS = """\
def put_in(name, bowl):
    pick_obj(name)
    place_at_obj(bowl, 'in')

def put_beside(name, other):
    pick_obj(name)
    place_at_obj(other, 'beside')

def put_between(name, one, other):
    pick_obj(name)
    place_at_pos((get_obj_pos(one) + get_obj_pos(other)) / 2)

"""

_RAVENS = Embodiment(
    "ravens",
    _THINGS,
    _TABLE,
    act="follow_traj(pts)",
    refuses=lambda robot, path: route.check_path(robot.state.scene, path),
    traces=_gripper_traces,
    hands=_TABLE_HANDS,
    bowl="cyan bowl",
    bowl_r_m=BOWL_RIM_R,
    seen="get_obj_names()",
)
EMBODIMENTS = (
    _RAVENS,
    replace(  # the real arm's road, up to the commands that would be sent
        _RAVENS,
        robot="tabletop",
        mode="instant",
        refuses=lambda robot, path: route.check_path(robot.twin().state.scene, path),
    ),
    Embodiment(
        "drawing",
        _THINGS,
        {"objects": list(_THINGS)},
        act="draw(pts)",
        refuses=lambda robot, path: board.check_path(robot.state.scene, path),
        traces=lambda robot: [robot.state.ink()],  # all of it counts
        ink=True,
        seen="get_obj_names()",
    ),
    Embodiment(
        "kitchen",
        _THINGS,
        {"objects": [*_THINGS, "bowl"]},
        hands=_KITCHEN_HANDS,
        bowl="bowl",
        bowl_r_m=KINDS["bowl"].size[0] / 2,
        seen="get_visible_obj_names()",
    ),
)
