"""robosuite's arms and environments, moved by its own controllers and judged by its own checks.

`create` builds one of its environments for a seed. There are no dynamics but robosuite's: the robot
has no instant mode, and asked for one it runs in physics all the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cap.errors import MissingExtra, UsageError, did_you_mean, install_extra
from robots.robosuite.environments import ARMS, environment_of

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
        mode: Physics, whatever is asked for.
        objects: Names of which the environment must have all, if `env` is None.
        env: robosuite's name of the environment; if None the first one that has the objects, or
            `Lift` without objects.
        arm: `Panda`, `UR5e`, `xArm7`, `IIWA` or `Kinova3`.

    Raises:
        UsageError: Unknown environment or arm, or no environment has such objects.
        MissingExtra: robosuite is not installed.
    """
    if arm not in ARMS:
        raise UsageError(f"no arm {arm!r}.{did_you_mean(arm, ARMS)} Known: {', '.join(ARMS)}")
    chosen = environment_of(env, objects)
    require_robosuite()
    from robots.robosuite.robot import RobosuiteRobot

    return RobosuiteRobot(chosen, arm, seed)


def require_robosuite() -> None:
    """Make sure that robosuite is installed.

    Raises:
        MissingExtra: It is not; the line says how, or on which Python.
    """
    if find_spec("robosuite") is not None:
        return
    if sys.version_info[:2] not in PYTHONS:
        raise MissingExtra(
            "robosuite runs on Python 3.11 and 3.12: use an environment of one of those"
        )
    raise MissingExtra(
        "robosuite is not installed, and needs an environment of its own, with MuJoCo below 3.8 "
        f"and numpy below 2: {install_extra('robosuite')}"
    )
