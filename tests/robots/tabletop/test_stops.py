"""A stop holds for the whole primitive: in whatever moment it falls, no further move is sent."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cap.errors import RobotError
from robots.arm.motion import PARK
from robots.tabletop import TabletopRobot, create
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.driving import FAST, PATIENCE_S, be_patient, wait_for
from tests.robots.tabletop.test_tabletop_session import TOOL_M

CORNERS = [[-0.05 + 0.01 * (n % 2), -0.55 + 0.01 * n] for n in range(12)]
SCENE = """
[[objects]]
name = "red block"
position_m = [0.10, -0.45, 0.02]
"""
Program = Callable[[TabletopRobot], object]


def follow(robot: TabletopRobot) -> object:
    return robot.primitives()["follow_traj"].function(CORNERS, 0.25)


def put(robot: TabletopRobot) -> object:
    world: Any = robot._table._world
    x = 0.1 if world._sight.scene()["red block"].xy[0] < 0.06 else 0.02
    return robot.primitives()["put_first_on_second"].function("red block", [x, -0.45])


@pytest.fixture(scope="module", params=["urx", "ur_rtde"])
def robot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TabletopRobot]:
    """One robot for many stops: after each, the next primitive goes on from there."""
    path = tmp_path_factory.mktemp("stops") / "scene.toml"
    path.write_text(SCENE)
    with pytest.MonkeyPatch.context() as patch:
        be_patient(patch)
        with FakeController(
            time_factor=FAST, rate_hz=250.0, tool_m=TOOL_M, joints=PARK.joints(), holds=True
        ) as controller:
            robot = create(
                host=controller.host, driver=request.param, gripper="robotiq", scene=str(path)
            )
            robot.controller = controller  # type: ignore[attr-defined]
            yield robot
            robot.close()


class Stopper:
    """Stops a robot from a thread of its own, and knows what was sent before and after."""

    def __init__(self, robot: TabletopRobot, monkeypatch: pytest.MonkeyPatch) -> None:
        self.robot = robot
        self.sent = 0
        self.sent_before = 0
        self.thread = threading.Thread(target=self._stop)
        self._driver: Any = robot._arm.driver
        self._patch = monkeypatch
        self.at(self._driver, "send", self._count)

    def at(self, owner: Any, name: str, do: Callable[[int], None]) -> None:
        """Have something done each time a method is called, with the number of the call."""
        method, calls = getattr(owner, name), itertools.count(1)

        def called(*args: Any, **kwargs: Any) -> Any:
            do(next(calls))
            return method(*args, **kwargs)

        self._patch.setattr(owner, name, called)

    def _count(self, number: int) -> None:
        self.sent = number

    def _stop(self) -> None:
        self.robot.stop()
        self.sent_before = self.sent

    def begin(self) -> None:
        """Stop, and return once the arm is told: the stop may wait for what is being sent."""
        self.thread.start()
        wait_for(self._driver._stopped.is_set)


MOMENTS = [
    (program, part, name, number)
    for program in (follow, put)
    for part, name, numbers in (
        ("table", "check_stop", (1,)),
        ("arm", "begin", (1,)),
        ("arm", "check", (1,)),
        ("arm", "check_state", (1, 2, 3, 5, 7, 9)),
        ("driver", "prepare", (1, 2, 4, 6, 8)),
        ("driver", "send", (1, 2, 4, 6, 8)),
        ("driver", "state", (1, 4, 9, 20, 35, 50)),
    )
    for number in numbers
]


@pytest.mark.inside
@pytest.mark.sweep
@pytest.mark.parametrize(("program", "part", "name", "number"), MOMENTS)
def test_a_stop_between_two_moves_ends_the_primitive(
    robot: TabletopRobot,
    program: Program,
    part: str,
    name: str,
    number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner: Any = {"table": robot._table, "arm": robot._arm, "driver": robot._arm.driver}[part]
    stopper = Stopper(robot, monkeypatch)
    stopper.at(owner, name, lambda n: stopper.begin() if n == number else None)
    with pytest.raises(RobotError, match="stop"):
        program(robot)
    stopper.thread.join(PATIENCE_S)
    assert stopper.sent == stopper.sent_before
    controller: FakeController = robot.controller  # type: ignore[attr-defined]
    wait_for(lambda: not controller.moving)


def test_after_a_stop_the_next_primitive_goes_to_its_end(robot: TabletopRobot) -> None:
    robot.stop()
    assert follow(robot) == pytest.approx(CORNERS[-1], abs=2e-3)
    put(robot)
