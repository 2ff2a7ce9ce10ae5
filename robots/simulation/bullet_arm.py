"""A simulated arm with two fingers in PyBullet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, ClassVar

from robots.simulation.bullet import p
from robots.simulation.gripping_arm import STILL_MPS, STILL_RADPS, GrippingArm
from robots.simulation.world import WorldOwner


class BulletArm(GrippingArm):
    """An arm of a PyBullet server."""

    joint_numbers: ClassVar[Sequence[int]]
    """The arm's joints, in PyBullet's numbers."""
    hand: ClassVar[int]
    """The link that what is held is fixed to."""
    fingers: ClassVar[tuple[int, int]]
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
        super().__init__(owner, joints, gap_m)
        self._client, self._number, self._loose = client, number, loose
        self._driven = [*self.joint_numbers, *self.fingers]
        self._gains = [0.3] * len(self._driven), [1.0] * len(self._driven)
        self._hold: int | None = None
        self._fixed = (0, 0)

    def _advance(self, velocities: Sequence[float], half_m: float, finger_mps: float) -> None:
        p.setJointMotorControlArray(
            self._number,
            self._driven,
            p.POSITION_CONTROL,
            [*self._targets, half_m, half_m],
            [*velocities, finger_mps, finger_mps],
            [*self.torques, self._force_n, self._force_n],
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
        states = p.getJointStates(self._number, self.fingers, physicsClientId=self._client)
        return float(states[0][0] + states[1][0])

    def _both_press(self, body: Any, link: int) -> bool:
        return body is not None and all(
            any(
                contact[9] > 0
                for contact in p.getContactPoints(self._number, body, finger, link, self._client)
            )
            for finger in self.fingers
        )

    def fix(self, body: Any, link: int = -1) -> None:
        """Fix a body, by its number, to the hand where it is."""
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

    def _is_still(self) -> bool:
        moving = (p.getBaseVelocity(body, physicsClientId=self._client) for body in self._loose)
        return all(
            max(map(abs, linear)) <= STILL_MPS and max(map(abs, angular)) <= STILL_RADPS
            for linear, angular in moving
        )

    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""
        states = p.getJointStates(self._number, self.joint_numbers, physicsClientId=self._client)
        return tuple(state[0] for state in states)
