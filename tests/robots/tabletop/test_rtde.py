"""What only the driver on `ur_rtde` must do: its process, and the controller's watchdog."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from cap.errors import NotConnected
from robots.tabletop.rtde import driver
from robots.tabletop.rtde.driver import RtdeDriver
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import ELSEWHERE, wait_for


@pytest.fixture
def arm(controller: FakeController) -> Iterator[RtdeDriver]:
    driver = RtdeDriver(controller.host)
    driver.connect()
    yield driver
    driver.close()


def process_of(arm: RtdeDriver) -> int:
    assert arm._library is not None
    return arm._library._popen.pid


def begin(arm: RtdeDriver, controller: FakeController) -> None:
    """Start a motion that does not end, and do not wait for it."""
    controller.hold_motions(0.5)
    arm._ask({"do": "prepare"}, 10.0)
    request = {"do": "move", "target": ELSEWHERE, "speed": 0.1}
    assert arm._ask(request | {"acceleration": 0.3})["started"]
    wait_for(lambda: controller.moving)


def test_the_controllers_watchdog_stops_the_arm_when_the_process_dies(
    arm: RtdeDriver, controller: FakeController
) -> None:
    begin(arm, controller)
    scripts = len(controller.programs)
    os.kill(process_of(arm), signal.SIGKILL)
    wait_for(lambda: not controller.moving)
    assert controller.tcp_pose != pytest.approx(ELSEWHERE, abs=1e-2)
    assert len(controller.programs) == scripts
    with pytest.raises(NotConnected, match="process ended"):
        arm.state()


@pytest.mark.inside
def test_the_process_stops_the_arm_when_its_owner_is_gone(
    arm: RtdeDriver, controller: FakeController
) -> None:
    begin(arm, controller)
    assert arm._library is not None
    arm._library._send({"do": "state", "id": 0})
    time.sleep(0.1)  # its answer is not read
    arm._library._socket.close()
    wait_for(lambda: not controller.moving)
    assert controller.tcp_pose != pytest.approx(ELSEWHERE, abs=1e-2)
    assert arm._library._popen.wait(10.0) == 0


@pytest.mark.inside
def test_a_process_that_hangs_is_ended(
    arm: RtdeDriver, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_ANSWER_S", 0.2)
    pid = process_of(arm)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(NotConnected, match="does not answer"):
        arm.tcp_pose()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
