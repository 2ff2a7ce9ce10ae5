"""Gymnasium environments whose actions are programs or instructions; importing this names them.

Example:
    import gymnasium

    import benchmarks.environments

    env = gymnasium.make("cap/ravens-v0", task="pick-and-place")
"""

from __future__ import annotations

from cap.errors import MissingExtra, install_extra

try:
    import gymnasium
except ImportError:
    raise MissingExtra(f"the environments need gymnasium: {install_extra('bench')}") from None

RAVENS = "cap/ravens-v0"

if RAVENS not in gymnasium.registry:
    from benchmarks.environments.ravens import MOST_STEPS

    gymnasium.register(
        RAVENS, "benchmarks.environments.ravens:RavensEnvironment", max_episode_steps=MOST_STEPS
    )
