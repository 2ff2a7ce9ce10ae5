"""PyBullet: an arm with two fingers, and what is around it, as collision shapes only.

The module is imported once: with a clear error where it is missing, and without its greeting.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from cap.errors import MissingSimulator, install_extra
from robots.arm.motion import DT_S
from robots.simulation.bodies import (
    GROUND_M,
    BoxPart,
    FixedBody,
    Friction,
    Parts,
    PhysicsWorld,
    SlidingDrawer,
)
from robots.simulation.grasping_arm import STILL_MPS, STILL_RADPS, Build, GraspingArm
from robots.simulation.world import WorldOwner
from robots.table.geometry import Quat, Vec3, yaw_quaternion

WHEELS = tuple((version, "Linux on x86_64") for version in ("3.10", "3.11"))
"""Pythons and machines for which PyBullet is published ready to install."""


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    """Send what native code writes to standard error nowhere."""
    try:
        kept = os.dup(2)
    except OSError:  # There is no standard error to keep clean.
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)


def _import() -> Any:
    try:
        with _silent_stderr():
            return importlib.import_module("pybullet")
    except ImportError as error:
        version = ".".join(map(str, sys.version_info[:2]))
        machine = f"{platform.system()} on {platform.machine()}"
        if (version, machine) not in WHEELS:
            why = f"has no wheel for Python {version}, {machine}; use Python 3.11 on Linux x86-64"
        elif isinstance(error, ModuleNotFoundError) and error.name == "pybullet":
            why = f"is not installed: {install_extra('pybullet')}"
        else:
            why = f"does not load ({error}): {install_extra('pybullet')}"
        raise MissingSimulator(f"physics needs PyBullet, which {why}, or --mode instant") from None


p = _import()
"""The module `pybullet`."""


class BulletArm(GraspingArm):
    """A built simulation in PyBullet."""

    def __init__(self, client: int, world: PhysicsWorld, owner: WorldOwner) -> None:
        """Build a world in a physics server, emptied first: its bits depend on that alone."""
        super().__init__(world, owner)
        self._client = client
        # Nothing of an earlier simulation is kept, so none changes a bit.
        p.resetSimulation(physicsClientId=client)
        p.setGravity(0, 0, -9.81, physicsClientId=client)
        p.setTimeStep(DT_S, physicsClientId=client)
        p.setPhysicsEngineParameter(
            numSolverIterations=50, deterministicOverlappingPairs=1, physicsClientId=client
        )
        _add_ground(client, world)
        self._number: int = p.loadURDF(
            str(world.arm.urdf),
            world.base,
            yaw_quaternion(world.base_yaw),
            useFixedBase=True,
            flags=p.URDF_USE_INERTIA_FROM_FILE | p.URDF_IGNORE_VISUAL_SHAPES,
            physicsClientId=client,
        )
        fingers = 2 if world.arm.fingers else 0
        for joint, value in enumerate([*world.joints, *[world.gap_m / 2] * fingers]):
            p.resetJointState(self._number, joint, value, physicsClientId=client)
        self._drawer: int | None = None
        for fixed in world.fixed:
            if isinstance(fixed, SlidingDrawer):
                self._drawer = _add_drawer(client, fixed, world.friction)
            else:
                _add_fixed(client, fixed, world.friction)
        self.bodies = _add_loose(client, world)
        count = len(world.joints)
        self._joints, self._hand = range(count), count - 1
        self._fingers = tuple(range(count, count + fingers))
        self._passes_held = (self._hand, *self._fingers) if self._arm.hand_passes else self._fingers
        self._driven = [*self._joints, *self._fingers]
        self._gains = [0.3] * len(self._driven), [1.0] * len(self._driven)
        self._hold: int | None = None
        self._fixed = (0, 0)
        if world.held:
            self.fix(self.bodies[world.held])
            self.held = world.held

    def tip(self) -> Vec3:
        """Return where the link `tip` is, metres."""
        state = p.getLinkState(
            self._number, len(self._joints), computeForwardKinematics=True,
            physicsClientId=self._client,
        )  # fmt: skip
        found: Vec3 = state[4]
        return found

    def place_of(self, name: str) -> tuple[Vec3, Quat]:
        """Return where a body is now; see `GraspingArm`."""
        place: tuple[Vec3, Quat] = p.getBasePositionAndOrientation(
            self.bodies[name], physicsClientId=self._client
        )
        return place

    def opening_m(self) -> float:
        """Return how far the drawer is pulled out."""
        found: float = p.getJointState(self._drawer, 0, physicsClientId=self._client)[0]
        return found

    def take_handle(self) -> bool:
        """Close the fingers on the drawer's handle; see `GraspingArm`."""
        return self._drawer is not None and self.grasp(self._drawer, 0)

    def _advance(self, velocities: Sequence[float], half_m: float, finger_mps: float) -> None:
        fingers = len(self._fingers)
        p.setJointMotorControlArray(
            self._number,
            self._driven,
            p.POSITION_CONTROL,
            [*self.targets, *[half_m] * fingers],
            [*velocities, *[finger_mps] * fingers],
            [*self._arm.torques, *[self._force_n] * fingers],
            *self._gains,
            self._client,
        )
        p.stepSimulation(self._client)

    def _let_go(self) -> None:
        if self._hold is not None:
            p.removeConstraint(self._hold, physicsClientId=self._client)
            self._collide(True)
            self._hold = None

    def _closed_to_m(self) -> float:
        states = p.getJointStates(self._number, self._fingers, physicsClientId=self._client)
        return float(states[0][0] + states[1][0])

    def _both_press(self, body: Any, link: int) -> bool:
        return body is not None and all(
            any(
                contact[9] > 0
                for contact in p.getContactPoints(self._number, body, finger, link, self._client)
            )
            for finger in self._fingers
        )

    def fix(self, body: Any, link: int = -1) -> None:
        """Fix a body, by its number, to the hand where it is."""
        if link < 0:
            place = p.getBasePositionAndOrientation(body, physicsClientId=self._client)
        else:
            place = self._link(body, link)
        hand = p.invertTransform(*self._link(self._number, self._hand))
        position, turn = p.multiplyTransforms(*hand, *place)
        self._hold = p.createConstraint(
            self._number,
            self._hand,
            body,
            link,
            p.JOINT_FIXED,
            [0, 0, 0],
            position,
            [0, 0, 0],
            turn,
            physicsClientId=self._client,
        )
        p.changeConstraint(
            self._hold, maxForce=self._arm.hold_force_n, physicsClientId=self._client
        )
        self._fixed = (body, link)
        self._collide(False)

    def _link(self, body: int, link: int) -> tuple[Sequence[float], Sequence[float]]:
        position, turn = p.getLinkState(
            body, link, computeForwardKinematics=self._arm.fresh_links, physicsClientId=self._client
        )[:2]
        return position, turn

    def _collide(self, enabled: bool) -> None:
        """Let the gripper touch what is fixed to it or not."""
        body, link = self._fixed
        for part in self._passes_held:
            p.setCollisionFilterPair(self._number, body, part, link, int(enabled), self._client)

    def _is_still(self) -> bool:
        moving = (
            p.getBaseVelocity(body, physicsClientId=self._client) for body in self.bodies.values()
        )
        return all(
            max(map(abs, linear)) <= STILL_MPS and max(map(abs, angular)) <= STILL_RADPS
            for linear, angular in moving
        )

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""
        states = p.getJointStates(self._number, self._joints, physicsClientId=self._client)
        return tuple(state[0] for state in states)


def connect() -> tuple[Build, Callable[[], None]]:
    """Return what builds simulations in a new physics server, and what releases it."""
    client: int = p.connect(p.DIRECT)

    def close() -> None:
        if p.isConnected(client):
            p.disconnect(client)

    return partial(BulletArm, client), close


def _add_ground(client: int, world: PhysicsWorld) -> None:
    if world.ground == "none":
        return
    if world.ground == "plane":
        shape = p.createCollisionShape(p.GEOM_PLANE, physicsClientId=client)
    else:
        half = [GROUND_M] * 3
        shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=half, physicsClientId=client)
    position = [0, 0, -GROUND_M if world.ground == "box" else 0]
    p.createMultiBody(
        0, shape, basePosition=position, useMaximalCoordinates=True, physicsClientId=client
    )


def _boxes(client: int, boxes: Sequence[BoxPart]) -> int:
    """Return a shape of several boxes: their contacts are its cheapest."""
    number: int = p.createCollisionShapeArray(
        shapeTypes=[p.GEOM_BOX] * len(boxes),
        halfExtents=[list(box.half) for box in boxes],
        collisionFramePositions=[list(box.middle) for box in boxes],
        collisionFrameOrientations=[
            list(p.getQuaternionFromEuler([0.0, *box.turn])) for box in boxes
        ],
        physicsClientId=client,
    )
    return number


def _shape(client: int, parts: Parts) -> int:
    """Return the shape of a body that may move."""
    size: dict[str, Any]
    if not isinstance(parts, tuple):
        kind, size = p.GEOM_CYLINDER, {"radius": parts.radius, "height": parts.height}
    elif len(parts) == 1:
        kind, size = p.GEOM_BOX, {"halfExtents": list(parts[0].half)}
    else:
        return _boxes(client, parts)
    number: int = p.createCollisionShape(kind, **size, physicsClientId=client)
    return number


def _add_fixed(client: int, fixed: FixedBody, friction: Friction) -> None:
    number = p.createMultiBody(
        0,
        _boxes(client, fixed.boxes),
        -1,
        fixed.position,
        yaw_quaternion(fixed.yaw),
        useMaximalCoordinates=True,
        physicsClientId=client,
    )
    p.changeDynamics(number, -1, lateralFriction=friction.pybullet[0], physicsClientId=client)


def _add_drawer(client: int, drawer: SlidingDrawer, friction: Friction) -> int:
    """Add a drawer on rails; its joint is how far it is pulled out, metres."""
    number: int = p.createMultiBody(
        0,
        -1,
        -1,
        drawer.position,
        yaw_quaternion(drawer.yaw),
        linkMasses=[drawer.mass_kg],
        linkCollisionShapeIndices=[_boxes(client, drawer.boxes)],
        linkVisualShapeIndices=[-1],
        linkPositions=[[0, 0, 0]],
        linkOrientations=[[0, 0, 0, 1]],
        linkInertialFramePositions=[drawer.centre],
        linkInertialFrameOrientations=[[0, 0, 0, 1]],
        linkParentIndices=[0],
        linkJointTypes=[p.JOINT_PRISMATIC],
        linkJointAxis=[[0, -1, 0]],
        physicsClientId=client,
    )
    low, high = drawer.stops_m
    p.resetJointState(number, 0, drawer.opening_m, physicsClientId=client)
    p.setJointMotorControl2(
        number, 0, p.VELOCITY_CONTROL, targetVelocity=0, force=drawer.brake_n,
        physicsClientId=client,
    )  # fmt: skip
    p.changeDynamics(
        number, 0, lateralFriction=friction.pybullet[0], jointLowerLimit=low, jointUpperLimit=high,
        physicsClientId=client,
    )  # fmt: skip
    return number


def _add_loose(client: int, world: PhysicsWorld) -> Mapping[str, int]:
    """Add what may move; return its numbers by name."""
    slide, spin, roll = world.friction.pybullet
    shapes: dict[Parts, int] = {}
    found: dict[str, int] = {}
    for body in world.loose:
        if body.parts not in shapes:
            shapes[body.parts] = _shape(client, body.parts)
        found[body.name] = number = p.createMultiBody(
            body.mass_kg,
            shapes[body.parts],
            -1,
            body.position,
            body.quaternion,
            useMaximalCoordinates=True,
            physicsClientId=client,
        )
        p.changeDynamics(
            number,
            -1,
            lateralFriction=slide,
            spinningFriction=spin,
            rollingFriction=roll,
            linearDamping=0.04,
            angularDamping=0.1,
            activationState=p.ACTIVATION_STATE_ENABLE_SLEEPING | p.ACTIVATION_STATE_SLEEP,
            physicsClientId=client,
        )
    return found
