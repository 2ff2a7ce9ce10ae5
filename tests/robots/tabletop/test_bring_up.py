"""`cap robots check tabletop -R host=...`: a checklist walked with a person, and its protocol."""

from __future__ import annotations

import contextlib
import datetime
import json
import re
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from cap.errors import Stopped
from robots.arm.travel import PARK
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
) -> int:
    monkeypatch.setattr("click.confirm", (person or Person(controller)).confirm)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    given = ("-R", f"host={controller.host}", "-R", "gripper=robotiq", "--protocol", "p.md")
    return run(["robots", "check", "tabletop", *given, *options])


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
    assert check(controller, monkeypatch, "-R", f"driver={driver}", person=person) == 0
    assert controller.tcp_pose == pytest.approx(before, abs=2e-3)
    assert {move.speed for move in controller.moves} == {0.02}
    assert max(move.target[2] for move in controller.moves) <= before[2] + 0.081
    first = next(q for q in person.moves_before if q.startswith("The fingertips will rise"))
    assert person.moves_before[first] == 0
    last = list(person.moves_before)[-1]
    assert last.startswith("They will rise at 2 cm/s, at most 8 cm")
    protocol = Path("p.md").read_text()
    assert results(protocol) == ["ok"] * 11
    for told in ("URSoftware 5.11.1", "remote control on", "cm short", "emergency stop"):
        assert told in protocol
    assert ("no watchdog" in protocol) is (driver == "urx")
    assert "protocol: p.md" in capsys.readouterr().out


@pytest.mark.parametrize("no_to", ["Measure", "Is an emergency stop", *MOVING])
def test_a_no_ends_it_before_anything_of_it_moves(
    no_to: str, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(controller, no_to)
    assert check(controller, monkeypatch, "-R", "driver=urx", person=person) == 1
    asked = [*person.moves_before]
    assert asked[-1].startswith(no_to)
    assert len(controller.moves) == person.moves_before[asked[-1]]
    said = results(Path("p.md").read_text())
    assert said.count("declined") == 1
    after = said[said.index("declined") + 1 :]
    assert after == ["not done"] * len(after)


def test_with_nobody_to_ask_it_only_reads_and_says_what_it_needs(
    controller: FakeController,
) -> None:
    options = ("-R", f"host={controller.host}", "-R", "driver=urx", "--protocol", "p.md")
    assert run(["robots", "check", "tabletop", *options]) == 2
    protocol = Path("p.md").read_text()
    assert results(protocol)[: READ_ONLY + 1] == ["ok"] * READ_ONLY + ["not done"]
    assert protocol.count("it needs a terminal") == 1
    assert "the user said no" not in protocol
    assert controller.moves == []
    assert controller.programs == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("at", ["Measure", "The fingertips will rise"])
def test_where_it_is_interrupted_stands_in_the_protocol(
    at: str,
    number: signal.Signals,
    controller: FakeController,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def tell() -> None:
        wait_for(lambda: controller.moving)
        signal.pthread_kill(main, number)

    class Impatient(Person):
        def confirm(self, question: str, **given: Any) -> bool:
            if not question.startswith(at):
                return super().confirm(question, **given)
            if question.startswith("Measure"):
                interrupt()
            controller.hold_motions(0.5)
            thread.start()
            return True

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt if number == signal.SIGINT else Stopped(128 + number)

    main, thread = threading.get_ident(), threading.Thread(target=tell)
    before = signal.signal(number, interrupt)
    try:
        code = check(controller, monkeypatch, "-R", "driver=urx", person=Impatient(controller))
    except Stopped as stopped:
        code = stopped.code
    finally:
        signal.signal(number, before)
    assert code == 128 + number
    said = results(Path("p.md").read_text())
    done = READ_ONLY + (0 if at == "Measure" else 3)
    assert said == ["ok"] * done + ["interrupted"] + ["not done"] * (10 - done)
    assert capsys.readouterr().out.endswith("\nprotocol: p.md\n")
    told = Path("p.md").read_text()
    assert ("ended at the question; nothing of this step was done" in told) is (at == "Measure")
    assert ("was stopped" in told) is (at != "Measure")
    assert not controller.moving


def test_a_protocol_that_is_there_is_not_written_over(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Noon(datetime.datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls(2030, 1, 2, 12, 0, 0, tzinfo=tz)

    monkeypatch.setattr("datetime.datetime", Noon)
    Path("bring-up-2030-01-02-120000.md").write_text("the other one's")
    options = ("-R", "host=127.0.0.77", "-R", "driver=urx")
    assert run(["robots", "check", "tabletop", *options]) == 2
    assert "bring-up-2030-01-02-120000.md exists" in capsys.readouterr().err
    assert Path("bring-up-2030-01-02-120000.md").read_text() == "the other one's"


def stopped(controller: FakeController) -> None:
    controller.protective_stop()


def local(controller: FakeController) -> None:
    controller.set_remote(False)


def idle(controller: FakeController) -> None:
    controller.set_mode("idle")


@pytest.mark.parametrize(
    ("fault", "message"),
    [(stopped, "protective stop"), (local, "remote control"), (idle, "power it on")],
)
def test_what_is_not_right_ends_it_with_the_remedy(
    fault: Any,
    message: str,
    controller: FakeController,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fault(controller)
    assert check(controller, monkeypatch, "-R", "driver=urx", "--json") == 5
    told = json.loads(capsys.readouterr().out)
    (failed,) = (step for step in told if step["result"] == "failed")
    assert message in failed["finding"]
    assert controller.moves == []


@pytest.mark.parametrize("driver", ["urx", "ur_rtde"])
def test_a_gripper_that_holds_something_is_found_before_it_is_opened(
    driver: str, controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller.holds = True
    with contextlib.closing(RobotiqGripper(controller.host)) as gripper:
        assert gripper.set(0.0, time.sleep)
    assert check(controller, monkeypatch, "-R", f"driver={driver}") == 5
    protocol = Path("p.md").read_text()
    assert results(protocol)[:3] == ["ok", "ok", "failed"]
    assert "take it out by hand, open the fingers on the pendant" in protocol
    assert controller.gripper_closed


def test_what_the_fingers_close_on_is_not_dropped_and_is_a_fault(
    controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    controller.holds = True
    assert check(controller, monkeypatch, "-R", "driver=urx") == 5
    protocol = Path("p.md").read_text()
    assert "the fingers closed on something, where nothing was to be" in protocol
    assert results(protocol).count("failed") == 1
    assert controller.gripper_closed
    assert controller.moves == []


def test_an_arm_without_a_gripper_is_not_asked_about_fingers(
    controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person(controller)
    monkeypatch.setattr("click.confirm", person.confirm)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    given = ("-R", f"host={controller.host}", "-R", "driver=urx", "-R", "gripper=none")
    assert run(["robots", "check", "tabletop", *given, "--protocol", "p.md"]) == 0
    assert results(Path("p.md").read_text()) == ["ok"] * 10
    assert not any(question.startswith("The fingers") for question in person.moves_before)


def test_another_tool_is_found_before_anything_moves(
    controller: FakeController, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(controller, monkeypatch, "-R", "driver=urx", "-R", "tool_m=0.25") == 5
    assert "cm from the tips" in Path("p.md").read_text()
    assert controller.moves == []


URX = ("tabletop", "-R", "host=127.0.0.1", "-R", "driver=urx")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tabletop", "-R", "gripper=robotiq"], "where the arm's controller is"),
        (["ravens", "-R", "host=127.0.0.1"], "has no bring-up"),
        (["tabletop", "-R", "host=127.0.0.1", "--yes"], "leave out --ask and --yes"),
        (["tabletop", "-R", "host=127.0.0.1", "-R", "speed=1"], "Did you mean 'speed_mps'"),
        ([*URX, "--protocol", "there.md"], "there.md exists"),
        ([*URX, "--protocol", "no/p.md"], "cannot write no/p.md"),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("there.md").write_text("")
    assert run(["robots", "check", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_nobody_at_the_host(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("-R", "host=127.0.0.77", "-R", "driver=urx", "--protocol", "p.md")
    assert run(["robots", "check", "tabletop", *options]) == 5
    assert "no UR controller answers at 127.0.0.77" in capsys.readouterr().out
