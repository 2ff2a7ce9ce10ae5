"""One of robosuite's environments: built for a seed, stepped, observed, saved and restored.

A layout is the one that `robosuite.make(..., seed=SEED)` and one `reset()` give. Between two steps
robosuite's own positions are a physics step old; here they are looked up in data of our own, which
has the same joints, so that the same state always looks the same and robosuite's is left alone.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("MUJOCO_GL", "disable")  # before robosuite looks for a graphics card

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.robosuite.environments import Environment

Array = NDArray[np.float64]
Command = tuple[tuple[float, ...], float, str]
"""Of a hand: its goal (xyz and the nine numbers of a rotation), its fingers, and what it holds."""
CONTROL_HZ = 20
"""Actions a simulated second, as in robosuite's own benchmarks."""
SETTLE_STEPS = 20
"""A reset drops things from above the table: so many steps pass before a program sees them."""
_REMEMBERING = (
    *("robosuite.robots", "robosuite.controllers", "robosuite.models.grippers"),
    *("robosuite.utils.buffers", "robosuite.utils.observables"),
)
"""robosuite's modules whose objects remember something from step to step."""
_PLAIN = int | float | np.ndarray | np.generic | None
_SIGNS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def make(environment: Environment, arm: str, seed: int) -> Any:
    """Return robosuite's environment after its first reset.

    Args:
        environment: Which one.
        arm: robosuite's name of the arm, or of both.
        seed: Decides the layout.
    """
    logging.disable(logging.WARNING)  # it recommends files and packages that are not needed here
    try:
        import robosuite

        env = robosuite.make(
            environment.name,
            robots=[arm] * environment.arms,
            gripper_types=environment.gripper,
            has_renderer=False,
            has_offscreen_renderer=False,
            use_camera_obs=False,
            control_freq=CONTROL_HZ,
            ignore_done=True,
            seed=seed,
        )
        env.early_terminations = False  # Wipe would end an episode at the first touch of an arm
        env.reset()
    finally:
        logging.disable(logging.NOTSET)
    return env


@dataclass(frozen=True)
class ArmWorldState:
    """All that decides what happens next: plain data, so a copy is a snapshot."""

    seed: int
    """Of the layout."""
    time_s: float = 0.0
    """Simulated seconds since the reset."""
    physics: tuple[float, ...] = ()
    """MuJoCo's integration state and sensors; empty as the seed begins."""
    memory: tuple[Any, ...] = ()
    """What robosuite remembers of its steps: controllers, buffers, observables, counters."""
    wiped: tuple[int, ...] = ()
    """Numbers of the marks that are wiped off, in order."""
    random: str = ""
    """State of the environment's random numbers, as JSON."""
    commands: tuple[Command, ...] = ()
    """The last command of each hand."""


class Simulation:
    """robosuite's environment as a seed lays it out, and what is seen of it."""

    def __init__(self, environment: Environment, arm: str) -> None:
        """Build nothing yet."""
        self.environment = environment
        self._arm = arm

    def build(self, seed: int) -> None:
        """Build it as the reset of a seed leaves it."""
        self.env = make(self.environment, self._arm, seed)
        self.model = self.env.sim.model._model
        self.geoms = {number: self.model.geom(number).name for number in range(self.model.ngeom)}
        """Names of the shapes, by number; "" of one without a name."""
        self.solid = (self.model.geom_contype | self.model.geom_conaffinity) > 0
        """Whether each shape collides."""
        self._data = self.env.sim.data._data
        self._seen = mujoco.MjData(self.model)
        self._seen_at = -1.0

    @property
    def time_s(self) -> float:
        """Simulated seconds since the reset."""
        return float(self._data.time)

    @property
    def seen(self) -> Any:
        """MuJoCo's data with the positions of this moment."""
        if self._seen_at != self._data.time:
            self._seen.qpos[:] = self._data.qpos
            mujoco.mj_kinematics(self.model, self._seen)
            self._seen_at = self._data.time
        return self._seen

    def corners(self, geoms: Collection[int]) -> Array:
        """Return the corners of the box around each shape, in its own axes: (n, 8, 3), metres."""
        chosen = sorted(geoms)
        boxes, rotations = self.model.geom_aabb[chosen], self.seen.geom_xmat[chosen]
        local = boxes[:, None, :3] + _SIGNS * boxes[:, None, 3:]
        turned = np.einsum("nij,nkj->nki", rotations.reshape(-1, 3, 3), local)
        corners: Array = self.seen.geom_xpos[chosen][:, None] + turned
        return corners

    @property
    def contacts(self) -> Any:
        """MuJoCo's contacts of this moment."""
        mujoco.mj_fwdPosition(self.model, self.seen)
        return self.seen.contact

    @property
    def speed(self) -> float:
        """How fast any arm's joint moves, rad/s or m/s."""
        moving = [self._data.qvel[robot._ref_joint_vel_indexes] for robot in self.env.robots]
        return float(np.abs(np.concatenate(moving)).max())

    def saved(self, commands: tuple[Command, ...]) -> ArmWorldState:
        """Return all that decides what happens next, with the commands of the hands."""
        physics = np.zeros(mujoco.mj_stateSize(self.model, _STATE))
        mujoco.mj_getState(self.model, self._data, physics, _STATE)
        return ArmWorldState(
            self.env.seed,
            self.time_s,
            (*physics.tolist(), *self._data.sensordata.tolist()),
            tuple(np.asarray(values[name]).tolist() for values, name in self._memory()),
            tuple(self._marks.index(mark) for mark in getattr(self.env, "wiped_markers", ())),
            json.dumps(self.env.rng.bit_generator.state),
            commands,
        )

    def restore(self, state: ArmWorldState) -> None:
        """Go back to a state of the same seed."""
        physics, sensors = np.split(np.array(state.physics), [-self._data.sensordata.size])
        mujoco.mj_setState(self.model, self._data, physics, _STATE)
        mujoco.mj_forward(self.model, self._data)  # for the checks of success, which look at it
        mujoco.mj_setState(self.model, self._data, physics, _STATE)
        self._data.sensordata[:] = sensors
        self._seen_at = -1.0
        for (values, name), value in zip(self._memory(), state.memory, strict=True):
            kind = getattr(values[name], "dtype", float)
            values[name] = np.array(value, kind) if isinstance(value, list) else value
        self.env.rng.bit_generator.state = json.loads(state.random)
        if self._marks:
            self.env.wiped_markers = [self._marks[number] for number in state.wiped]
            for number, mark in enumerate(self._marks):
                geom = self.model.geom(mark.visual_geoms[0]).id
                self.model.geom_rgba[geom][3] = 0.0 if number in state.wiped else 1.0

    @property
    def _marks(self) -> list[Any]:
        return list(getattr(self.env.model.mujoco_arena, "markers", ()))

    def marks(self) -> Array:
        """Return where marks are that are not wiped off, shape (n, 3), metres."""
        left = [mark for mark in self._marks if mark not in self.env.wiped_markers]
        ids = [self.model.body(mark.root_body).id for mark in left]
        return np.array(self.seen.xpos[ids], dtype=float).reshape(-1, 3)

    def _memory(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield each plain value that robosuite remembers from step to step: its place and name."""
        waiting: list[Any] = [vars(self.env)]
        met: set[int] = set()
        while waiting:
            one = waiting.pop()
            if isinstance(one, list):
                waiting += one
            if type(one).__module__.startswith(_REMEMBERING):
                one = vars(one)
            if isinstance(one, dict) and id(one) not in met:
                met.add(id(one))
                waiting += one.values()
                for name, value in one.items():
                    # What a controller began with is in places another name of what it has now.
                    if isinstance(value, _PLAIN) and not name.startswith("initial_"):
                        yield one, name
