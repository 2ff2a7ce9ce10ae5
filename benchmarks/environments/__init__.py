"""Gymnasium environments whose actions are programs or instructions; importing this names them.

Example:
    import gymnasium

    import benchmarks.environments

    env = gymnasium.make("cap/ravens-v0", task="pick-and-place")
"""

from __future__ import annotations

from cap.errors import MissingExtra

try:
    import gymnasium
except ImportError:
    raise MissingExtra(
        "the environments need gymnasium; install it: pip install -e '.[bench]' in the checkout"
    ) from None

RAVENS = "cap/ravens-v0"
MOST_STEPS = 5
"""Steps of an episode, unless `gymnasium.make(..., max_episode_steps=N)` says otherwise."""

if RAVENS not in gymnasium.registry:
    gymnasium.register(
        RAVENS, "benchmarks.environments.ravens:RavensEnvironment", max_episode_steps=MOST_STEPS
    )
