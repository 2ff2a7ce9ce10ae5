import math
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cap.errors import LMPFailed, NotApproved, RobotError
from cap.program.scope import Kind, Primitive, Scope
from cap.result import Call, Result
from cap.sandbox import wire as codec
from cap.sandbox.client import Worker, WorkerTemplate
from cap.sandbox.limits import Limits, Listeners, asking_person
from cap.sandbox.robot_thread import Hung, RobotThread, on_waiting_thread
from cap.sandbox.sandbox import Sandbox
from cap.sandbox.server import Server
from tests.fakes.workers import job_of, pids_of

LONG_S = 60.0
SOON_S = 5.0
"""Far more than anything here takes, far less than `LONG_S`: what ends between is a hang."""


class Robot:
    """Can be told to stop; its simulated clock goes on one second with every call."""

    def __init__(self) -> None:
        self.sim_time_s = 0.0
        self.stopped = threading.Event()
        self.released = threading.Event()
        """Lets go of what does not stop, at the end of a test."""
        self.stops = 0

    def stop(self) -> None:
        self.stops += 1
        self.stopped.set()

    def step(self) -> float:
        self.sim_time_s += 1
        return self.sim_time_s

    def move(self) -> None:
        if self.stopped.wait(LONG_S):
            raise RobotError("stopped")

    def jam(self) -> None:
        self.released.wait(LONG_S)

    def who(self) -> str:
        return threading.current_thread().name


@pytest.fixture(scope="module")
def template() -> Iterator[WorkerTemplate]:
    opened = WorkerTemplate(spare=False)
    yield opened
    opened.close()


@pytest.fixture
def robot() -> Iterator[Robot]:
    made = Robot()
    yield made
    made.released.set()


@pytest.fixture
def thread() -> Iterator[RobotThread]:
    made = RobotThread()
    yield made
    made.reset()


def scope_of(*functions: Callable[..., Any], kind: Kind = "action") -> Scope:
    entries = [Primitive.of(function, kind) for function in functions]
    return Scope(primitives={entry.name: entry for entry in entries})


def merged(*scopes: Scope) -> Scope:
    return Scope(primitives={n: e for scope in scopes for n, e in scope.primitives.items()})


class Runner:
    """Runs programs as the sandbox does, with a robot, and remembers their processes."""

    def __init__(
        self, template: WorkerTemplate, robot: Robot | None, thread: RobotThread | None
    ) -> None:
        self.template = template
        self.robot = robot
        self.thread = thread
        self.pidfds: list[int] = []
        self.told: list[Call] = []
        self.worker: Worker | None = None

    def run(self, source: str, scope: Scope, returns: str | None = None, **limits: Any) -> Result:
        given = Limits(**{"grace_s": 0.2, **limits})
        worker = self.worker = self.template.spawn(given)
        self.pidfds += map(os.pidfd_open, pids_of(self.template))
        listeners = Listeners(self.told.append)
        try:
            return Server(
                worker, scope, given, listeners, robot=self.robot, thread=self.thread
            ).run(job_of(source, scope, returns=returns, stdout_chars=given.stdout_chars))
        finally:
            worker.end()

    def all_ended(self) -> bool:
        """True once every process of its programs is over; waits a little for the kernel."""
        poller = select.poll()
        ended = []
        for pidfd in self.pidfds:
            poller.register(pidfd, select.POLLIN)
            ended.append(bool(poller.poll(SOON_S * 1000)))
            poller.unregister(pidfd)
            os.close(pidfd)
        return all(ended)


@pytest.fixture
def runner(template: WorkerTemplate, robot: Robot, thread: RobotThread) -> Runner:
    return Runner(template, robot, thread)


def kinds(result: Result) -> tuple[str, str, bool] | None:
    failure = result.failure
    return failure and (failure.kind, failure.error, failure.robot)


HANGS = ("timeout", "CallTimeout", True)

# --- a robot that stops, and one that does not


def test_a_call_that_takes_too_long_is_stopped(runner: Runner, robot: Robot) -> None:
    begin_s = time.monotonic()
    result = runner.run("move()\nwhile True: pass", scope_of(robot.move), calls_s=0.1)
    assert kinds(result) == HANGS
    assert result.failure is not None
    assert "'move'" in result.failure.message
    assert 0.1 <= time.monotonic() - begin_s < SOON_S
    assert [(call.name, call.error) for call in result.calls] == [("move", "RobotError: stopped")]
    assert robot.stops >= 1
    assert runner.run("x = step()", scope_of(robot.step), "x").value == 1
    assert runner.all_ended()


def test_a_call_that_begins_with_its_stop_is_told_again(runner: Runner, robot: Robot) -> None:
    """A robot forgets what stopped it when a motion begins."""

    def begin() -> None:
        robot.stopped.wait(SOON_S)
        robot.stopped.clear()
        robot.move()

    result = runner.run("begin()", scope_of(begin), calls_s=0.1, grace_s=SOON_S)
    assert [(call.name, call.error) for call in result.calls] == [("begin", "RobotError: stopped")]
    assert robot.stops == 2


def test_a_robot_that_does_not_stop_is_refused_until_reset(
    runner: Runner, robot: Robot, thread: RobotThread
) -> None:
    begin_s = time.monotonic()
    result = runner.run("jam()", scope_of(robot.jam), calls_s=0.1)
    assert time.monotonic() - begin_s < SOON_S
    assert kinds(result) == HANGS
    assert (result.calls[-1].error or "").startswith("Timeout: 'jam'")
    assert robot.stops >= 1
    assert thread.hung
    refused = runner.run("step()", scope_of(robot.step))
    assert kinds(refused) == ("raised", "NotConnected", True)
    assert robot.sim_time_s == 0
    robot.released.set()
    assert kinds(runner.run("step()", scope_of(robot.step))) == kinds(refused)
    thread.reset()
    assert runner.run("x = step()", scope_of(robot.step), "x").value == 1
    assert runner.all_ended()


def test_a_call_given_up_comes_to_nothing_when_it_returns(runner: Runner, robot: Robot) -> None:
    done = threading.Event()

    def late() -> None:
        robot.released.wait(LONG_S)
        done.set()

    result = runner.run("late()", scope_of(late), calls_s=0.1)
    told = list(runner.told)
    robot.released.set()
    assert done.wait(SOON_S)
    time.sleep(0.05)
    assert runner.told == told
    assert len(result.calls) == 1


def test_without_a_robot_the_next_program_runs_after_a_hang(
    template: WorkerTemplate, robot: Robot
) -> None:
    bare = Runner(template, None, None)
    assert kinds(bare.run("jam()", scope_of(robot.jam), calls_s=0.1)) == HANGS
    assert bare.run("x = step()", scope_of(robot.step), "x").value == 1


def test_a_robot_whose_stop_fails_cannot_hold_the_deadline(runner: Runner, robot: Robot) -> None:
    def stop() -> None:
        raise OSError("no connection")

    robot.stop = stop  # type: ignore[method-assign]
    assert kinds(runner.run("jam()", scope_of(robot.jam), calls_s=0.1)) == HANGS


def test_the_calls_of_a_program_share_their_time(runner: Runner, robot: Robot) -> None:
    def nap() -> None:
        time.sleep(0.06)

    result = runner.run("for _ in range(1000): nap()", scope_of(nap), calls_s=0.3)
    assert kinds(result) == HANGS
    assert 3 <= len(result.calls) <= 6


def test_time_in_calls_and_of_the_program_are_kept_apart(runner: Runner) -> None:
    def nap() -> None:
        time.sleep(0.15)

    result = runner.run("nap()\nnap()", scope_of(nap), program_s=0.25, calls_s=LONG_S)
    assert result.failure is None
    result = runner.run("nap()\nwhile True: pass", scope_of(nap), program_s=0.25, calls_s=LONG_S)
    assert kinds(result) == ("timeout", "TimeLimit", False)
    assert len(result.calls) == 1


# --- simulated time


def test_simulated_time_ends_a_program_after_the_same_call_every_time(
    runner: Runner, robot: Robot
) -> None:
    for _ in range(2):
        result = runner.run("while True: step()", scope_of(robot.step), sim_s=4.5)
        assert kinds(result) == ("limit", "SimTimeLimit", False)
        assert len(result.calls) == 5  # the clock at the program's begin does not matter


# --- threads


def test_robot_calls_share_one_thread_and_lmps_have_the_callers(
    runner: Runner, robot: Robot
) -> None:
    def lmp() -> str:
        return threading.current_thread().name

    scope = merged(scope_of(robot.who), scope_of(lmp, kind="lmp"))
    result = runner.run("x = [who(), lmp(), who(), lmp()]", scope, "x")
    caller = threading.current_thread().name
    assert result.value == ["cap-robot", caller, "cap-robot", caller]


# --- programs inside programs


@pytest.mark.parametrize("inner", ["while True: pass", "jam()"])
def test_an_outer_deadline_ends_the_whole_chain(runner: Runner, robot: Robot, inner: str) -> None:
    def lmp() -> None:
        limits = {"program_s": LONG_S, "calls_s": LONG_S}
        failure = runner.run(inner, scope_of(robot.jam), **limits).failure
        assert failure is not None
        raise LMPFailed(failure.message)

    begin_s = time.monotonic()
    source = "while True:\n    try: lmp()\n    except BaseException: pass"
    result = runner.run(source, scope_of(lmp, kind="lmp"), calls_s=0.2)
    assert result.failure is not None
    assert result.failure.kind == "timeout"
    assert time.monotonic() - begin_s < SOON_S
    assert runner.all_ended()


# --- a person


@pytest.mark.parametrize("kind", ["lmp", "action"])
def test_waiting_for_a_person_counts_for_nothing(runner: Runner, kind: Kind) -> None:
    def ask() -> None:
        with asking_person():
            time.sleep(0.2)

    result = runner.run("ask()\nask()", scope_of(ask, kind=kind), calls_s=0.3)
    assert result.failure is None
    assert sum(call.duration_s for call in result.calls) < 0.3


# --- Ctrl-C


def interrupt_soon() -> None:
    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
    timer.daemon = True
    timer.start()


INTERRUPTED = [
    "move()",
    "jam()",
    "while True:\n    try: step()\n    except BaseException: pass",
    "while True: pass",
]


@pytest.mark.parametrize("source", INTERRUPTED)
def test_ctrl_c_passes_on_whatever_goes_on(runner: Runner, robot: Robot, source: str) -> None:
    begin_s = time.monotonic()
    interrupt_soon()
    scope = scope_of(robot.move, robot.jam, robot.step)
    with pytest.raises(KeyboardInterrupt):
        runner.run(source, scope, program_s=LONG_S, calls=10**9, sim_s=math.inf)
    assert time.monotonic() - begin_s < SOON_S
    assert robot.stops >= 1 or "()" not in source
    assert runner.all_ended()


# --- programs that will not end, with calls in them


STUBBORN = {
    "catches everything": """
while True:
    try:
        step()
        while True: pass
    except BaseException: pass
""",
    "in the end": """
def f():
    try:
        while True: pass
    finally:
        f()
step()
f()
""",
    "inside numpy": "step()\nwhile True: np.ones((300, 300)) @ np.ones((300, 300))",
    "last words": """
class E(Exception):
    def __str__(self):
        while True: pass
step()
raise E
""",
    "one native call": "step()\n10 ** 10 ** 9",
}


@pytest.mark.parametrize("source", STUBBORN.values(), ids=STUBBORN)
def test_a_stubborn_program_ends_at_its_limit_and_the_next_runs(
    runner: Runner, robot: Robot, source: str
) -> None:
    result = runner.run(source, scope_of(robot.step), program_s=0.2)
    assert kinds(result) == ("timeout", "TimeLimit", False)
    assert result.program_s == pytest.approx(0.2, abs=0.15)
    assert robot.stops == 0
    assert runner.run("x = 1", Scope(), "x").value == 1
    assert runner.all_ended()


# --- reading what a worker sends


def slow_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the parent read slowly."""
    plain = codec._Reader._count

    def tick(reader: codec._Reader, elements: int) -> None:
        if reader._ticks % codec._TICKS == 0:
            time.sleep(0.005)
        plain(reader, elements)

    monkeypatch.setattr(codec._Reader, "_count", tick)


def test_reading_a_result_counts_as_the_programs_time(
    template: WorkerTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = Sandbox(limits=Limits(program_s=0.5), template=template)
    slow_reading(monkeypatch)
    begin_s = time.monotonic()
    source = "x = [[n] for n in range(130_000)]"
    result = sandbox.execute(source, Scope(), returns="x", keep=True)
    wall_s = time.monotonic() - begin_s
    assert result.failure is not None
    assert result.failure.error == "TimeLimit"
    assert 0.5 <= result.program_s <= wall_s < SOON_S


def test_reading_arguments_counts_as_the_programs_time(
    template: WorkerTemplate, monkeypatch: pytest.MonkeyPatch
) -> None:
    def say(values: Any) -> None: ...

    sandbox = Sandbox(scope_of(say), limits=Limits(program_s=0.5), template=template)
    slow_reading(monkeypatch)
    result = sandbox.run("say([[n] for n in range(130_000)])")
    assert result.failure is not None
    assert result.failure.error == "TimeLimit"
    assert result.calls == ()


# --- questions of the robot's thread are answered on the thread that waits for it, or not at all


class Watched:
    """Work with time enough, which notes that it was told to end."""

    ends = 0

    def left_s(self) -> float:
        return 60.0

    def interrupt(self) -> None:
        self.ends += 1

    def abandon(self) -> bool:
        return True


def test_a_question_that_is_interrupted_has_no_answer_and_the_thread_goes_on() -> None:
    refused: list[NotApproved] = []
    thread, watched = RobotThread(), Watched()

    def interrupted() -> bool:
        raise KeyboardInterrupt

    def work() -> None:
        for _ in range(2):  # a second question does not count either
            try:
                on_waiting_thread(interrupted)
            except NotApproved as error:
                refused.append(error)

    with pytest.raises(KeyboardInterrupt):
        thread.run(work, watched, 5.0)
    assert len(refused) == 2
    assert watched.ends
    assert not thread.hung
    assert thread.run(lambda: "goes on", Watched(), 5.0) == "goes on"


def test_a_function_that_was_given_up_asks_nobody() -> None:
    class Brief(Watched):
        def left_s(self) -> float:
            return -1.0

    go, asked, ended = threading.Event(), [], threading.Event()

    def work() -> None:
        go.wait(60.0)
        try:
            on_waiting_thread(lambda: asked.append(time.monotonic()))
        finally:
            ended.set()

    with pytest.raises(Hung):
        RobotThread().run(work, Brief(), 0.01)
    go.set()
    assert ended.wait(60.0)
    assert not asked
