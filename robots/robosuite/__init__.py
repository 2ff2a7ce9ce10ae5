"""robosuite's arms and environments, moved by its own controllers and judged by its own checks.

`create` builds one of its environments for a seed. There are no dynamics but robosuite's: the robot
has no instant mode, and asked for one it runs in physics all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cap.errors import MissingExtra, UsageError, did_you_mean, install_extra
from robots.robosuite.environments import ARMS, Environment, environments

if TYPE_CHECKING:
    from robots.robosuite.robot import RobosuiteRobot

__all__ = ["create"]

PYTHONS = ((3, 11), (3, 12))
"""What robosuite's requirements have wheels for."""


def create(
    *,
    seed: int = 0,
    mode: str = "physics",
    objects: Sequence[str] | None = None,
    env: str | None = None,
    arm: str = "Panda",
) -> RobosuiteRobot:
    """Make the robot in an environment as `seed` lays it out.

    Args:
        seed: Decides the layout: that of `robosuite.make(..., seed=SEED)` and one reset.
        mode: `physics`; `instant` is the same.
        objects: Names of which the environment must have all, where `env` names none.
        env: robosuite's name of the environment; `Lift` where objects do not say it either.
        arm: `Panda`, `UR5e`, `xArm7`, `IIWA` or `Kinova3`.

    Raises:
        UsageError: Unknown environment, arm or mode, or no environment has such objects.
        MissingExtra: robosuite is not installed.
    """
    if mode not in ("physics", "instant"):
        raise UsageError(f"no mode {mode!r}; robosuite has physics only")
    if arm not in ARMS:
        raise UsageError(f"no arm {arm!r}.{did_you_mean(arm, ARMS)} Known: {', '.join(ARMS)}")
    environment = _chosen(env, objects)
    require_robosuite()
    from robots.robosuite.motion import ArmWorld
    from robots.robosuite.robot import RobosuiteRobot

    make_world = partial(ArmWorld, environment=environment, arm=ARMS[arm])
    return RobosuiteRobot(environment, seed, make_world)


def require_robosuite() -> None:
    """Make sure that robosuite is installed.

    Raises:
        MissingExtra: It is not; the line says how, or on which Python.
    """
    if find_spec("robosuite") is not None:
        return
    if sys.version_info[:2] not in PYTHONS:
        known = " and ".join(".".join(map(str, version)) for version in PYTHONS)
        raise MissingExtra(
            f"robosuite runs on Python {known}, and this is "
            f"{sys.version_info[0]}.{sys.version_info[1]}: use an environment of one of those"
        )
    raise MissingExtra(
        f"robosuite is not installed, and needs an environment of its own, with MuJoCo below 3.8 "
        f"and numpy below 2: {install_extra('robosuite')}"
    )


def _chosen(env: str | None, objects: Sequence[str] | None) -> Environment:
    known = environments()
    if env is not None:
        if env not in known:
            hint = did_you_mean(env, known)
            raise UsageError(f"no environment {env!r}.{hint} Known: {', '.join(known)}")
        return known[env]
    for environment in known.values():
        names = [thing.name for thing in environment.things]
        if objects is not None and set(objects) <= set(names):
            return environment
    if objects:
        raise UsageError(
            f"no environment of robosuite has {', '.join(objects)}; see docs/robosuite.md, or name "
            "one with -R env=Stack"
        )
    return known["Lift"]
