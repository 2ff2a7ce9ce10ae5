"""The processes behind a sandbox's template, as the system shows them."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Any

from cap.program.scope import Scope
from cap.sandbox import wire
from cap.sandbox.client import WorkerTemplate
from cap.sandbox.sandbox import scope_of_job


def job_of(source: str, scope: Scope | None = None, **more: Any) -> bytes:
    """Return the frame that a worker is sent for a program."""
    job = {
        **{"library": True, "returns": None, "keep": False, "calls": None, "seed": 0},
        **{"stdout_chars": 10_000, **scope_of_job(source, scope or Scope()), **more},
    }
    return wire.encode(job)


def pids_of(template: WorkerTemplate) -> list[int]:
    """Return the process ids of a template's workers that live, the oldest first."""
    assert template._process is not None
    found = children(template._process.pid)
    if "namespaces" in template.report().layers:  # there the template is a child of its own
        found = [child for pid in found for child in children(pid)]
    return [pid for pid in found if state(pid) not in ("Z", "")]


def children(pid: int) -> list[int]:
    """Return the process ids of a process's children, the oldest first."""
    tasks = Path(f"/proc/{pid}/task")
    try:
        found = [(task / "children").read_text().split() for task in tasks.iterdir()]
    except OSError:
        return []
    return sorted(int(child) for entry in found for child in entry)


def end(pid: int) -> None:
    """Kill a process and wait for its end."""
    watched = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    waiting = threading.Event()
    while not waiting.wait(0.001) and state(pid) not in ("Z", ""):
        pass
    os.close(watched)


def state(pid: int) -> str:
    """Return the letter of a process's state, "" of one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""
