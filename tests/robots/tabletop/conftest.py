"""Drivers of the arm on a simulated controller; nothing of them may be left after a test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from robots.tabletop import gripper, trajectory
from robots.tabletop.driver import ArmDriver
from robots.tabletop.rtde.driver import RtdeDriver
from robots.tabletop.urx.driver import UrxDriver
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import FAST, children

DRIVERS = {"urx": UrxDriver, "ur_rtde": RtdeDriver}

Make = Callable[..., ArmDriver]


@pytest.fixture(autouse=True)
def _quick_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look as often as an arm asks that runs many times faster than a real one."""
    monkeypatch.setattr(trajectory, "_POLL_S", 0.004)
    monkeypatch.setattr(gripper, "_POLL_S", 0.01)


@pytest.fixture(params=DRIVERS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def controller() -> Iterator[FakeController]:
    with FakeController(time_factor=FAST, rate_hz=250.0) as started:
        yield started


@pytest.fixture
def make(kind: str) -> Iterator[Make]:
    """Make drivers; nothing of them may be left when they are closed."""
    threads = set(threading.enumerate())
    made: list[ArmDriver] = []

    def driver(host: str, **options: Any) -> ArmDriver:
        options = {"slack_s": 1.0, "gripper_wait_s": 0.02} | options
        made.append(DRIVERS[kind](host, **options))
        return made[-1]

    yield driver
    for each in made:
        each.close()
    assert {t.name for t in set(threading.enumerate()) - threads} <= {"fake-controller"}
    assert children() == []


@pytest.fixture
def arm(make: Make, controller: FakeController) -> ArmDriver:
    driver = make(controller.host)
    driver.connect()
    return driver
