"""The tabletop robot end to end: sentences become motions of a controller on loopback."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.errors import RobotError, UsageError
from cap.models.providers import make_model
from cap.robot import registry
from cap.session.session import Session
from cap.session.settings import SessionSettings
from robots.arm.motion import PARK
from tests.fakes.ur.controller import SECONDARY_PORT, FakeController
from tests.fakes.ur.driving import FAST, fresh, wait_for, while_carrying

TOOL_M = 0.163
SCENE = {
    "red block": (0.10, -0.45, 0.02),
    "green block": (0.20, -0.60, 0.02),
    "blue bowl": (-0.12, -0.50, 0.018),
    "apple": (0.0, -0.32, 0.035),
}
SIZES = {"apple": "size_m = [0.07, 0.07, 0.07]"}


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.toml"
    tables = [
        f"[[objects]]\nname = '{name}'\nposition_m = {list(at)}\n{SIZES.get(name, '')}\n"
        for name, at in SCENE.items()
    ]
    path.write_text("\n".join(tables))
    return path


@pytest.fixture
def controller() -> Iterator[FakeController]:
    with FakeController(
        time_factor=FAST, rate_hz=250.0, tool_m=TOOL_M, joints=PARK.joints(), holds=True
    ) as running:
        yield running


def session_on(controller: FakeController, scene: Path, driver: str, **options: Any) -> Session:
    settings = {"gripper": "robotiq", **options}
    robot = registry.make_robot(
        "tabletop", host=controller.host, driver=driver, scene=str(scene), **settings
    )
    return Session(
        robot,
        make_model("nearest"),
        SessionSettings(prompts=registry.robot_prompts("tabletop"), approve=lambda source: True),
    )


def xy_of(session: Session, name: str) -> tuple[float, float]:
    return session.robot.positions()[name][:2]


PUT = "put_first_on_second('red block', 'blue bowl')"
DRIVERS = ("urx", "ur_rtde")


@pytest.mark.inside
@pytest.mark.parametrize("driver", ["urx", pytest.param("ur_rtde", marks=pytest.mark.soak)])
def test_a_session_of_three_sentences(driver: str, controller: FakeController, scene: Path) -> None:
    with session_on(controller, scene, driver) as session:

        def say(words: str) -> Any:
            turn = session.run(words)
            assert turn.ok, turn.failure
            return turn

        say("put the red block in the middle")
        assert xy_of(session, "red block") == pytest.approx((0.0, -0.5), abs=1e-6)
        say("move the gripper in a 10 cm circle around the red block")
        circle = np.array(session.robot._table.state.paths[-1])
        assert np.hypot(*(circle - [0.0, -0.5]).T) == pytest.approx(0.1, abs=2e-3)
        say("how many blocks are there")
        assert session.robot.spoken[-1] == "2"
        moves = controller.moves
    assert {move.kind for move in moves} == {"movel"}
    assert all(move.speed <= 0.10 + 1e-9 for move in moves)
    assert min(move.target[2] for move in moves) > 0.005
    assert controller.tcp_pose[:3] == pytest.approx((*circle[-1], 0.1), abs=2e-3)


@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("driver", DRIVERS)
def test_a_gripper_that_closes_on_nothing_is_a_typed_failure(
    driver: str, controller: FakeController, scene: Path
) -> None:
    controller.holds = False
    with session_on(controller, scene, driver) as session:
        turn = session.run("put the red block in the blue bowl")
        assert turn.failure is not None
        assert (turn.failure.error, turn.failure.exit_code) == ("NotGrasped", 5)
        assert turn.moved == {}
    assert not controller.gripper_closed


def test_what_the_pendant_s_limits_forbid_is_found_before_anything_moves(
    controller: FakeController, scene: Path
) -> None:
    controller.set_plane(0.15)
    with session_on(controller, scene, "ur_rtde") as session:
        turn = session.execute("put_first_on_second('red block', [0.2, -0.4])")
        assert turn.failure is not None
        assert turn.failure.error == "Unreachable"
        assert "set on the pendant; nothing moved" in turn.failure.message
        assert controller.moves == []
        assert not controller.gripper_closed
        assert session.execute(PUT).ok


@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("driver", DRIVERS)
def test_what_is_lost_on_the_way_was_not_put_down(
    driver: str, controller: FakeController, scene: Path
) -> None:
    def slip() -> None:
        controller.holds = False
        controller.hold_motions(None)

    with session_on(controller, scene, driver) as session:
        with while_carrying(controller, slip):
            turn = session.execute(PUT)
        assert turn.failure is not None
        assert turn.failure.error == "NotGrasped"
        assert turn.moved == {}
        assert session.robot.condition()["held"] == "nothing"


@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("driver", DRIVERS)
def test_what_an_earlier_session_left_in_the_gripper_is_not_dropped(
    driver: str, controller: FakeController, scene: Path
) -> None:
    with session_on(controller, scene, driver) as session:
        with while_carrying(controller, session.robot.stop):
            assert not session.execute(PUT).ok
        assert session.robot.condition()["held"] == "red block"
    with pytest.raises(RobotError, match="holds something, or may"):
        session_on(controller, scene, driver)
    assert controller.gripper_closed


def test_a_list_with_two_objects_in_one_place_is_refused(
    controller: FakeController, scene: Path
) -> None:
    right = scene.read_text()
    lies = right.replace(str(list(SCENE["green block"])), str(list(SCENE["red block"])))
    with session_on(controller, scene, "urx") as session:
        scene.write_text(lies)
        with pytest.raises(RobotError, match="'red block' and 'green block' are listed in one"):
            session.execute("point_gripper_to('middle')")
        assert controller.moves == []
    with pytest.raises(UsageError, match="listed in one place"):
        session_on(controller, scene, "urx")


@pytest.mark.inside
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.sweep(share=0.5)
def test_a_lost_connection_is_made_again_for_every_motion(
    driver: str, controller: FakeController, scene: Path
) -> None:
    with session_on(controller, scene, driver) as session:
        for call in ("goto_pos([0.1, -0.5])", PUT):
            controller.drop_connection()
            wait_for(lambda: not fresh(session.robot._arm.driver))
            moves = len(controller.moves)
            turn = session.execute(call)
            assert turn.ok, turn.failure
            assert len(controller.moves) > moves


SLOW_PROGRAM = b"movej([1.0,-1.5,1.5,-1.5,-1.5,0.0], a=0.1, v=0.1)\n"


@pytest.mark.inside
@pytest.mark.parametrize("driver", DRIVERS)
def test_while_another_program_moves_the_arm_nothing_is_sent(
    driver: str, controller: FakeController, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with session_on(controller, scene, driver) as session:
        controller.hold_motions(0.5)
        with socket.create_connection((controller.host, SECONDARY_PORT)) as other:
            other.sendall(SLOW_PROGRAM)
            wait_for(lambda: controller.moving)
            wait_for(lambda: session.robot._arm.driver.state().moving)
            monkeypatch.setattr("robots.tabletop.safety_guard._AT_REST_S", 0.1)
            turn = session.execute(PUT)
            assert turn.failure is not None
            assert "something else moves the arm" in turn.failure.message
            assert len(controller.moves) == 1
            assert not turn.moved
        session.robot.stop()
        assert controller.moving, "another program's motion is not ours to stop"
    assert controller.moving
