"""The tables of attacks and harmless programs, run with the check and without it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.checker.checker import Policy
from cap.program.scope import Primitive, Scope
from cap.result import Result
from cap.sandbox.client import Template
from cap.sandbox.kernel.layers import KERNEL
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from tests.corpus.attacks import ATTACKS, BENCHMARK_ATTACKS, REFUSED, Attack
from tests.corpus.harmless import BENCHMARK, HARMLESS

SECRET = "the-secret-of-this-machine"
LIMITS = Limits(program_s=10, memory_bytes=256 << 20, stdout_chars=10_000, calls=500)
HASTY = replace(LIMITS, program_s=0.05)
"""For what may have no end but its limit."""


def pick(name: Any) -> Any:
    return name


def look() -> int:
    return 1


SCOPE = Scope(
    primitives={call.__name__: Primitive.of(call, "perception") for call in (pick, look)},
    groups={"robot": ("pick", "look")},
)


@dataclass(frozen=True)
class Host:
    """What an attack may find outside, and what it leaves there."""

    folder: Path
    listener: socket.socket

    def aimed(self, source: str) -> str:
        """Point an attack's source at this host."""
        port = str(self.listener.getsockname()[1])
        source = source.replace("$W", str(self.folder / "written"))
        return source.replace("$R", str(self.folder / "secret")).replace("$P", port)

    def marks(self) -> list[str]:
        """Return what was done to it."""
        found = sorted(path.name for path in self.folder.iterdir() if path.name != "secret")
        if (self.folder / "secret").read_text() != SECRET:
            found.append("the secret was changed")
        try:
            self.listener.accept()[0].close()
        except BlockingIOError:
            return found
        return [*found, "a connection"]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("host")
    (folder / "secret").write_text(SECRET)
    folder.chmod(0o777)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.setblocking(False)
        yield Host(folder, listener)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(SCOPE, limits=LIMITS) as opened:
        yield opened


@pytest.fixture(scope="module")
def hasty() -> Iterator[Sandbox]:
    with Sandbox(SCOPE, limits=HASTY) as opened:
        yield opened


def opened_with(without: frozenset[str], limits: Limits = LIMITS) -> Iterator[Sandbox]:
    """A sandbox whose parent holds the secret in its environment, too."""
    template = Template(without=without)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_KEY", SECRET)
        try:
            with Sandbox(SCOPE, limits=limits, template=template) as opened:
                opened.run("ret = 1")
                yield opened
        finally:
            template.close()


@pytest.fixture(scope="module")
def unchecked() -> Iterator[Sandbox]:
    yield from opened_with(frozenset())


@pytest.fixture(scope="module")
def unchecked_hasty() -> Iterator[Sandbox]:
    yield from opened_with(frozenset(), HASTY)


@pytest.fixture(scope="module")
def bare() -> Iterator[Sandbox]:
    """The same with Python's own builtins inside: the kernel's layers are on their own."""
    yield from opened_with(frozenset({"builtins"}))


@pytest.fixture(scope="module")
def degraded() -> Iterator[Sandbox]:
    """No kernel layer: what a system without them has."""
    yield from opened_with(frozenset(KERNEL))


def kind(result: Result) -> str:
    return result.failure.kind if result.failure else "value"


def each(attacks: list[Attack]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("attack", attacks, ids=lambda attack: attack.id)


def test_the_tables_are_as_large_as_promised() -> None:
    assert len({attack.source for attack in ATTACKS}) == len(ATTACKS) >= 250
    assert len({attack.id for attack in ATTACKS}) == len(ATTACKS)
    assert len({attack.family for attack in ATTACKS}) >= 18
    assert len({source for source, _ in HARMLESS.values()}) == len(HARMLESS) >= 150


@pytest.mark.sweep(share=0.2)
@each(ATTACKS)
def test_an_attack_is_refused_or_contained(
    sandbox: Sandbox, hasty: Sandbox, host: Host, attack: Attack
) -> None:
    held = hasty if "timeout" in attack.ends else sandbox
    result = held.run(host.aimed(attack.source), "ret" if "ret = " in attack.source else None)
    assert kind(result) in attack.ends, result.failure
    if attack.ends is REFUSED:
        assert result.calls == ()
    else:
        assert sandbox.run("ret = look() + 1", "ret").value == 2
    assert host.marks() == []


# What the parser refuses never runs; the checked run showed it.
RUNNABLE = [attack for attack in ATTACKS if attack.family not in ("source", "odd sources")]


def assert_nothing_reached(sandbox: Sandbox, host: Host, source: str) -> None:
    environment, folder = dict(os.environ), os.getcwd()
    functions = {name: entry.function for name, entry in SCOPE.primitives.items()}
    result = sandbox.execute(host.aimed(source), SCOPE, returns="ret")
    assert host.marks() == []
    assert SECRET not in repr(result)
    assert (dict(os.environ), os.getcwd()) == (environment, folder)
    assert {name: entry.function for name, entry in SCOPE.primitives.items()} == functions


@pytest.mark.sweep(share=0.1)
@each(RUNNABLE)
def test_without_the_check_an_attack_reaches_nothing(
    unchecked: Sandbox, unchecked_hasty: Sandbox, host: Host, attack: Attack
) -> None:
    held = unchecked_hasty if "timeout" in attack.ends else unchecked
    assert_nothing_reached(held, host, attack.source)


# The exhausting ones need no builtin; the run before this one showed them.
REACHING = [attack for attack in RUNNABLE if attack.ends is REFUSED]


@pytest.mark.sweep(share=0.1)
@each(REACHING)
def test_with_pythons_own_builtins_an_attack_reaches_nothing(
    bare: Sandbox, host: Host, attack: Attack
) -> None:
    if "seccomp" not in bare.layers:
        pytest.skip("this system has no kernel layer to be left alone with")
    assert_nothing_reached(bare, host, attack.source)


# What passes the check is held by the namespace, where the kernel holds nothing.
PASSING = (
    *("aliases", "attributes by data", "classes and records", "forged objects", "names by data"),
    *("handed to the program's objects", "private names"),
)
PAST_THE_CHECK = [attack for attack in ATTACKS if attack.family in PASSING]


@pytest.mark.sweep(share=0.2)
@each(PAST_THE_CHECK)
def test_without_the_kernels_layers_the_namespace_holds(
    degraded: Sandbox, host: Host, attack: Attack
) -> None:
    assert not set(degraded.layers) & set(KERNEL)
    assert kind(degraded.run(host.aimed(attack.source), "ret")) == "raised"
    assert host.marks() == []


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
    sources = [host.aimed(a.source) for a in REACHING if "$W" in a.source or "$R" in a.source]
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", f"SECRET = {SECRET!r}\n{UNHELD}"],
        input=json.dumps([str(host.folder), *sources]),
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(child.stdout.split()[-1]) >= len(sources) / 2


def test_a_mark_on_the_host_is_seen(host: Host) -> None:
    (host.folder / "written").touch()
    with socket.create_connection(host.listener.getsockname()):
        assert host.marks() == ["written", "a connection"]
    (host.folder / "written").unlink()
    assert host.marks() == []


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
    with Sandbox(SCOPE, limits=LIMITS, policy=Policy.benchmark()) as opened:
        yield opened


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(("source", "value"), BENCHMARK.values(), ids=BENCHMARK)
def test_a_benchmarks_program_gives_its_value(benchmark: Sandbox, source: str, value: Any) -> None:
    assert_gives(benchmark, source, value)


@pytest.mark.parametrize("name", ["call", "class", "array", "match class", "import of hints"])
def test_a_robots_program_runs_under_it_too(benchmark: Sandbox, name: str) -> None:
    assert_gives(benchmark, *HARMLESS[name])


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize("source", BENCHMARK_ATTACKS.values(), ids=BENCHMARK_ATTACKS)
def test_what_it_lists_leads_nowhere_else(benchmark: Sandbox, host: Host, source: str) -> None:
    result = benchmark.run(host.aimed(source), "ret")
    assert kind(result) in (*REFUSED, "raised")
    assert SECRET not in repr(result)
    assert host.marks() == []


def test_a_policys_modules_are_not_there_for_robots(sandbox: Sandbox) -> None:
    """The worker keeps to the policy, too: it need not trust the check."""
    result = sandbox.execute("import calendar\nret = calendar.MONDAY", SCOPE, returns="ret")
    assert result.failure is not None
    assert result.failure.error == "ModuleNotFoundError"
