"""Ordinary Python passes the check and means what CPython says it means, under both policies."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from cap.checker.policy import Policy
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from tests.corpus.python_programs import ENTRIES, PROGRAMS

POLICIES = {"robot": Policy(), "benchmark": Policy.benchmark()}
PARTS = 4
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_INSIDE = re.compile(r" \(in [\w<>]+\)$")

REFERENCE = """
import collections, contextlib, io, json, logging, sys, types
answers = []
for source in json.load(sys.stdin):
    module = types.ModuleType("__main__")
    sys.modules["__main__"], space = module, vars(module)
    out = io.StringIO()
    error = None
    logging.root.handlers.clear()
    logging.root.setLevel(logging.WARNING)
    logging.root.manager.loggerDict.clear()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            exec(compile(source, "<program>", "exec", dont_inherit=True), space)
        except BaseException as raised:
            error = [type(raised).__name__, str(raised)]
    values = {
        name: repr(value)
        for name, value in space.items()
        if not name.startswith("__")
        and not isinstance(value, (type, types.ModuleType, types.FunctionType))
        and not callable(value)
        and type(value).__module__ != "typing"
    }
    answers.append([values, out.getvalue(), error])
json.dump(answers, sys.__stdout__)
"""


@dataclass(frozen=True)
class Meaning:
    """What came of a program."""

    values: Mapping[str, str]
    """What its variables show at the end, the last expression's value among them."""
    printed: str
    """What it printed."""
    error: tuple[str, str] | None
    """The exception that ended it: its class and message."""


def with_last_value(source: str) -> str:
    """Bind the value of a last expression to a name."""
    last = ast.parse(source).body[-1]
    if not isinstance(last, ast.Expr):
        return source
    lines = source.splitlines(keepends=True)
    lines[last.lineno - 1] = "last_value = (" + lines[last.lineno - 1]
    return "".join(lines).rstrip("\n") + "\n)\n"


SOURCES = {name: with_last_value(source) for name, source in PROGRAMS.items()}


def plain(text: str) -> str:
    return _ADDRESS.sub("", text)


@pytest.fixture(scope="module")
def cpython() -> dict[str, Meaning]:
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", REFERENCE],
        input=json.dumps([*SOURCES.values()]),
        capture_output=True,
        text=True,
        check=True,
    )
    found = {}
    for name, (values, printed, error) in zip(SOURCES, json.loads(child.stdout), strict=True):
        shown = {key: plain(value) for key, value in values.items()}
        kind = error and (error[0], plain(" ".join(error[1].split())))
        found[name] = Meaning(shown, printed, kind)
    return found


def in_sandbox(sandbox: Sandbox, source: str, expected: Meaning) -> Meaning | str:
    """Return what came of a program, or the rule that refused it."""
    shown = ", ".join(f"{name!r}: repr({name})" for name in expected.values)
    ending = "" if expected.error else f"ret = {{{shown}}}\n"
    result = sandbox.run(source + ending, None if expected.error else "ret")
    failure = result.failure
    if failure is None:
        values = (
            {} if expected.error else {key: plain(value) for key, value in result.value.items()}
        )
        return Meaning(values, result.stdout, None)
    if failure.kind in ("violation", "undefined", "syntax"):
        return failure.message.split()[0] if failure.kind == "violation" else failure.kind
    error = failure.error.removeprefix("program."), plain(_INSIDE.sub("", failure.message))
    return Meaning(expected.values if expected.error else {}, result.stdout, error)


def test_the_table_is_as_large_as_promised() -> None:
    assert len(set(PROGRAMS.values())) == len(PROGRAMS) >= 300


# Each program takes a process: `make test` asks a part of the table for each policy.
@pytest.mark.parametrize(
    ("policy", "part"),
    [
        pytest.param(policy, part, marks=[] if part == number else pytest.mark.soak)
        for number, policy in enumerate(POLICIES)
        for part in range(PARTS)
    ],
)
def test_what_runs_means_what_cpython_says_and_the_rest_is_refused(
    policy: str, part: int, cpython: dict[str, Meaning]
) -> None:
    wrong = []
    with Sandbox(limits=Limits(program_s=60), policy=POLICIES[policy]) as sandbox:
        for entry in ENTRIES[part::PARTS]:
            expected, rule = cpython[entry["name"]], entry[policy]
            found = in_sandbox(sandbox, SOURCES[entry["name"]], expected)
            if rule == "kernel":  # differs from CPython, which nothing holds
                right = isinstance(found, Meaning) and found != expected
            else:
                right = found == (rule or expected)
            if not right:
                wrong.append((entry["name"], found))
    assert not wrong


def test_cpython_is_asked_and_disagrees_with_another_meaning(cpython: dict[str, Meaning]) -> None:
    """The judge is no echo: it ran each program, and some end by an exception."""
    assert cpython["class with a method"].values == {
        "c": "<__main__.Counter object>",
        "last_value": "8",
    }
    assert cpython["uncaught key"].error == ("KeyError", "'b'")
    assert sum(meaning.error is not None for meaning in cpython.values()) >= 10
