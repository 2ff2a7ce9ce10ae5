"""A function that only returns a value is told from one that does something."""

from __future__ import annotations

import pytest

from cap.checker.idle import is_idle
from cap.program.program import Program

IDLE = [
    "def f(p): return p",
    "def f(p): pass",
    "def f(p):\n    '''Put it away.'''\n    ...",
    "def f(p):\n    x = sorted(p)\n    return x[0]",
    "def f(p): return np.array(p) + 1",
    "def f(a, b=1, *c, d, **e): return [a, b, *c, d, e]",
    "def f(p):\n    for q in p:\n        r = q\n    return len(p)",
    "def f(p): return Point(p)",
    "def f(p): raise NotImplementedError",
    "def f(p):\n    put_first_on_second\n    return p",
]
DOES = [
    "def f(p): say(p)",
    "def f(p): return helper(p)",
    "def f(p): p.append(1)",
    "def f(p): p[0] = 1",
    "def f(p): p.x = 1",
    "def f(p): p += [1]",
    "def f(p): del p[0]",
    "def f(p): p()",
    "def f(p): print(p)",
    "def f(p):\n    global x\n    x = p",
    "def f(p): raise ValueError(p)",
    "def f(p):\n    assert p",
    "def f(p): np.copyto(p, 1)",
    "def f(p): np.add(p, 1, out=p)",
    "def f(p): return list(map(say, p))",
    "def f(p): return sorted(p, key=say)",
    "def f(p): return [say(q) for q in p]",
    "def f(p):\n    g = say\n    return g",
    "f = 1",
    "def g(p): return p",
]


@pytest.mark.parametrize("source", IDLE)
def test_what_only_calculates_is_idle(source: str) -> None:
    assert is_idle(Program.parse(source).tree, "f")


@pytest.mark.parametrize("source", DOES)
def test_what_may_do_something_is_not(source: str) -> None:
    assert not is_idle(Program.parse(source).tree, "f")
