"""What tests of the arm's drivers do again and again, against the simulated controller."""

from __future__ import annotations

import contextlib
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cap.errors import NotConnected
from robots.tabletop import arm_state, gripper, safety_guard
from robots.tabletop import controller as ur_controller
from robots.tabletop.controller import ControllerDriver
from robots.tabletop.rtde import driver as rtde_driver
from robots.tabletop.urx import driver as urx_driver
from tests.fakes.ur.controller import FakeController, fresh_host

PATIENCE_S = 60.0
"""How long tests wait for what must come, on however slow a machine."""
FAST = 250.0
"""How much faster than real the arm moves, as tests want it."""
ELSEWHERE = (-0.44, -0.3, 0.42, 2.22144, 2.22144, 0.0)
"""A pose away from home."""


def children() -> list[str]:
    """Return the processes that run the library, by command line."""
    lines = []
    for task in Path("/proc/self/task").iterdir():
        # Threads and processes may end meanwhile.
        with contextlib.suppress(OSError):
            for pid in (task / "children").read_text().split():
                lines.append(Path(f"/proc/{pid}/cmdline").read_text())
    return [line for line in lines if "rtde/child.py" in line]


def lower(arm: ControllerDriver, by_m: float = 0.1, **how: float) -> None:
    """Move straight down."""
    x, y, z, *turn = arm.tcp_pose()
    how = {"speed_mps": 0.1, "acceleration_mps2": 0.3} | how
    arm.move_linear((x, y, z - by_m, *turn), **how)  # type: ignore[arg-type]


def move_away(arm: ControllerDriver) -> None:
    arm.move_linear(ELSEWHERE, speed_mps=0.1, acceleration_mps2=0.3)


def be_patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have drivers give a slow machine time; tests of what comes too late set their own limits."""
    for name in ("_DASHBOARD_S", "_BRAKE_S", "_START_S"):
        monkeypatch.setattr(ur_controller, name, PATIENCE_S)
    for name in ("_START_S", "_PREPARE_S", "_ANSWER_S", "_MOVE_S", "_STOP_S"):
        monkeypatch.setattr(rtde_driver, name, PATIENCE_S)
    monkeypatch.setattr(urx_driver, "_FIRST_STATE_S", PATIENCE_S)
    monkeypatch.setattr(arm_state, "STALE_S", PATIENCE_S)
    monkeypatch.setattr(safety_guard, "_AT_REST_S", PATIENCE_S)
    monkeypatch.setattr(gripper, "_ANSWER_S", PATIENCE_S)
    # Look as often as an arm asks that runs many times faster than a real one.
    monkeypatch.setattr(ur_controller, "_POLL_S", 0.004)
    monkeypatch.setattr(gripper, "_POLL_S", 0.01)


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


@contextlib.contextmanager
def once_moving(controller: FakeController, do: Callable[[], object]) -> Iterator[None]:
    """Do something from another thread in the middle of the next motion, which waits for it."""
    controller.hold_motions(0.5)
    start = controller.joints

    def run() -> None:
        wait_for(lambda: math.dist(start, controller.joints) > 0.001)
        do()

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()


@contextlib.contextmanager
def while_carrying(controller: FakeController, do: Callable[[], object]) -> Iterator[None]:
    """Do something from another thread while the gripper carries something, slowly."""
    controller.hold_loaded_motions(0.5)

    def run() -> None:
        wait_for(lambda: controller.gripper_closed and controller.moving)
        do()

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()


def sent(controller: FakeController) -> tuple[int, int]:
    """Return how many programs and motions the controller was sent."""
    return len(controller.programs), len(controller.moves)


def fresh(arm: ControllerDriver) -> bool:
    with contextlib.suppress(NotConnected):
        arm.state()
        return True
    return False


@contextlib.contextmanager
def talking(port: int, talk: Callable[[socket.socket], object]) -> Iterator[str]:
    """Serve one client at a port of a host of its own, which is what comes; wait for its end."""
    host = fresh_host()
    with socket.create_server((host, port)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                talk(client)

        thread = threading.Thread(target=serve)
        thread.start()
        yield host
        thread.join()
