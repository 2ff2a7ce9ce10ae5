"""The kitchen with a simulated arm, in PyBullet.

Every motion starts from a simulation built anew from plain data, with only what is near the robot
in it: what happens depends on the state and the command alone.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from cap.errors import NotGrasped
from robots.arm.motion import DT_S, Leg, Pose, along, straight_points, through
from robots.kitchen import arm, bodies
from robots.kitchen.arrivals import arrived
from robots.kitchen.bodies import ARM_JOINTS, FINGERS, HAND
from robots.kitchen.grasps import STROKE_M, Pick, Slide, height_over
from robots.kitchen.objects import Thing
from robots.kitchen.placement import Place
from robots.kitchen.room import inside
from robots.kitchen.state import KitchenState
from robots.kitchen.worlds import KitchenWorld
from robots.simulation.bullet import p
from robots.simulation.world import WorldOwner

_TOUCHDOWN_M = 0.001
"""Height above its support at which an object is let go."""
_BRAKE_STEPS = 18
_SETTLE_STEPS = 960
_LOADED_MPS2 = 0.7
"""Acceleration of the fingertips with a bowl that has something in it."""
_SLIDE_MPS = 0.3
_SLIDE_MPS2 = 0.8
_STRAIGHT_UP_M = 0.06
_JOINTS = [*ARM_JOINTS, *FINGERS]
_FINGER_SPEED_MPS = 0.2
_CLOSING_MPS = 0.08
"""Of each finger while it closes: faster, it would sink into what is light."""
_STUCK_M, _STUCK_COS = 0.0015, math.cos(0.02)
"""What moved and turned by less in a motion stands where it stood."""
_GRIP_FORCE_N = 25.0
_FINGER_FORCE_N = 60.0
_HOLD_FORCE_N = 120.0
_GAINS = [0.3] * len(_JOINTS)
_AT_REST = (0.0,) * len(ARM_JOINTS)
_FOLDED_RAD = 0.05
"""An arm no joint of which is further from the folded one is folded."""
_FIRM_STEPS = 3
"""Both fingers must press for so many steps on end."""
_STOP_CHECK_STEPS = 4
_STILL_MPS, _STILL_RADPS = 2e-3, 0.05


class PhysicsKitchen(KitchenWorld):
    """Carries plans out with a simulated arm."""

    def __init__(self, host: WorldOwner, state: KitchenState) -> None:
        """Connect a physics server."""
        super().__init__(host, state)
        self._client: int = p.connect(p.DIRECT)
        self._running: KitchenSimulation | None = None

    def close(self) -> None:
        """Disconnect the physics server; doing so twice does no harm."""
        if p.isConnected(self._client):
            p.disconnect(self._client)

    def pick(self, planned: Pick) -> None:
        """Take hold of an object; see `KitchenWorld`."""
        grip = planned.grip
        with self._simulation() as simulation:
            simulation.gap_goal_m = grip.gap_m
            goal = Pose(*grip.tip, grip.yaw)
            self._follow(simulation, _over(simulation, goal, planned.travel_z))
            number = simulation.ids.things.get(planned.name)
            if number is None or not simulation.grasp(number):
                self._give_up(simulation, grip.gap_m, planned.travel_z)
                raise NotGrasped(
                    f"the gripper closed on nothing: {planned.name!r} is not where it was seen"
                )
            simulation.held = planned.name
            held = self.state[planned.name]
            loose = _LOADED_MPS2 if self.state.contents(held) else math.inf
            self._fold(simulation, planned.lift_z, loose)

    def place(self, planned: Place) -> None:
        """Put down what is held; see `KitchenWorld`."""
        grip, loads = planned.grip, self.state.load()
        with self._simulation() as simulation:
            # What slid in the hand lands as planned all the same.
            hand = Pose(*arm.to_world(self.state.base, arm.forward(simulation.joints())))
            thing = simulation.thing(planned.result.name)
            x, y, z = hand.release_point(
                thing.position, planned.result.position, grip.yaw - hand.yaw
            )
            yaw = arm.full_turn_yaw(planned.base, (x, y), grip.yaw)
            goal = Pose(x, y, z + _TOUCHDOWN_M, yaw)
            loose = _LOADED_MPS2 if len(loads) > 1 else math.inf
            self._follow(simulation, _over(simulation, goal, planned.travel_z), loose)
            simulation.open(max(simulation.gap_m, grip.gap_m))
            self._fold(simulation, planned.travel_z)

    def slide(self, planned: Slide) -> None:
        """Pull or push a drawer; see `KitchenWorld`."""
        with self._simulation(planned.drawer) as simulation:
            simulation.gap_goal_m = planned.grip.gap_m
            handle = Pose(*planned.grip.tip, planned.grip.yaw)
            self._follow(simulation, _over(simulation, handle, planned.travel_z))
            drawer = simulation.ids.drawer
            if drawer is None or not simulation.grasp(drawer, 0):
                self._give_up(simulation, planned.grip.gap_m, planned.travel_z)
                raise NotGrasped(f"the gripper missed the handle of the {planned.drawer}")
            facing = self.state.room.locations[planned.drawer].piece.facing
            by = planned.opening_m - simulation.opening_m()
            start = simulation.pose()
            x, y = start.x - by * math.cos(facing), start.y - by * math.sin(facing)
            end = replace(start, x=x, y=y)
            path = np.vstack([start.array, straight_points(start.array, end.array)])
            body = arm.body(self.state.base)
            simulation.follow(
                along(path, speed_mps=_SLIDE_MPS, acceleration_mps2=_SLIDE_MPS2, body=body)
            )
            simulation.wait(6)
            simulation.open(planned.grip.gap_m)
            self._fold(simulation, planned.travel_z)

    def fold(self) -> None:
        """Fold the arm; see `KitchenWorld`."""
        off = np.abs(np.array(self.state.joints) - arm.PARK_JOINTS)
        if off.max() < _FOLDED_RAD:
            return
        x, y, tip_z, _ = arm.to_world(self.state.base, arm.forward(self.state.joints))
        below = [
            place
            for place in self.state.room.locations.values()
            if inside(place.piece.rectangle, (x, y)) or inside(self.state.area(place), (x, y))
        ]
        height = max(height_over(self.state, (x, y), place) for place in [None, *below])
        if self.state.held is not None:
            height += max(0.0, tip_z - self.state[self.state.held].bottom)
        with self._simulation() as simulation:
            self._fold(simulation, height, _LOADED_MPS2 if len(self.state.load()) > 1 else math.inf)

    def _fold(self, simulation: KitchenSimulation, height: float, loose: float = math.inf) -> None:
        """Rise and fold the arm."""
        start = simulation.pose()
        park = Pose(*arm.to_world(self.state.base, arm.PARK_POSE))
        up = replace(start, z=max(height, start.z + _STRAIGHT_UP_M))
        self._follow(simulation, [start, up, park], loose)

    def _give_up(self, simulation: KitchenSimulation, gap_m: float, height: float) -> None:
        simulation.open(gap_m)
        self._fold(simulation, height)

    def _follow(
        self, simulation: KitchenSimulation, points: list[Pose], loose: float = math.inf
    ) -> None:
        simulation.follow(through(points, loose, arm.body(self.state.base)))

    @contextlib.contextmanager
    def _simulation(self, sliding: str | None = None) -> Iterator[KitchenSimulation]:
        """Build the simulation for one motion; keep what it ends in, however it ends."""
        simulation = KitchenSimulation(self._client, self.state, self._host, sliding)
        self._running = simulation
        try:
            yield simulation
        except BaseException:
            if simulation.steps:
                simulation.brake(_BRAKE_STEPS)
            raise
        finally:
            if simulation.steps:
                simulation.settle(_SETTLE_STEPS)
                self.state = arrived(_at_rest(self.state, self.now()))
            self._running = None

    def now(self) -> KitchenState:
        """Return how everything is at this moment of a motion; see `KitchenWorld`."""
        return self.state if self._running is None else self._running.state()


def _at_rest(before: KitchenState, after: KitchenState) -> KitchenState:
    """Return a state in which what hardly moved stands where it stood, as friction holds it."""
    still = []
    for old, new in zip(before.things, after.things, strict=True):
        turned = abs(np.dot(old.quaternion, new.quaternion))
        if math.dist(old.position, new.position) < _STUCK_M and turned > _STUCK_COS:
            still.append(old)
    return after.moved(still)


def _over(simulation: KitchenSimulation, end: Pose, height: float) -> list[Pose]:
    """Return the way from here over everything in between and straight down to a pose."""
    start = simulation.pose()
    return [start, replace(end, z=max(height, end.z + _STRAIGHT_UP_M)), end]


class KitchenSimulation:
    """A built simulation and the few things a motion does with it."""

    def __init__(
        self, client: int, state: KitchenState, host: WorldOwner, sliding: str | None = None
    ) -> None:
        """Build the simulation of a state; one drawer can be moved."""
        self.ids = bodies.build(client, state, sliding)
        self.steps = 0
        """Steps since it was built."""
        self.gap_m = state.gap_m
        """Distance the fingers are driven to in this step."""
        self.gap_goal_m = state.gap_m
        """Distance they are on the way to."""
        self._finger_mps = _FINGER_SPEED_MPS
        self.held: str | None = None
        """The object fixed to the hand, if any."""
        self._state = state
        self._sliding = sliding
        self._client = client
        self._host = host
        self._targets = list(state.joints)
        self._forces = [*arm.MAX_TORQUE, _FINGER_FORCE_N, _FINGER_FORCE_N]
        self._hold: int | None = None
        self._fixed: tuple[int, int] = (0, 0)
        if state.held:
            self._fix(self.ids.things[state.held], -1)
            self.held = state.held

    def step(self, velocities: Sequence[float] = _AT_REST, *, watched: bool = True) -> None:
        """Advance one step: joints driven from their targets at these speeds, fingers to theirs."""
        reach = 2 * self._finger_mps * DT_S
        next_gap = min(max(self.gap_goal_m, self.gap_m - reach), self.gap_m + reach)
        half, speed = self.gap_m / 2, (next_gap - self.gap_m) / (2 * DT_S)
        p.setJointMotorControlArray(
            self.ids.arm,
            _JOINTS,
            p.POSITION_CONTROL,
            targetPositions=[*self._targets, half, half],
            targetVelocities=[*velocities, speed, speed],
            forces=self._forces,
            positionGains=_GAINS,
            physicsClientId=self._client,
        )
        p.stepSimulation(physicsClientId=self._client)
        self.gap_m = next_gap
        self.steps += 1
        if self.steps % max(1, round(self._host.frame_every_s / DT_S)) == 0:
            self._host.frame()
        if watched and self.steps % _STOP_CHECK_STEPS == 0:
            self._host.check_stop()

    def follow(self, leg: Leg) -> None:
        """Move the arm along a motion."""
        for position, velocity in zip(leg.positions.tolist(), leg.velocities.tolist(), strict=True):
            self._targets = position
            self.step(velocity)
        self._targets = (leg.positions[-1] + leg.velocities[-1] * DT_S).tolist()

    def wait(self, steps: int, *, watched: bool = True) -> None:
        """Advance with the arm held where it is driven to."""
        for _ in range(steps):
            self.step(watched=watched)

    def open(self, gap_m: float) -> None:
        """Let go and open the fingers to a distance (m)."""
        if self._hold is not None:
            p.removeConstraint(self._hold, physicsClientId=self._client)
            self._collide(*self._fixed, True)
            self._hold, self.held = None, None
        self._forces[7:] = [_FINGER_FORCE_N] * 2
        self.gap_goal_m = gap_m
        while self.gap_m != gap_m:
            self.step()
        self.wait(2)

    def grasp(self, number: int, link: int = -1) -> bool:
        """Close the fingers; return whether both press on a body, which is then held.

        From the moment both press on it, and only then, a fixed joint of limited force holds it to
        the hand, and the fingers stay where they closed.
        """
        self._forces[7:] = [_GRIP_FORCE_N] * 2
        self._finger_mps = _CLOSING_MPS
        self.gap_goal_m = 0.0
        pressed = 0
        while self.gap_m > 0 and pressed < _FIRM_STEPS:
            self.step()
            pressed = pressed + 1 if self._both_press(number, link) else 0
        self._finger_mps = _FINGER_SPEED_MPS
        if pressed < _FIRM_STEPS:
            return False
        states = p.getJointStates(self.ids.arm, FINGERS, physicsClientId=self._client)
        self.gap_m = self.gap_goal_m = max(0.0, states[0][0] + states[1][0])
        self._fix(number, link)
        return True

    def _both_press(self, number: int, link: int) -> bool:
        return all(
            any(
                contact[9] > 0
                for contact in p.getContactPoints(self.ids.arm, number, finger, link, self._client)
            )
            for finger in FINGERS
        )

    def _fix(self, number: int, link: int) -> None:
        """Fix a body to the hand where it is."""
        hand = p.getLinkState(
            self.ids.arm, HAND, computeForwardKinematics=True, physicsClientId=self._client
        )[:2]
        thing = self._pose(number, link)
        position, turn = p.multiplyTransforms(*p.invertTransform(*hand), *thing)
        self._hold = p.createConstraint(
            self.ids.arm,
            HAND,
            number,
            link,
            p.JOINT_FIXED,
            [0, 0, 0],
            position,
            [0, 0, 0],
            turn,
            physicsClientId=self._client,
        )
        p.changeConstraint(self._hold, maxForce=_HOLD_FORCE_N, physicsClientId=self._client)
        self._fixed = (number, link)
        self._collide(number, link, False)
        self._forces[7:] = [_FINGER_FORCE_N] * 2

    def _pose(self, number: int, link: int) -> tuple[Sequence[float], Sequence[float]]:
        if link < 0:
            position, turn = p.getBasePositionAndOrientation(number, physicsClientId=self._client)
        else:
            position, turn = p.getLinkState(
                number, link, computeForwardKinematics=True, physicsClientId=self._client
            )[:2]
        return position, turn

    def _collide(self, number: int, link: int, enabled: bool) -> None:
        """Let the gripper touch a body or not: while it is fixed to the hand it need not."""
        for part in (HAND, *FINGERS):
            p.setCollisionFilterPair(self.ids.arm, number, part, link, int(enabled), self._client)

    def settle(self, most_steps: int) -> None:
        """Advance until every object is still, at most so many steps."""
        for _ in range(0, most_steps, 8):
            if self._still():
                return
            self.wait(8, watched=False)

    def _still(self) -> bool:
        for number in self.ids.things.values():
            linear, angular = p.getBaseVelocity(number, physicsClientId=self._client)
            if max(map(abs, linear)) > _STILL_MPS or max(map(abs, angular)) > _STILL_RADPS:
                return False
        return True

    def thing(self, name: str) -> Thing:
        """Return where an object is now."""
        position, turn = p.getBasePositionAndOrientation(
            self.ids.things[name], physicsClientId=self._client
        )
        return replace(self._state[name], position=position, quaternion=turn)

    def state(self) -> KitchenState:
        """Return the kitchen as it is now."""
        state = self._state.moved(self.thing(name) for name in self.ids.things)
        if self._sliding is not None:
            state = state.with_drawer(self._sliding, self.opening_m())
        return replace(
            state,
            joints=self.joints(),
            gap_m=min(self.gap_m, STROKE_M),
            held=self.held,
            time_s=state.time_s + self.steps * DT_S,
        )

    def opening_m(self) -> float:
        """Return how far the drawer that can be moved is pulled out."""
        found: float = p.getJointState(self.ids.drawer, 0, physicsClientId=self._client)[0]
        return found

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""
        states = p.getJointStates(self.ids.arm, ARM_JOINTS, physicsClientId=self._client)
        return tuple(state[0] for state in states)

    def brake(self, steps: int) -> None:
        """Bring the arm to rest where it is."""
        self._targets = list(self.joints())
        self.wait(steps, watched=False)

    def pose(self) -> Pose:
        """Return where the fingertips are driven to, in the world."""
        return Pose(*arm.to_world(self._state.base, arm.forward(self._targets)))
