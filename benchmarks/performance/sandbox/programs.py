"""The programs `cap bench sandbox` runs, the host functions they call, and what they must give."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

CALLS = 10_000
"""Primitive calls of the programs that make many."""

PROGRAMS: dict[str, str] = {
    "trivial": "ret = 1 + 1\n",
    "seven": """\
names = objects()
places = {name: point(len(name)) for name in names}
order = sorted(names, key=lambda name: -places[name][0])
first, last = places[order[0]], places[order[-1]]
middle = [(first[axis] + last[axis]) / 2 for axis in range(3)]
say(f"between {order[0]} and {order[-1]}: {middle[0]:.2f}")
ret = [number(3), middle[0], order[0]]
""",
    "cpu": """\
table = [3, 1, 4, 1, 5, 9, 2, 6]
def step(value, i):
    return (value * 31 + table[i % 8]) % 1000003
ret = 0
for i in range(600000):
    ret = step(ret, i) + i
""",
    "numpy": """\
import numpy as np
matrix = np.eye(300) * 300 + np.arange(90000.0).reshape(300, 300) / 90000
for i in range(60):
    answer = np.linalg.solve(matrix, np.dot(matrix, np.ones(300)))
total = answer.sum()
place = np.zeros(3)
for i in range(24000):
    place = place * 0.5 + np.array([1.0, 2.0, 3.0])
    total = total + np.linalg.norm(place)
ret = round(float(total), 6)
""",
    "numbers": f"for i in range({CALLS}):\n    ret = number(i)\n",
    "vectors": f"for i in range({CALLS}):\n    ret = point(i)[0]\n",
    "endless": """\
while True:
    try:
        for i in range(1000000):
            ret = i
    except BaseException:
        ret = 0
""",
}


def functions(arrays: bool) -> dict[str, Callable[..., Any]]:
    """Return the host's functions; coordinates as numpy arrays, or as lists.

    Args:
        arrays: False for an engine that knows no numpy.
    """
    import numpy as np

    def point(i: int) -> Any:
        return np.array([i, 0.5, 1.0]) if arrays else [float(i), 0.5, 1.0]

    return {
        "number": lambda i: i + 1,
        "point": point,
        "objects": lambda: ["red block", "blue bowl", "the green block", "cup"],
        "say": lambda text: None,
    }


@cache
def expected(source: str) -> Any:
    """Return what a program must give: what plain Python says."""
    space = dict(functions(arrays=True))
    exec(source, space)
    value: Any = space["ret"]
    return value


def same(value: Any, right: Any) -> bool:
    """Tell whether a value is the right one; floats to rounding."""
    if isinstance(right, list):
        return isinstance(value, list) and all(map(same, value, right))
    if isinstance(right, float):
        return math.isclose(value, right, rel_tol=1e-9)
    return bool(value == right)
