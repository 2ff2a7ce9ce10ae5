"""One PyBullet simulation of the tabletop: steps, motions, closing fingers, reading poses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from robots.arm import ur5e
from robots.arm.gripper import FINGER_FORCE_N, FINGER_SPEED_MPS, GRIP_FORCE_N, HOLD_FORCE_N
from robots.arm.motion import DT_S, Leg, Pose
from robots.ravens import bodies
from robots.ravens.bodies import ARM_JOINTS, FINGERS, HAND
from robots.ravens.scene import Body, Scene
from robots.ravens.world import WorldState
from robots.simulation.bullet import p
from robots.simulation.world import WorldOwner, after_step

_JOINTS = [*ARM_JOINTS, *FINGERS]
_FORCES = [*ur5e.MAX_TORQUE, FINGER_FORCE_N, FINGER_FORCE_N]
_GAINS = [0.3] * len(_JOINTS)
_AT_REST = (0.0,) * len(ARM_JOINTS)
_FIRM_STEPS = 3
"""Both fingers must press for so many steps on end."""
_STILL_MPS, _STILL_RADPS = 2e-3, 0.05


class TabletopSimulation:
    """A built simulation and the few things a motion does with it."""

    def __init__(self, client: int, state: WorldState, owner: WorldOwner) -> None:
        """Build the simulation of a state."""
        self.ids = bodies.build(client, state)
        self._sizes = {body.name: body.size for body in state.scene.bodies}
        self.steps = 0
        """Steps since it was built."""
        self.gap_m = state.gap_m
        """Distance the fingers are driven to in this step."""
        self.gap_goal_m = state.gap_m
        """Distance they are on the way to."""
        self._client = client
        self._owner = owner
        self._targets = list(state.joints)
        self._forces = list(_FORCES)
        self._hold: int | None = None
        self.held = state.held
        """The object fixed to the hand, if any."""
        if state.held:
            self._fix(state.held)

    def step(self, velocities: Sequence[float] = _AT_REST, *, watched: bool = True) -> None:
        """Advance one step: joints driven from their targets at these speeds, fingers to theirs."""
        reach = 2 * FINGER_SPEED_MPS * DT_S
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
        after_step(self._owner, self.steps, watched=watched)

    def follow(
        self,
        leg: Leg,
        until: Callable[[], bool] | None = None,
        trail: list[tuple[float, ...]] | None = None,
    ) -> None:
        """Move the arm along a motion, or along the part of it until something is so.

        Args:
            leg: The motion.
            until: Ends it.
            trail: Gets the joint angles after every step, radians.
        """
        for position, velocity in zip(leg.positions.tolist(), leg.velocities.tolist(), strict=True):
            self._targets = position
            if until is not None and until():
                return
            self.step(velocity)
            if trail is not None:
                trail.append(self.joints())
        self._targets = (leg.positions[-1] + leg.velocities[-1] * DT_S).tolist()

    def wait(self, steps: int, *, watched: bool = True) -> None:
        """Advance with the arm held where it is driven to."""
        for _ in range(steps):
            self.step(watched=watched)

    def open(self, gap_m: float) -> None:
        """Let go and open the fingers to a distance (m)."""
        if self._hold is not None and self.held is not None:
            p.removeConstraint(self._hold, physicsClientId=self._client)
            self._collide(self.held, True)
            self._hold, self.held = None, None
        self._forces[6:] = [FINGER_FORCE_N] * 2
        self.gap_goal_m = gap_m
        while self.gap_m != gap_m:
            self.step()
        self.wait(2)

    def grasp(self, name: str) -> bool:
        """Close the fingers; return whether both touch the object, which is then held.

        The fingers alone would hold a block, but not a bowl by its rim without letting it tip; so
        from the moment both fingers press on the object, and only then, a fixed joint of limited
        force holds it to the hand, and the fingers stay where they closed.
        """
        self._forces[6:] = [GRIP_FORCE_N] * 2
        self.gap_goal_m = 0.0
        pressed = 0
        while self.gap_m > 0 and pressed < _FIRM_STEPS:
            self.step()
            pressed = pressed + 1 if self._both_press(name) else 0
        if pressed < _FIRM_STEPS:
            return False
        states = p.getJointStates(self.ids.arm, FINGERS, physicsClientId=self._client)
        self.gap_m = self.gap_goal_m = states[0][0] + states[1][0]
        self._fix(name)
        return True

    def _both_press(self, name: str) -> bool:
        return all(
            any(
                contact[9] > 0
                for contact in p.getContactPoints(
                    self.ids.arm, self.ids.objects[name], finger, -1, self._client
                )
            )
            for finger in FINGERS
        )

    def _fix(self, name: str) -> None:
        """Fix an object to the hand where it is."""
        hand = p.getLinkState(self.ids.arm, HAND, physicsClientId=self._client)[:2]
        thing = p.getBasePositionAndOrientation(
            self.ids.objects[name], physicsClientId=self._client
        )
        position, turn = p.multiplyTransforms(*p.invertTransform(*hand), *thing)
        self._hold = p.createConstraint(
            self.ids.arm,
            HAND,
            self.ids.objects[name],
            -1,
            p.JOINT_FIXED,
            [0, 0, 0],
            position,
            [0, 0, 0],
            turn,
            physicsClientId=self._client,
        )
        p.changeConstraint(self._hold, maxForce=HOLD_FORCE_N, physicsClientId=self._client)
        self._collide(name, False)
        self._forces[6:] = [FINGER_FORCE_N] * 2
        self.held = name

    def _collide(self, name: str, enabled: bool) -> None:
        """Let the fingers touch an object or not: while it is fixed to the hand they need not."""
        for finger in FINGERS:
            p.setCollisionFilterPair(
                self.ids.arm, self.ids.objects[name], finger, -1, int(enabled), self._client
            )

    def touches_another(self, name: str) -> bool:
        """Return whether an object touches anything but the gripper."""
        number = self.ids.objects[name]
        contacts = p.getContactPoints(bodyA=number, physicsClientId=self._client)
        return any(contact[2] != self.ids.arm and contact[8] < 5e-4 for contact in contacts)

    def settle(self, most_steps: int) -> None:
        """Advance until every object is still, at most so many steps."""
        for _ in range(0, most_steps, 8):
            if self._still():
                return
            self.wait(8, watched=False)

    def _still(self) -> bool:
        for number in self.ids.objects.values():
            linear, angular = p.getBaseVelocity(number, physicsClientId=self._client)
            if max(map(abs, linear)) > _STILL_MPS or max(map(abs, angular)) > _STILL_RADPS:
                return False
        return True

    def body(self, name: str) -> Body:
        """Return where an object is now."""
        position, turn = p.getBasePositionAndOrientation(
            self.ids.objects[name], physicsClientId=self._client
        )
        return Body(name, position, turn, self._sizes[name])

    def scene(self) -> Scene:
        """Return where every object is now."""
        return Scene(tuple(self.body(name) for name in self.ids.objects))

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""
        states = p.getJointStates(self.ids.arm, ARM_JOINTS, physicsClientId=self._client)
        return tuple(state[0] for state in states)

    def brake(self, steps: int) -> None:
        """Bring the arm to rest where it is."""
        self._targets = list(self.joints())
        self.wait(steps, watched=False)

    def pose(self) -> Pose:
        """Return where the fingertips are driven to."""
        return Pose.of_joints(self._targets)
