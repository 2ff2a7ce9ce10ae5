"""What carries a pen's paths out: at once and exactly, or with a simulated arm.

In the simulated one the arm is moved by its joint motors, and the ink is where the tip of the pen
really was while it touched the board.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from shapely.geometry import LineString
from shapely.ops import substring

from robots.arm import ur5e
from robots.arm.motion import DT_S, PEN_UP_M, Pose, along, over, through
from robots.arm.strokes import Array, Stroke, resampled, stroke_of
from robots.drawing.board import ARM_URDF, BoardState
from robots.ravens.scene import BLOCK_HALF
from robots.simulation.bodies import ArmBody, BoxPart, FixedBody, Friction, PhysicsWorld
from robots.simulation.grasping_arm import GraspingArm
from robots.simulation.physics import MotorWorld
from robots.simulation.world import WorldOwner
from robots.table.geometry import XY

SPEED_MPS = 0.25
"""Of the pen while it draws."""
PARK = Pose(0.0, -0.25, 0.15, np.pi / 2)
_ACCELERATION_MPS2 = 1.5
"""Of the pen while it draws: a line stays within a fraction of a millimetre."""
_SPACING_M = 0.0015
_TOUCH_Z = 0.002
"""The tip, on its spring, marks the board below this height, metres."""
_SETTLE_STEPS = 12
_FRAMES = 8
"""What is seen of a path that is followed in no time, its ends included."""


class Board:
    """Follows paths with the pen, or with the eraser in its place: exactly, in no time."""

    def __init__(self, owner: WorldOwner, state: BoardState) -> None:
        """Start from a state; the owner's `frame` is called a few times along each path."""
        self.state = state
        """How everything is between motions: assign to put a snapshot back."""
        self._owner = owner
        self._under_way: tuple[BoardState, XY] | None = None

    def trace(self, points: Array, *, keep: bool = True) -> Stroke:
        """Follow a path, shape (n, 2), metres; return where the tip touched the board.

        Args:
            points: The waypoints.
            keep: Whether it leaves ink; otherwise it takes ink off.

        Raises:
            RobotError: The motion was stopped; what was drawn until then stays.
            Unreachable: Part of the way is beyond the arm.
        """
        stroke = tuple((float(x), float(y)) for x, y in points)
        mark, whole = self.state.drawn if keep else self.state.erased, LineString(stroke)
        try:
            for share in np.linspace(0.0, 1.0, _FRAMES)[1:-1].tolist():
                part = stroke_of(substring(whole, 0.0, share, normalized=True).coords)
                self._under_way = mark(part), part[-1]
                self._owner.frame()
        finally:
            self._under_way = None
        self.state = mark(stroke)
        self._owner.frame()
        return stroke

    def now(self) -> BoardState:
        """Return the board at this moment, in the middle of a motion too."""
        return self._under_way[0] if self._under_way else self.state

    def tip(self) -> XY | None:
        """Return where the tip is while it follows a path, metres."""
        return self._under_way[1] if self._under_way else None

    def close(self) -> None:
        """Do nothing: no resource is held."""


_PEN = ArmBody(ARM_URDF, ur5e.MAX_TORQUE, fingers=False)
_FRICTION = Friction(pybullet=(0.5, 0.0, 0.0), mujoco=(1.0, 0.005, 0.0001))


def world_of(state: BoardState) -> PhysicsWorld:
    """Return the arm and what stands on the board, for a physics engine."""
    block = (BoxPart((BLOCK_HALF,) * 3),)
    fixed = tuple(FixedBody(block, body.position, body.yaw) for body in state.scene.bodies)
    return PhysicsWorld(_PEN, state.joints, "none", _FRICTION, fixed=fixed)


class ArmBoard(MotorWorld[BoardState], Board):
    """A UR5e with a pen, with dynamics."""

    _touched: Sequence[tuple[float, float]] = ()
    _keeping = True

    def trace(self, points: Array, *, keep: bool = True) -> Stroke:
        """Follow a path; see `Board`."""
        path = resampled(points, _SPACING_M)
        first, last = (Pose(float(x), float(y), 0.0, PARK.yaw) for x, y in (path[0], path[-1]))
        start = Pose.of_joints(self.state.joints)
        height = max(PEN_UP_M, start.z)
        level = np.column_stack([path, np.zeros(len(path)), np.full(len(path), PARK.yaw)])
        to = through(over(start, first, height))
        drawing = along(level, speed_mps=SPEED_MPS, acceleration_mps2=_ACCELERATION_MPS2)
        up = through([last, replace(last, z=PEN_UP_M)])
        touched: list[tuple[float, float]] = []
        self._touched, self._keeping = touched, keep
        with self._motion(world_of(self.state)) as pen:

            def note_touch() -> None:
                x, y, z = pen.tip()
                if z < _TOUCH_Z:
                    touched.append((x, y))

            for leg in (to, drawing, up):
                pen.on_step = note_touch if leg is drawing else None
                pen.follow(leg)
                pen.wait(_SETTLE_STEPS)
        return stroke_of(touched)

    def _in_motion(self, simulation: GraspingArm) -> BoardState:
        time_s = self.state.time_s + simulation.steps * DT_S
        state = replace(self.state, joints=simulation.joints(), time_s=time_s)
        if len(self._touched) > 1:
            stroke = stroke_of(self._touched)
            return state.drawn(stroke) if self._keeping else state.erased(stroke)
        return state

    def _after(self, now: BoardState) -> BoardState:
        return now

    def tip(self) -> XY | None:
        """Return where the tip is; see `Board`."""
        return None if self._running is None else self._running.tip()[:2]
