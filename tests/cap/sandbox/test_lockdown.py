"""Each kernel layer alone, with the check off and Python's own builtins in the program's hands.

The knock-out matrix: a layer's canaries fail under that layer alone, and do what they attempt
once every layer is left out, which shows that they attempt something. With all layers together
nothing reaches the host.
"""

import contextlib
import os
import platform
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.checker.policy import BENCHMARK_MODULES
from cap.errors import SandboxError, UsageError
from cap.program.scope import Scope
from cap.result import Result
from cap.sandbox import frames
from cap.sandbox.client import WorkerTemplate
from cap.sandbox.kernel.layers import KERNEL, LEVELS, LayerReport
from cap.sandbox.limits import Limits
from cap.sandbox.results import failure_of_exit
from cap.sandbox.sandbox import Sandbox
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


class Host:
    """What programs attack."""

    def __init__(self, folder: Path) -> None:
        self.target = folder / "written"
        self.victim = folder / "victim"
        self.victim.write_text("here")
        self.server = socket.create_server(("127.0.0.1", 0))
        self.abstract = socket.socket(socket.AF_UNIX)
        self.name = f"cap-canary-{os.getpid()}"
        self.abstract.bind("\0" + self.name)
        self.abstract.listen()
        self.signals: list[int] = []

    def scope(self) -> Scope:
        facts: dict[str, Any] = {
            "target": str(self.target),
            "victim": str(self.victim),
            "port": self.server.getsockname()[1],
            "abstract": self.name,
            "parent": os.getpid(),
        }
        return Scope(variables=facts)

    def touched(self) -> list[str]:
        """Return what was reached."""
        found = ["signal"] if self.signals else []
        found += ["file written"] if self.target.exists() else []
        found += [] if self.victim.exists() else ["file removed"]
        for listening in (self.server, self.abstract):
            listening.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                listening.accept()[0].close()
                found.append("connection")
        return found


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path)
    before = signal.signal(signal.SIGUSR1, lambda *_: host.signals.append(1))
    yield host
    signal.signal(signal.SIGUSR1, before)
    host.server.close()
    host.abstract.close()


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
    assert host.touched() == []


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


@pytest.mark.sweep(share=0.13)
@pytest.mark.parametrize("what", ATTEMPTS)
@pytest.mark.parametrize("knocked_out", ["", *KERNEL])
def test_with_one_layer_left_out_the_others_hold(knocked_out: str, what: str, host: Host) -> None:
    others = [layer for layer in KERNEL if layer != knocked_out and what in STOPS[layer]]
    if not others:
        pytest.skip("this canary is that layer's alone")
    needs(*others)
    result = attempt(sandbox_without(*filter(None, [knocked_out])), what, host)
    assert result.failure is not None
    assert host.touched() == []


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
    assert host.touched() == []
    assert sandbox.execute("ret = 1", Scope(), returns="ret").value == 1


SEEN = """
import os
ret = {"environment": dict(os.environ), "numbers": []}
for number in range(64):
    try:
        os.lseek(number, 0, 1)
    except OSError as error:
        if error.errno == 9:
            continue
    ret["numbers"].append(number)
"""


def test_a_worker_has_two_pipes_and_nothing_on_the_standard_ones(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w") as opened:
        os.set_inheritable(opened.fileno(), True)
        template = WorkerTemplate(MODULES)
        try:
            sandbox = Sandbox(template=template)
            seen = sandbox.execute(SEEN, Scope(), returns="ret").value
        finally:
            template.close()
    assert seen == {"environment": {}, "numbers": [0, 1, 2, 3, 4]}


LINKS = """
import os
ret = [os.readlink(f"/proc/self/fd/{number}") for number in range(5)] + [os.getcwd()]
"""


def test_the_standard_descriptors_lead_nowhere() -> None:
    everything_off = sandbox_without(*KERNEL, "capabilities")
    links = everything_off.execute(LINKS, Scope(), returns="ret").value
    assert links[:3] == ["/dev/null"] * 3
    assert all(link.startswith("pipe:") for link in links[3:5])
    assert links[5] == "/"


ENDINGS = {
    "a bad address": ("ctypes.string_at(1)", "SIGSEGV"),
    "another table of calls": ("libc.syscall(0x40000000 + 39)", "SIGSYS"),
    "its own end": ("getattr(os, '_exit')(7)", "exit code 7"),
    "a clean end": ("getattr(os, '_exit')(0)", "exit code 0"),
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
        for _ in range(2):
            with pytest.raises(SandboxError, match=r"'kernel-seccomp'.*seccomp \(left out\)"):
                sandbox.run("ret = 2", returns="ret")
    finally:
        template.close()


@pytest.mark.parametrize(
    ("attempts", "told"),
    [
        ("KILL", "True {}"),
        ("KILL KILL", "True {}"),
        ("KILL KILL TERM", "layer 'rlimits' cannot be tried: each attempt was ended by signal 15"),
        ("SYS SYS SYS", "False {'rlimits': 'each attempt was ended by signal 31'}"),
    ],
)
def test_a_probe_that_is_killed_does_not_tell_of_the_system(
    attempts: str, told: str, tmp_path: Path
) -> None:
    """An attempt is ended by each signal in turn; those that come after are left alone."""
    begun = tmp_path / "begun"
    begun.mkdir()
    source = f"""
import os, signal
from cap.errors import SandboxError
from cap.sandbox.kernel import lockdown
def attempt(layer):
    begun = len(os.listdir({str(begun)!r}))
    open(os.path.join({str(begun)!r}, str(begun)), "x").close()
    if begun < len({attempts.split()}):
        os.kill(os.getpid(), getattr(signal, "SIG" + {attempts.split()}[begun]))
lockdown._attempt = attempt
try:
    found = lockdown.probe(frozenset({{"landlock", "seccomp", "namespaces"}}))
    print("rlimits" in found.layers, {{n: w for n, w in found.missing.items() if w != "left out"}})
except SandboxError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == told


def test_a_killed_probe_within_the_namespaces_does_not_tell_of_the_system() -> None:
    needs("namespaces")
    source = """
import os, time
from cap.errors import SandboxError
from cap.sandbox.kernel import lockdown, namespaces
own, wait = os.getpid(), os.waitpid
def waitpid(child, options):
    if os.getpid() != own:  # the one that waits within a probe
        os.kill(child, 9)
    return wait(child, options)
os.waitpid, namespaces.empty_root = waitpid, lambda: time.sleep(60)
try:
    print(lockdown.probe(frozenset({"rlimits", "landlock", "seccomp"})).missing["namespaces"])
except SandboxError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert ran.stdout == (
        "layer 'namespaces' cannot be tried: each attempt was ended by signal 9\n"
    )


def test_a_level_that_is_reached_is_accepted() -> None:
    needs("rlimits", "seccomp")
    assert Sandbox(min_level="kernel-seccomp", template=template_without()).layers


def test_a_level_nobody_knows_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match=r"kernel\+ns"):
        Sandbox(min_level="strong")
