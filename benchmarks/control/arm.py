"""A UR5e driven by joint torques in MuJoCo, whose fingertips are to follow a moving goal.

A program reads joints, fingertips and Jacobian, sets torques, and lets simulated time pass, one
control period at a time. Only the position of the fingertips is asked for; how the hand is turned
is not, and some friction in the joints keeps it from swinging.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.control.worlds import Array, Episode, commanded
from cap.errors import LimitExceeded
from robots.arm import ur5e
from robots.base import action, perception
from robots.ravens.world import ARM
from robots.simulation.physics import MUJOCO, chosen_engine

STEP_S = 1 / 240
"""Simulated time between two torques."""
SUBSTEPS = 2
LEGS = 3
LEG_S = 1.0
"""Time the goal takes for each leg, with soft ends."""
JUMP_M = 0.05
"""How far it jumps after the last leg, to rest there."""
HOLD_S = 1.0
"""Time it then rests."""
STEPS = round((LEGS * LEG_S + HOLD_S) / STEP_S)
JUMP_STEP = round(LEGS * LEG_S / STEP_S)
"""The first one at which the goal has jumped."""
LEG_M = (0.08, 0.15)
"""Length of a leg."""
_START_M = (0.05, -0.5, 0.35)
_SPREAD_M = 0.05
FRICTION_NMS = (2.0, 2.0, 2.0, 0.5, 0.5, 0.5)
"""Viscous friction of each joint, Nm s/rad."""
_COUNT = 6


class Arm(Episode):
    """One simulation, from a start and with a goal that the seed decides."""

    name = "impedance"
    STEP_S = STEP_S

    def __init__(self, seed: int) -> None:
        """Load the arm at rest, the goal at its fingertips.

        Raises:
            MissingSimulator: MuJoCo is not installed.
        """
        chosen_engine(MUJOCO)
        import mujoco

        self._mujoco: Any = mujoco
        self.seed = seed
        """What start and goal came from."""
        rng = np.random.default_rng([seed, 5])
        start = np.array(_START_M) + rng.uniform(-_SPREAD_M, _SPREAD_M, 3)
        self._corners = _corners(rng, start)
        joints = ur5e.inverse(start[None], np.zeros(1))[0]
        spec = mujoco.MjSpec.from_file(str(ARM.urdf))
        spec.option.timestep = STEP_S / SUBSTEPS
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        for finger in spec.joints[_COUNT:]:
            spec.delete(finger)
        self._model = spec.compile()
        self._model.dof_damping[:] = FRICTION_NMS
        self._data, self._now = mujoco.MjData(self._model), mujoco.MjData(self._model)
        self._data.qpos[:] = joints
        self._torques = np.zeros(6)
        self.track = [self._tip().tolist()]
        """Where the fingertips were, xyz in metres; one more than there were steps."""
        self.pulls: list[tuple[Array, Array]] = []
        """Of each step: the velocity of the fingertips as it began, m/s, and the force on them that
        the torques were beyond those against gravity, N."""

    @perception
    def get_joint_positions(self) -> Array:
        """Return the six joint angles q, shape (6,), radians."""
        return np.array(self._data.qpos)

    @perception
    def get_joint_velocities(self) -> Array:
        """Return the six joint velocities dq, shape (6,), rad/s."""
        return np.array(self._data.qvel)

    @perception
    def get_ee_position(self) -> Array:
        """Return where the fingertips are, xyz in the base frame, shape (3,), metres."""
        return np.array(self.track[-1])

    @perception
    def get_jacobian(self) -> Array:
        """Return the Jacobian J of the fingertips' position, shape (3, 6): x_dot = J @ dq."""
        self._at_rest()
        found = np.zeros((3, _COUNT))
        hand = self._model.body("hand").id
        self._mujoco.mj_jac(self._model, self._now, found, None, self._tip(), hand)
        return found

    @perception
    def get_gravity_torques(self) -> Array:
        """Return the torques that hold the arm against gravity as it is now, shape (6,), Nm."""
        self._at_rest()
        return np.array(self._now.qfrc_bias)

    @perception
    def get_goal_position(self) -> Array:
        """Return where the fingertips should be now, xyz in the base frame, shape (3,), metres."""
        return self.goal(self.steps)

    @perception
    def is_done(self) -> bool:
        """Return whether the time is over."""
        return self.steps >= STEPS

    @action
    def set_torques(self, torques: Sequence[float]) -> Array:
        """Set the motors' torques, shape (6,), Nm, from now on; they limit them.

        Returns:
            The torques they give: at most 150 Nm in the first three joints, 28 in the others.

        Raises:
            ValueError: There are not six finite numbers.
        """
        wanted = commanded(torques, 6, "torques in Nm")
        self._torques = np.clip(wanted, -np.array(ur5e.MAX_TORQUE), ur5e.MAX_TORQUE)
        return self._torques.copy()

    @action
    def step(self) -> float:
        """Let one control period of 1/240 s pass; return the time since the start, seconds.

        Raises:
            LimitExceeded: The time is over.
        """
        if self.is_done():
            raise LimitExceeded(f"the time was over after {self.sim_time_s:g} s; ask is_done()")
        jacobian = self.get_jacobian()
        beyond = self._torques - self.get_gravity_torques()
        force = np.linalg.lstsq(jacobian.T, beyond, rcond=None)[0]
        self.pulls.append((jacobian @ self._data.qvel, np.asarray(force, dtype=float)))
        for _ in range(SUBSTEPS):
            self._data.qfrc_applied[:] = self._torques
            self._mujoco.mj_step(self._model, self._data)
        self.track.append(self._tip().tolist())
        return self.sim_time_s

    def goal(self, step: int) -> Array:
        """Return where the fingertips should be after so many control periods."""
        if step >= JUMP_STEP:
            return np.array(self._corners[-1])
        leg, part = divmod(step * STEP_S / LEG_S, 1.0)
        start, end = self._corners[int(leg) : int(leg) + 2]
        share = part**3 * (10 - 15 * part + 6 * part**2)  # least jerk: starts and ends at rest
        return np.asarray(start + share * (end - start))

    def _tip(self) -> Array:
        return np.asarray(ur5e.forward(self._data.qpos.tolist())[:3, 3])

    def _at_rest(self) -> None:
        """Compute what the present angles mean, apart from the simulation."""
        self._now.qpos[:] = self._data.qpos
        self._mujoco.mj_forward(self._model, self._now)


def _corners(rng: np.random.Generator, start: Array) -> Array:
    """Return where the goal starts, turns, jumps from and ends, shape (LEGS + 2, 3), in reach."""
    corners = [start]
    while len(corners) < LEGS + 2:
        way = rng.normal(size=3)
        length = JUMP_M if len(corners) > LEGS else rng.uniform(*LEG_M)
        corner = corners[-1] + length * way / np.linalg.norm(way)
        if np.abs(corner - _START_M).max() <= LEG_M[1]:
            corners.append(corner)
    return np.array(corners)
