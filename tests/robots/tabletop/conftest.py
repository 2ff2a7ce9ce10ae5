"""Drivers of the arm on a simulated controller; nothing of them may be left after a test."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from robots.tabletop.controller import ControllerDriver
from robots.tabletop.rtde.driver import RtdeDriver
from robots.tabletop.urx.driver import UrxDriver
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import FAST, PATIENCE_S, be_patient, children

DRIVERS = {"urx": UrxDriver, "ur_rtde": RtdeDriver}

Make = Callable[..., ControllerDriver]


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


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
    made: list[ControllerDriver] = []

    def driver(host: str, **options: Any) -> ControllerDriver:
        options = {"slack_s": PATIENCE_S, "gripper_wait_s": 0.02} | options
        made.append(DRIVERS[kind](host, **options))
        return made[-1]

    yield driver
    for each in made:
        each.close()
    assert {t.name for t in set(threading.enumerate()) - threads} <= {"fake-controller"}
    assert children() == []


@pytest.fixture
def arm(make: Make, controller: FakeController) -> ControllerDriver:
    driver = make(controller.host)
    driver.connect()
    return driver
