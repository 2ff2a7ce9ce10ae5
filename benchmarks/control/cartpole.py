"""A cart with a pole on it, which a program pushes left or right: gymnasium's `CartPole-v1`.

One push is one step of 0.02 simulated seconds. An episode ends when the pole leans more than 12
degrees, when the cart is more than 2.4 m from the middle, or after 500 steps.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.control.episode import Episode
from cap.errors import LimitExceeded, MissingExtra, install_extra
from robots.base import action, perception

STEPS = 500
"""Of an episode in which the pole never falls."""
STEP_S = 0.02


class CartPole(Episode):
    """One episode, from a start that the seed decides."""

    name = "cartpole"
    STEP_S = STEP_S

    def __init__(self, seed: int) -> None:
        """Put the cart near the middle with the pole almost upright.

        Raises:
            MissingExtra: gymnasium is not installed.
        """
        self.seed = seed
        self.pushes: list[int] = []
        """Every push so far: 1 to the right, 0 to the left."""
        self._env = _make()
        state, _ = self._env.reset(seed=seed)
        self.track = [_plain(state)]
        """Every state so far; one more than there were steps."""
        self.fell = False
        """Whether the pole fell or the cart ran off."""
        self._done = False

    @perception
    def get_state(self) -> NDArray[np.float64]:
        """Return x, x_dot, theta, theta_dot, shape (4,): m, m/s, rad, rad/s.

        x grows to the right; theta is 0 upright and grows as the pole leans to the right.
        """
        return np.array(self.track[-1])

    @perception
    def is_done(self) -> bool:
        """Return whether the episode is over."""
        return self._done

    @action
    def push(self, direction: int) -> NDArray[np.float64]:
        """Push the cart for one step of 0.02 s: 1 to the right, 0 to the left.

        Returns:
            The state after it, as `get_state` gives it.

        Raises:
            ValueError: The direction is neither 0 nor 1.
            LimitExceeded: The episode is over.
        """
        if self._done:
            raise LimitExceeded(f"the episode was over after {self.steps} steps; ask is_done()")
        try:
            whole = float(direction)
        except (TypeError, ValueError, OverflowError):
            whole = -1.0
        if whole not in (0.0, 1.0):
            raise ValueError(f"direction is 0 (left) or 1 (right), not {direction!r}")
        state, _, fell, timed_out, _ = self._env.step(int(whole))
        self.pushes.append(int(whole))
        self.track.append(_plain(state))
        self.fell = bool(fell)
        self._done = self.fell or bool(timed_out)
        return self.get_state()

    def close(self) -> None:
        """Release the environment."""
        self._env.close()


def _plain(state: Any) -> list[float]:
    return [float(value) for value in state]


def _make() -> Any:
    try:
        gymnasium = importlib.import_module("gymnasium")
    except ModuleNotFoundError:
        raise MissingExtra(f"the cartpole needs gymnasium; run: {install_extra('bench')}") from None
    return gymnasium.make("CartPole-v1", disable_env_checker=True)
