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
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import cap
from cap.session.session import Session
from tests.fakes import strikes
from tests.fakes.strikes import Strike

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked up in /proc"
)
ENDS_WITHIN_S = 8.0
"""A stop takes milliseconds; the rest is for a machine that has other work."""
STRUCK_WITHIN_S = 100.0
"""Counting steps makes a run slow."""
SUBREAPER = 36
CLOCK_S = 0.05
"""The file system's clock and ours may differ so much."""
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


def children() -> set[int]:
    """Return the living children of this process; the dead ones it inherited are collected."""
    found = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:  # it has just ended
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if int(parent) == os.getpid() and state != "Z":
            found.add(int(pid))
    return found


def ended(
    process: subprocess.Popen[bytes],
    number: int,
    sent_s: float,
    folder: Path,
    before: set[int],
    within_s: float = ENDS_WITHIN_S,
) -> None:
    """Check how a run ended that was told to, what it wrote, and that it left no process."""
    try:
        output, _ = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)  # it says where it was
        output, _ = process.communicate()
        pytest.fail(f"it went on after signal {number}\n{output.decode()}")
    code = process.returncode
    told = f"code {code}\n{output.decode()}"
    header = folder / "run.json"
    status = json.loads(header.read_text())["status"] if header.exists() else None
    if status is None:  # so early that Python itself may be what ends
        assert code != 0, told
    elif status == "done":
        # It had ended; until the process is gone the signal itself may kill it.
        assert code in (128 + number, -number, 0), told
        assert header.stat().st_mtime < sent_s + CLOCK_S, told
    else:
        assert (code, status) == (128 + number, "interrupted"), told
    if status is not None:
        assert "Traceback" not in told, told
        assert "Exception ignored" not in told, told
        files_are_whole(folder)
    deadline_s = time.monotonic() + ENDS_WITHIN_S
    while left := children() - before:
        assert time.monotonic() < deadline_s, f"{told}\nleft: {left}"
        time.sleep(0.01)


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
    "dropped by a finalizer": """
class Dropping:
    def __del__(self):
        tell()
Dropping()
time.sleep(60)
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
    "it failed on the way out": """
try:
    tell()
    time.sleep(30)
finally:
    raise OSError("the robot is gone")
""",
    "it waits on the way out for what does not come": """
stop_signals._last_s = 0.5
try:
    tell()
    time.sleep(30)
finally:
    queue.SimpleQueue().get()
""",
    "it is told again on the way out, which takes no end": """
stop_signals._last_s = 60
threading.Timer(2.0, os.kill, (os.getpid(), number)).start()
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
    return subprocess.run(
        [sys.executable, "-c", code, str(int(number))],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


@pytest.mark.sweep(share=0.15)  # a second each
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("doing", LOST.values(), ids=LOST)
def test_a_stop_is_not_lost(doing: str, number: signal.Signals) -> None:
    done = listening(doing, number)
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr == ""


def test_what_ends_slowly_after_a_stop_is_not_disturbed() -> None:
    done = listening(
        """
try:
    tell()
    time.sleep(60)
finally:
    tell()
    time.sleep(0.7)
    print("at rest", flush=True)
""",
        signal.SIGTERM,
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert done.stdout == "at rest\n"


def test_ctrl_c_that_was_taken_does_not_come_again() -> None:
    done = listening(
        """
for _ in range(3):
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
    assert done.stdout == "on\n" * 3


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_that_was_to_be_ignored_is(number: signal.Signals) -> None:
    code = """
import os, signal, sys, time
number = int(sys.argv[1])
signal.signal(number, signal.SIG_IGN)
from cap.engine.stop_signals import stop_signals
with stop_signals:
    os.kill(os.getpid(), number)
    time.sleep(0.3)
    print("on")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(int(number))],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "on\n", "")


ROBOT = """
import os, signal, time
class Field:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), {number})
        time.sleep(60)
class Robot:
    field = Field()
"""


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT])
def test_a_robots_file_that_loads_is_no_shelter(number: signal.Signals) -> None:
    Path("robot.py").write_text(ROBOT.format(number=int(number)))
    done = subprocess.run(
        [sys.executable, "-m", "cap", "run", "x", "-r", "./robot.py", "--out", "o"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 128 + number, done.stderr
    assert json.loads(Path("o/run.json").read_text())["status"] == "interrupted"


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
    done = subprocess.run(
        [sys.executable, "-c", code, "--version", str(int(number))],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 128 + number, done.stderr
    assert done.stderr == ("interrupted\n" if number == signal.SIGINT else "")


def test_next_to_nothing_is_loaded_before_signals_are_looked_after() -> None:
    home = str(Path(cap.__file__).parents[1])
    code = (
        "import __future__, importlib, os, sys, warnings\n"
        "there = {*sys.modules}\nimport cap.__main__\n"
        "print(*sorted({*sys.modules} - there - {'_signal', 'errno'}))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.append({home!r})\n{code}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["cap", "cap.__main__"]


def struck(step: int, where: str, number: int, command: Sequence[str], folder: Path) -> None:
    """Have a command send itself a signal at a step, and check how it ended."""
    before = children()
    script = [
        sys.executable,
        "-X",
        "faulthandler",
        strikes.__file__,
        str(step),
        str(int(number)),
        where,
    ]
    process = subprocess.Popen(
        [*script, *command, "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
    )
    ended(process, number, time.time() + STRUCK_WITHIN_S, folder, before, STRUCK_WITHIN_S)


RUN = ["run", "stack all the blocks", "undo that", "--mode", "instant"]


@pytest.mark.sweep  # some seconds each
@pytest.mark.parametrize("step", random.Random(3).sample(range(1, 2500), 60))
def test_a_run_ends_at_whatever_step_it_is_told_to(
    step: int, orphans: None, tmp_path: Path
) -> None:
    number = (signal.SIGINT, signal.SIGTERM)[step % 2]
    struck(step, WHOLE_ROAD, number, RUN, tmp_path / "run")


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
