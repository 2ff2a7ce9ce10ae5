"""The tables of attacks and harmless programs, run with the check and without it."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from cap.checker.policy import Policy
from cap.program.scope import Primitive, Scope
from cap.result import Result
from cap.sandbox.client import WorkerTemplate
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from tests.cap.conftest import python
from tests.cap.sandbox.conftest import SECRET, Host
from tests.corpus.attacks import ATTACKS, BENCHMARK_ATTACKS, REFUSED, Attack
from tests.corpus.harmless import BENCHMARK, HARMLESS
from tests.corpus.python_programs import ENTRIES, PROGRAMS

LIMITS = Limits(program_s=10, memory_bytes=256 << 20, stdout_chars=10_000, calls=500)
"""For what may have no end but its limit."""


def pick(name: Any) -> Any:
    return name


def look() -> int:
    return 1


SCOPE = Scope(
    primitives={call.__name__: Primitive.of(call, "perception") for call in (pick, look)},
    groups={"robot": ("pick", "look")},
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SCOPE, limits=LIMITS) as opened:
        yield opened


LEVELS = {
    "kernel+ns": frozenset[str](),
    "kernel": frozenset(["namespaces"]),
    "kernel-seccomp": frozenset(["namespaces", "landlock"]),
}
"""Each level with what is left out for it."""


@pytest.fixture(scope="module", params=LEVELS)
def template(request: pytest.FixtureRequest) -> Iterator[WorkerTemplate]:
    """A template at each level, whose parent has the secret in its environment."""
    opened = WorkerTemplate(without=LEVELS[request.param])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_KEY", SECRET)
        try:
            if opened.report().level != request.param:
                pytest.skip(f"this system does not reach level {request.param}")
            yield opened
        finally:
            opened.close()


def aimed(source: str, host: Host) -> str:
    """Point an attack's source at this host."""
    source = source.replace("$W", str(host.target)).replace("$R", str(host.secret))
    return source.replace("$P", str(host.port))


def limits_of(attack: Attack) -> Limits:
    """Return little time for an attack that ends only by its limit."""
    return replace(LIMITS, program_s=0.05) if "timeout" in attack.ends else LIMITS


def kind(result: Result) -> str:
    return result.failure.kind if result.failure else "value"


def each(attacks: list[Attack]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("attack", attacks, ids=lambda attack: attack.id)


def test_the_tables_are_as_large_as_promised() -> None:
    assert len({attack.source for attack in ATTACKS}) == len(ATTACKS) >= 250
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)
    assert len({attack.family for attack in ATTACKS}) >= 18
    assert len({source for source, _ in HARMLESS.values()}) == len(HARMLESS) >= 150


@pytest.mark.sweep(share=0.1)
@each(ATTACKS)
def test_an_attack_reaches_nothing(host: Host, attack: Attack) -> None:
    sandbox = Sandbox(SCOPE, limits=limits_of(attack))
    result = sandbox.run(aimed(attack.source, host), "ret" if "ret = " in attack.source else None)
    if kind(result) in REFUSED:
        assert result.calls == ()
    assert SECRET not in repr(result)
    assert host.marks() == []


# What the parser refuses never runs; the checked run showed it.
RUNNABLE = [attack for attack in ATTACKS if attack.family not in ("source", "odd sources")]


@pytest.mark.sweep(share=0.04)
@each(RUNNABLE)
def test_without_the_check_an_attack_reaches_nothing_at_any_level(
    template: WorkerTemplate, host: Host, attack: Attack
) -> None:
    limits = limits_of(attack)
    sandbox = Sandbox(limits=limits, template=template)
    begin_s = time.monotonic()
    result = sandbox.execute(aimed(attack.source, host), SCOPE, returns="ret")
    assert time.monotonic() - begin_s < limits.program_s + 1
    assert host.marks() == []
    assert SECRET not in repr(result)


UNHELD = """
import json, os, pathlib, sys
import numpy as np
folder, *sources = json.load(sys.stdin)
hits = 0
for source in sources:
    space = {"np": np, "ret": None}
    try:
        exec(source, space)
    except BaseException:
        pass
    written = [*pathlib.Path(folder).glob("written*")]
    hits += bool(written) or SECRET in repr(space["ret"])
    for path in written:
        path.unlink()
print("\\n", hits)
"""


def test_attacks_on_files_work_where_nothing_holds_them(host: Host) -> None:
    """A table of attacks that fail everywhere would show nothing."""
    reaching = [attack.source for attack in RUNNABLE if attack.ends == REFUSED]
    sources = [aimed(source, host) for source in reaching if "$W" in source or "$R" in source]
    given = json.dumps([str(host.folder), *sources])
    child = python(f"SECRET = {SECRET!r}\n{UNHELD}", input=given)
    assert int(child.stdout.split()[-1]) >= len(sources) / 2


def test_a_mark_on_the_host_is_seen(host: Host) -> None:
    host.target.touch()
    host.secret.unlink()
    os.kill(os.getpid(), signal.SIGUSR1)
    with socket.create_connection(host.server.getsockname()):
        found = host.marks()
    assert found == ["written", "a signal", "the secret was changed", "a connection"]


def same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize(("source", "value"), HARMLESS.values(), ids=HARMLESS)
def test_a_harmless_program_gives_its_value(sandbox: Sandbox, source: str, value: Any) -> None:
    assert_gives(sandbox, source, value)


def assert_gives(sandbox: Sandbox, source: str, value: Any) -> None:
    result = sandbox.run(source, "ret")
    assert result.failure is None, result.failure
    back = result.value
    assert same(back.item() if isinstance(back, np.generic) else back, value)


# --- under the policy of benchmarks


@pytest.fixture(scope="module")
def benchmark() -> Iterator[Sandbox]:
    with Sandbox(SCOPE, limits=replace(LIMITS, program_s=2), policy=Policy.benchmark()) as opened:
        yield opened


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(("source", "value"), BENCHMARK.values(), ids=BENCHMARK)
def test_a_benchmarks_program_gives_its_value(benchmark: Sandbox, source: str, value: Any) -> None:
    assert_gives(benchmark, source, value)


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize("source", BENCHMARK_ATTACKS.values(), ids=BENCHMARK_ATTACKS)
def test_what_it_lists_leads_nowhere_else(benchmark: Sandbox, host: Host, source: str) -> None:
    result = benchmark.run(aimed(source, host), "ret")
    assert SECRET not in repr(result)
    assert host.marks() == []


def test_a_policys_modules_are_not_there_for_robots(sandbox: Sandbox) -> None:
    """The worker keeps to the policy, too: it need not trust the check."""
    result = sandbox.execute("import calendar\nret = calendar.MONDAY", SCOPE, returns="ret")
    assert result.failure is not None
    assert result.failure.error == "ModuleNotFoundError"


# --- ordinary Python passes the check and means what CPython says it means, under both policies

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
    child = python(REFERENCE, input=json.dumps([*SOURCES.values()]))
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
