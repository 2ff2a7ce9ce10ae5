"""A UR5e without a controller in each engine: motors give torques, and joints have friction."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robots.arm import ur5e
from robots.ravens.bodies import ARM
from robots.simulation.engines import MUJOCO

Array = NDArray[np.float64]

FRICTION_NMS = (2.0, 2.0, 2.0, 0.5, 0.5, 0.5)
"""Viscous friction of each joint, Nm s/rad."""
_COUNT = 6
_HAND = 5
_TIP_LOCAL = (0.0, 0.0, ur5e.D6 + ur5e.TOOL_LENGTH)
"""The fingertips in the hand's frame, metres."""


class MujocoTorqueArm:
    """The arm in MuJoCo: at rest in a world of its own, with gravity and nothing to touch."""

    def __init__(self, joints: Array, step_s: float) -> None:
        """Put the arm at its angles (radians); a step takes `step_s` seconds."""
        import mujoco

        self._m: Any = mujoco
        spec = mujoco.MjSpec.from_file(str(ARM.urdf))
        spec.option.timestep = step_s
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        for finger in spec.joints[_COUNT:]:
            spec.delete(finger)
        self._model = spec.compile()
        self._model.dof_damping[:] = FRICTION_NMS
        self._data, self._now = mujoco.MjData(self._model), mujoco.MjData(self._model)
        self._data.qpos[:] = joints
        self._hand = self._model.body("hand").id

    def positions(self) -> Array:
        """Return the joint angles, shape (6,), radians."""
        return np.array(self._data.qpos)

    def velocities(self) -> Array:
        """Return the joint velocities, shape (6,), rad/s."""
        return np.array(self._data.qvel)

    def jacobian(self) -> Array:
        """Return the Jacobian of the fingertips' position, shape (3, 6)."""
        self._at_rest()
        tip = np.asarray(ur5e.forward(self._data.qpos.tolist())[:3, 3])
        found = np.zeros((3, _COUNT))
        self._m.mj_jac(self._model, self._now, found, None, tip, self._hand)
        return found

    def gravity(self) -> Array:
        """Return the torques that hold the arm as it is, shape (6,), Nm."""
        self._at_rest()
        return np.array(self._now.qfrc_bias)

    def _at_rest(self) -> None:
        """Compute what the present angles mean, apart from the simulation."""
        self._now.qpos[:] = self._data.qpos
        self._m.mj_forward(self._model, self._now)

    def step(self, torques: Array) -> None:
        """Let one step pass with these torques (Nm)."""
        self._data.qfrc_applied[:] = torques
        self._m.mj_step(self._model, self._data)

    def close(self) -> None:
        """Nothing is left open."""


class BulletTorqueArm:
    """The same in PyBullet."""

    def __init__(self, joints: Array, step_s: float) -> None:
        """Put the arm at its angles (radians); a step takes `step_s` seconds."""
        from robots.simulation.bullet import p

        self._p: Any = p
        self._client = client = p.connect(p.DIRECT)
        p.setGravity(0, 0, -9.81, physicsClientId=client)
        p.setTimeStep(step_s, physicsClientId=client)
        flags = p.URDF_USE_INERTIA_FROM_FILE | p.URDF_IGNORE_VISUAL_SHAPES
        self._body = body = p.loadURDF(
            str(ARM.urdf), useFixedBase=True, flags=flags, physicsClientId=client
        )
        for joint, friction in enumerate(FRICTION_NMS):
            p.resetJointState(body, joint, float(joints[joint]), physicsClientId=client)
            p.changeDynamics(body, joint, jointDamping=friction, physicsClientId=client)
        for link in range(-1, p.getNumJoints(body, physicsClientId=client)):
            p.changeDynamics(body, link, linearDamping=0, angularDamping=0, physicsClientId=client)
        motors = range(_COUNT)
        p.setJointMotorControlArray(
            body, motors, p.VELOCITY_CONTROL, forces=[0.0] * _COUNT, physicsClientId=client
        )

    def positions(self) -> Array:
        """Return the joint angles, shape (6,), radians."""
        return self._states(0)[:_COUNT]

    def velocities(self) -> Array:
        """Return the joint velocities, shape (6,), rad/s."""
        return self._states(1)[:_COUNT]

    def jacobian(self) -> Array:
        """Return the Jacobian of the fingertips' position, shape (3, 6)."""
        joints = self._states(0).tolist()
        zeros = [0.0] * len(joints)
        linear, _ = self._p.calculateJacobian(
            self._body, _HAND, _TIP_LOCAL, joints, zeros, zeros, physicsClientId=self._client
        )
        return np.array(linear)[:, :_COUNT]

    def gravity(self) -> Array:
        """Return the torques that hold the arm as it is, shape (6,), Nm."""
        joints = self._states(0).tolist()
        zeros = [0.0] * len(joints)
        torques = self._p.calculateInverseDynamics(
            self._body, joints, zeros, zeros, physicsClientId=self._client
        )
        return np.array(torques[:_COUNT])

    def step(self, torques: Array) -> None:
        """Let one step pass with these torques (Nm)."""
        self._p.setJointMotorControlArray(
            self._body,
            range(_COUNT),
            self._p.TORQUE_CONTROL,
            forces=torques.tolist(),
            physicsClientId=self._client,
        )
        self._p.stepSimulation(physicsClientId=self._client)

    def _states(self, which: int) -> Array:
        """Return one value of each joint, those of the fingers last."""
        joints = range(_COUNT + 2)
        states = self._p.getJointStates(self._body, joints, physicsClientId=self._client)
        return np.array([state[which] for state in states])

    def close(self) -> None:
        """End the simulation."""
        if self._client >= 0:
            self._p.disconnect(self._client)
            self._client = -1


def new_arm(engine: str, joints: Array, step_s: float) -> MujocoTorqueArm | BulletTorqueArm:
    """Return an arm at rest.

    Args:
        engine: As `robots.simulation.engines.choose` returns it.
        joints: Its angles, shape (6,), radians.
        step_s: Length of a step, seconds.

    Raises:
        MissingSimulator: PyBullet is asked for and not installed.
    """
    return MujocoTorqueArm(joints, step_s) if engine == MUJOCO else BulletTorqueArm(joints, step_s)
