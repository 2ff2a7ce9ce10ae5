"""One of robosuite's environments: built for a seed, saved and restored, and what is where in it.

A layout is the one that `robosuite.make(..., seed=SEED)` and one `reset()` give. Between two steps
robosuite's own positions are a physics step old; here they are looked up in data of our own, which
has the same joints, so that the same state always looks the same and robosuite's is left alone.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("MUJOCO_GL", "disable")  # before robosuite looks for a graphics card

import mujoco
import numpy as np
from numpy.typing import NDArray

from robots.robosuite.environments import Environment, NamedThing
from robots.simulation.world import WorldOwner

Array = NDArray[np.float64]
CONTROL_HZ = 20
"""Actions a simulated second, as in robosuite's own benchmarks."""
SETTLE_STEPS = 20
"""A reset drops things from above the table: so many steps pass before a program sees them."""
_REMEMBERING = (
    "robosuite.robots",
    "robosuite.controllers",
    "robosuite.models.grippers",
    "robosuite.utils.buffers",
    "robosuite.utils.observables",
)
"""robosuite's modules whose objects remember something from step to step."""
_PLAIN = int | float | str | np.ndarray | np.generic | None
AT_PEG_M = 0.03
"""A point that is no further from a peg's middle, seen from above, is at that peg."""
_SIGNS = np.array([*itertools.product((-1.0, 1.0), repeat=3)])
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def azimuth(vector: Array) -> float:
    """Return the direction of a vector seen from above, radians from x."""
    return math.atan2(vector[1], vector[0])


def make(environment: Environment, arm: str, seed: int) -> Any:
    """Return robosuite's environment after its first reset.

    Args:
        environment: Which one.
        arm: The arm's name, or that of both.
        seed: Decides the layout.
    """
    logging.disable(logging.WARNING)  # it recommends files and packages that are not needed here
    try:
        import robosuite

        env = robosuite.make(
            environment.name,
            robots=[arm.replace("xA", "XA")] * environment.arms,  # XArm7 in robosuite
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
    """What the arms and robosuite remember: controllers, buffers, observables, counters."""
    wiped: tuple[int, ...] = ()
    """Numbers of the marks that are wiped off, in order."""
    random: str = ""
    """State of the environment's random numbers, as JSON."""


@dataclass(frozen=True)
class OrientedBox:
    """A box in any turn."""

    center: Array
    """Its middle, xyz in metres."""
    rotation: Array
    """Its axes as columns, shape (3, 3)."""
    half: Array
    """Half its edges along those, metres."""


class Simulation:
    """robosuite's environment as a seed lays it out, and the things in it."""

    def __init__(
        self, owner: WorldOwner, state: ArmWorldState, environment: Environment, arm: str
    ) -> None:
        """Build it as the seed of a state lays it out."""
        self._owner, self._arm = owner, arm
        self.environment = environment
        self.things = {thing.name: thing for thing in environment.things}
        self.build(state.seed)

    def build(self, seed: int) -> None:
        """Build it as the reset of a seed leaves it."""
        self.env = make(self.environment, self._arm, seed)
        self.model = self.env.sim.model._model
        self.geoms = {number: self.model.geom(number).name for number in range(self.model.ngeom)}
        """Names of the shapes, by number; "" of one without a name."""
        self.solid = (self.model.geom_contype | self.model.geom_conaffinity) > 0
        """Whether each shape collides."""
        self.remembering = [vars(self.env)]
        """What is walked for plain values that a state holds."""
        self._data = self.env.sim.data._data
        self._seen = mujoco.MjData(self.model)
        self._seen_at = -1.0
        roots = self.model.body_rootid[self.model.geom_bodyid]
        self._around = {
            geom
            for geom, root in enumerate(roots)
            if self.solid[geom] and not self.model.body(root).name.startswith(("world", "robot"))
        }

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
    def state(self) -> ArmWorldState:
        """All that decides what happens next; assign to go back to it."""
        physics = np.zeros(mujoco.mj_stateSize(self.model, _STATE))
        mujoco.mj_getState(self.model, self._data, physics, _STATE)
        return ArmWorldState(
            self.env.seed,
            float(self._data.time),
            (*physics.tolist(), *self._data.sensordata.tolist()),
            tuple(np.asarray(values[name]).tolist() for values, name in self._memory()),
            tuple(self._marks.index(mark) for mark in getattr(self.env, "wiped_markers", ())),
            json.dumps(self.env.rng.bit_generator.state),
        )

    @state.setter
    def state(self, state: ArmWorldState) -> None:
        if not state.physics or state.seed != self.env.seed:
            self.build(state.seed)
        if not state.physics:
            return
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
        self.env.wiped_markers = [self._marks[number] for number in state.wiped]
        for number, mark in enumerate(self._marks):
            shape = self.model.geom(mark.visual_geoms[0])
            shape.rgba[3] = float(number not in state.wiped)

    @property
    def _marks(self) -> list[Any]:
        return list(getattr(self.env.model.mujoco_arena, "markers", ()))

    def marks(self) -> Array:
        """Return where marks are that are not wiped off, shape (n, 3), metres."""
        left = [mark for mark in self._marks if mark not in self.env.wiped_markers]
        places = [self.seen.body(mark.root_body).xpos for mark in left]
        return np.array(places, dtype=float).reshape(-1, 3)

    def _memory(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Yield each plain value that robosuite remembers from step to step: its place and name."""
        waiting: list[Any] = [*self.remembering]
        met = set()
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

    # The things in it, as they are at the moment they are asked for.

    def grip_geoms(self, thing: NamedThing) -> set[int]:
        """Return the shapes that a hand closes on."""
        if thing.geoms:
            return {self.model.geom(name).id for name in thing.geoms}
        return self.whole(thing)

    def whole(self, thing: NamedThing) -> set[int]:
        """Return all solid shapes of a thing."""
        bodies = {self.model.body(thing.body).id}
        for body, parent in enumerate(self.model.body_parentid):
            if parent in bodies:
                bodies.add(body)
        return {geom for geom in self._around if self.model.geom_bodyid[geom] in bodies}

    def origin(self, thing: NamedThing) -> Array:
        """Return where a thing's body has its origin, xyz."""
        return np.array(self.seen.body(thing.body).xpos)

    def position(self, thing: NamedThing) -> Array:
        """Return a thing's middle, xyz; of a peg its top, of a bin a point over its floor."""
        if thing.kind in ("part", "handle"):
            return self.box(thing).center
        place = self.origin(thing)
        if thing.kind == "peg":
            place[2] = self.bounds(self.whole(thing))[1][2]
        return place

    def rotation(self, thing: NamedThing) -> Array:
        """Return how a thing is turned, shape (3, 3)."""
        return np.array(self.seen.body(thing.body).xmat).reshape(3, 3)

    def yaw(self, thing: NamedThing) -> float:
        """Return the direction of a thing's own x axis seen from above, radians."""
        return azimuth(self.rotation(thing)[:, 0])

    def axis(self, handle: NamedThing) -> Array:
        """Return the axis about which a handle turns down, towards what it is fixed to, xyz."""
        joint = self.model.body(handle.body).jntadr[0]
        axis: Array = self.rotation(handle) @ self.model.jnt_axis[joint]
        return axis

    def box(self, thing: NamedThing) -> OrientedBox:
        """Return the box around what a hand closes on."""
        geoms, axes = self.grip_geoms(thing), self.rotation(thing)
        if len(geoms) == 1:
            axes = np.array(self.seen.geom_xmat[[*geoms]]).reshape(3, 3)
        corners = self.corners(geoms).reshape(-1, 3) @ axes
        low, high = corners.min(axis=0), corners.max(axis=0)
        return OrientedBox(axes @ ((low + high) / 2), axes, (high - low) / 2)

    def bounds(self, geoms: set[int]) -> tuple[Array, Array]:
        """Return the least and the greatest xyz of shapes, metres."""
        corners = self.corners(geoms).reshape(-1, 3)
        return corners.min(axis=0), corners.max(axis=0)

    def top(self, without: set[int]) -> float:
        """Return the height of the highest thing around, metres."""
        return float(self.bounds(self._around - without)[1][2])

    def floor(self, points: Array, without: set[int]) -> Array:
        """Return the height of the highest surface under each point; 0 where there is none.

        Args:
            points: Their xy or xyz in metres, one in a row.
            without: Shapes that are not looked at.
        """
        corners = self.corners(self._around - without)
        low, high = corners.min(axis=1), corners.max(axis=1)
        xy = points[:, None, :2]
        above = (low[:, :2] <= xy) & (xy <= high[:, :2])
        heights: Array = np.where(above.all(axis=2), high[:, 2], 0.0).max(axis=1)
        return heights

    def peg_at(self, point: Array) -> NamedThing | None:
        """Return the peg that is at a point seen from above, if there is one."""
        for thing in self.things.values():
            if thing.kind == "peg" and math.dist(self.origin(thing)[:2], point[:2]) < AT_PEG_M:
                return thing
        return None
