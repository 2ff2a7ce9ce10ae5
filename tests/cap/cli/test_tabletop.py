"""`cap run -r tabletop`: the real command on a controller that listens on loopback."""

from __future__ import annotations

import contextlib
import json
import math
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from cap.session import session_file
from robots.arm.motion import PARK
from robots.tabletop.gripper import RobotiqGripper
from tests.cap.conftest import Cap
from tests.fakes.ur.controller import SECONDARY_PORT, FakeController
from tests.fakes.ur.driving import FAST, be_patient, wait_for
from tests.robots.tabletop.test_tabletop_session import TOOL_M

Capture = pytest.CaptureFixture[str]

SCENE = """
[[objects]]
name = "red block"
position_m = [0.10, -0.45, 0.02]

[[objects]]
name = "blue bowl"
position_m = [-0.12, -0.50, 0.018]
"""
WORDS = "put the red block in the blue bowl"


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch)


@pytest.fixture(autouse=True)
def _scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("scene.toml").write_text(SCENE)


def tabletop(words: str, *options: str) -> list[str]:
    return ["run", words, "-r", "tabletop", "-R", "scene=scene.toml", *options]


def arm(controller: FakeController) -> list[str]:
    """Return the options of an arm with its gripper."""
    return ["-R", f"host={controller.host}", "-R", "driver=urx", "-R", "gripper=robotiq"]


UNASKED = ("--approve", "none", "--yes")


@pytest.fixture
def controller() -> Any:
    with FakeController(
        time_factor=FAST, rate_hz=250.0, tool_m=TOOL_M, joints=PARK.joints(), holds=True
    ) as running:
        yield running


def test_the_person_is_asked_and_the_arm_moves(
    controller: FakeController,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def yes(question: str, **_: Any) -> str:
        asked.append(question)
        return "y"

    monkeypatch.setattr("click.prompt", yes)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert run(tabletop(WORDS, *arm(controller), "--json")) == 0
    assert asked == ["Run this program? y(es), n(o), e(dit)"]
    assert controller.moves
    told = capsys.readouterr()
    (turn,) = json.loads(told.out)["turns"]
    assert list(turn["moved"]) == ["red block"]
    assert "put_first_on_second(moved[0], 'blue bowl')" in told.err, "who is asked is shown it"


def meddled_scene(controller: FakeController) -> None:
    Path("scene.toml").write_text(SCENE.replace("0.10, -0.45", "0.20, -0.35"))


def jogged(controller: FakeController) -> None:
    """Move the arm by another program, as a person does with the pendant."""
    pose = [-0.2, -0.6, 0.2, 2.2214414, 2.2214414, 0.0]
    with socket.create_connection((controller.host, SECONDARY_PORT)) as other:
        other.sendall(f"movel(p{pose}, a=0.3, v=0.5)\n".encode())
        wait_for(lambda: math.dist(controller.tcp_pose, pose) < 1e-6 and not controller.running)


@pytest.mark.parametrize(
    ("meddle", "told"),
    [
        (meddled_scene, "red block [0.1, -0.45, 0.02] to [0.2, -0.35, 0.02]"),
        (jogged, "gripper [0, -0.38, 0.32] to [-0."),
    ],
)
def test_what_changes_while_the_person_is_asked_is_said_and_asked_about_again(
    meddle: Callable[[FakeController], None],
    told: str,
    controller: FakeController,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moves: list[int] = []

    def yes(question: str, **_: Any) -> str:
        if not moves:
            meddle(controller)
        moves.append(len(controller.moves))
        return "y"

    monkeypatch.setattr("click.prompt", yes)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert run(tabletop(WORDS, *arm(controller))) == 0
    assert len(controller.moves) > moves[-1] == moves[0], "nothing moved between the questions"
    printed = capsys.readouterr().out
    lines = [line for line in printed.splitlines() if "changed since the program was" in line]
    assert told in lines[0]
    # On a slow machine the arm is still seen on its way.
    assert printed.count("rehearsed: ") == len(moves) == 1 + len(lines)


def test_with_nobody_to_ask_nothing_moves(controller: FakeController, cap: Cap) -> None:
    assert (
        "not approved"
        in cap(tabletop(WORDS, "-R", f"host={controller.host}", "-R", "driver=urx"), 1).out
    )
    assert controller.moves == []


@pytest.mark.parametrize(("driver", "start"), [("urx", "movel(p["), ("ur_rtde", "moveL([")])
def test_a_dry_run_prints_the_exact_commands(driver: str, start: str, cap: Cap) -> None:
    printed = cap(tabletop(WORDS, "--dry-run", "-R", f"driver={driver}", "--pictures")).out
    commands = printed.split("commands that would be sent:\n")[1].split("picture:")[0]
    assert commands.count(start) > 8
    assert "gripper close" in commands
    assert "after.png" in printed


def test_nobody_at_the_host(cap: Cap) -> None:
    assert (
        "no UR controller answers at 127.0.0.77"
        in cap(tabletop(WORDS, "-R", "host=127.0.0.77", "-R", "driver=urx"), 5).err
    )


def test_a_driver_that_is_not_installed_is_no_reason_to_pretend(
    cap: Cap, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("urx", "robots.tabletop.urx"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "urx", None)
    told = cap(tabletop(WORDS, "-R", "host=127.0.0.77", "-R", "driver=urx"), 2)
    assert "-m pip install -e" in told.err
    assert "moved" not in told.out


def test_the_instant_world_of_an_arm_is_a_dry_run_by_name(
    controller: FakeController, cap: Cap
) -> None:
    assert "nothing is sent" in cap(tabletop(WORDS, *arm(controller), "--mode", "instant")).out
    assert not controller.moves


def test_a_dry_run_that_is_gone_on_with_is_one_again(
    controller: FakeController, capsys: Capture
) -> None:
    assert run(tabletop(WORDS, "--dry-run", "--out", "dry")) == 0
    point = tabletop("point at the blue bowl", *arm(controller), "--resume", "dry")
    capsys.readouterr()
    assert run([*point, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["mode"] == "dry run"
    assert controller.programs == controller.moves == []
    assert run([*point, "--mode", "physics", *UNASKED]) == 0
    assert controller.moves


def test_the_time_of_all_motions_is_bounded_without_a_rehearsal_too(
    controller: FakeController, cap: Cap
) -> None:
    Path("loop.py").write_text(
        "while True:\n    goto_pos((0.1, -0.4))\n    goto_pos((-0.1, -0.4))\n"
    )
    bounds = ("-R", "scene=scene.toml", "--no-rehearse", "--set", "calls_time=0.5", *UNASKED)
    assert (
        "calls took longer than 0.5 s"
        in cap(["exec", "loop.py", "-r", "tabletop", *arm(controller), *bounds], 5).out
    )
    sent = len(controller.moves)
    assert 0 < sent < 200
    wait_for(lambda: not controller.moving)
    assert len(controller.moves) == sent


def test_what_a_stopped_arm_holds_is_said_last(
    controller: FakeController,
    capsys: Capture,
) -> None:
    def tell() -> None:
        wait_for(lambda: controller.gripper_closed and controller.moving)
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.get_ident()
    controller.hold_loaded_motions(0.5)
    thread = threading.Thread(target=tell)
    thread.start()
    assert run(tabletop(WORDS, *arm(controller), *UNASKED)) == 128 + signal.SIGINT
    thread.join()
    *said, last = capsys.readouterr().out.splitlines()
    assert said[-1] == "  in the gripper: red block; it stays there"
    assert "  failed: Interrupted: stopped by Ctrl-C" in said
    wait_for(lambda: not controller.moving)
    assert controller.gripper_closed
    folder = last.removeprefix("run: ")
    assert session_file.read(Path(folder)).turns == 1
    controller.hold_motions(None)
    with contextlib.closing(RobotiqGripper(controller.host)) as gripper:
        gripper.set(0.08, time.sleep)  # as a person does
    again = tabletop("point at the blue bowl", *arm(controller), *UNASKED)
    assert run([*again, "--resume", folder]) == 0


@pytest.mark.parametrize("dry", [True, False])
def test_an_arm_without_a_gripper_claims_to_have_moved_nothing(
    dry: bool, controller: FakeController, cap: Cap
) -> None:
    on_arm = ("-R", f"host={controller.host}", "-R", "driver=urx", *UNASKED)
    options = ("-R", "gripper=none", *(("--dry-run",) if dry else on_arm))
    printed = cap(tabletop(WORDS, *options), 5).out
    assert "this arm has no gripper" in printed
    assert "in the rehearsal" in printed
    assert "moved red block" not in printed
    assert controller.moves == []
    assert run(tabletop("point at the blue bowl", *options)) == 0
