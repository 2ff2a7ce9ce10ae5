"""A simulated arm with two fingers in PyBullet: how it moves, takes hold, lets go and rests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import ClassVar

from robots.arm.motion import DT_S, Leg
from robots.simulation.bullet import p
from robots.simulation.world import WorldOwner, after_step

_FIRM_STEPS = 3
"""Both fingers must press for so many steps on end."""
_STILL_MPS, _STILL_RADPS = 2e-3, 0.05


class GrippingArm:
    """A built simulation of an arm, and the few things a motion does with it."""

    joint_numbers: ClassVar[Sequence[int]]
    """The arm's joints, in PyBullet's numbers."""
    hand: ClassVar[int]
    """The link that what is held is fixed to."""
    fingers: ClassVar[tuple[int, int]]
    torques: ClassVar[Sequence[float]]
    """The most each joint of the arm may use."""
    finger_mps: ClassVar[float]
    """Of each finger while it opens."""
    closing_mps: ClassVar[float]
    """Of each finger while it closes: faster, it would sink into what is light."""
    finger_force_n: ClassVar[float]
    """With which a finger is driven to where it should be, but for closing."""
    grip_force_n: ClassVar[float]
    """With which a finger closes on something."""
    hold_force_n: ClassVar[float]
    """Limit of the fixed joint that holds what both fingers press on."""
    passes_held: ClassVar[tuple[int, ...]]
    """Links that need not touch what is fixed to the hand."""
    fresh_links: ClassVar[bool] = False
    """Whether where links are is computed anew when it is asked."""

    def __init__(
        self,
        client: int,
        owner: WorldOwner,
        number: int,
        loose: Collection[int],
        joints: Sequence[float],
        gap_m: float,
    ) -> None:
        """Take over an arm that is built, at rest.

        Args:
            client: The physics server.
            owner: The robot.
            number: The arm.
            loose: Everything that may move.
            joints: Angles of the arm, radians.
            gap_m: Distance between the fingers.
        """
        self.steps = 0
        """Steps since it was built."""
        self.gap_m = gap_m
        """Distance the fingers are driven to in this step."""
        self.gap_goal_m = gap_m
        """Distance they are on the way to."""
        self.held: str | None = None
        """The object fixed to the hand, if any."""
        self._client, self._owner, self._number, self._loose = client, owner, number, loose
        self._targets = list(joints)
        self._driven = [*self.joint_numbers, *self.fingers]
        self._gains = [0.3] * len(self._driven), [1.0] * len(self._driven)
        self._at_rest = (0.0,) * len(self.joint_numbers)
        self._forces = [*self.torques, self.finger_force_n, self.finger_force_n]
        self._finger_step_m = 2 * self.finger_mps * DT_S
        self._hold: int | None = None
        self._fixed = (0, 0)

    def step(self, velocities: Sequence[float] = (), *, watched: bool = True) -> None:
        """Advance one step: joints driven from their targets at these speeds, fingers to theirs."""
        gap = next_gap = self.gap_m
        if gap != self.gap_goal_m:
            reach = self._finger_step_m
            next_gap = min(max(self.gap_goal_m, gap - reach), gap + reach)
        half, speed = gap / 2, (next_gap - gap) / (2 * DT_S)
        p.setJointMotorControlArray(
            self._number,
            self._driven,
            p.POSITION_CONTROL,
            [*self._targets, half, half],
            [*(velocities or self._at_rest), speed, speed],
            self._forces,
            *self._gains,
            self._client,
        )
        p.stepSimulation(self._client)
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
        if self._hold is not None:
            p.removeConstraint(self._hold, physicsClientId=self._client)
            self._collide(True)
            self._hold, self.held = None, None
        self._forces[-2:] = [self.finger_force_n] * 2
        self.gap_goal_m = gap_m
        while self.gap_m != gap_m:
            self.step()
        self.wait(2)

    def grasp(self, body: int | None, link: int = -1) -> bool:
        """Close the fingers; return whether both press on a body, which is then held.

        The fingers alone would hold a block, but not a bowl by its rim without letting it tip; so
        from the moment both press on it, and only then, a fixed joint of limited force holds it to
        the hand, and the fingers stay where they closed.

        Args:
            body: None where it was seen, but is not there.
            link: The part of it that is to be held.
        """
        self._forces[-2:] = [self.grip_force_n] * 2
        self._finger_step_m = 2 * self.closing_mps * DT_S
        self.gap_goal_m = 0.0
        pressed = 0
        while self.gap_m > 0 and pressed < _FIRM_STEPS:
            self.step()
            pressed = pressed + 1 if self._both_press(body, link) else 0
        self._finger_step_m = 2 * self.finger_mps * DT_S
        if body is None or pressed < _FIRM_STEPS:
            return False
        states = p.getJointStates(self._number, self.fingers, physicsClientId=self._client)
        self.gap_m = self.gap_goal_m = max(0.0, states[0][0] + states[1][0])
        self.fix(body, link)
        return True

    def _both_press(self, body: int | None, link: int) -> bool:
        return body is not None and all(
            any(
                contact[9] > 0
                for contact in p.getContactPoints(self._number, body, finger, link, self._client)
            )
            for finger in self.fingers
        )

    def fix(self, body: int, link: int = -1) -> None:
        """Fix a body to the hand where it is."""
        if link < 0:
            place = p.getBasePositionAndOrientation(body, physicsClientId=self._client)
        else:
            place = self._link(body, link)
        hand = p.invertTransform(*self._link(self._number, self.hand))
        position, turn = p.multiplyTransforms(*hand, *place)
        self._hold = p.createConstraint(
            self._number,
            self.hand,
            body,
            link,
            p.JOINT_FIXED,
            [0, 0, 0],
            position,
            [0, 0, 0],
            turn,
            physicsClientId=self._client,
        )
        p.changeConstraint(self._hold, maxForce=self.hold_force_n, physicsClientId=self._client)
        self._fixed = (body, link)
        self._collide(False)
        self._forces[-2:] = [self.finger_force_n] * 2

    def _link(self, body: int, link: int) -> tuple[Sequence[float], Sequence[float]]:
        position, turn = p.getLinkState(
            body, link, computeForwardKinematics=self.fresh_links, physicsClientId=self._client
        )[:2]
        return position, turn

    def _collide(self, enabled: bool) -> None:
        """Let the gripper touch what is fixed to it or not."""
        body, link = self._fixed
        for part in self.passes_held:
            p.setCollisionFilterPair(self._number, body, part, link, int(enabled), self._client)

    def settle(self, most_steps: int) -> None:
        """Advance until everything is still, at most so many steps."""
        for _ in range(0, most_steps, 8):
            moving = (p.getBaseVelocity(body, physicsClientId=self._client) for body in self._loose)
            if all(
                max(map(abs, linear)) <= _STILL_MPS and max(map(abs, angular)) <= _STILL_RADPS
                for linear, angular in moving
            ):
                return
            self.wait(8, watched=False)

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""
        states = p.getJointStates(self._number, self.joint_numbers, physicsClientId=self._client)
        return tuple(state[0] for state in states)

    def brake(self, steps: int) -> None:
        """Bring the arm to rest where it is."""
        self._targets = list(self.joints())
        self.wait(steps, watched=False)
