"""The tables of attacks and harmless programs, run with the check and without it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cap.checker.checker import Policy
from cap.program.scope import Primitive, Scope
from cap.result import Result
from cap.sandbox.client import WorkerTemplate
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from tests.cap.sandbox.conftest import SECRET, Host
from tests.corpus.attacks import ATTACKS, BENCHMARK_ATTACKS, REFUSED, Attack
from tests.corpus.harmless import BENCHMARK, HARMLESS

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
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"SECRET = {SECRET!r}\n{UNHELD}"],
        input=json.dumps([str(host.folder), *sources]),
        capture_output=True,
        text=True,
        check=True,
    )
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
