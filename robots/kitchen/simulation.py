"""A built simulation of the kitchen, whatever engine carries it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from robots.arm.motion import DT_S, Pose
from robots.kitchen import arm
from robots.kitchen.grasps import STROKE_M
from robots.kitchen.objects import Thing
from robots.kitchen.state import KitchenState
from robots.simulation.gripping_arm import GrippingArm
from robots.table.geometry import Quat, Vec3


class KitchenSimulation(GrippingArm):
    """A built simulation and the few things a motion does with it."""

    torques = arm.MAX_TORQUE
    finger_mps, closing_mps = 0.2, 0.08
    finger_force_n, grip_force_n = 60.0, 25.0

    def _begin(self, state: KitchenState, sliding: str | None) -> None:
        """Take over a state, once it is built."""
        self._state = state
        self._sliding = sliding
        if state.held:
            self.fix(self.numbers()[state.held])
            self.held = state.held

    @abstractmethod
    def numbers(self) -> Mapping[str, int]:
        """Return the bodies of what is near, by name."""

    @abstractmethod
    def place_of(self, number: int) -> tuple[Vec3, Quat]:
        """Return where a body is now."""

    @abstractmethod
    def opening_m(self) -> float:
        """Return how far the drawer that can be moved is pulled out."""

    @abstractmethod
    def take_handle(self) -> bool:
        """Close the fingers on the handle of that drawer; return whether they hold it."""

    def take(self, name: str) -> bool:
        """Close the fingers on an object, if it is there; return whether they hold it."""
        number = self.numbers().get(name)
        return number is not None and self.grasp(number)

    def thing(self, name: str) -> Thing:
        """Return where an object is now."""
        position, turn = self.place_of(self.numbers()[name])
        return replace(self._state[name], position=position, quaternion=turn)

    def state(self) -> KitchenState:
        """Return the kitchen as it is now."""
        state = self._state.moved(self.thing(name) for name in self.numbers())
        if self._sliding is not None:
            state = state.with_drawer(self._sliding, self.opening_m())
        return replace(
            state,
            joints=self.joints(),
            gap_m=min(self.gap_m, STROKE_M),
            held=self.held,
            time_s=state.time_s + self.steps * DT_S,
        )

    def pose(self) -> Pose:
        """Return where the fingertips are driven to, in the world."""
        return Pose(*arm.to_world(self._state.base, arm.forward(self._targets)))
