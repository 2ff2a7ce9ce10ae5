"""What calls do, step by step, in every mode: the rows of `steps.jsonl` of each robot.

A row has a robot, a seed, its objects or where they `stand`, and steps: a method, its arguments,
and what it `gives` (numbers within 5 mm; of a mapping the entries that are named) or how it
`fails`: the class, a pattern for the message; a call that fails has moved nothing, and in an
`exact` row it changed no bit of the state. `height` is that of a centre, `words` are run as an
instruction and a `program` as one, and `said` is what the robot said. A row with a `mode` is for
that one alone, and one with `options` makes its robot so. Other rows have options that are
`refused`.
"""

from __future__ import annotations

import importlib
import json
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap import errors
from cap.errors import RobotError, UsageError
from cap.session.session import Session
from robots.simulation.scene_file import scene_text

SAID = {"words": "run", "program": "execute"}


def generate(metafunc: pytest.Metafunc) -> None:
    """Give a test of steps the rows of `steps.jsonl` beside its module that are its own."""
    text = Path(str(metafunc.module.__file__)).with_name("steps.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    if "refused" in metafunc.fixturenames:
        chosen = [pytest.param(row, id=row["what"]) for row in rows if "refused" in row]
        metafunc.parametrize("refused", chosen)
    else:
        taken = [
            pytest.param(row, mode, id=f"{row['what']}-{mode}")
            for row in rows
            for mode in ([row["mode"]] if "mode" in row else ["instant", "physics"])
            if "do" in row
        ]
        metafunc.parametrize(("steps", "how"), taken)


def take(session: Session, name: str, arguments: list[Any]) -> Any:
    """Take a step; return what it gave."""
    robot: Any = session.robot
    if name in SAID:
        failure = getattr(session, SAID[name])(arguments[0]).failure
        if failure is not None:
            raise getattr(errors, failure.error, RobotError)(failure.message)
        return None
    if name == "height":
        return robot.positions()[arguments[0]][2]
    if name == "said":
        return robot.spoken
    found = attrgetter(name)(robot)
    return found(*arguments) if callable(found) else found


def same(given: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return all(same(given[key], value) for key, value in expected.items())
    if isinstance(expected, float | list) and np.asarray(expected).dtype.kind == "f":
        return np.shape(given) == np.shape(expected) and np.allclose(given, expected, 0, 0.005)
    return bool((list(given) if isinstance(given, tuple) else given) == expected)


def test_each_step_does_what_is_written(steps: dict[str, Any], how: str, tmp_path: Path) -> None:
    """Take the steps of a row."""
    if how == "physics":
        pytest.importorskip("mujoco")
    options = dict(steps.get("options", {}))
    if "stand" in steps:
        objects = ((name, place, 0.0) for name, place in steps["stand"].items())
        scene = tmp_path / "scene.toml"
        scene.write_text(scene_text(steps["what"], objects))
        options["scene"] = str(scene)
    with Session.open(
        steps["robot"],
        model="nearest",
        mode=how,
        seed=steps["seed"],
        objects=steps.get("objects"),
        robot_options=options,
    ) as session:
        robot, exact = session.robot, "exact" in steps
        for name, *arguments in steps["do"]:
            last = arguments[-1] if arguments else None
            is_expected = isinstance(last, dict) and last.keys() <= {"gives", "fails"}
            expected = arguments.pop() if is_expected else {}
            if "fails" not in expected:
                given = take(session, name, arguments)
                assert "gives" not in expected or same(given, expected["gives"]), (name, given)
                continue
            kind, why = expected["fails"]
            before = robot.positions(), robot.condition(), exact and robot.state
            with pytest.raises(getattr(errors, kind, TypeError), match=why or None):
                take(session, name, arguments)
            if name not in SAID:  # a program may have done its part
                after = robot.positions(), robot.condition(), exact and robot.state
                assert after == before, (name, arguments)


def test_what_cannot_be_made_is_refused_in_a_short_line(refused: dict[str, Any]) -> None:
    """Make a robot with the options of a row."""
    create = importlib.import_module(f"robots.{refused['robot']}").create
    with pytest.raises(UsageError, match=refused["refused"]) as failure:
        create(**{"mode": "instant", **refused["options"]})
    assert len(str(failure.value)) < 1000
