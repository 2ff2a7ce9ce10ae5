"""Each kernel layer alone, with the check off and Python's own builtins in the program's hands.

The knock-out matrix: a layer's canaries fail under that layer alone, and do what they attempt
once every layer is left out, which shows that they attempt something. With all layers together
nothing reaches the host.
"""

import contextlib
import os
import platform
import select
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from cap.checker.policy import BENCHMARK_MODULES
from cap.errors import SandboxError, UsageError
from cap.program.scope import Scope
from cap.result import Result
from cap.sandbox import frames
from cap.sandbox.client import WorkerTemplate
from cap.sandbox.kernel import landlock
from cap.sandbox.kernel.layers import KERNEL, LEVELS, LayerReport
from cap.sandbox.kernel.seccomp import MACHINES, Machine, filter_for
from cap.sandbox.limits import FOREIGN_LEVEL, SHIPPED_RECORDINGS, Limits, weakest_level
from cap.sandbox.results import failure_of_exit
from cap.sandbox.sandbox import Sandbox
from tests.cap.sandbox.conftest import Host
from tests.fakes.workers import job_of
from tests.rows import table

pytestmark = pytest.mark.skipif(
    platform.system() != "Linux", reason="the kernel layers are Linux's"
)

LIMITS = Limits(program_s=5, memory_bytes=256 << 20)
SYSTEM = """
import ctypes, mmap, os, signal, socket, subprocess
libc = ctypes.CDLL(None, use_errno=True)
def refused(number):
    if number < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""

TABLE = table(__file__, "attempts")
"""What a hostile program attempts, and the layers that each stop it alone."""
ATTEMPTS = {what: code for what, (code, _) in TABLE.items()}
STOPS = {
    layer: [what for what, (_, layers) in TABLE.items() if layer in layers] for layer in KERNEL
}


MODULES = BENCHMARK_MODULES | {"resource"}
_templates: dict[frozenset[str], WorkerTemplate] = {}


@pytest.fixture(scope="module", autouse=True)
def templates() -> Iterator[None]:
    yield
    for template in _templates.values():
        template.close()
    _templates.clear()


def template_without(*layers: str) -> WorkerTemplate:
    without = frozenset([*layers, "views"])
    if without not in _templates:
        _templates[without] = WorkerTemplate(MODULES, without=without)
    return _templates[without]


def sandbox_without(*layers: str) -> Sandbox:
    return Sandbox(limits=LIMITS, template=template_without(*layers))


def attempt(sandbox: Sandbox, what: str, host: Host) -> Result:
    return sandbox.execute(SYSTEM + ATTEMPTS[what], host.scope())


def needs(*layers: str) -> None:
    missing = set(layers) - set(sandbox_without().layers)
    if missing:
        pytest.skip(f"not on this system: {missing}")


GUARDED = ("trace its parent", "read its parent's memory")
YAMA = Path("/proc/sys/kernel/yama/ptrace_scope")
ALONE = [(layer, what) for layer, attempts in STOPS.items() for what in attempts]


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize(("layer", "what"), ALONE)
def test_a_layer_alone_stops_its_canaries(layer: str, what: str, host: Host) -> None:
    needs(layer)
    alone = sandbox_without("capabilities", *set(KERNEL) - {layer})
    result = attempt(alone, what, host)
    assert alone.layers == ("process", "environment", layer)
    assert result.failure is not None
    assert host.marks() == []


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("what", ATTEMPTS)
def test_without_any_layer_a_canary_does_what_it_attempts(what: str, host: Host) -> None:
    if what in GUARDED and YAMA.exists() and YAMA.read_text().strip() != "0":
        pytest.skip("this system keeps processes of one user from each other")
    result = attempt(sandbox_without(*KERNEL, "capabilities"), what, host)
    if what == "become a program":  # which then says nothing to anybody
        assert result.failure is not None
        assert "exit code 0" in result.failure.message
    else:
        assert result.failure is None, result.failure


def test_every_canary_is_stopped_by_some_layer() -> None:
    assert all(layers for _, layers in TABLE.values())
    assert all(STOPS.values())


def test_hostile_programs_that_try_everything_leave_the_host_untouched(host: Host) -> None:
    each = "\n".join(
        "try:\n"
        + "".join(f"    {line}\n" for line in code.split("\n"))
        + "except BaseException: pass"
        for what, code in ATTEMPTS.items()
        if what not in ("open what is left", "private memory", "become a program")
    )
    sandbox = sandbox_without()
    sandbox.execute(SYSTEM + each, host.scope())
    assert host.marks() == []
    assert sandbox.execute("ret = 1", Scope(), returns="ret").value == 1


SEEN = """
import os
links = []
for number in range(64):
    try:
        links.append(os.readlink(f"/proc/self/fd/{number}"))
    except OSError:
        pass
ret = dict(os.environ), os.getcwd(), links
"""


def test_a_worker_has_two_pipes_and_nothing_on_the_standard_ones(tmp_path: Path) -> None:
    """Without the kernel layers, which would keep it from looking."""
    with (tmp_path / "open").open("w") as opened:
        os.set_inheritable(opened.fileno(), True)
        template = WorkerTemplate(MODULES, without=frozenset([*KERNEL, "capabilities", "views"]))
        try:
            sandbox = Sandbox(template=template)
            environment, folder, links = sandbox.execute(SEEN, Scope(), returns="ret").value
        finally:
            template.close()
    assert (environment, folder) == ({}, "/")
    assert links[:3] == ["/dev/null"] * 3
    assert [link.partition(":")[0] for link in links[3:]] == ["pipe", "pipe"]


ENDINGS = {
    "a bad address": ("ctypes.string_at(1)", "SIGSEGV"),
    "another table of calls": ("libc.syscall(0x40000000 + 39)", "SIGSYS"),
    "its own end": ("getattr(os, '_exit')(7)", "exit code 7"),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_a_failure_says_how_the_worker_ended(name: str) -> None:
    needs("seccomp")
    if name == "another table of calls" and platform.machine() != "x86_64":
        pytest.skip("x86-64 alone has a second table")
    code, words = ENDINGS[name]
    failure = sandbox_without().execute(SYSTEM + code, Scope()).failure
    assert failure is not None
    assert (failure.kind, failure.error) == ("killed", "WorkerDied")
    assert words in failure.message


def test_the_kernels_own_clock_is_a_timeout_too() -> None:
    template, limits = template_without(), Limits(program_s=0.2)
    worker = template.spawn(limits)
    try:
        frames.send(worker.requests, job_of("while True: pass"), None)
        watched = select.poll()
        watched.register(worker.answers, select.POLLIN)
        assert watched.poll(20_000)  # its end: nobody else's clock is running
        status = template.status(worker)
    finally:
        worker.end()
    assert status is not None
    assert failure_of_exit(status, limits).kind == "timeout"


# --- levels


def test_levels_are_what_their_layers_add_up_to() -> None:
    for level, layers in LEVELS.items():
        assert LayerReport(layers).level == level
    assert LayerReport(("rlimits", "landlock", "namespaces")).level == "process"


def test_a_layer_that_is_missing_lowers_the_level_and_is_named() -> None:
    sandbox = sandbox_without("landlock")
    assert "landlock" not in sandbox.layers
    assert sandbox.level in ("kernel-seccomp", "process")
    assert template_without("landlock").report().missing["landlock"] == "left out"


def test_a_level_that_is_not_reached_is_refused_with_the_layers_it_lacks() -> None:
    template = template_without("seccomp")
    with pytest.raises(SandboxError, match=r"'kernel'.*seccomp \(left out\)"):
        Sandbox(min_level="kernel", template=template)


@pytest.mark.inside
def test_a_new_template_that_holds_less_than_was_asked_for_runs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    needs("rlimits", "seccomp")
    template = WorkerTemplate()
    try:
        sandbox = Sandbox(min_level="kernel-seccomp", template=template)
        assert sandbox.run("ret = 1", returns="ret").value == 1
        assert template._process is not None
        template._process.kill()  # by whoever has no memory left
        monkeypatch.setattr(template, "_without", frozenset({"seccomp"}))
        with contextlib.suppress(SandboxError):
            sandbox.run("ret = 2", returns="ret")  # by a worker of before, if one stood ready
        with pytest.raises(SandboxError, match=r"'kernel-seccomp'.*seccomp \(left out\)"):
            sandbox.run("ret = 2", returns="ret")
    finally:
        template.close()


def test_a_level_nobody_knows_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"kernel\+ns"):
        Sandbox(min_level="strong")


# --- whose programs run where no kernel layer holds: this software's own, and no other's

RECORDINGS = sorted((Path(__file__).parents[3] / "notebooks" / "recordings").glob("*.jsonl"))


def test_shipped_recordings_run_anywhere_and_others_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CAP_MIN_LEVEL", raising=False)
    assert len(RECORDINGS) == len(SHIPPED_RECORDINGS)
    for path in RECORDINGS:
        assert weakest_level(f"replay/{path}") is None
        assert weakest_level(f"replay/{path}", simulated=False) == FOREIGN_LEVEL
        other = tmp_path / path.name
        other.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
        assert weakest_level(f"replay/{other}") == FOREIGN_LEVEL
    assert weakest_level("replay/nowhere.jsonl") == FOREIGN_LEVEL
    assert weakest_level("nearest") is None


# --- the seccomp filters of both architectures and the Landlock rulesets, by their bytes

KILL, EPERM, ALLOW = 0x80000000, 0x00050001, 0x7FFF0000
PROT_EXEC = 4
FORBIDDEN = table(__file__, "forbidden calls")


def verdict(machine: Machine, audit: int, number: int, first: int = 0, third: int = 0) -> int:
    """Run a filter as the kernel does, over its description of one call."""
    call = struct.pack("=iIQ6Q", number - (number >> 31 << 32), audit, 0, first, 0, third, 0, 0, 0)
    steps = list(struct.iter_unpack("=HBBI", filter_for(machine)))
    loaded = at = 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x06:
            return int(operand)
        if code == 0x20:
            (loaded,) = struct.unpack_from("=I", call, operand)
            continue
        holds = {
            0x15: loaded == operand,
            0x35: loaded >= operand,
            0x45: bool(loaded & operand),
        }[code]
        at += if_true if holds else if_false


@pytest.mark.parametrize("machine", MACHINES)
def test_what_reaches_out_is_refused(machine: str) -> None:
    entry = MACHINES[machine]
    for name, number in FORBIDDEN[machine].items():
        assert verdict(entry, entry.audit, number) == EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_memory_is_given_unless_it_is_to_be_executed(machine: str) -> None:
    entry = MACHINES[machine]
    for name, number in entry.never_executable.items():
        assert verdict(entry, entry.audit, number, third=3) == ALLOW, name
        assert verdict(entry, entry.audit, number, third=3 | PROT_EXEC) == EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_a_worker_moves_itself_and_nobody_else(machine: str) -> None:
    entry = MACHINES[machine]
    for name, number in entry.own.items():
        assert verdict(entry, entry.audit, number, first=0) == ALLOW, name
        for other in (1, 0xFFFFFFFF):
            assert verdict(entry, entry.audit, number, first=other) == EPERM, name


@pytest.mark.parametrize("machine", MACHINES)
def test_only_the_listed_numbers_pass(machine: str) -> None:
    entry = MACHINES[machine]
    passed = {number for number in range(1024) if verdict(entry, entry.audit, number) == ALLOW}
    listed = (entry.allowed, entry.never_executable, entry.own)
    assert passed == {number for table in listed for number in table.values()}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("audit", [0x40000003, 0x40000028, 0xC000003E, 0xC00000B7, 0])
def test_another_architectures_call_kills(machine: str, audit: int) -> None:
    entry = MACHINES[machine]
    if audit != entry.audit:
        assert verdict(entry, audit, entry.allowed["read"]) == KILL


@pytest.mark.parametrize("number", [0x40000000, 0x40000001, 0x7FFFFFFF, 0xFFFFFFFF])
def test_the_second_table_of_x86_kills(number: int) -> None:
    entry = MACHINES["x86_64"]
    assert verdict(entry, entry.audit, number) == KILL


@pytest.mark.parametrize(
    ("version", "files", "network", "scoped", "size"),
    [
        (1, 13, 0, 0, 8),
        (2, 14, 0, 0, 8),
        (3, 15, 0, 0, 8),
        (4, 15, 3, 0, 16),
        (5, 16, 3, 0, 16),
        (6, 16, 3, 3, 24),
    ],
)
def test_landlock_handles_what_its_version_knows(
    version: int, files: int, network: int, scoped: int, size: int
) -> None:
    attributes, length = landlock.ruleset(version)
    assert attributes.files == (1 << files) - 1
    assert (attributes.network, attributes.scoped, length) == (network, scoped, size)
