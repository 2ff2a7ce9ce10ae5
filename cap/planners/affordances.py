"""How likely a skill succeeds where the robot is: SayCan's formulas, one for each family."""

from __future__ import annotations

from collections.abc import Callable

from cap.planners.loop import Action, World

Affordance = Callable[[World, Action], float]
"""Of a step, 0 to 1: the world's own, or a learned one."""

PICK_VALUES = (0.2, 0.5)
"""A pick's value where it cannot succeed, and where it will."""
GOTO_M = (0.0, 100.0)
"""Nearest and farthest a place can be, metres."""
PLACE = 1.0
"""Putting down is taken to be possible always."""
TERMINATE = 0.1
"""Ending: small, so that it is chosen when nothing else can be done."""


def clamp(value: float, low: float = 0.0, high: float = 1.0) -> float:
    """Return the value, or the end it passes."""
    return max(low, min(high, value))


def pick(value: float) -> float:
    """Return the affordance of a pick from its value function."""
    low, high = PICK_VALUES
    return clamp((value - low) / (high - low))


def goto(distance_m: float) -> float:
    """Return the affordance of going to what is so far away."""
    near, far = GOTO_M
    return clamp((far - distance_m) / (far - near))


def drawer(beside: bool) -> float:
    """Return the affordance of every drawer skill: it needs the robot beside the drawer."""
    return float(beside)


def of_world(world: World, action: Action) -> float:
    """Return the world's own affordance; 0 for a skill whose effect is there already."""
    return 0.0 if world.achieved(action) else world.affordance(action)


def constant(world: World, action: Action) -> float:
    """Return 1: the model alone decides."""
    return 1.0
