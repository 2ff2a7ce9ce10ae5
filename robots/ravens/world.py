"""The table that primitives act on, without dynamics (plans come true exactly), and its bodies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.robot.view import ORIGIN, Appearance, Polyline, Rgb, Shape
from robots.arm import ur5e
from robots.arm.gripper import (
    FINGER_FORCE_N,
    FINGER_SPEED_MPS,
    GRIP_FORCE_N,
    HOLD_FORCE_N,
    ROBOTIQ_2F_85,
    Fingers,
)
from robots.arm.linkage import linkage
from robots.arm.motion import PARK, TABLE, Pose
from robots.ravens import route
from robots.ravens.scene import (
    BLOCK_MASS_KG,
    BOWL_BASE_R,
    BOWL_FLOOR,
    BOWL_HEIGHT,
    BOWL_MASS_KG,
    BOWL_RIM_R,
    BOWL_WALL,
    Body,
    Scene,
)
from robots.ravens.state import Layout, WorldState, slipped
from robots.ravens.transfer import Transfer
from robots.simulation.bodies import ArmBody, BoxPart, Friction, LooseBody, PhysicsWorld, ring
from robots.simulation.simulated_robot import TurnHistory
from robots.simulation.top_view import TopView
from robots.simulation.world import WorldOwner
from robots.table.geometry import TABLE_X, TABLE_Y, XY
from robots.table.object_names import color_of

ARM = ArmBody(
    urdf=Path(__file__).with_name("ur5e.urdf"),
    torques=ur5e.MAX_TORQUE,
    finger_mps=FINGER_SPEED_MPS,
    closing_mps=FINGER_SPEED_MPS,
    finger_force_n=FINGER_FORCE_N,
    grip_force_n=GRIP_FORCE_N,
    hold_force_n=HOLD_FORCE_N,
)
_FRICTION = Friction(pybullet=(0.6, 0.002, 0.0), mujoco=(0.35, 0.002, 1e-4))
_RING_BOTTOM_M = 0.008
"""Where a simulated bowl's wall begins above its foot."""


def world_of(state: WorldState) -> PhysicsWorld:
    """Return the table of a state, for a physics engine."""
    return PhysicsWorld(
        ARM,
        state.joints,
        "box",
        _FRICTION,
        tuple(_loose(body) for body in state.scene.bodies),
        state.gap_m,
        held=state.held,
    )


def _loose(body: Body) -> LooseBody:
    if body.kind == "bowl":
        return LooseBody(body.name, _bowl(), BOWL_MASS_KG, body.position, body.quaternion)
    length, width, height = body.size
    box = BoxPart((length / 2, width / 2, height / 2))
    return LooseBody(body.name, (box,), BLOCK_MASS_KG, body.position, body.quaternion)


@lru_cache(maxsize=1)
def _bowl() -> tuple[BoxPart, ...]:
    """Return a bowl's floor and its wall."""
    half = (BOWL_BASE_R - BOWL_WALL / 2) / math.sqrt(2)
    floor = BoxPart((half, half, BOWL_FLOOR / 2), (0.0, 0.0, (BOWL_FLOOR - BOWL_HEIGHT) / 2))
    return (floor, *ring(BOWL_RIM_R, BOWL_BASE_R, BOWL_HEIGHT, BOWL_WALL, _RING_BOTTOM_M))


_MAT: Rgb = (230, 227, 222)
_DESK: Rgb = (204, 179, 148)
_PATH: Rgb = (70, 72, 76)
_MAT_M, _DESK_M, _BORDER_M = 0.004, 0.04, 0.16
_BOWL = (
    (BOWL_BASE_R, -BOWL_HEIGHT / 2),
    (BOWL_RIM_R, BOWL_HEIGHT / 2),
    (BOWL_RIM_R - BOWL_WALL, BOWL_HEIGHT / 2),
    (BOWL_BASE_R - BOWL_WALL, BOWL_FLOOR - BOWL_HEIGHT / 2),
    (0.0, BOWL_FLOOR - BOWL_HEIGHT / 2),
)


def table(mat: Rgb = _MAT) -> tuple[Shape, ...]:
    """Return the mat that is worked on, its top at height 0, and the desk it lies on."""
    (left, right), (front, back) = TABLE_X, TABLE_Y
    x, y = (left + right) / 2, (front + back) / 2
    wide, deep = right - left, back - front
    deeper = deep + _BORDER_M + 0.34  # the arm stands on it too
    at = (x, y + (deeper - deep - _BORDER_M) / 2, -_MAT_M - _DESK_M / 2, 0.0, 0.0, 0.0, 1.0)
    return (
        Shape("box", mat, (wide, deep, _MAT_M), (x, y, -_MAT_M / 2, 0.0, 0.0, 0.0, 1.0)),
        Shape("box", _DESK, (wide + 2 * _BORDER_M, deeper, _DESK_M), at),
    )


def object_shapes(scene: Scene) -> dict[str, tuple[Shape, ...]]:
    """Return what each object is made of."""
    return {f"objects/{body.name}": (_object(body),) for body in scene.bodies}


def _object(body: Body) -> Shape:
    if body.kind == "bowl":
        return Shape("lathe", color_of(body.name), profile=_BOWL)
    return Shape("box", color_of(body.name), body.size)


def shapes(state: WorldState) -> Mapping[str, Sequence[Shape]]:
    """Return what each body is made of."""
    return {"table": table(), **linkage(ARM.urdf).shapes, **object_shapes(state.scene)}


def view(state: WorldState) -> Appearance:
    """Return where each body is in a state."""
    half = state.gap_m / 2
    objects = {
        f"objects/{body.name}": (*body.position, *body.quaternion) for body in state.scene.bodies
    }
    arm = linkage(ARM.urdf).placements([*state.joints, half, half])
    lines = tuple(
        Polyline(tuple((x, y, 0.001) for x, y in path), _PATH, 0.003) for path in state.paths
    )
    return Appearance({"table": ORIGIN, **arm, **objects}, lines)


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


_SEEN_AROUND_M = 0.03
"""What the picture shows beyond the mat."""
_TRAIL_M = 0.002
"""Width of the way the gripper went, straight below it."""
_SHOWN_PATHS = 3
_EYE_M = 0.9
"""Height of the eye above the middle of the table."""


def draw_top_view(state: WorldState, width: int, height: int) -> Any:
    """Draw the table from above as a PIL image; up is y, right is x."""
    x, y = ((low - _SEEN_AROUND_M, high + _SEEN_AROUND_M) for low, high in (TABLE_X, TABLE_Y))
    picture = TopView((width, height), x, y, _DESK, _EYE_M)
    placed = view(state).placements
    shown = {name: place for name, place in placed.items() if not name.startswith("arm/")}
    picture.solids(shapes(state), shown)
    for path in state.paths[-_SHOWN_PATHS:]:
        picture.line(path, _TRAIL_M, _PATH)
    tip = ur5e.forward(state.joints)[:3, 3].tolist()
    for radius, color in ((0.012, _PATH), (0.008, (250, 250, 250))):
        picture.disc(tip, radius, color)
    return picture.image()
