"""The table that primitives act on; without dynamics: plans come true at once and exactly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.arm import ur5e
from robots.arm.gripper import ROBOTIQ_2F_85, Fingers
from robots.arm.motion import Pose
from robots.arm.travel import PARK, TABLE
from robots.ravens import route
from robots.ravens.bodies import shapes, view
from robots.ravens.state import Layout, WorldState, slipped
from robots.ravens.transfer import Transfer
from robots.simulation.top_view import TopView
from robots.simulation.turn_history import TurnHistory
from robots.simulation.world import WorldOwner
from robots.table.geometry import TABLE_X, TABLE_Y, XY

_PARKED = PARK.joints()


class TabletopWorld:
    """Puts every object exactly where its plan says, in no time, and draws the table from above.

    Worlds with an arm follow the same plans in their own way.
    """

    def __init__(
        self, owner: WorldOwner, state: WorldState, fingers: Fingers = ROBOTIQ_2F_85
    ) -> None:
        """Start from a state.

        Args:
            owner: The robot.
            state: Where everything is.
            fingers: How far the gripper opens; plans must know.
        """
        self.state = state
        """How everything is between motions: assign to put a snapshot back."""
        self.fingers = fingers
        self._owner = owner

    def remember(self, turns: TurnHistory[Layout]) -> None:
        """Keep where everything was before the last turns."""
        self.state = replace(self.state, turns=turns)

    def begin(self) -> None:
        """Make ready for an action: a stop of the one before is over.

        Raises:
            RobotError: The arm is not ready to move.
        """

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up and put it down; or lose it as it is lifted.

        Raises:
            NotGrasped: The fingers closed on nothing, or the object was lost on the way.
            RobotError: The motion was stopped.
        """
        self.state = replace(self.state, actions=self.state.actions + 1, joints=_PARKED)
        if slips:
            raise slipped(planned.name)
        self.state = replace(self.state, scene=self.state.scene.moved(planned.result))
        self._owner.frame()

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, if anything."""
        if self.state.held is not None:
            planned = self.state.put_down(self.fingers)
            moved = self.state.scene.moved(planned.result)
            self.state = replace(self.state, scene=moved, joints=_PARKED, held=None)

    def point(self, xy: XY) -> None:
        """Hold the gripper over a point of the table, metres."""
        joints = Pose(*xy, TABLE.least, PARK.yaw).joints()
        self.state = replace(self.state, joints=joints)
        self._owner.frame()

    def follow(self, path: NDArray[np.float64], speed_mps: float) -> None:
        """Take the gripper to a path's first point, then along the path, clear of all objects.

        Args:
            path: Points on the table, shape (n, 2), n at least 2, metres.
            speed_mps: Greatest speed of the fingertips along the path, m/s.

        Raises:
            Unreachable: Part of the way is beyond the arm; nothing moved.
            RobotError: The motion was stopped; what was followed until then is in `state.paths`.
        """
        end = route.pose_over(path[-1], route.height_m(self.state.scene))
        moved = replace(self.state, actions=self.state.actions + 1, joints=end.joints())
        self.state = moved.followed(path)
        self._owner.frame()

    def now(self) -> WorldState:
        """Return how everything is at this moment, in the middle of a motion too."""
        return self.state

    def render(self, width: int, height: int) -> Any:
        """Return a picture as a PIL image; here from above: up is y, right is x."""
        return draw_top_view(self.state, width, height)

    def close(self) -> None:
        """Release what the world holds."""


_BORDER_M = 0.03
_DESK, _TRAIL = (204, 179, 148), (70, 72, 76)
_TRAIL_M = 0.002
"""Width of the way the gripper went, straight below it."""
_SHOWN_PATHS = 3
_EYE_M = 0.9
"""Height of the eye above the middle of the table."""


def draw_top_view(state: WorldState, width: int, height: int) -> Any:
    """Draw the table from above as a PIL image; up is y, right is x."""
    x, y = ((low - _BORDER_M, high + _BORDER_M) for low, high in (TABLE_X, TABLE_Y))
    picture = TopView((width, height), x, y, _DESK, _EYE_M)
    placed = view(state).placements
    shown = {name: place for name, place in placed.items() if not name.startswith("arm/")}
    picture.solids(shapes(state), shown)
    for path in state.paths[-_SHOWN_PATHS:]:
        picture.line(path, _TRAIL_M, _TRAIL)
    tip = ur5e.forward(state.joints)[:3, 3].tolist()
    for radius, color in ((0.012, (70, 72, 76)), (0.008, (250, 250, 250))):
        picture.disc(tip, radius, color)
    return picture.image()
