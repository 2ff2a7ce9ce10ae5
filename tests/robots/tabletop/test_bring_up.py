"""`cap robots check tabletop -R host=...`: a checklist walked with a person, and its protocol."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from robots.arm.motion import PARK
from robots.tabletop.gripper import RobotiqGripper
from robots.tabletop.safety_guard import GuardedArm
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import FAST, wait_for
from tests.robots.tabletop.test_tabletop_session import TOOL_M

READ_ONLY = 6
MOVING = ("The fingers will open", "The fingertips will rise", "They will rise")


@pytest.fixture
def controller(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeController]:
    with FakeController(
        time_factor=FAST, rate_hz=250.0, tool_m=TOOL_M, joints=PARK.joints()
    ) as running:
        stop = GuardedArm.stop

        def stopped(arm: GuardedArm) -> None:
            stop(arm)
            wait_for(lambda: not running.moving)
            running.hold_motions(None)

        monkeypatch.setattr(GuardedArm, "stop", stopped)
        yield running


class Person:
    """Says yes to the questions before the one that begins with `no_to`."""

    def __init__(self, controller: FakeController, no_to: str = "-") -> None:
        self.controller = controller
        self.no_to = no_to
        self.moves_before: dict[str, int] = {}

    def confirm(self, question: str, **_: Any) -> bool:
        self.moves_before[question] = len(self.controller.moves)
        if question.startswith("They will rise"):
            self.controller.hold_motions(0.5)
        return not question.startswith(self.no_to)


def check(
    controller: FakeController,
    monkeypatch: pytest.MonkeyPatch,
    *options: str,
    person: Person | None = None,
    driver: str = "urx",
    gripper: str = "robotiq",
) -> int:
    monkeypatch.setattr("click.confirm", (person or Person(controller)).confirm)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    given = ("-R", f"host={controller.host}", "-R", f"driver={driver}", "-R", f"gripper={gripper}")
    return run(["robots", "check", "tabletop", *given, *options])


def logged() -> str:
    (path,) = Path().glob("bring-up-*.md")
    return path.read_text()


def results(text: str) -> list[str]:
    return re.findall(r"\*\*([a-z ]+)\*\*", text)


@pytest.mark.parametrize("driver", ["urx", "ur_rtde"])
def test_the_checklist_ends_with_slow_moves_and_a_protocol(
    driver: str,
    controller: FakeController,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    person = Person(controller)
    before = controller.tcp_pose
    assert check(controller, monkeypatch, driver=driver, person=person) == 0
    assert controller.tcp_pose == pytest.approx(before, abs=2e-3)
    assert {move.speed for move in controller.moves} == {0.02}
    assert max(move.target[2] for move in controller.moves) <= before[2] + 0.081
    first = next(q for q in person.moves_before if q.startswith("The fingertips will rise"))
    assert person.moves_before[first] == 0
    last = list(person.moves_before)[-1]
    assert last.startswith("They will rise at 2 cm/s, at most 8 cm")
    protocol = logged()
    assert results(protocol) == ["ok"] * 11
    for told in ("URSoftware 5.11.1", "remote control on", "cm short", "emergency stop"):
        assert told in protocol
    assert ("no watchdog" in protocol) is (driver == "urx")
    assert "log: bring-up-" in capsys.readouterr().out


@pytest.mark.parametrize("no_to", ["Measure", "Is an emergency stop", *MOVING])
def test_a_no_ends_it_before_anything_of_it_moves(
    no_to: str, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(controller, no_to)
    assert check(controller, monkeypatch, person=person) == 1
    asked = [*person.moves_before]
    assert asked[-1].startswith(no_to)
    assert len(controller.moves) == person.moves_before[asked[-1]]
    said = results(logged())
    assert said.count("declined") == 1
    after = said[said.index("declined") + 1 :]
    assert after == ["not done"] * len(after)


def test_with_nobody_to_ask_it_only_reads_and_says_what_it_needs(
    controller: FakeController,
) -> None:
    options = ("-R", f"host={controller.host}", "-R", "driver=urx")
    assert run(["robots", "check", "tabletop", *options]) == 2
    protocol = logged()
    assert results(protocol)[: READ_ONLY + 1] == ["ok"] * READ_ONLY + ["not done"]
    assert protocol.count("it needs a terminal") == 1
    assert "the user said no" not in protocol
    assert controller.moves == []
    assert controller.programs == []


def test_where_it_is_interrupted_stands_in_the_protocol(
    controller: FakeController,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupt() -> None:
        wait_for(lambda: controller.moving)
        os.kill(os.getpid(), signal.SIGINT)

    class Impatient(Person):
        def confirm(self, question: str, **given: Any) -> bool:
            if question.startswith("The fingertips will rise"):
                controller.hold_motions(0.5)
                thread.start()
            return super().confirm(question, **given)

    thread = threading.Thread(target=interrupt)
    assert check(controller, monkeypatch, person=Impatient(controller)) == 130
    told = logged()
    assert results(told) == ["ok"] * (READ_ONLY + 3) + ["interrupted", "not done"]
    assert "check that the robot is at rest" in told
    assert not controller.moving


def test_what_is_not_right_ends_it_with_the_remedy(
    controller: FakeController,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    controller.protective_stop()
    assert check(controller, monkeypatch, "--json") == 5
    told = json.loads(capsys.readouterr().out)
    (failed,) = (step for step in told if step["result"] == "failed")
    assert "protective stop" in failed["finding"]
    assert controller.moves == []


@pytest.mark.parametrize("closed", [True, False])
def test_what_is_between_the_fingers_is_found_and_not_dropped(
    closed: bool, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller.holds = True
    if closed:
        with contextlib.closing(RobotiqGripper(controller.host)) as gripper:
            assert gripper.set(0.0, time.sleep)
    assert check(controller, monkeypatch) == 5
    protocol = logged()
    assert results(protocol).count("failed") == 1
    assert ("take it out by hand, open the fingers on the pendant" in protocol) is closed
    assert ("the fingers closed on something, where nothing was to be" in protocol) is not closed
    assert controller.gripper_closed
    assert controller.moves == []


URX = ("tabletop", "-R", "host=127.0.0.1", "-R", "driver=urx")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabletop", "-R", "gripper=robotiq"], "where the arm's controller is"),
        (["tabletop", "-R", "host=127.0.0.1", "--yes"], "leave out --ask and --yes"),
        (["tabletop", "-R", "host=127.0.0.1", "-R", "speed=1"], "Did you mean 'speed_mps'"),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["robots", "check", *arguments]) == 2
    assert message in capsys.readouterr().err
