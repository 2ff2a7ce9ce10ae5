"""The world with dynamics: the arm is moved by its joint motors, the objects by contact.

Between motions the state is plain data. Every motion starts from a simulation built anew from
that state, so what happens depends on the state and the command alone: not on what the process,
or the simulation, did before.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from cap.errors import NotGrasped
from robots.arm import ur5e
from robots.arm.gripper import ROBOTIQ_2F_85, Fingers
from robots.arm.motion import DT_S, Leg, Pose, along, through
from robots.arm.strokes import resampled
from robots.perception.camera import Array, Camera
from robots.perception.lens import Lens
from robots.ravens import route, transfer
from robots.ravens.pictures import CAMERA_POSE, FRONT_LENS
from robots.ravens.scene import Body, Scene
from robots.ravens.transfer import Transfer
from robots.ravens.world import Layout, WorldState, slipped
from robots.simulation import engines
from robots.simulation.turn_history import TurnHistory
from robots.simulation.world import WorldOwner
from robots.table.geometry import XY

_TOUCHDOWN = 0.0005
"""Height above its support at which an object is let go, metres."""
_LOADED_MPS2 = 2.5
"""Acceleration while a bowl carries something loose: below what friction holds."""
_PATH_MPS2 = 1.5
"""Acceleration of the fingertips along a path."""
_PATH_SPACING_M = 0.0015
_REST_STEPS = 12
"""So long the arm waits at both ends of a path, to be exactly there."""
_LOWEST_Z = 0.008
_BRAKE_STEPS = 18
_SETTLE_STEPS = 240
_SLIP_HEIGHT = 0.03
"""How far an object is lifted before it slips, metres."""
_STUCK_M, _STUCK_COS = 5e-5, 1 - 1e-6
"""What moved and turned (cosine of half the angle) less in a motion is held by friction."""


class TabletopSimulation(Protocol):
    """A built simulation of the table and the few things a motion does with it."""

    steps: int
    """Steps since it was built."""
    gap_m: float
    """Distance the fingers are driven to."""
    gap_goal_m: float
    """Distance they are on the way to."""
    held: str | None
    """The object fixed to the hand, if any."""

    def follow(
        self,
        leg: Leg,
        until: Callable[[], bool] | None = None,
        trail: list[tuple[float, ...]] | None = None,
    ) -> None:
        """Move the arm along a motion; see `GrippingArm.follow`."""

    def wait(self, steps: int) -> None:
        """Advance with the arm held where it is driven to."""

    def open(self, gap_m: float) -> None:
        """Let go and open the fingers to a distance (m)."""

    def take(self, name: str) -> bool:
        """Close the fingers on an object, if it is there; return whether they hold it."""

    def settle(self, most_steps: int) -> None:
        """Advance until everything is still, at most so many steps."""

    def brake(self, steps: int) -> None:
        """Bring the arm to rest where it is."""

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""

    def pose(self) -> Pose:
        """Return where the fingertips are driven to."""

    def touches_another(self, name: str) -> bool:
        """Return whether an object touches anything but the gripper."""

    def body(self, name: str) -> Body:
        """Return where an object is now."""

    def scene(self) -> Scene:
        """Return where every object is now."""


class TabletopEngine(Protocol):
    """A physics engine that simulates the table and draws it."""

    def build(self, state: WorldState, owner: WorldOwner) -> TabletopSimulation:
        """Build the simulation of a state, everything at rest: its bits depend on that alone."""

    def draw(
        self, scene: Scene, joints: Sequence[float], gap_m: float, width: int, height: int
    ) -> Any:
        """Return a spectator's view as a PIL image."""

    def camera(
        self,
        show: Callable[[], tuple[Scene, Sequence[float], float]],
        lens: Lens,
        pose: Callable[[], Array],
    ) -> Camera:
        """Return a depth camera of what `show` says, held where `pose` says."""

    def close(self) -> None:
        """Release what it holds; doing so twice does no harm."""


def make_engine(name: str) -> TabletopEngine:
    """Return an engine by its name.

    Raises:
        MissingSimulator: It is not installed.
    """
    if name == engines.MUJOCO:
        from robots.ravens.mujoco_tabletop import MujocoTabletopEngine

        return MujocoTabletopEngine()
    from robots.ravens.bullet_tabletop import BulletTabletopEngine

    return BulletTabletopEngine()


class PhysicsTabletop:
    """Carries plans out with a simulated arm."""

    def __init__(
        self,
        owner: WorldOwner,
        state: WorldState,
        fingers: Fingers = ROBOTIQ_2F_85,
        engine: str | None = None,
    ) -> None:
        """Build the simulation of a state.

        Args:
            owner: The robot.
            state: Where everything is.
            fingers: Of its gripper.
            engine: As `engines.choose` takes it.
        """
        self.fingers = fingers
        self.engine = engines.choose(engine)
        """Which one it is."""
        self._engine = make_engine(self.engine)
        self._owner = owner
        self._state = state
        self._simulation = self._engine.build(state, owner)

    @property
    def state(self) -> WorldState:
        """Where everything is between motions; assigning builds the simulation anew."""
        return self._state

    @state.setter
    def state(self, state: WorldState) -> None:
        self._state = state
        self._simulation = self._engine.build(state, self._owner)

    def remember(self, turns: TurnHistory[Layout]) -> None:
        """Keep where everything was before the last turns."""
        self._state = replace(self._state, turns=turns)

    def begin(self) -> None:
        """Do nothing: the next action may begin at any time."""

    def transfer(self, planned: Transfer, *, slips: bool = False) -> None:
        """Pick an object up, carry it, and put it down where it was planned; or lose it."""
        name, pick = planned.name, Pose(*planned.pick.tip, planned.pick.yaw)
        loose = _LOADED_MPS2 if len(planned.result) > 1 else math.inf
        with self._motion() as simulation:
            simulation.gap_goal_m = planned.pick.gap_m
            simulation.follow(through(_over(simulation, pick, planned.travel_z)))
            if not simulation.take(name):
                simulation.open(planned.pick.gap_m)
                _retreat(simulation, planned.travel_z)
                raise NotGrasped(
                    f"the fingers closed without holding {name!r}; look where it is now"
                )
            simulation.held = name
            if slips:
                lifted = replace(pick, z=pick.z + _SLIP_HEIGHT)
                simulation.follow(through([pick, lifted]))
                simulation.open(planned.pick.gap_m)
                _retreat(simulation, planned.travel_z)
                raise slipped(name)
            # What slid in the hand lands as planned all the same.
            x, y, z = Pose.of_joints(simulation.joints()).release_point(
                simulation.body(name).position,
                planned.result[0].position,
                planned.place.yaw - planned.pick.yaw,
            )
            goal = Pose(x, y, z + _TOUCHDOWN, planned.place.yaw)
            simulation.follow(through(_over(simulation, goal, planned.travel_z), loose))
            simulation.open(planned.place.gap_m)
            _retreat(simulation, planned.travel_z)

    def recover(self) -> None:
        """Put down what a stopped motion left in the gripper, straight below it."""
        if not self._state.held:
            return
        with self._motion() as simulation:
            held, start = simulation.held, simulation.pose()
            down = through([start, replace(start, z=_LOWEST_Z)])
            simulation.follow(down, until=lambda: held is None or simulation.touches_another(held))
            simulation.open(self.fingers.opened(simulation.gap_m))
            _retreat(simulation, simulation.scene().top() + transfer.LIFT)

    def park(self) -> None:
        """Take the gripper to where it hides nothing from the camera."""
        with self._motion() as simulation:
            _retreat(simulation, simulation.scene().top() + transfer.LIFT)

    def point(self, xy: XY) -> None:
        """Hold the gripper over a point of the table, metres."""
        with self._motion() as simulation:
            height = route.height_m(simulation.scene())
            simulation.follow(through(_over(simulation, route.pose_over(xy, height), height)))

    def follow(self, path: Array, speed_mps: float) -> None:
        """Take the gripper along a path; see `TabletopWorld`. The path kept is where it was."""
        trail: list[tuple[float, ...]] = []
        try:
            with self._motion() as simulation:
                height = route.height_m(simulation.scene())
                dense = resampled(path, _PATH_SPACING_M)
                level = np.column_stack([dense, np.full(len(dense), height)])
                turned = np.column_stack([level, np.full(len(dense), transfer.PARK.yaw)])
                way = along(turned, speed_mps=speed_mps, acceleration_mps2=_PATH_MPS2)
                first = route.pose_over(path[0], height)
                simulation.follow(through(_over(simulation, first, height)))
                simulation.wait(_REST_STEPS)
                trail.append(simulation.joints())
                simulation.follow(way, trail=trail)
                simulation.wait(_REST_STEPS)
                trail.append(simulation.joints())
        finally:
            if trail:
                self._state = self._state.followed(ur5e.tips(np.array(trail))[:, :2])

    def now(self) -> WorldState:
        """Return how everything is at this moment, in the middle of a motion too."""
        scene, joints, gap_m = self._shown()
        return replace(self._state, scene=scene, joints=joints, gap_m=gap_m)

    def render(self, width: int, height: int) -> Any:
        """Return a spectator's view as a PIL image."""
        return self._engine.draw(*self._shown(), width, height)

    def camera(self, lens: Lens | None = None, pose: Callable[[], Array] | None = None) -> Camera:
        """Return a depth camera.

        Args:
            lens: Its size and field; those of the camera before the table if None.
            pose: Says where it is, shape (4, 4), metres, such as in the hand; before the table,
                where the arm hides nothing, if None.
        """
        return self._engine.camera(self._shown, lens or FRONT_LENS, pose or (lambda: CAMERA_POSE))

    def _shown(self) -> tuple[Scene, tuple[float, ...], float]:
        live = self._simulation
        return live.scene(), live.joints(), live.gap_m

    def close(self) -> None:
        """Close the engine; doing so twice does no harm."""
        self._engine.close()

    @contextlib.contextmanager
    def _motion(self) -> Iterator[TabletopSimulation]:
        """Yield a simulation for one motion, and keep the state it ends in, however it ends."""
        if self._simulation.steps:
            self._simulation = self._engine.build(self._state, self._owner)
        simulation = self._simulation
        try:
            yield simulation
        except BaseException:
            if simulation.steps:
                simulation.brake(_BRAKE_STEPS)
            raise
        finally:
            if simulation.steps:
                simulation.settle(_SETTLE_STEPS)
                self._state = replace(
                    self._state,
                    actions=self._state.actions + 1,
                    scene=_at_rest(self._state.scene, simulation.scene()),
                    joints=simulation.joints(),
                    gap_m=simulation.gap_m,
                    held=simulation.held,
                    time_s=self._state.time_s + simulation.steps * DT_S,
                    seen=None,
                )


def _at_rest(before: Scene, after: Scene) -> Scene:
    """Return a scene in which what hardly moved stands where it stood, as friction holds it."""
    still = {}
    for old, new in zip(before.bodies, after.bodies, strict=True):
        turned = np.abs(np.dot(old.quaternion, new.quaternion))
        if math.dist(old.position, new.position) < _STUCK_M and turned > _STUCK_COS:
            still[old.name] = old
    return after.moved(still.values())


def _over(simulation: TabletopSimulation, end: Pose, height: float) -> list[Pose]:
    """Return the way from here over everything in between and straight down to a pose."""
    start = simulation.pose()
    return [start, replace(start, z=max(start.z, height)), replace(end, z=height), end]


def _retreat(simulation: TabletopSimulation, height: float) -> None:
    """Rise to a height (m) and wait where the arm hides nothing from the camera."""
    start = simulation.pose()
    up = replace(start, z=max(height, start.z + transfer.STRAIGHT))
    wait = replace(transfer.PARK, z=max(transfer.PARK.z, simulation.scene().top() + transfer.LIFT))
    simulation.follow(through([start, up, wait]))
