"""The physics engines there are, and worlds whose arm is moved by its motors in one of them.

Each motion has a simulation of its own, built from plain data, so what happens depends on the state
and the command alone: not on what the process, or an earlier simulation, did before.
"""

from __future__ import annotations

import contextlib
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from typing import Generic

import numpy as np

from cap.errors import MissingSimulator, UsageError, install_extra
from robots.simulation.bodies import PhysicsWorld
from robots.simulation.grasping_arm import Build, GraspingArm
from robots.simulation.world import State, WorldOwner
from robots.table.geometry import AnySolid

PYBULLET, MUJOCO = "pybullet", "mujoco"
ENGINES = (PYBULLET, MUJOCO)


def engine_name(name: str | None = None) -> str:
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


def chosen_engine(name: str | None) -> str:
    """Return what `engine_name` returns, of an engine that is installed.

    Raises:
        UsageError: There is no such engine.
        MissingSimulator: It is not installed; of PyBullet its import says so.
    """
    name = engine_name(name)
    if name == MUJOCO and not find_spec("mujoco"):
        raise MissingSimulator(
            f"physics needs MuJoCo, which is not installed: {install_extra('sim')}, "
            "or --mode instant"
        )
    return name


_BRAKE_STEPS = 18


class MotorWorld(ABC, Generic[State]):
    """A world with a simulated arm."""

    def __init__(self, owner: WorldOwner, state: State, engine: str | None = None) -> None:
        """Start from a state.

        Args:
            owner: The robot.
            state: How everything is.
            engine: As `chosen_engine` takes it.

        Raises:
            MissingSimulator: It is not installed.
        """
        self.state = state
        """How everything is between motions; assign to put a snapshot back."""
        self.engine = chosen_engine(engine)
        """Which one it is."""
        self._build: Build
        self._release: Callable[[], object]
        if self.engine == MUJOCO:
            from robots.simulation.mujoco_arm import MujocoArm

            self._build, self._release = MujocoArm, lambda: None
        else:
            from robots.simulation.bullet import connect

            self._build, self._release = connect()
        self._owner = owner
        self._running: GraspingArm | None = None

    @abstractmethod
    def _in_motion(self, simulation: GraspingArm) -> State:
        """Return how everything is at this moment of a motion."""

    @abstractmethod
    def _after(self, now: State) -> State:
        """Return the state after a motion that ended as `now`."""

    def now(self) -> State:
        """Return how everything is at this moment, in the middle of a motion too."""
        return self.state if self._running is None else self._in_motion(self._running)

    @contextlib.contextmanager
    def _motion(self, world: PhysicsWorld, settle_steps: int = 0) -> Iterator[GraspingArm]:
        """Yield the simulation of one motion, and keep the state it ends in, however it ends.

        Args:
            world: What there is.
            settle_steps: The most that everything takes to come to rest afterwards.
        """
        simulation = self._running = self._build(world, self._owner)
        try:
            try:
                yield simulation
            except BaseException:
                if simulation.steps:
                    simulation.brake(_BRAKE_STEPS)
                raise
            finally:
                if simulation.steps:
                    simulation.settle(settle_steps)
        finally:
            if simulation.steps:
                self.state = self._after(self._in_motion(simulation))
            self._running = None

    def close(self) -> None:
        """Close the engine; doing so twice does no harm."""
        self._release()


def held_by_friction(
    before: Iterable[AnySolid], after: Iterable[AnySolid], within_m: float, least_cos: float
) -> list[AnySolid]:
    """Return, as it was, what hardly moved in a motion: real friction would have held it.

    Without it everything would creep a little with each motion.

    Args:
        before: What was there.
        after: The same things afterwards, in the same order.
        within_m: What moved less is held.
        least_cos: Cosine of half the angle that it may have turned by.
    """
    return [
        old
        for old, new in zip(before, after, strict=True)
        if math.dist(old.position, new.position) < within_m
        and abs(np.dot(old.quaternion, new.quaternion)) > least_cos
    ]
