"""The drawing arm in MuJoCo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco

from robots.arm import ur5e
from robots.drawing.board import ARM_URDF, BoardState
from robots.ravens.scene import BLOCK_HALF, Scene
from robots.simulation.mujoco_arm import ARM, FIXED, add_box, drive, new_spec
from robots.table.geometry import Vec3

_JOINTS = len(ur5e.MAX_TORQUE)


class MujocoPen:
    """A UR5e with a pen; see `Pen`."""

    def __init__(self) -> None:
        """Compile nothing yet."""
        self._scene: Scene | None = None
        self._model: Any = None

    def build(self, state: BoardState) -> None:
        """Build the simulation of a state; see `Pen`."""
        if self._scene != state.scene:
            spec = new_spec(ARM_URDF)
            for body in state.scene.bodies:
                x, y, z, w = body.quaternion
                place = {"pos": list(body.position), "quat": [w, x, y, z]}
                touch = {"contype": FIXED, "conaffinity": ARM}
                add_box(spec.worldbody, (BLOCK_HALF,) * 3, **place, **touch)
            self._scene, self._model = state.scene, spec.compile()
        self._data = mujoco.MjData(self._model)
        self._data.qpos[:] = state.joints

    def advance(self, position: Sequence[float], velocity: Sequence[float]) -> None:
        """Advance one step; see `Pen`."""
        drive(self._model, self._data, position, velocity, ur5e.MAX_TORQUE)

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""
        return tuple(self._data.qpos.tolist())

    def tip(self) -> Vec3:
        """Return where the tip of the pen is, metres."""
        mujoco.mj_kinematics(self._model, self._data)
        x, y, z = self._data.body("tip").xpos.tolist()
        return (x, y, z)

    def close(self) -> None:
        """Do nothing: no resource is held."""
