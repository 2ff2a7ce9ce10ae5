"""A run is told to end at any moment: it ends soon, says so, and leaves no process."""

from __future__ import annotations

import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cap.session.session import Session
from tests.cap.conftest import python
from tests.fakes import strikes
from tests.fakes.strikes import Strike
from tests.fakes.workers import children, state

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked up in /proc"
)
ENDS_WITHIN_S = 8.0
"""A stop takes milliseconds; the rest is for a machine that has other work."""
SUBREAPER = 36
STEPS = 450
"""What a turn takes, and a little more: steps as `Strike` counts them."""
ROAD = "/cap/session/,/cap/engine/,/cap/trace/,/cap/sandbox/,/contextlib.py,/subprocess.py"
WHOLE_ROAD = f"/cap/,/robots/,{ROAD},/threading.py"


@pytest.fixture
def orphans() -> Iterator[None]:
    """Make this process the parent of what its children leave behind."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(SUBREAPER, 1, 0, 0, 0) != 0:
        pytest.skip("the kernel has no child subreaper")
    yield
    libc.prctl(SUBREAPER, 0, 0, 0, 0)


def descendants() -> list[int]:
    """Return the living children of this process."""
    return [pid for pid in children(os.getpid()) if state(pid) not in ("Z", "")]


def files_are_whole(folder: Path) -> None:
    for line in (folder / "events.jsonl").read_text().splitlines():
        json.loads(line)
    for saved in folder.glob("*.json"):
        json.loads(saved.read_text())
    for program in (folder / "programs").iterdir():
        assert program.suffix == ".py"
        assert program.read_text().strip()
        compile(program.read_text(), program, "exec")
    names = {path.name for path in folder.iterdir()}
    assert names <= {"run.json", "events.jsonl", "programs", "start.json", "session.json"}


LOST = {
    "another thread is told while this one waits": """
threading.Thread(target=strike).start()
queue.SimpleQueue().get()
""",
    "met by what suppresses exceptions": """
for _ in range(2):
    with contextlib.suppress(Exception):
        tell()
        time.sleep(60)
""",
    "an event loop has the wakeup descriptor": """
loop = asyncio.new_event_loop()
loop.add_signal_handler(signal.SIGUSR1, lambda: None)
loop.call_soon(tell)
with contextlib.suppress(BaseException):
    loop.run_forever()
loop.close()
time.sleep(60)
""",
    "caught and forgotten, twice": """
for _ in range(2):
    try:
        tell()
        time.sleep(30)
    except BaseException:
        pass
time.sleep(60)
""",
    "it waits on the way out for what does not come": """
stop_signals._last_s = 0.5
try:
    tell()
    time.sleep(30)
finally:
    queue.SimpleQueue().get()
""",
    "it is told twice in a call of C that does not end": """
for after_s in (0.2, 2.0):
    threading.Timer(after_s, os.kill, (os.getpid(), number)).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG, number])
ctypes.CDLL(None).sleep(60)
""",
}
LISTENING = """
import asyncio, contextlib, ctypes, os, queue, signal, sys, threading, time
from cap.engine.stop_signals import stop_signals

number = int(sys.argv[1])

def tell():
    os.kill(os.getpid(), number)
    time.sleep(0.05)

def strike():
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), number)

"""


def listening(doing: str, number: int) -> subprocess.CompletedProcess[str]:
    """Run something while signals are listened to, in a process that is told of one."""
    code = f"""{LISTENING}
try:
    with stop_signals:
{textwrap.indent(doing, "        ")}
except KeyboardInterrupt:
    sys.exit(130)
"""
    return python(code, str(int(number)))


@pytest.mark.sweep(share=0.15)  # a second each
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("doing", LOST.values(), ids=LOST)
def test_a_stop_is_not_lost(doing: str, number: signal.Signals) -> None:
    done = listening(doing, number)
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr == ""


def test_ctrl_c_that_was_taken_does_not_come_again() -> None:
    done = listening(
        """
for _ in range(2):
    try:
        stop_signals.begun()
        tell()
        time.sleep(60)
    except KeyboardInterrupt:
        stop_signals.taken()
        time.sleep(0.7)
        print("on", flush=True)
""",
        signal.SIGINT,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "on\n" * 2


def test_a_signal_that_was_to_be_ignored_is() -> None:
    """As under `nohup`."""
    code = """
import os, signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from cap.engine.stop_signals import stop_signals
with stop_signals:
    os.kill(os.getpid(), signal.SIGHUP)
    time.sleep(0.3)
    print("on")
"""
    assert python(code).stdout == "on\n"


EARLY_OR_LATE = {
    "while it loads": """
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "cap.engine.stop_signals":
            os.kill(os.getpid(), number)
            time.sleep(60)
sys.meta_path.insert(0, Finder())
""",
    "when it is done": "atexit.register(os.kill, os.getpid(), number)\n",
}


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT], ids=str
)
@pytest.mark.parametrize("source", EARLY_OR_LATE.values(), ids=EARLY_OR_LATE)
def test_a_signal_has_its_code_from_the_first_moment_to_the_last(
    source: str, number: signal.Signals
) -> None:
    code = (
        "import atexit, os, sys, time\nnumber = int(sys.argv.pop())\n"
        f"{source}from cap.__main__ import main\nmain()"
    )
    done = python(code, "--version", str(int(number)))
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr == ("interrupted\n" if number == signal.SIGINT else "")


RUN = ["run", "stack all the blocks", "undo that", "--mode", "instant"]


@pytest.mark.sweep  # some seconds each
@pytest.mark.parametrize("step", random.Random(3).sample(range(1, 2500), 40))
def test_a_run_ends_at_whatever_step_it_is_told_to(
    step: int, orphans: None, tmp_path: Path
) -> None:
    number = (signal.SIGINT, signal.SIGTERM)[step % 2]
    before, folder = set(descendants()), tmp_path / "run"
    script = [sys.executable, strikes.__file__, str(step), str(int(number)), WHOLE_ROAD]
    done = subprocess.run(
        [*script, *RUN, "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        timeout=100,  # counting steps makes a run slow
        text=True,
        check=False,
    )
    header = folder / "run.json"
    status = json.loads(header.read_text())["status"] if header.exists() else None
    if status is None:  # so early that Python itself may be what ends
        assert done.returncode != 0, done.stdout
    elif status == "done":  # until the process is gone the signal itself may kill it
        assert done.returncode in (128 + number, -number, 0), done.stdout
    else:
        assert (done.returncode, status) == (128 + number, "interrupted"), done.stdout
    if status is not None:
        assert "Traceback" not in done.stdout
        assert "Exception ignored" not in done.stdout
        files_are_whole(folder)
    deadline_s = time.monotonic() + ENDS_WITHIN_S
    while left := set(descendants()) - before:
        assert time.monotonic() < deadline_s, f"left: {left}"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open(mode="instant", objects=["red block", "blue block"]) as opened:
        yield opened


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.sweep
@pytest.mark.parametrize("step", range(1, STEPS))
def test_after_ctrl_c_at_any_step_a_session_goes_on(session: Session, step: int) -> None:
    words = "put the red block on the blue block"
    strike = Strike(step, ROAD, interrupt)
    try:
        with strike:
            turn = session.run(words)
    except KeyboardInterrupt:  # before the program, or when it was over
        pass
    else:
        assert turn.ok != strike.struck
    assert session.run(words).ok
    session.undo(len(session.turns))
