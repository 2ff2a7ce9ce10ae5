"""Moving the arms, step by step towards where each hand is to be; filmed and stopped on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from cap.errors import RobotError, Unreachable
from robots.robosuite.environments import Environment
from robots.robosuite.hand import ArmHand
from robots.robosuite.scene import Surroundings
from robots.robosuite.world import CONTROL_HZ, SETTLE_STEPS, ArmWorldState, Array, Simulation
from robots.simulation.world import WorldOwner

FAST_M, SLOW_M = 0.05, 0.015
"""How far ahead a step's goal may be: 0.3 and 0.1 m/s."""
THERE_M, THERE_RAD = 0.003, 0.03
"""A hand this close to its goal is there."""
NEAR_M, NEAR_RAD = 0.015, 0.15
"""A hand that comes no closer has arrived all the same, if it is this close."""
_ARRIVAL_STEPS = 50
"""So long a hand may take for the rest of its way, which its speed does not account for."""
_PUSH_SHARE = 0.06
_MOST_PUSH = np.array([0.03, 0.03, 0.03, 0.3, 0.3, 0.3])
"""What remains of the way is added to the goal, so that neither load nor friction holds a hand
back; at most so much, metres and radians."""
_STILL = 0.02
"""An arm whose joints turn more slowly stands still, rad/s."""
_HALT_STEPS = 80


class ArmWorld(Simulation):
    """A simulation whose hands follow their commands."""

    def __init__(
        self, owner: WorldOwner, state: ArmWorldState, environment: Environment, arm: str
    ) -> None:
        """Build the simulation of a state's seed."""
        super().__init__(environment, arm)
        self._owner = owner
        self.state = state

    @property
    def state(self) -> ArmWorldState:
        """Everything that decides what happens next."""
        return self.saved(tuple(hand.command for hand in self.hands))

    @state.setter
    def state(self, state: ArmWorldState) -> None:
        if not state.physics or state.seed != self.env.seed:
            self.build(state.seed)
        if state.physics:
            self.restore(state)
            for hand, command in zip(self.hands, state.commands, strict=True):
                hand.command = command

    def build(self, seed: int) -> None:
        """Build it as a seed lays it out, its things at rest."""
        super().build(seed)
        self.scene = Surroundings(self)
        self.hands = [ArmHand(self, number) for number in range(self.environment.arms)]
        for _ in range(SETTLE_STEPS):
            self._act(FAST_M)

    def close(self) -> None:
        """Release the simulation."""

    def _act(self, furthest_m: float, pushes: Mapping[ArmHand, Array] | None = None) -> None:
        """Take one step: each hand towards its goal, and further by its push."""
        pushes = pushes or {}
        parts = [hand.action(furthest_m, pushes.get(hand, np.zeros(6))) for hand in self.hands]
        self.env.step(np.concatenate(parts))

    def _step(self, furthest_m: float, pushes: Mapping[ArmHand, Array] | None = None) -> None:
        """Take one step that is filmed and may be stopped.

        Raises:
            RobotError: It was stopped; the arms stand still.
        """
        self._act(furthest_m, pushes)
        if self.env.timestep % max(1, round(self._owner.frame_every_s * CONTROL_HZ)) == 0:
            self._owner.frame()
        try:
            self._owner.check_stop()
        except RobotError:
            self.halt()
            raise

    def halt(self) -> None:
        """Have every hand stay where it is, and wait until it does."""
        for _ in range(_HALT_STEPS):
            for hand in self.hands:
                hand.stay()
            self._act(SLOW_M)
            if self.speed < _STILL:
                break

    def move(self, hands: Sequence[ArmHand], furthest_m: float, *, touching: bool = False) -> None:
        """Bring hands to where they are to be, each on a straight way.

        Args:
            hands: Which; the others stay.
            furthest_m: How far ahead a step's goal may be: the speed.
            touching: The hand presses on something, and need not arrive.

        Raises:
            Unreachable: A hand stopped before its goal; it stays there.
            RobotError: It was stopped; the arms stand still.
        """
        ways = [hand.off() for hand in hands]
        longest = max(float(np.linalg.norm(way)) for way, _ in ways)
        turned = max(float(np.linalg.norm(turn)) for _, turn in ways)
        steps = round(longest / furthest_m * 5 + turned * 15)
        pushes = {hand: np.zeros(6) for hand in hands}
        for _ in range(steps + (5 if touching else _ARRIVAL_STEPS)):
            if _arrived(hands, THERE_M, THERE_RAD):
                return
            self._step(furthest_m, pushes)
            for hand in hands:
                way, turn = hand.off()
                if not touching and np.linalg.norm(way) < 2 * NEAR_M:
                    push = pushes[hand] + _PUSH_SHARE * np.concatenate([way, turn])
                    pushes[hand] = np.clip(push, -_MOST_PUSH, _MOST_PUSH)
        if touching or _arrived(hands, NEAR_M, NEAR_RAD):
            return
        x, y, z = hands[0].aim
        self.halt()
        away = np.linalg.norm(hands[0].position - (x, y, z))
        raise Unreachable(
            f"the hand stopped {100 * away:.1f} cm before ({x:.3f}, {y:.3f}, {z:.3f}): "
            "something is in its way, or the arm does not reach there, turned so"
        )

    def set_fingers(self, hand: ArmHand, action: float, steps: int) -> None:
        """Open or close a hand and give its fingers time.

        Raises:
            RobotError: It was stopped.
        """
        hand.fingers = action
        for _ in range(steps):
            self._step(SLOW_M)


def _arrived(hands: Sequence[ArmHand], most_m: float, most_rad: float) -> bool:
    return all(
        np.linalg.norm(way) <= most_m and np.linalg.norm(turn) <= most_rad
        for way, turn in (hand.off() for hand in hands)
    )
