"""The simulated arm: honest grasps, limits kept, the same bits every time."""

import dataclasses
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.errors import NotGrasped, RobotError
from robots.arm import ur5e
from robots.ravens import RavensRobot, create, transfer

pytest.importorskip("pybullet")
pytest.importorskip("mujoco")

from robots.simulation.bullet import BulletArm, p
from robots.simulation.physics import ENGINES

STORY = """
from robots.ravens import create
robot = create(seed=7, engine=ENGINE)
robot.put_first_on_second("red block", "blue bowl")
robot.put_first_on_second("blue bowl", "middle")
robot.put_first_on_second("green block", "yellow block")
robot.render(32, 32)
print(robot.snapshot())
"""


@pytest.fixture(params=ENGINES)
def robot(request: pytest.FixtureRequest) -> Iterator[RavensRobot]:
    robot = create(seed=7, engine=request.param)
    yield robot
    robot.close()


@pytest.fixture
def bullet() -> Iterator[RavensRobot]:
    robot = create(seed=7, engine="pybullet")
    yield robot
    robot.close()


def held(robot: RavensRobot) -> str | None:
    return robot._world.now().held


def test_bits_do_not_depend_on_the_process_and_nothing_else_is_printed(
    robot: RavensRobot, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    names = {"ENGINE": robot._world.engine}  # type: ignore[attr-defined]
    fresh = subprocess.run(
        [sys.executable, "-c", f"ENGINE = {names['ENGINE']!r}\n{STORY}"],
        capture_output=True,
        text=True,
        check=True,
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert [*here.iterdir()] == []
    for seed in range(2):
        robot.reset(seed)
        robot.put_first_on_second("red block", "middle")
    exec(STORY, names)
    assert capsys.readouterr().out == fresh.stdout
    assert fresh.stderr == ""


def test_a_restored_world_and_a_watched_one_go_on_with_the_same_bits(robot: RavensRobot) -> None:
    world: Any = robot._world
    twin = create(seed=7, engine=world.engine)
    twin.on_frame = lambda: twin.render(16, 16)
    other = create(seed=8, engine=world.engine)
    for each in (robot, twin):
        each.put_first_on_second("red block", "blue bowl")
    kept = robot.snapshot()
    robot.put_first_on_second("blue bowl", "middle")
    robot.point_gripper_to("top side")
    robot.restore(kept)
    assert robot.positions() == twin.positions()
    other.restore(kept)
    for each in (robot, twin, other):
        each.put_first_on_second("green block", "red block")
    assert robot.snapshot() == twin.snapshot() == other.snapshot()
    twin.close()
    other.close()


@pytest.mark.inside
def test_closing_beside_the_object_grasps_nothing(robot: RavensRobot) -> None:
    planned = transfer.transfer(robot.snapshot()[0].scene, "red block", (0.0, -0.5))
    x, y, z = planned.pick.tip
    aside = dataclasses.replace(planned.pick, tip=(x, y + 0.09, z))
    before = robot.positions()["red block"]
    with pytest.raises(NotGrasped, match="'red block'"):
        robot._world.transfer(dataclasses.replace(planned, pick=aside))
    assert robot.positions()["red block"] == before


def test_one_finger_is_not_a_grasp(bullet: RavensRobot, monkeypatch: pytest.MonkeyPatch) -> None:
    contacts = p.getContactPoints

    def blind(a: int, b: int, link: int, *rest: int) -> Any:
        return () if link == 7 else contacts(a, b, link, *rest)

    monkeypatch.setattr(p, "getContactPoints", blind)
    with pytest.raises(NotGrasped):
        bullet.put_first_on_second("red block", "middle")
    assert held(bullet) is None


@pytest.mark.inside
def test_joint_speed_and_torque_limits_hold(
    bullet: RavensRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    speeds: list[float] = []
    strain: list[float] = []
    step = BulletArm.step

    def watched(self: BulletArm, *args: Any, **options: Any) -> None:
        step(self, *args, **options)
        for joint, limit in enumerate(ur5e.MAX_TORQUE):
            state = p.getJointState(self._number, joint, self._client)
            speeds.append(abs(state[1]))
            strain.append(abs(state[3]) / limit)

    monkeypatch.setattr(BulletArm, "step", watched)
    bullet.put_first_on_second("red block", "bottom left corner")
    bullet.put_first_on_second("blue bowl", "bottom right corner")
    assert 1.0 < max(speeds) <= ur5e.MAX_SPEED
    assert max(strain) <= 1.0 + 1e-9


@pytest.mark.inside
def test_nothing_is_ever_set_while_the_arm_moves(
    bullet: RavensRobot, monkeypatch: pytest.MonkeyPatch
) -> None:
    step, built = BulletArm.step, p.resetJointState

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("the state of a running simulation was set")

    def watched(self: BulletArm, *args: Any, **options: Any) -> None:
        monkeypatch.setattr(p, "resetJointState", refuse)
        step(self, *args, **options)
        monkeypatch.setattr(p, "resetJointState", built)

    monkeypatch.setattr(BulletArm, "step", watched)
    for name in ("resetBasePositionAndOrientation", "resetBaseVelocity"):
        monkeypatch.setattr(p, name, refuse)
    bullet.put_first_on_second("red block", "blue bowl")


def test_stop_ends_the_motion_and_the_next_one_recovers(robot: RavensRobot) -> None:
    def stop_when_held() -> None:
        if held(robot):
            robot.stop()

    robot.on_frame = stop_when_held
    with pytest.raises(RobotError, match="stopped"):
        robot.put_first_on_second("red block", "bottom left corner")
    robot.on_frame = None
    kept = robot.snapshot()
    assert kept[0].held == "red block"
    first = robot.put_first_on_second("red block", "blue bowl")
    robot.restore(kept)
    landed = robot.put_first_on_second("red block", "blue bowl")
    assert (landed == first).all()
    assert landed == pytest.approx(robot.get_obj_pos("blue bowl"), abs=0.004)
    assert robot.snapshot()[0].held is None


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("point_gripper_to", ["middle"]),
        ("stack_objects_in_order", [["green block", "yellow block"]]),
        ("arrange_objects", [{"yellow block": [-0.25, -0.45]}]),
        ("undo_turns", []),
    ],
)
def test_whatever_comes_next_puts_down_what_a_stop_left_held(name: str, arguments: Any) -> None:
    robot = create(seed=7)
    robot.put_first_on_second("yellow block", "left side")
    robot.end_turn()
    robot.on_frame = lambda: robot.stop() if held(robot) else None
    with pytest.raises(RobotError, match="stopped"):
        robot.put_first_on_second("red block", "bottom left corner")
    robot.on_frame = None
    getattr(robot, name)(*arguments)
    assert robot.condition()["held"] == "nothing"
    assert robot.positions()["red block"][2] == pytest.approx(0.02, abs=0.002)
    robot.close()


def test_a_filled_bowl_is_carried_more_gently(robot: RavensRobot) -> None:
    took_s = []
    for fill in (False, True):
        if fill:
            robot.put_first_on_second("red block", "blue bowl")
        before = robot.sim_time_s
        robot.put_first_on_second("blue bowl", "top side" if fill else "middle")
        robot.put_first_on_second("blue bowl", "middle" if fill else "top side")
        took_s.append(robot.sim_time_s - before)
    assert took_s[1] > took_s[0] + 0.2


def test_everything_is_at_rest_afterwards(robot: RavensRobot) -> None:
    robot.put_first_on_second("red block", "green block")
    before = robot.positions()
    world: Any = robot._world
    with world._moving() as simulation:
        simulation.wait(120)
    for name, (x, y, z) in before.items():
        assert robot.positions()[name] == pytest.approx((x, y, z), abs=2e-4)


def test_random_commands_do_what_they_say(robot: RavensRobot) -> None:
    for seed in (1, 2):
        robot.reset(seed)
        for color in ("red", "blue"):
            bowl = f"{color} bowl"
            landed = robot.put_first_on_second(f"{color} block", bowl)
            assert landed == pytest.approx(robot.get_obj_pos(bowl), abs=0.004)
