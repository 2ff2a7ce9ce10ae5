"""What tests of the arm's drivers do again and again, against the simulated controller."""

from __future__ import annotations

import contextlib
import math
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cap.errors import NotConnected
from robots.tabletop.driver import ArmDriver
from tests.fakes.ur.controller import RTDE_PORT, SECONDARY_PORT, FakeController, fresh_host

FAST, SLOW = 250.0, 0.3
"""How much faster than real the arm moves: as tests want it, and so that they can step in."""
ELSEWHERE = (0.4, -1.4, 1.5, -1.6, -1.5, 0.3)
"""Joint angles away from home."""


def children() -> list[str]:
    """Return the processes that run the library, by command line."""
    lines = []
    for task in Path("/proc/self/task").iterdir():
        # Threads and processes may end meanwhile.
        with contextlib.suppress(OSError):
            for pid in (task / "children").read_text().split():
                lines.append(Path(f"/proc/{pid}/cmdline").read_text())
    return [line for line in lines if "rtde/child.py" in line]


def lower(arm: ArmDriver, by_m: float = 0.1, **how: float) -> None:
    """Move straight down."""
    x, y, z, *turn = arm.tcp_pose()
    how = {"speed_mps": 0.1, "acceleration_mps2": 0.3} | how
    arm.move_linear((x, y, z - by_m, *turn), **how)  # type: ignore[arg-type]


def turn_away(arm: ArmDriver) -> None:
    arm.move_joints(ELSEWHERE, speed_radps=0.5, acceleration_radps2=1.0)


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10.0
    while not what():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


@contextlib.contextmanager
def once_moving(controller: FakeController, do: Callable[[], object]) -> Iterator[None]:
    """Do something from another thread as soon as the arm moves, slowly."""
    controller.time_factor = SLOW
    start = controller.joints

    def run() -> None:
        wait_for(lambda: math.dist(start, controller.joints) > 0.001)
        do()

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()


def sent(controller: FakeController) -> tuple[int, int]:
    """Return how many programs and motions the controller was sent."""
    return len(controller.programs), len(controller.moves)


def fresh(arm: ArmDriver) -> bool:
    with contextlib.suppress(NotConnected):
        arm.state()
        return True
    return False


@contextlib.contextmanager
def strangers(says: bytes) -> Iterator[str]:
    """Serve the controller's ports with something else; each client is told `says`."""
    host = fresh_host()
    clients: list[socket.socket] = []

    def serve(server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                clients.append(server.accept()[0])
                clients[-1].sendall(says)

    servers = [socket.create_server((host, port)) for port in (SECONDARY_PORT, RTDE_PORT)]
    threads = [threading.Thread(target=serve, args=(server,)) for server in servers]
    for thread in threads:
        thread.start()
    yield host
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
