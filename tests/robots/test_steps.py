"""What calls do, step by step, in every mode: the rows of `steps.jsonl`.

A row has a robot, a seed, its objects, and steps: a method, its arguments, and what it `gives`
(numbers within 5 mm; of a mapping the entries that are named) or how it `fails`: the class, a
pattern for the message. What fails has moved nothing. `height` is that of an object's centre.
Other rows have options that are `refused`.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap import errors
from cap.errors import UsageError

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("steps.jsonl").read_text(encoding="utf-8").splitlines()
]


def rows(key: str) -> Any:
    found = [row for row in ROWS if key in row]
    return pytest.mark.parametrize("row", found, ids=[row["what"] for row in found])


def take(robot: Any, name: str, arguments: list[Any]) -> Any:
    if name == "height":
        return robot.positions()[arguments[0]][2]
    return getattr(robot, name)(*arguments)


def same(given: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return all(same(given[key], value) for key, value in expected.items())
    if isinstance(expected, float | list) and np.asarray(expected).dtype.kind == "f":
        return np.shape(given) == np.shape(expected) and np.allclose(given, expected, 0, 0.005)
    return bool(given == expected)


@rows("do")
def test_each_step_does_what_is_written(row: dict[str, Any], mode: str) -> None:
    create = importlib.import_module(f"robots.{row['robot']}").create
    robot = create(mode=mode, seed=row["seed"], objects=row["objects"])
    for name, *arguments in row["do"]:
        expected = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
        if "fails" in expected:
            kind, why = expected["fails"]
            before = robot.positions(), robot.condition()
            with pytest.raises(getattr(errors, kind, TypeError), match=why or None):
                take(robot, name, arguments)
            assert (robot.positions(), robot.condition()) == before, (name, arguments)
            continue
        given = take(robot, name, arguments)
        if "gives" in expected:
            assert same(given, expected["gives"]), (name, arguments, given)
    robot.close()


@rows("refused")
def test_what_cannot_be_made_is_refused_in_a_short_line(row: dict[str, Any]) -> None:
    create = importlib.import_module(f"robots.{row['robot']}").create
    with pytest.raises(UsageError, match=row["refused"]) as failure:
        create(**{"mode": "instant", **row["options"]})
    assert len(str(failure.value)) < 1000
