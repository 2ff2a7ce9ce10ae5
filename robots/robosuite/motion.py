"""Moving the arms, step by step towards a goal for each hand; filmed and stopped on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cap.errors import RobotError, Unreachable
from robots.robosuite.environments import Environment
from robots.robosuite.hand import ArmHand, Goal
from robots.robosuite.picture import picture
from robots.robosuite.world import (
    CONTROL_HZ,
    SETTLE_STEPS,
    ArmWorldState,
    Array,
    Simulation,
)
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


class ArmWorld:
    """A simulation, its hands, and the command of each hand."""

    def __init__(
        self, owner: WorldOwner, state: ArmWorldState, environment: Environment, arm: str
    ) -> None:
        """Build the simulation of a state's seed."""
        self._owner = owner
        self._environment = environment
        self._arm = arm
        self._steps = 0
        self.state = state

    @property
    def state(self) -> ArmWorldState:
        """Everything that decides what happens next."""
        goals = self.goals
        return self.simulation.state(
            tuple((goal.position + goal.rotation, goal.fingers, goal.held) for goal in goals)
        )

    @state.setter
    def state(self, state: ArmWorldState) -> None:
        if (
            not hasattr(self, "simulation")
            or not state.physics
            or self.simulation.seed != state.seed
        ):
            self._build(state.seed)
        if state.physics:
            self.simulation.restore(state)
            self.goals = [
                Goal(numbers[:3], numbers[3:], fingers, held)
                for numbers, fingers, held in state.commands
            ]

    def _build(self, seed: int) -> None:
        self.simulation = Simulation(self._environment, self._arm, seed)
        self.hands = [ArmHand(self.simulation, number) for number in range(self._environment.arms)]
        self.goals = [hand.here() for hand in self.hands]
        for _ in range(SETTLE_STEPS):
            self._act({}, FAST_M)

    def close(self) -> None:
        """Release the simulation."""

    def picture(self, width: int, height: int) -> Any:
        """Return a picture of the scene as a PIL image."""
        return picture(self.simulation, width, height)

    def _act(self, pushes: Mapping[int, Array], furthest_m: float) -> None:
        """Take one step: each hand towards its goal."""
        parts = [
            hand.action(goal, furthest_m, pushes.get(number, np.zeros(6)))
            for number, (hand, goal) in enumerate(zip(self.hands, self.goals, strict=True))
        ]
        self.simulation.step(np.concatenate(parts))

    def _step(self, pushes: Mapping[int, Array], furthest_m: float) -> None:
        """Take one step that is filmed and may be stopped.

        Raises:
            RobotError: It was stopped; the arms stand still.
        """
        self._act(pushes, furthest_m)
        self._steps += 1
        every = max(1, round(self._owner.frame_every_s * CONTROL_HZ))
        if self._owner.on_frame is not None and self._steps % every == 0:
            self._owner.frame()
        try:
            self._owner.check_stop()
        except RobotError:
            self.halt()
            raise

    def halt(self) -> None:
        """Have every hand stay where it is, and wait until it does."""
        for _ in range(_HALT_STEPS):
            self.goals = [
                replace(hand.here(), fingers=goal.fingers, held=goal.held)
                for hand, goal in zip(self.hands, self.goals, strict=True)
            ]
            self._act({}, SLOW_M)
            if self.simulation.speed < _STILL:
                break

    def move(
        self,
        goals: Mapping[int, Goal],
        furthest_m: float = FAST_M,
        *,
        touching: bool = False,
    ) -> None:
        """Bring hands to their goals, each on a straight way.

        Args:
            goals: By the number of the arm; the others stay.
            furthest_m: How far ahead a step's goal may be: the speed.
            touching: The hand presses on something, and need not arrive.

        Raises:
            Unreachable: A hand stopped before its goal; it stays there.
            RobotError: It was stopped; the arms stand still.
        """
        for number, goal in goals.items():
            self.goals[number] = goal
        ways = [self.hands[number].off(goal) for number, goal in goals.items()]
        longest = max(float(np.linalg.norm(way)) for way, _ in ways)
        turned = max(float(np.linalg.norm(turn)) for _, turn in ways)
        steps = round(longest / furthest_m * 5 + turned * 15)
        pushes = {number: np.zeros(6) for number in goals}
        for _ in range(steps + (5 if touching else _ARRIVAL_STEPS)):
            if self._arrived(goals, THERE_M, THERE_RAD):
                return
            self._step(pushes, furthest_m)
            for number, goal in goals.items():
                way, turn = self.hands[number].off(goal)
                if not touching and np.linalg.norm(way) < 2 * NEAR_M:
                    pushed = pushes[number] + _PUSH_SHARE * np.concatenate([way, turn])
                    pushes[number] = np.clip(pushed, -_MOST_PUSH, _MOST_PUSH)
        if touching or self._arrived(goals, NEAR_M, NEAR_RAD):
            return
        self.halt()
        number, goal = next(iter(goals.items()))
        away = np.linalg.norm(self.hands[number].off(goal)[0])
        x, y, z = goal.position
        raise Unreachable(
            f"the hand stopped {100 * away:.1f} cm before ({x:.3f}, {y:.3f}, {z:.3f}): "
            "something is in its way, or the arm does not reach there, turned so"
        )

    def _arrived(self, goals: Mapping[int, Goal], most_m: float, most_rad: float) -> bool:
        for number, goal in goals.items():
            way, turn = self.hands[number].off(goal)
            if np.linalg.norm(way) > most_m or np.linalg.norm(turn) > most_rad:
                return False
        return True

    def hold(self, number: int, name: str) -> None:
        """Note what a hand was closed on; "" if it holds nothing."""
        self.goals[number] = replace(self.goals[number], held=name)

    def set_fingers(self, numbers: tuple[int, ...], action: float, steps: int) -> None:
        """Open or close hands and give their fingers time.

        Raises:
            RobotError: It was stopped.
        """
        for number in numbers:
            self.goals[number] = replace(self.goals[number], fingers=action)
        for _ in range(steps):
            self._step({}, SLOW_M)
