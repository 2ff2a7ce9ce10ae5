"""A simulated arm with two fingers: how it moves, takes hold, lets go and rests, in any engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from robots.arm.motion import DT_S, Leg
from robots.simulation.bodies import PhysicsWorld
from robots.simulation.world import WorldOwner, after_step
from robots.table.geometry import Quat, Vec3

_FIRM_STEPS = 3
"""Both fingers must press for so many steps on end."""
STILL_MPS, STILL_RADPS = 2e-3, 0.05
"""What moves slower is at rest."""


class GraspingArm(ABC):
    """A built simulation of an arm, and the few things a motion does with it.

    An engine's class below it drives the joints, fixes what is held to the hand and knows contacts.
    """

    bodies: Mapping[str, Any]
    """What may move: the engine's own terms for each body, by name."""

    def __init__(self, world: PhysicsWorld, owner: WorldOwner) -> None:
        """Take over an arm that is built, at rest.

        Args:
            world: What there is.
            owner: The robot.
        """
        self.steps = 0
        """Steps since it was built."""
        self.gap_m = world.gap_m
        """Distance the fingers are driven to in this step."""
        self.gap_goal_m = world.gap_m
        """Distance they are on the way to."""
        self.on_step: Callable[[], None] | None = None
        """Called after each step."""
        self.held: str | None = None
        """The object fixed to the hand, if any."""
        self.targets = list(world.joints)
        """Angles the joints are driven to, radians."""
        self._arm, self._owner = world.arm, owner
        self._at_rest = (0.0,) * len(self.targets)
        self._force_n = self._arm.finger_force_n
        """With which the fingers are driven now."""
        self._finger_step_m = 2 * self._arm.finger_mps * DT_S

    @abstractmethod
    def _advance(self, velocities: Sequence[float], half_m: float, finger_mps: float) -> None:
        """Advance the simulation one step of `DT_S`.

        Args:
            velocities: Of the arm's joints on their way from the targets, rad/s.
            half_m: Where each finger is driven from.
            finger_mps: How fast.
        """

    @abstractmethod
    def fix(self, body: Any, link: int = -1) -> None:
        """Fix a body to the hand where it is.

        Args:
            body: In the engine's own terms.
            link: The part of it that is held.
        """

    @abstractmethod
    def _let_go(self) -> None:
        """Undo `fix`; harmless if nothing is fixed."""

    @abstractmethod
    def _both_press(self, body: Any, link: int) -> bool:
        """Return whether both fingers press on a body; False for None."""

    @abstractmethod
    def _closed_to_m(self) -> float:
        """Return the distance between the fingers as it is, metres."""

    @abstractmethod
    def _is_still(self) -> bool:
        """Return whether everything that may move is at rest."""

    @abstractmethod
    def tip(self) -> Vec3:
        """Return where the link `tip` is, metres."""

    @abstractmethod
    def place_of(self, name: str) -> tuple[Vec3, Quat]:
        """Return where a body that may move is now: metres, x y z w."""

    @abstractmethod
    def opening_m(self) -> float:
        """Return how far the drawer is pulled out."""

    @abstractmethod
    def take_handle(self) -> bool:
        """Close the fingers on the drawer's handle; return whether they hold it."""

    @abstractmethod
    def joints(self) -> tuple[float, ...]:
        """Return the arm's joint angles, radians."""

    def step(self, velocities: Sequence[float] = (), *, watched: bool = True) -> None:
        """Advance one step: joints driven from their targets at these speeds, fingers to theirs."""
        gap = next_gap = self.gap_m
        if gap != self.gap_goal_m:
            reach = self._finger_step_m
            next_gap = min(max(self.gap_goal_m, gap - reach), gap + reach)
        self._advance(velocities or self._at_rest, gap / 2, (next_gap - gap) / (2 * DT_S))
        self.gap_m = next_gap
        self.steps += 1
        if self.on_step is not None:
            self.on_step()
        after_step(self._owner, self.steps, watched=watched)

    def follow(self, leg: Leg) -> None:
        """Move the arm along a motion."""
        for position, velocity in zip(leg.positions.tolist(), leg.velocities.tolist(), strict=True):
            self.targets = position
            self.step(velocity)
        self.targets = (leg.positions[-1] + leg.velocities[-1] * DT_S).tolist()

    def wait(self, steps: int, *, watched: bool = True) -> None:
        """Advance with the arm held where it is driven to."""
        for _ in range(steps):
            self.step(watched=watched)

    def open(self, gap_m: float) -> None:
        """Let go and open the fingers to a distance (m)."""
        self._let_go()
        self.held = None
        self._force_n = self._arm.finger_force_n
        self.gap_goal_m = gap_m
        while self.gap_m != gap_m:
            self.step()
        self.wait(2)

    def take(self, name: str) -> bool:
        """Close the fingers on a body, if it is there; return whether they hold it."""
        if taken := self.grasp(self.bodies.get(name)):
            self.held = name
        return taken

    def grasp(self, body: Any, link: int = -1) -> bool:
        """Close the fingers; return whether both press on a body, which is then held.

        The fingers alone would hold a block, but not a bowl by its rim without letting it tip; so
        from the moment both press on it, and only then, a fixed joint holds it to the hand, and the
        fingers stay where they closed.

        Args:
            body: In the engine's own terms; None where it was seen, but is not there.
            link: The part of it that is to be held.
        """
        self._force_n = self._arm.grip_force_n
        self._finger_step_m = 2 * self._arm.closing_mps * DT_S
        self.gap_goal_m = 0.0
        pressed = 0
        while self.gap_m > 0 and pressed < _FIRM_STEPS:
            self.step()
            pressed = pressed + 1 if self._both_press(body, link) else 0
        self._finger_step_m = 2 * self._arm.finger_mps * DT_S
        if body is None or pressed < _FIRM_STEPS:
            return False
        self.gap_m = self.gap_goal_m = max(0.0, self._closed_to_m())
        self.fix(body, link)
        self._force_n = self._arm.finger_force_n
        return True

    def settle(self, most_steps: int) -> None:
        """Advance until everything is still, at most so many steps."""
        for _ in range(0, most_steps, 8):
            if self._is_still():
                return
            self.wait(8, watched=False)

    def brake(self, steps: int) -> None:
        """Bring the arm to rest where it is."""
        self.targets = list(self.joints())
        self.wait(steps, watched=False)


Build = Callable[[PhysicsWorld, WorldOwner], GraspingArm]
"""Builds the simulation of a world: its bits depend on that alone. It replaces the one before."""
