"""Spares, templates, pins and concurrent runs: nothing is lost and nothing is left behind."""

import concurrent.futures
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from cap.sandbox.limits import Limits
from cap.sandbox.parent import cpu_affinity
from cap.sandbox.parent.template_client import TemplateClient
from cap.sandbox.sandbox import Sandbox
from cap.scope import Primitive, Scope


@pytest.fixture
def template() -> Iterator[TemplateClient]:
    template = TemplateClient()
    yield template
    template.close()


def value_of(sandbox: Sandbox, source: str, scope: Scope | None = None) -> object:
    result = sandbox.execute(source, scope or Scope(), returns="ret")
    assert result.failure is None, result.failure
    return result.value


def spare_of(template: TemplateClient) -> int:
    """Return the spare's process id, once it is there."""
    with template._lock:
        assert template._asked is not None
        assert template._control is not None
        if template._ready is None:
            template._answer(template._control, b"W")
        assert template._ready is not None
        return template._ready.pid


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


def test_a_spare_that_was_killed_is_replaced(template: TemplateClient) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    first = spare_of(template)
    end(first)
    assert value_of(sandbox, "ret = 2") == 2
    assert spare_of(template) != first


def test_the_spare_runs_the_next_program(template: TemplateClient) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    spare = spare_of(template)
    worker = template.spawn(sandbox.limits)
    try:
        assert worker.pid == spare
    finally:
        worker.end()


def test_a_spare_with_other_limits_is_not_used(template: TemplateClient) -> None:
    value_of(Sandbox(template=template), "ret = 1")
    spare = spare_of(template)
    worker = template.spawn(Limits(memory_bytes=300 << 20))
    try:
        assert worker.pid != spare
    finally:
        worker.end()


def test_without_a_spare_every_worker_is_forked_when_wanted() -> None:
    template = TemplateClient(spare=False)
    try:
        sandbox = Sandbox(template=template)
        assert [value_of(sandbox, f"ret = {n}") for n in range(3)] == [0, 1, 2]
        assert template._asked is None
    finally:
        template.close()


def test_an_interrupted_request_does_not_mix_up_the_workers(
    template: TemplateClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    with monkeypatch.context() as patch:

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        patch.setattr(template, "_answer", interrupt)
        with pytest.raises(KeyboardInterrupt):
            sandbox.execute("ret = 2", Scope())
    assert [value_of(sandbox, f"ret = {n}") for n in range(3)] == [0, 1, 2]


@pytest.mark.soak
def test_a_thousand_programs_leave_nothing(template: TemplateClient) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    spare_of(template)
    before = descriptors()
    for number in range(1000):
        assert value_of(sandbox, f"ret = {number}") == number
    spare_of(template)
    assert descriptors() == before


def test_eight_threads_run_programs_at_once(template: TemplateClient) -> None:
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
    assert descriptors() == before
    assert not cpu_affinity._running
    assert not cpu_affinity._pins


# --- pins

several_cores = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2,
    reason="pinning needs two cores",
)


def cores_seen(sandbox: Sandbox, nested: bool = False) -> list[set[int]]:
    """Return this thread's cores inside a call, and inside one of a program within a program."""
    seen: list[set[int]] = []

    def look() -> None:
        seen.append(set(os.sched_getaffinity(0)))

    def inside() -> None:
        sandbox.execute("look()", scope)
        look()

    both = [Primitive.of(look, "perception"), Primitive.of(inside, "lmp")]
    scope = Scope(primitives={entry.name: entry for entry in both})
    result = sandbox.execute("inside()" if nested else "look()", scope)
    assert result.failure is None
    return seen


@several_cores
def test_a_caller_is_pinned_while_its_program_runs_and_no_longer(template: TemplateClient) -> None:
    before = os.sched_getaffinity(0)
    (during,) = cores_seen(Sandbox(template=template))
    assert len(during) == 1
    assert os.sched_getaffinity(0) == before


@several_cores
def test_a_program_within_a_program_keeps_the_pin(template: TemplateClient) -> None:
    before = os.sched_getaffinity(0)
    inner, outer = cores_seen(Sandbox(template=template), nested=True)
    assert inner == outer
    assert len(outer) == 1
    assert os.sched_getaffinity(0) == before


@several_cores
def test_a_caller_that_does_not_want_it_is_not_pinned(template: TemplateClient) -> None:
    (during,) = cores_seen(Sandbox(template=template, pin=False))
    assert during == os.sched_getaffinity(0)


@several_cores
def test_a_second_thread_lets_the_first_go(template: TemplateClient) -> None:
    sandbox = Sandbox(template=template)
    before = set(os.sched_getaffinity(0))
    caller = threading.get_native_id()
    seen: list[set[int]] = []

    def other() -> None:
        thread = threading.Thread(target=cores_seen, args=(sandbox,))
        thread.start()
        thread.join()
        seen.append(set(os.sched_getaffinity(caller)))

    scope = Scope(primitives={"other": Primitive.of(other, "perception")})
    assert sandbox.execute("other()", scope).failure is None
    assert seen == [before]
    assert set(os.sched_getaffinity(0)) == before


ROAD = """
cap
cap.checker
cap.checker.allowlist
cap.checker.attributes
cap.checker.node_rules
cap.checker.policy
cap.checker.survey
cap.errors
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
cap.sandbox.wire.frames
cap.sandbox.wire.graph
cap.sandbox.wire.keys
cap.sandbox.wire.payloads
cap.sandbox.worker
cap.sandbox.worker.bindings
cap.sandbox.worker.call_list
cap.sandbox.worker.fork_server
cap.sandbox.worker.namespace
cap.sandbox.worker.worker
"""
"""What a serving template has loaded of `cap`: the check is there for `eval` and `getattr`, which a
worker can import no more."""


def test_a_serving_template_has_loaded_these_modules_and_no_other() -> None:
    template = TemplateClient(spare=False, without=frozenset(["builtins"]))
    source = "import sys\nret = sorted(n for n in sys.modules if n.split('.')[0] == 'cap')"
    try:
        assert value_of(Sandbox(template=template), source) == ROAD.split()
    finally:
        template.close()
