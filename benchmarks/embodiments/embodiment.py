"""The robots that get the same instructions: what stands around them and what their tool did.

To add one, say how it is made, how an oracle leads its tool along points, which paths its tool can
take, and where the tool went. It needs a primitive `get_obj_pos` that knows `things` and the places
the tasks name ('middle' and the corners), xy first and in metres, and prompts for its models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from shapely.geometry import MultiLineString

from cap.errors import RobotError
from robots.drawing import board
from robots.ravens import RavensRobot, route

Array = NDArray[np.float64]
Traces = Sequence[MultiLineString]
_THINGS = ("red block", "green block", "blue block")
_MOST_STROKES = 6
"""Strokes of the gripper that may make one figure."""


@dataclass(frozen=True)
class Embodiment:
    """One robot as the tasks see it."""

    robot: str
    """Registered robot; reports show it as the split."""
    act: str
    """Statement that leads the tool along `pts`, shape (n, 2), metres."""
    things: tuple[str, ...]
    """Names of at least two things a figure can be around."""
    refuses: Callable[[Any, Array], None]
    """Raises `RobotError` if a robot's tool cannot follow a path in its scene."""
    traces: Callable[[Any], Traces]
    """What a robot's tool has done since the reset, as geometry: each way to read it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """How its factory makes the scene."""

    def fits(self, robot: Any, paths: Sequence[Array | None]) -> bool:
        """Return whether there are paths, and a robot's tool can follow them in its scene."""
        try:
            for path in paths:
                if path is None:
                    return False
                self.refuses(robot, path)
        except RobotError:
            return False
        return True


def _gripper_traces(robot: RavensRobot) -> Traces:
    """Return the last path, the last two, and so on: ways to where a figure begins are no figure.

    Ways that follow it are: a gripper leaves no ink, but it shows how it ends.
    """
    paths = robot.state.paths
    return [MultiLineString(paths[-n:]) for n in range(1, min(len(paths), _MOST_STROKES) + 1)]


EMBODIMENTS = (
    Embodiment(
        "ravens",
        "follow_traj(pts)",
        _THINGS,
        refuses=lambda robot, path: route.check_path(robot.state.scene, path),
        traces=_gripper_traces,
        options={"objects": list(_THINGS)},
    ),
    Embodiment(
        "drawing",
        "draw(pts)",
        _THINGS,
        refuses=lambda robot, path: board.check_path(robot.state.scene, path),
        traces=lambda robot: [robot.state.ink()],  # all of it counts
        options={"objects": list(_THINGS)},
    ),
)
