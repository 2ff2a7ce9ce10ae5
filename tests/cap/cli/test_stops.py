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

from tests.fakes.openai_server import FakeServer

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="processes are looked up in /proc"
)
SESSION = ["stack all the blocks", "undo that", "put the red block in the blue bowl"]
ENDLESS = "say('in')\nwhile True:\n    say('on')\n"
ENDS_WITHIN_S = 8.0
"""A stop takes milliseconds; the rest is for a machine that has other work."""
SUBREAPER = 36
MOMENTS = 300


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
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if int(parent) == os.getpid() and state != "Z":
            found.add(int(stat.parent.name))
    return found


def stopped_at(moment_s: float, number: int, command: list[str], folder: Path) -> float:
    """Start a run, send it a signal, check how it ended; return how long that took, in seconds."""
    before = children()
    process = subprocess.Popen(
        [sys.executable, "-m", "cap", "run", *command, "--out", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    time.sleep(moment_s)
    process.send_signal(number)
    begin_s = time.monotonic()
    try:
        output, _ = process.communicate(timeout=ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        pytest.fail(f"{moment_s:.4f} s: it went on after signal {number}\n{output.decode()}")
    took_s = time.monotonic() - begin_s
    told = f"{moment_s:.4f} s: code {process.returncode}\n{output.decode()}"
    # Before the handler stands, the signal itself ends the process; after the end, nothing does.
    assert process.returncode in (128 + number, -number, 0), told
    header = folder / "run.json"
    if header.exists():
        run = json.loads(header.read_text())
        assert run["status"] != "running" or process.returncode == -number, told
        if process.returncode == 0:
            assert run["status"] == "done", told
        elif run["status"] == "running":
            assert not Path(f"/proc/{run['pid']}").exists(), told
    deadline_s = time.monotonic() + ENDS_WITHIN_S
    while left := children() - before:
        assert time.monotonic() < deadline_s, f"{told}\nleft: {left}"
        time.sleep(0.01)
    return took_s


def moments(seed: int, count: int, longest_s: float) -> list[float]:
    """Return random moments of a run, the same each time."""
    chance = random.Random(seed)
    return [chance.uniform(0.0, longest_s) for _ in range(count)]


@pytest.mark.sweep(share=0.01)  # a second each
@pytest.mark.parametrize("moment_s", moments(1, MOMENTS, 1.6))
def test_a_session_ends_whenever_it_is_told_to(
    moment_s: float, orphans: None, tmp_path: Path
) -> None:
    stopped_at(moment_s, signal.SIGTERM, [*SESSION, "--mode", "instant"], tmp_path / "run")


@pytest.mark.sweep(share=0.01)  # a second each
@pytest.mark.parametrize("moment_s", moments(2, MOMENTS, 2.0))
def test_a_program_without_an_end_ends_whenever_it_is_told_to(
    moment_s: float, orphans: None, tmp_path: Path
) -> None:
    with FakeServer(lambda prompt, body: ENDLESS) as server:
        command = ["x", "--mode", "instant", "-m", "vllm/fake", "--base-url", server.url]
        stopped_at(moment_s, signal.SIGHUP, command, tmp_path / "run")


LOST = {
    "another thread is told while this one waits": """
threading.Thread(target=strike).start()
queue.SimpleQueue().get()
""",
    "dropped by a finalizer": """
class Dropping:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.05)
Dropping()
time.sleep(60)
""",
    "dropped by a callback of C": """
@ctypes.CFUNCTYPE(None)
def callback():
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.05)
callback()
time.sleep(60)
""",
    "wrapped while a class is made": """
class Field:
    def __set_name__(self, owner, name):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
class Made:
    field = Field()
""",
    "caught and forgotten, twice": """
for _ in range(2):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)
    except BaseException:
        pass
time.sleep(60)
""",
}


@pytest.mark.parametrize("doing", LOST.values(), ids=LOST)
def test_a_stop_is_not_lost(doing: str) -> None:
    code = f"""
import ctypes, os, queue, signal, threading, time
from cap.cli.stop_signals import stop_signals

def strike():
    time.sleep(0.2)
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

with stop_signals:
{textwrap.indent(doing, "    ")}
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stderr


def test_what_ends_slowly_after_a_stop_is_not_disturbed() -> None:
    code = """
import os, signal, time
from cap.cli.stop_signals import stop_signals

with stop_signals:
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    finally:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.3)
        print("at rest", flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=False
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert done.stdout == "at rest\n"


def test_a_robots_file_that_loads_is_no_shelter() -> None:
    Path("robot.py").write_text(
        "import os, signal, time\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(60)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "cap", "run", "x", "-r", "./robot.py", "--out", "o"],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
