"""Spares, templates, pins and concurrent runs: nothing is lost and nothing is left behind."""

import ast
import concurrent.futures
import contextlib
import itertools
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cap.sandbox.parent import cpu_affinity, template_client
from cap.sandbox.parent.job import Job
from cap.sandbox.template_protocol import NOW, SPARE

from cap.checker.policy import Policy
from cap.errors import SandboxError
from cap.program import parser, program
from cap.program.program import Program
from cap.program.scope import Kind, Primitive, Scope
from cap.result import Result
from cap.sandbox.client import Template, Worker
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from cap.sandbox.server import Server
from tests.fakes.strikes import Strike


@pytest.fixture
def template() -> Iterator[Template]:
    template = Template(libraries=False)
    yield template
    template.close()


def value_of(sandbox: Sandbox, source: str, scope: Scope | None = None) -> object:
    result = sandbox.execute(source, scope or Scope(), returns="ret")
    assert result.failure is None, result.failure
    return result.value


def spare_of(template: Template) -> int:
    """Return the spare's process id, once it is there."""
    assert template._spare is not None
    return template._spare.pid


def end(pid: int) -> None:
    watched = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    waiting = threading.Event()
    while not waiting.wait(0.001):
        try:
            signal.pidfd_send_signal(watched, 0)
        except ProcessLookupError:
            break
        if state(pid) == "Z":
            break
    os.close(watched)


def state(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as facts:
        return facts.read().rpartition(")")[2].split()[0]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


OF_THE_LAST = 2
"""Pipes of the last worker: they are closed with it, or when the next one ends."""


def test_a_spare_that_was_killed_is_replaced(template: Template) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    first = spare_of(template)
    end(first)
    assert value_of(sandbox, "ret = 2") == 2
    assert spare_of(template) != first


@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_a_program_that_never_began_is_run_by_another_worker(
    template: Template, number: signal.Signals, size: int
) -> None:
    sandbox = Sandbox(template=template, limits=Limits(program_s=2))
    given, struck = template.spawn, list[int]()

    def strike(*args: Any) -> Worker:
        worker = given(*args)
        if len(struck) < strikes:
            struck.append(worker.pid)
            if number == signal.SIGKILL:
                end(worker.pid)
            else:
                os.kill(worker.pid, number)
                while state(worker.pid) != "T":
                    pass
        return worker

    def run(server: Server, job: bytes, **named: Any) -> Result:
        spent.append(server.clocks.program_s)
        return given_run(server, job, **named)

    given_run, spent = Server.run, list[float]()
    scope = Scope(variables={"data": bytes(size)})
    for strikes in (1, 2):
        struck.clear()
        spent.clear()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(template, "spawn", strike)
            patch.setattr(Server, "run", run)
            result = sandbox.execute("ret = len(data)", scope, returns="ret")
        assert len(struck) == strikes
        if strikes == 1:
            assert (result.failure, result.value) == (None, size)
        else:
            assert result.failure is not None
            assert result.failure.kind == ("killed" if number == signal.SIGKILL else "timeout")
            named = "variables took longer than 2 s to send; 'data' is the largest (1 MiB)"
            assert (named in result.failure.message) == (number == signal.SIGSTOP and size > 1)
        assert spent[0] == 0.0
        assert 0.0 < spent[1] <= result.program_s
        if number == signal.SIGSTOP:  # both attempts share the program's time
            assert spent[1] >= 1.0


def test_a_program_that_began_is_run_once(template: Template) -> None:
    begun: list[int] = []

    def strike() -> None:
        begun.append(1)
        end(workers[-1].pid)

    workers: list[Worker] = []
    given = template.spawn

    def spawned(*args: Any) -> Worker:
        workers.append(given(*args))
        return workers[-1]

    scope = Scope(primitives={"strike": Primitive.of(strike, "perception")})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "spawn", spawned)
        failure = Sandbox(template=template).execute("strike()", scope).failure
    assert failure is not None
    assert (failure.error, len(begun), len(workers)) == ("WorkerDied", 1, 1)


def test_the_spare_runs_the_next_program(template: Template) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    spare = spare_of(template)
    worker = template.spawn(sandbox.limits)
    try:
        assert worker.pid == spare
    finally:
        worker.end()


def test_a_spare_with_other_limits_is_not_used(template: Template) -> None:
    value_of(Sandbox(template=template), "ret = 1")
    spare = spare_of(template)
    worker = template.spawn(Limits(memory_bytes=300 << 20))
    try:
        assert worker.pid != spare
    finally:
        worker.end()


def test_without_a_spare_every_worker_is_forked_when_wanted() -> None:
    template = Template(spare=False, libraries=False)
    try:
        sandbox = Sandbox(template=template)
        assert [value_of(sandbox, f"ret = {n}") for n in range(3)] == [0, 1, 2]
        assert template._spare is None
    finally:
        template.close()


def kinds_ordered(template: Template, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Return the kinds of workers that are ordered from here on, in a list that grows."""
    kinds: list[bytes] = []
    order = template._order

    def note(kind: bytes, *args: Any, **more: Any) -> Worker:
        kinds.append(kind)
        return order(kind, *args, **more)

    monkeypatch.setattr(template, "_order", note)
    return kinds


def test_a_worker_is_made_while_its_program_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    template = Template(spare=False, libraries=False)
    sandbox = Sandbox(template=template)
    parse, seen = Program.parse, list[bool]()

    def look(source: str) -> Program:
        seen.append(template.has_spare)
        return parse(source)

    monkeypatch.setattr(Program, "parse", look)
    try:
        assert [sandbox.run(f"ret = {n}", returns="ret").value for n in range(3)] == [0, 1, 2]
        assert seen == [True] * 3
    finally:
        template.close()


def test_programs_that_follow_each_other_have_the_next_worker_made_meanwhile(
    template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_client, "_HURRY_S", 60.0)
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 0")
    kinds = kinds_ordered(template, monkeypatch)
    assert [value_of(sandbox, f"ret = {n}") for n in range(3)] == [0, 1, 2]
    assert kinds == [NOW] * 3
    monkeypatch.setattr(template_client, "_HURRY_S", 0.0)
    assert [value_of(sandbox, f"ret = {n}") for n in range(3)] == [0, 1, 2]
    assert kinds[3:] == [SPARE] * 3


def test_who_ends_a_worker_does_not_wake_it_unless_programs_follow_each_other(
    template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that closes would, and it goes down on its caller's core."""
    monkeypatch.setattr(template_client, "_HURRY_S", 0.0)
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 0")
    ended = template._last
    assert ended is not None
    assert ended.requests >= 0
    value_of(sandbox, "ret = 1")
    assert template._last is not ended
    assert (ended.requests, ended.answers) == (-1, -1)
    monkeypatch.setattr(template_client, "_HURRY_S", 60.0)
    value_of(sandbox, "ret = 2")
    assert template._last is None


def scope_with(name: str, group: str = "") -> Scope:
    primitive = Primitive.of(len, "perception")
    return Scope(primitives={name: primitive}, groups={group: [name]} if group else {})


_NAMES = ("count", "measure", "arm", "hand", "long")
_FOUND = "ret = []\n" + "\n".join(
    f"try:\n    {name}\n    ret.append('{name}')\nexcept NameError: pass" for name in _NAMES
)
"""Which of these a program finds."""


def test_sandboxes_in_turn_each_find_their_own_names(template: Template) -> None:
    """Also where what a program finds is too long to be sent ahead."""
    scopes = [scope_with("count", "arm"), scope_with("measure", "hand"), scope_with("x" * 9999)]
    sandbox = Sandbox(template=template)
    found = [value_of(sandbox, _FOUND, scope) for _ in range(3) for scope in scopes]
    assert found == [["count", "arm"], ["measure", "hand"], []] * 3


def test_a_setting_of_which_nobody_knows_whether_it_left_is_sent_again(
    template: Template,
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    sandbox, one, other = Sandbox(template=template), scope_with("count"), scope_with("measure")
    assert value_of(sandbox, _FOUND, one) == ["count"]
    template._spare, spare = None, template._spare
    assert spare is not None
    spare.end()
    strike = Strike(1, "/socket.py", interrupt, "sendmsg")
    with pytest.raises(KeyboardInterrupt), strike:
        sandbox.execute("", other)
    assert strike.struck
    assert value_of(sandbox, _FOUND, one) == ["count"]
    assert value_of(sandbox, _FOUND, other) == ["measure"]


@pytest.mark.parametrize("hurry_s", [0.0, 60.0])
def test_ctrl_c_while_the_next_worker_is_ordered_leaves_none(
    template: Template, monkeypatch: pytest.MonkeyPatch, hurry_s: float
) -> None:
    """Ordered with its program or at its end, as one hurries or not."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 0")
    monkeypatch.setattr(template_client, "_HURRY_S", hurry_s)
    before, spawn, workers = descriptors(), template.spawn, list[int]()

    def note(*given: Any) -> Worker:
        workers.append(spare_of(template))
        return spawn(*given)

    strike = Strike(1, "/socket.py", interrupt, "sendmsg")
    with monkeypatch.context() as patch:
        patch.setattr(template, "spawn", note)
        with pytest.raises(KeyboardInterrupt), strike:
            sandbox.execute("", Scope())
    assert strike.struck
    assert descriptors() <= before + OF_THE_LAST
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        while state(workers[0]) != "Z":
            time.sleep(0.001)
    assert value_of(sandbox, "ret = 1") == 1


def test_a_setting_that_cannot_be_built_ends_no_template(template: Template) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 0")
    first, spare = template._process, template._spare
    assert spare is not None
    template._spare = None
    spare.end()
    template.expect(sandbox.limits, b"no setting")
    assert value_of(sandbox, "ret = 1") == 1
    assert template._process is first


def test_an_interrupted_request_does_not_mix_up_the_workers(
    template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    with monkeypatch.context() as patch:

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(template, "_wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            sandbox.execute("ret = 2", Scope())
    assert [value_of(sandbox, f"ret = {n}") for n in range(3)] == [0, 1, 2]


def test_an_order_that_ctrl_c_cut_short_is_not_taken_for_the_next(
    template: Template,
) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    def limit(limits: Limits) -> tuple[int, int]:
        worker = template.spawn(limits)
        try:
            unlimited = resource.getrlimit(resource.RLIMIT_DATA)
            while (found := resource.prlimit(worker.pid, resource.RLIMIT_DATA)) == unlimited:
                time.sleep(0.001)  # it locks itself down after it was announced
            return found
        finally:
            worker.end()

    small, large = Limits(memory_bytes=300 << 20), Limits(memory_bytes=900 << 20)
    expected = limit(small)
    strike = Strike(1, "/socket.py", interrupt, "sendmsg")
    with pytest.raises(KeyboardInterrupt), strike:
        template.refill(large)
    assert strike.struck
    assert limit(small) == expected != limit(large)


@pytest.mark.soak
def test_a_thousand_programs_leave_nothing(template: Template) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    spare_of(template)
    before = descriptors()
    for number in range(1000):
        assert value_of(sandbox, f"ret = {number}") == number
    spare_of(template)
    assert descriptors() <= before + OF_THE_LAST


def test_eight_threads_run_programs_at_once(template: Template) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    spare_of(template)
    before = descriptors()
    affinity = os.sched_getaffinity(0)

    def work(thread: int) -> list[object]:
        values = [value_of(sandbox, f"ret = {thread * 100 + n}") for n in range(10)]
        assert os.sched_getaffinity(0) == affinity
        return values

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(8)))
    assert found == [[thread * 100 + n for n in range(10)] for thread in range(8)]
    spare_of(template)
    assert descriptors() <= before + OF_THE_LAST
    assert not cpu_affinity._running
    assert not cpu_affinity._following


# --- forks of the parent, and a parent without descriptors


def test_a_fork_has_a_template_of_its_own(template: Template) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    spare = spare_of(template)
    with template._lock:  # as if another thread were just waiting for a worker
        child = os.fork()
        if child == 0:
            os._exit(0 if value_of(sandbox, "ret = 2") == 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert spare_of(template) == spare
    assert value_of(sandbox, "ret = 3") == 3


def test_a_fork_waits_for_no_thread_of_the_other_process(
    template: Template, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.11 has one lock for each cached property of a class."""
    sandbox, own = Sandbox(template=template), os.getpid()
    inside, release = threading.Event(), threading.Event()
    compiled = program.compiled

    def held(source: str, tree: ast.Module) -> Any:
        if os.getpid() == own:
            inside.set()
            release.wait(60)
        return compiled(source, tree)

    monkeypatch.setattr(program, "compiled", held)
    other = threading.Thread(target=Program.parse, args=["held_by_another_thread = 1"])
    other.start()
    try:
        assert inside.wait(60)
        with parser._QUIET, cpu_affinity._lock:
            child = os.fork()
            if child == 0:
                signal.alarm(60)  # it waits for ever otherwise
                os._exit(0 if sandbox.run("ret = 2", "ret").value == 2 else 1)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        release.set()
        other.join()


def test_no_other_process_is_taken_for_a_worker_where_descriptors_lack(
    template: Template,
) -> None:
    worker = template.spawn()
    try:
        with no_descriptors(), pytest.raises(ProcessLookupError):
            template.pid(worker)
        assert template.pid(worker) > 0
    finally:
        worker.end()


@contextlib.contextmanager
def no_descriptors() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_out_of_descriptors_the_template_and_its_workers_live_on() -> None:
    template = Template(spare=False, libraries=False)
    try:
        worker = template.spawn()
        with no_descriptors(), pytest.raises(SandboxError, match=r"does not start a worker: .*24"):
            template.spawn()
        assert worker.pid > 0
        worker.end()
        assert value_of(Sandbox(template=template), "ret = 1") == 1
    finally:
        template.close()


def test_a_worker_is_ended_where_no_other_can_be_ordered(template: Template) -> None:
    worker = template.spawn()
    watched = os.pidfd_open(worker.pid)
    with no_descriptors():
        template.refill(ended=worker)
    poller = select.poll()
    poller.register(watched, select.POLLIN)
    assert poller.poll(10_000)
    os.close(watched)


# --- pins

several_cores = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="pinning needs two cores",
)


def cores_seen(template: Template, *, nested: bool = False, **more: Any) -> list[set[int]]:
    """Return the cores a worker has while it is served, for each program and each of its calls."""
    seen: list[set[int]] = []
    workers: list[Worker] = []
    spawn = template.spawn

    def spawned(*args: Any) -> Worker:
        workers.append(spawn(*args))
        return workers[-1]

    def look() -> None:
        seen.append(set(os.sched_getaffinity(workers[-1].pid)))

    def inside() -> None:
        sandbox.execute("look()", scope)
        workers.pop()
        look()

    both = [Primitive.of(look, "perception"), Primitive.of(inside, "lmp")]
    scope = Scope(primitives={entry.name: entry for entry in both})
    sandbox = Sandbox(template=template, **more)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "spawn", spawned)
        result = sandbox.execute("inside()" if nested else "look()", scope)
    assert result.failure is None
    return seen


@several_cores
def test_a_worker_is_on_its_callers_core(template: Template) -> None:
    (during,) = cores_seen(template)
    assert len(during) == 1
    inner, outer = cores_seen(template, nested=True)
    assert len(inner) == len(outer) == 1


@several_cores
def test_a_worker_follows_its_caller(template: Template, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller is somewhere else at each look."""
    cores = sorted(os.sched_getaffinity(0))
    seen: list[set[int]] = []

    def look() -> None:
        seen.append(set(os.sched_getaffinity(template_worker.pid)))

    scope = Scope(primitives={"look": Primitive.of(look, "perception")})
    template_worker = template.spawn()
    source = "for n in range(200): look()"
    job = Job.of(source, scope, Policy(), stdout_chars=0).for_worker(b"")
    looks = itertools.count()
    monkeypatch.setattr(cpu_affinity.libc, "current_core", lambda: cores[next(looks) % 2])
    with cpu_affinity.near(template_worker, cores[0]) as place:
        result = Server(template_worker, scope, Limits(), place=place).run(job)
    template_worker.end()
    assert result.failure is None
    assert {core for one in seen for core in one} == set(cores[:2])
    assert all(len(one) == 1 for one in seen)


def test_what_a_primitive_starts_keeps_all_cores(template: Template) -> None:
    """A model that is loaded in its first call has a pool of threads from then on."""
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system tells no cores")
    before = set(os.sched_getaffinity(0))
    seen: list[set[int]] = []
    tell = "import os; print(*os.sched_getaffinity(0))"

    def start() -> None:
        thread = threading.Thread(target=lambda: seen.append(set(os.sched_getaffinity(0))))
        thread.start()
        thread.join()
        child = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True)
        seen.append(set(map(int, child.stdout.split())))

    kinds: tuple[Kind, ...] = ("perception", "lmp")
    for kind in kinds:
        scope = Scope(primitives={"start": Primitive.of(start, kind)})
        for robot in (None, Still()):
            result = Sandbox(template=template).execute("start()", scope, robot=robot)
            assert result.failure is None
    assert seen == [before] * 8


class Still:
    def stop(self) -> None: ...


@several_cores
def test_a_caller_that_does_not_want_it_has_a_worker_anywhere(template: Template) -> None:
    (during,) = cores_seen(template, pin=False)
    assert during == os.sched_getaffinity(0)


@several_cores
def test_a_second_thread_lets_the_workers_go(template: Template) -> None:
    sandbox = Sandbox(template=template)
    before = set(os.sched_getaffinity(0))
    seen: list[set[int]] = []
    first: list[Worker] = []
    spawn = template.spawn

    def spawned(*args: Any) -> Worker:
        first.append(spawn(*args))
        return first[-1]

    def other() -> None:
        run = threading.Thread(target=lambda: sandbox.execute("x = 1", Scope()))
        run.start()
        run.join()
        seen.append(set(os.sched_getaffinity(first[0].pid)))

    scope = Scope(primitives={"other": Primitive.of(other, "perception")})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(template, "spawn", spawned)
        assert sandbox.execute("other()", scope).failure is None
    assert seen == [before]


ROAD = """
cap
cap.checker
cap.checker.policy
cap.checker.attributes
cap.checker.policy
cap.checker.rules
cap.checker.survey
cap.errors
cap.program
cap.program.private_names
cap.sandbox
cap.sandbox.kernel
cap.sandbox.kernel.landlock
cap.sandbox.kernel.layers
cap.sandbox.kernel.libc
cap.sandbox.kernel.lockdown
cap.sandbox.kernel.namespaces
cap.sandbox.kernel.seccomp
cap.sandbox.template_protocol
cap.sandbox.wire
cap.sandbox.wire.codec
cap.sandbox.wire.errors
cap.sandbox.wire.extensions
cap.sandbox.wire.frames
cap.sandbox.wire.graph
cap.sandbox.wire.keys
cap.sandbox.wire.payloads
cap.sandbox.worker
cap.sandbox.worker.abstract
cap.sandbox.worker.bindings
cap.sandbox.worker.builtin_function
cap.sandbox.worker.call_list
cap.sandbox.worker.deep_copy
cap.sandbox.worker.dispatch
cap.sandbox.worker.enumerations
cap.sandbox.worker.fork_server
cap.sandbox.worker.hints
cap.sandbox.worker.library_classes
cap.sandbox.worker.logs
cap.sandbox.worker.namespace
cap.sandbox.worker.numeric
cap.sandbox.worker.object_dictionary
cap.sandbox.worker.records
cap.sandbox.worker.special_attributes
cap.sandbox.worker.stand_ins
cap.sandbox.worker.streams
cap.sandbox.worker.templates
cap.sandbox.worker.worker
"""
"""What a serving template has loaded of `cap`: the check is there for `eval` and `getattr`, which a
worker can import no more."""


def test_a_serving_template_has_loaded_these_modules_and_no_other() -> None:
    template = Template(spare=False, without=frozenset(["builtins"]))
    source = "import sys\nret = sorted(n for n in sys.modules if n.split('.')[0] == 'cap')"
    try:
        assert value_of(Sandbox(template=template), source) == ROAD.split()
    finally:
        template.close()


# --- a system with little to give, and a template that somebody stops

_RUN = """
import os, resource
from cap.errors import SandboxError
from cap.sandbox.sandbox import Sandbox
{before}
try:
    with Sandbox() as sandbox:
        result = sandbox.run("ret = np.ones(1000).sum()", returns="ret")
    print(result.value, result.failure)
except SandboxError as error:
    print("SandboxError:", error)
"""


def run_with(before: str) -> str:
    """Run a program in a process of its own; return what it printed, its errors included."""
    run = subprocess.run(
        [sys.executable, "-c", _RUN.format(before=before)],
        cwd=Path(__file__).parents[3],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    return run.stdout


@pytest.mark.parametrize("kib", [400_000, pytest.param(1_000_000, marks=pytest.mark.soak)])
def test_a_batch_systems_address_space_is_enough(kib: int) -> None:
    said = run_with(f"resource.setrlimit(resource.RLIMIT_AS, ({kib << 10},) * 2)")
    assert said == "1000.0 None\n"


def test_where_no_process_can_be_started_the_error_says_so() -> None:
    """Root is not held by this limit."""
    become = "if os.getuid() == 0: os.setuid(65534)\n"
    said = run_with(f"{become}resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))")
    assert said.startswith("SandboxError: the sandbox process does not start: [Errno 11]")
    assert said.count("\n") == 1


@pytest.mark.sweep(share=0.4)
@pytest.mark.parametrize("most", [8, 9, 10, 11])
def test_with_few_descriptors_the_error_is_one_line(most: int) -> None:
    said = run_with(f"resource.setrlimit(resource.RLIMIT_NOFILE, ({most}, {most}))")
    assert said == "1000.0 None\n" or said.startswith("SandboxError: the sandbox process does not")
    assert said.count("\n") == 1


def test_the_pipes_of_the_last_worker_stand_in_no_others_way(template: Template) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 0")
    time.sleep(2 * template_client._HURRY_S)
    value_of(sandbox, "ret = 1")  # two pipes wait to be closed
    assert template._last is not None
    assert template._spare is not None
    template._spare.end()
    template._spare = None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = list[int]()
    most = max(map(int, os.listdir("/proc/self/fd"))) + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.dup(0))
        for _ in range(2):  # room for half a worker
            os.close(taken.pop())
        assert value_of(sandbox, "ret = 2") == 2
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for descriptor in taken:
            os.close(descriptor)


def test_a_template_that_cannot_go_on_writes_on_nobodys_screen(
    template: Template, capfd: pytest.CaptureFixture[str]
) -> None:
    sandbox = Sandbox(template=template)
    assert sandbox.run("ret = 1", returns="ret").value == 1
    assert template._process is not None
    template._process.kill()
    template._process.wait()
    assert sandbox.run("ret = 2", returns="ret").value == 2
    assert template._control is not None
    template._control.sendall(b"?" * 3)  # half an order, and then nothing more
    template.close()
    assert capfd.readouterr() == ("", "")


def test_why_a_template_does_not_start_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template_client, "_SCRIPT", Path("/nowhere.py"))
    with pytest.raises(SandboxError, match=r"does not start: .*nowhere\.py"):
        Template().report()


def template_pids(template: Template) -> list[int]:
    """Return the process that was started and, with namespaces, the one inside that serves."""
    assert template._process is not None
    outer = template._process.pid
    inside = Path(f"/proc/{outer}/task/{outer}/children").read_text().split()
    return [outer, *map(int, inside)]


@pytest.mark.sweep(share=0.4)
@pytest.mark.skipif(sys.platform != "linux", reason="finds children as Linux does")
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("spare", [True, False])
def test_a_stopped_template_is_replaced_soon(which: int, spare: bool) -> None:
    template = Template(spare=spare, libraries=False)
    try:
        sandbox = Sandbox(template=template)
        assert sandbox.run("ret = 1", returns="ret").value == 1
        pids = template_pids(template)
        if "namespaces" not in sandbox.layers:
            pids = pids[:1]
        os.kill(pids[min(which, len(pids) - 1)], signal.SIGSTOP)
        if which == 1 and len(pids) > 1:  # whoever waits for the one inside ends both, at once
            assert template._process is not None
            template._process.wait(10)
        begin_s = time.monotonic()
        for number in range(3):
            assert sandbox.run(f"ret = {number}", returns="ret").value == number
        assert time.monotonic() - begin_s < 10
    finally:
        template.close()
