"""What a session needs before it can begin: its robot, its scene, its prompts; found out early."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.batch.effects import names_in
from cap.errors import CapError, PromptError, UsageError, did_you_mean
from cap.prompt.prompt import Prompt
from cap.robot import registry
from cap.robot.observation import Observation
from cap.robot.protocol import Containing, Robot
from cap.session.session import TOP
from robots.table.geometry import PLACES

AT: Mapping[str, Mapping[str, tuple[float, float]]] = {"ravens": PLACES, "tabletop": PLACES}
"""Places that effects may name, by robot: xy in metres."""


def robot_of(session: Mapping[str, Any]) -> Robot:
    """Make a session's robot.

    Raises:
        UsageError: It cannot be had, or it is real.
        RobotError: It could not be made.
    """
    try:
        robot = _made(session, session["mode"])
    except CapError:
        if session["mode"] == "instant" or not _has_dry_run(session):
            raise
    else:
        if robot.simulated:
            return robot
        robot.close()
    remedy = '; its dry run is one: say mode = "instant"' if _has_dry_run(session) else ""
    raise UsageError(
        f"robot '{session['robot']}' is real, and a batch needs a simulated robot{remedy}"
    )


def _made(session: Mapping[str, Any], mode: str) -> Robot:
    return registry.make_robot(
        session["robot"],
        seed=session["seed"],
        mode=mode,
        objects=session["objects"],
        **registry.own_options(session["robot_options"] or {}),
    )


def _has_dry_run(session: Mapping[str, Any]) -> bool:
    """Tell whether a session's robot would be real, but for a dry run in its instant world."""
    with contextlib.suppress(CapError):
        robot = _made(session, "instant")
        robot.close()
        return getattr(robot, "mode", "") == "dry run"
    return False


def prompts_of(session: Mapping[str, Any]) -> Mapping[str, Prompt]:
    """Load a session's prompts: a shipped set, a folder, or the robot's own.

    Raises:
        PromptError: They cannot be used, or nothing in them answers a person.
    """
    given, robot = session["prompts"], session["robot"]
    if not given:
        found = registry.robot_prompts(robot)
    else:
        shipped = registry.prompts_path() / given
        found = registry.load_prompts(shipped if shipped.is_dir() else Path(given))
    if TOP not in found:
        raise PromptError(f"prompts {given or robot!r} have no {TOP}.py; it answers a person")
    return found


_SCENE = ("robot", "robot_options", "mode", "objects")
"""What a session says of its scene, the seed apart."""


class SessionChecker:
    """Looks at each kind of scene once, whatever the number of sessions in it."""

    def __init__(self) -> None:
        """Begin with none."""
        self._names: dict[str, frozenset[str]] = {}
        """Names in a scene, by what sessions say of it."""
        self._prompts: set[tuple[str, str | None]] = set()

    def check(self, session: Mapping[str, Any]) -> None:
        """Refuse a session that could not begin, or that expects something of what is not there.

        Raises:
            CapError: With the reason.
        """
        prompts = session["robot"], session["prompts"]
        if prompts not in self._prompts:
            prompts_of(session)
            self._prompts.add(prompts)
        # Scenes of the same robot and objects have the same names, mostly.
        scene = json.dumps([session[part] for part in _SCENE])
        known = self._names[scene] = self._names.get(scene) or _names(session)
        for expect in [session["expect"], *(step["expect"] for step in session["instructions"])]:
            for effect, name in names_in(expect or {}):
                # Objects may differ from seed to seed.
                if name not in known and name not in (known := _names(session)):
                    hint = did_you_mean(name, known) or f" There are: {', '.join(sorted(known))}."
                    raise UsageError(
                        f"'{effect}' is expected of {name!r}, which is not there.{hint}"
                    )


def _names(session: Mapping[str, Any]) -> frozenset[str]:
    robot = robot_of(session)
    try:
        vessels = robot.contents() if isinstance(robot, Containing) else ()
        return frozenset([*Observation.of(robot).positions, *AT.get(robot.name, {}), *vessels])
    finally:
        robot.close()
