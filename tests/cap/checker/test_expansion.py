"""Programs of up to 64 kB that are made to cost much: read, checked and refused in little time.

Each is looked at in a process of its own, whose memory and processor time are told.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cap.checker.checker import check, examine
from cap.checker.undefined import undefined
from cap.errors import CheckFailed
from cap.program.program import MAX_SOURCE_CHARS, Program
from cap.program.scope import Scope
from cap.sandbox.sandbox import Sandbox

MOST_S = 2.0
MOST_SILENT_S = 1.0
MOST_BYTES = 200 << 20
MOST_MAPPED_BYTES = 3 << 30


def inside(source: str) -> str:
    return "".join(f" {line}\n" for line in source.splitlines())


def names(count: int) -> list[str]:
    words = itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=3)
    return ["n" + "".join(word) for word in itertools.islice(words, count)]


def filled(unit: str, between: str = "\n", chars: int = 64_000) -> str:
    return between.join([unit] * (chars // (len(unit) + len(between))))


def nested_finally(depth: int, exits: int) -> str:
    body = "x = 1\n"
    for _ in range(depth):
        body = "try:\n" + " if x: return\n" * exits + "finally:\n" + inside(body)
    return "def f():\n" + inside(body)


def towers(head: str, core: str, depth: int) -> str:
    for _ in range(depth):
        core = head + inside(core)
    return core


def halves(parts: list[str]) -> str:
    while len(parts) > 1:
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [f"({a}+{b})" for a, b in pairs]
    return parts[0]


REFUSED: Mapping[str, Callable[[], str]] = {
    "nested finally, few exits": lambda: nested_finally(6, 10),
    "nested finally, more exits": lambda: nested_finally(7, 12),
    "nested finally without exits": lambda: towers("try:\n x\nfinally:\n", "x\n", 18),
    "exits of nested bodies": lambda: (
        "def f():\n" + inside(towers("try:\n if x: return\nfinally:\n if x: return\n", "x\n", 12))
    ),
    "a wide finally": lambda: (
        "def f():\n try:\n" + "  if x: return\n" * 2000 + " finally:\n" + "  x = 1\n" * 3000
    ),
    "loops left through finally": lambda: (
        "def f():\n while x:\n  try:\n"
        + "   if x: break\n" * 2000
        + "  finally:\n"
        + "   x=1\n" * 1500
    ),
    "exits of many with": lambda: (
        f"def f():\n with {','.join('a' * 19)}:\n" + "  if x: return\n" * 3900
    ),
    "products of texts": lambda: filled("'ab'*2048"),
    "sums of products": lambda: "x=" + "+".join(["(" + "+".join(["'a'*4096"] * 60) + ")"] * 80),
    "a tree of products": lambda: "x=" + halves(["'a'*4096"] * 4096),
    "products of tuples": lambda: f"x=({filled('(((1,)*250,)*4)', ',')})",
    "captures": lambda: f"match x:\n case [{','.join(names(12_000))}]: pass",
    "captures in another order": lambda: (
        f"match x:\n case [{','.join(names(5000))}]|[{','.join(names(5000)[::-1])}]: pass"
    ),
    "keywords": lambda: f"f({','.join(f'{n}=1' for n in names(9000))})",
    "attributes of a pattern": lambda: (
        f"match x:\n case A({','.join(f'{n}=1' for n in names(8000))}): pass"
    ),
    "names and functions": lambda: (
        "def f():\n" + "".join(f" {n}=0\n" for n in names(4000)) + " lambda:0\n" * 2500
    ),
    "many generators": lambda: filled("(x for x in y)"),
    "nested classes": lambda: towers("class A:\n", filled("x", ";", 8000) + "\n", 94),
}
"""What grows when it is compiled, or is looked at more than once."""
LOOKED_AT: Mapping[str, Callable[[], str]] = {
    "large constants": lambda: "x='a'*10**8\ny=(1,)*10**7\nz=2**10**6\n",
    "a huge integer": lambda: f"x=0x{'f' * 40_000}//0x{'e' * 20_000}",
    "tries in the bodies of tries": lambda: (
        "".join(" " * n + "try:\n" for n in range(18))
        + " " * 18
        + "x\n"
        + "".join(" " * n + "finally: y\n" for n in reversed(range(18)))
    ),
    "fields of f-strings": lambda: "x=f'{" + "}{".join(names(10_000)) + "}'",
    "nested fields": lambda: "x=f'" + "{x:{y}}" * 9000 + "'",
    "lambdas in lambdas": lambda: "x=" + "lambda:" * 90 + "0",
    "one `and` of many": lambda: "x=" + " and ".join(["a"] * 10_000),
    "one test of many": lambda: f"while {' and '.join(['a'] * 9000)}: pass",
    "alternatives": lambda: f"match x:\n case {'|'.join('1' * 9000)}: pass",
    "calls in calls": lambda: ("f(" * 90 + "x" + ")" * 90 + "\n") * 70,
    "undefined names in one list": lambda: f"x=[{','.join(names(8000))}]",
    "decorators": lambda: "@a\n" * 15_000 + "def f():pass",
    "conditions of a comprehension": lambda: f"[x for x in y {'if x ' * 10_000}]",
    "loops of a comprehension": lambda: f"[x {'for x in y ' * 4000}]",
    "modules that functions rebind": lambda: (
        "".join(f"import math as {n}\n" for n in names(1200))
        + "".join(f"def f({n}): return {n}.x\n" for n in names(1200))
    ),
    "names of imports that a function has, too": lambda: (
        "import "
        + ",".join(f"re as {n}" for n in names(900))
        + f"\ndef f({','.join(names(900))}):pass\n"
        + "x=0\n" * 3500
    ),
    "one word that leads out": lambda: "x=0\n" + "x.tb_a\n" * 4900,
    "patterns of words that lead out": lambda: "match x:\n" + " case A(tb_i=1): pass\n" * 1500,
    "branches of a class body": lambda: (
        "class A:\n"
        + "".join(" " * (n + 1) + "if 1:\n" for n in range(85))
        + " " * 87
        + ";".join(["_a=1"] * 6000)
    ),
    "classes in classes": lambda: (
        "".join(" " * n + f"class A{n}:\n" for n in range(85))
        + " " * 87
        + ";".join(["_a=_a"] * 5000)
    ),
    "words that lead out": lambda: "\n".join(f"x.gi_{n}" for n in names(4000)),
    "templates": lambda: "\n".join("'{0.__a__}'.format(1)" for _ in range(2000)),
    "unknown names of a module": lambda: "\n".join(f"np.{n}" for n in names(6000)),
    "misspelt names of a module": lambda: filled("np.lod", "\n", 40_000),
    "calls that do not fit": lambda: f"def f({','.join(names(2000))}):pass\n" + "f()\n" * 4000,
    "unknown keywords": lambda: (
        f"def f({','.join(f'{n}=1' for n in names(1400))}):pass\n" + "f(zz=1)\n" * 2400
    ),
    "imports": lambda: "import numpy as np;" * 3400,
    "brackets": lambda: "(" * 64_000,
    "signs": lambda: "x=" + "-" * 60_000 + "1",
    "a long sum": lambda: "x=" + "+".join(["a"] * 30_000),
    "half a call": lambda: "f(x=" * 190,
    "a long name": lambda: "x" * 64_000,
}
"""What is merely large."""
SHAPES = {**REFUSED, **LOOKED_AT}


def looked_at(shape: Callable[[], str]) -> dict[str, Any]:
    """Check a program as the sandbox does; return its rules and what it took of this process.

    How long another thread was kept out is told in processor time, which no load changes.
    """
    source = shape()
    assert len(source) <= MAX_SOURCE_CHARS
    last, silent, done = [time.process_time()], [0.0], threading.Event()

    def tick() -> None:
        while not done.wait(0.01):
            now = time.process_time()
            last[0], silent[0] = now, max(silent[0], now - last[0])

    thread = threading.Thread(target=tick)
    thread.start()
    begin_s = time.process_time()
    try:
        program = Program.parse(source)
        found = [violation.rule for violation in examine(program).violations]
        if not found:
            assert program.code is not None
    except CheckFailed:
        found = ["syntax"]
    spent_s = time.process_time() - begin_s
    done.set()
    thread.join()
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    return {"rules": found[:3], "s": spent_s, "silent_s": silent[0], "bytes": used}


def look_at_all(names: Sequence[str]) -> None:
    """Look at each of these shapes in a fork; print what came of each, as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MAPPED_BYTES, MOST_MAPPED_BYTES))
    for name in names:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
            try:
                print(json.dumps([name, looked_at(SHAPES[name])]), flush=True)
            finally:
                os._exit(0)
        os.waitpid(child, 0)


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    given = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    names = [found["name"] for found in given if found.get("name") in SHAPES]
    script = f"from {__name__} import look_at_all; look_at_all({names})"
    root = Path(__file__).parents[3]
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=root, capture_output=True, text=True, timeout=300
    )
    return dict(json.loads(line) for line in run.stdout.splitlines())


@pytest.mark.sweep(share=0.175)
@pytest.mark.skipif(sys.platform != "linux", reason="tells memory as Linux does")
@pytest.mark.parametrize("name", SHAPES)
def test_a_program_of_any_shape_takes_little(
    name: str, outcomes: dict[str, dict[str, Any]]
) -> None:
    assert name in outcomes, "it did not end"
    found = outcomes[name]
    assert found["s"] < MOST_S
    assert found["silent_s"] < MOST_SILENT_S
    assert found["bytes"] < MOST_BYTES
    assert name not in REFUSED or found["rules"] == ["CAP107"]


def test_what_is_never_checked_is_never_compiled_either() -> None:
    with Sandbox() as sandbox:
        failure = sandbox.execute(nested_finally(6, 10), Scope()).failure
    assert failure is not None
    assert "too large" in failure.message
    assert undefined(Program.parse(nested_finally(6, 10)), ()) == ()


def test_one_finally_with_many_exits_is_no_fault() -> None:
    source = "def f():\n try:\n" + "  if x: return\n" * 60 + " finally:\n" + "  x = 1\n" * 60
    program = Program.parse(source)
    assert not program.expands
    assert check(program.tree) == []


def test_only_the_first_findings_come_with_a_suggestion() -> None:
    found = check(Program.parse("np.lingspace\n" * 50).tree)
    assert len(found) == 50
    assert [violation.line for violation in found if "Did you mean" in violation.reason] == [
        *range(1, 6)
    ]
