"""The physics engines there are, and which one is used where nobody names one."""

from __future__ import annotations

import os
from importlib.util import find_spec

from cap.errors import MissingSimulator, UsageError, install_extra
from robots.simulation.gripping_arm import PhysicsEngine

PYBULLET, MUJOCO = "pybullet", "mujoco"
ENGINES = (PYBULLET, MUJOCO)


def named(name: str | None = None) -> str:
    """Return the engine of a name; if None, the one `CAP_PHYSICS` names in the environment.

    If that names none: MuJoCo where it is installed, else PyBullet.

    Raises:
        UsageError: There is no such engine.
    """
    name = name or os.environ.get("CAP_PHYSICS") or None
    if name is not None and name not in ENGINES:
        raise UsageError(f"no physics engine {name!r}; use {' or '.join(ENGINES)}")
    if name is None:
        name = PYBULLET if find_spec("pybullet") and not find_spec("mujoco") else MUJOCO
    return name


def choose(name: str | None) -> str:
    """Return what `named` returns, of an engine that is installed.

    Raises:
        UsageError: There is no such engine.
        MissingSimulator: It is not installed; of PyBullet its import says so.
    """
    name = named(name)
    if name == MUJOCO and not find_spec("mujoco"):
        raise MissingSimulator(
            f"physics needs MuJoCo, which is not installed: {install_extra('sim')}, "
            "or --mode instant"
        )
    return name


def start(name: str) -> PhysicsEngine:
    """Return an engine by its name.

    Raises:
        MissingSimulator: It is not installed.
    """
    if name == MUJOCO:
        from robots.simulation.mujoco_arm import MujocoEngine

        return MujocoEngine()
    from robots.simulation.bullet import BulletEngine

    return BulletEngine()
