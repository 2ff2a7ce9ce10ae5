"""Values as source text: what is written at the top of a program in a run folder."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import shapely

from cap.checker.checker import examine
from cap.engine.literal import assignments
from cap.program.program import Program
from cap.program.scope import Scope
from cap.sandbox import wire as codec
from cap.sandbox.sandbox import Sandbox

VALUES: dict[str, Any] = {
    "a number": 0.1 + 0.2,
    "minus zero": -0.0,
    "no number": math.nan,
    "infinity": -math.inf,
    "a large number": 10**50,
    "a truth": True,
    "nothing": None,
    "a text": 'it\'s "so"\n\x1b\x80 é\u202e',
    "bytes": b"\x00a",
    "a complex number": 1 - 2j,
    "a range": range(1, 9, 2),
    "a list": [1, [2.5, None], "a", []],
    "tuples": ((), (1,), (1, (2, 3))),
    "sets": [set(), {1}, frozenset(), frozenset({2})],
    "a dictionary": {"a": {1: (2, 3)}, (1, 2): [], None: math.inf},
    "an array": np.array([[0.1, 2.0], [math.nan, -math.inf]]),
    "whole numbers": np.arange(4),
    "truths": np.array([True, False]),
    "an array without axes": np.array(2.5),
    "a point": shapely.Point(0.1, 0.2),
    "a point in space": shapely.Point(0.1, 0.2, 0.3),
    "no point": shapely.Point(),
    "a line": shapely.LineString([(0, 0), (1, 1.5)]),
    "a ring": shapely.LinearRing([(0, 0), (1, 1.5), (2, 0)]),
    "a polygon with a hole": shapely.box(0, 0, 3, 3).difference(shapely.box(1, 1, 2, 2)),
    "points": shapely.MultiPoint([(0, 0), (1, 1)]),
    "polygons": shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(2, 2, 3, 3)]),
    "geometries": shapely.GeometryCollection([shapely.Point(0, 1), shapely.box(0, 0, 1, 1)]),
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_program_makes_the_same_value_again(value: Any) -> None:
    text = assignments("x\n", {"x": value})
    program = Program.parse(text)
    assert examine(program, Scope()).violations == ()
    with Sandbox() as sandbox:
        result = sandbox.execute(program, Scope(), returns="x")
    assert result.failure is None
    assert codec.encode(result.value) == codec.encode(value)


LOOP: list[Any] = [1]
LOOP.append(LOOP)
NO_LITERAL: dict[str, Any] = {
    "an error": ValueError("x"),
    "geometries in an array": np.array([shapely.Point(0, 0), ValueError("x")], dtype=object),
    "itself": LOOP,
    "a very long integer": 1 << 20_000,
    "very much": list(range(10_000)),
}


@pytest.mark.parametrize("value", NO_LITERAL.values(), ids=NO_LITERAL)
def test_what_has_no_literal_is_said_in_a_comment(value: Any) -> None:
    _, line, *rest = assignments("x\n", {"x": value}).splitlines()
    assert line.startswith("# x: its value cannot be written here (")
    assert rest == [""]


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("say('hello')", ""),
        ("x = 2", ""),
        ("x = x + 1", "x"),
        ("x += 1", "x"),
        ("del x", "x"),
        ("x.append(1)", "x"),
        ("def f():\n    return y\nz = f()", "y"),
        ("for x in [y]:\n    pass", "y"),
    ],
)
def test_only_what_is_read_is_written(source: str, names: str) -> None:
    lines = assignments(source, {"x": 1, "y": 2, "z": 3}).splitlines()
    assert [line[0] for line in lines if line[:1] not in ("", "#")] == [*names]
