"""Two policies to begin with: programs drawn at random, and the task's own.

python -m benchmarks.environments.ravens_policies --policy oracle --episodes 20
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from benchmarks.environments import RAVENS
from benchmarks.environments.ravens import Observation
from robots.table.geometry import PLACES

Policy = Callable[[Any, Observation, np.random.Generator], str]


def random_program(env: Any, seen: Observation, rng: np.random.Generator) -> str:
    """Return a program that puts something anywhere."""
    names = seen["objects"].split(", ")
    movable = [name for name in names if "block" in name] or names
    first = str(rng.choice(movable))
    second = str(rng.choice([*(name for name in names if name != first), *PLACES]))
    return f"put_first_on_second({first!r}, {second!r})\n"


def oracle_program(env: Any, seen: Observation, rng: np.random.Generator) -> str:
    """Return the program by which a person solved the task."""
    return str(env.unwrapped.oracle())


POLICIES: dict[str, Policy] = {"random": random_program, "oracle": oracle_program}


def success_rate(env: Any, policy: Policy, episodes: int, seed: int = 0) -> float:
    """Return the share of episodes that end with the task done.

    Args:
        env: The environment.
        policy: What chooses actions.
        episodes: How many, with seeds that follow one another.
        seed: Of the first.
    """
    done = 0
    for number in range(seed, seed + episodes):
        rng = np.random.default_rng(number)
        seen, _ = env.reset(seed=number)
        terminated = truncated = False
        while not (terminated or truncated):
            seen, reward, terminated, truncated, _ = env.step(policy(env, seen, rng))
            done += int(reward)
    return done / episodes


def main(arguments: list[str] | None = None) -> None:
    """Run a policy and print its rate."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", choices=POLICIES, default="random")
    parser.add_argument("--task", default="pick-and-place")
    parser.add_argument("--mode", choices=["instant", "physics"], default="instant")
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    env = gymnasium.make(RAVENS, task=given.task, mode=given.mode, image=0)
    try:
        rate = success_rate(env, POLICIES[given.policy], given.episodes, given.seed)
    finally:
        env.close()
    print(f"{given.task}: {given.policy} {100 * rate:.0f} % of {given.episodes}")  # noqa: T201


if __name__ == "__main__":
    main()
