"""Templates, spares and concurrent programs: nothing is lost and nothing is left behind."""

from __future__ import annotations

import concurrent.futures
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from cap.errors import SandboxError
from cap.program.scope import Primitive, Scope
from cap.sandbox.client import WorkerTemplate
from cap.sandbox.limits import Limits
from cap.sandbox.sandbox import Sandbox
from tests.cap.conftest import python
from tests.fakes.workers import end, pids_of, state

linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")


@pytest.fixture
def template() -> Iterator[WorkerTemplate]:
    template = WorkerTemplate()
    yield template
    template.close()


def value_of(sandbox: Sandbox, source: str, scope: Scope | None = None) -> object:
    result = sandbox.execute(source, scope or Scope(), returns="ret")
    assert result.failure is None, result.failure
    return result.value


def spares(template: WorkerTemplate) -> list[int]:
    """Wait until one worker is there, and return it."""
    waiting = threading.Event()
    while len(found := pids_of(template)) != 1:
        waiting.wait(0.005)
    return found


@linux
def test_a_spare_that_was_killed_is_replaced(template: WorkerTemplate) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    first = spares(template)
    end(first[0])
    assert value_of(sandbox, "ret = 2") == 2
    assert spares(template) != first


@pytest.mark.inside
@linux
def test_a_template_that_was_killed_is_started_again(template: WorkerTemplate) -> None:
    sandbox = Sandbox(template=template)
    value_of(sandbox, "ret = 1")
    assert template._process is not None
    assert template._spare is not None
    first = template._process.pid
    end(first)
    waiting, ended = threading.Event(), select.poll()
    ended.register(template._spare.answers, 0)
    while not ended.poll(0):  # the spare ends with its template
        waiting.wait(0.005)
    assert value_of(sandbox, "ret = 2") == 2
    assert template._process.pid != first


@pytest.mark.inside
def test_a_template_that_cannot_start_says_why(
    template: WorkerTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cap.sandbox.client._import_paths", lambda: ["/nowhere"])
    with pytest.raises(SandboxError, match=r"does not start: .*No module named 'cap'"):
        template.report()


@linux
def test_a_closed_template_leaves_no_process_and_no_descriptor() -> None:
    before = len(os.listdir("/proc/self/fd"))
    template = WorkerTemplate()
    sandbox = Sandbox(template=template, limits=Limits(program_s=0.2))
    for source in ["x = 1", "1 / 0", "while True: pass", "x = (i for i in 'a')"]:
        sandbox.execute(source, Scope(), keep=True)
    workers = spares(template)
    template.close()
    assert len(os.listdir("/proc/self/fd")) == before
    waiting = threading.Event()
    while any(map(state, workers)):
        waiting.wait(0.005)
    assert value_of(Sandbox(template=template), "ret = 2") == 2
    template.close()


def test_a_spare_with_other_limits_is_not_used(template: WorkerTemplate) -> None:
    value_of(Sandbox(template=template), "ret = 1")
    small = Sandbox(template=template, limits=Limits(memory_bytes=300 << 20))
    failure = small.execute("x = bytearray(400 << 20)", Scope()).failure
    assert failure is not None
    assert failure.kind == "memory"
    assert value_of(Sandbox(template=template), "ret = len(bytearray(400 << 20))") == 400 << 20


def test_programs_at_once_have_each_its_own_answer(template: WorkerTemplate) -> None:
    sandbox = Sandbox(template=template)

    def run(number: int) -> Any:
        scope = Scope(
            primitives={"ask": Primitive.of(lambda n: n * number, "perception", "ask")},
            variables={"number": number},
        )
        return value_of(sandbox, "ret = [number, ask(2), ask(3)]", scope)

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(run, range(25)))
    assert answers == [[n, 2 * n, 3 * n] for n in range(25)]


def test_a_fork_of_this_process_has_a_template_of_its_own(template: WorkerTemplate) -> None:
    code = """
import os
from cap.sandbox.sandbox import Sandbox
sandbox = Sandbox()
assert sandbox.run("ret = 1", returns="ret").value == 1
child = os.fork()
if child == 0:
    os._exit(sandbox.run("ret = 7", returns="ret").value)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert sandbox.run("ret = 3", returns="ret").value == 3
"""
    assert python(code).returncode == 0


def test_a_process_without_standard_streams_has_a_sandbox() -> None:
    """As daemons, cron and supervisors start processes."""
    code = """
from cap.sandbox.sandbox import Sandbox
import os
os._exit(Sandbox().run("ret = 7", returns="ret").value)
"""

    command = [sys.executable, "-c", code]
    assert subprocess.call(command, preexec_fn=lambda: os.closerange(0, 3)) == 7
