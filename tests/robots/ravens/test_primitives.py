"""What programs may rely on, in both modes."""

from collections.abc import Iterator
from typing import Any

import pytest

from robots.ravens import RavensRobot, create

OBJECTS = ["red block", "green block", "blue block", "red bowl", "blue bowl"]


@pytest.fixture
def robot(mode: str) -> Iterator[RavensRobot]:
    robot = create(seed=4, mode=mode, objects=OBJECTS)
    yield robot
    robot.close()


def test_pictures_have_the_asked_size_and_show_what_moved(robot: RavensRobot) -> None:
    before = robot.render(96, 64)
    assert before.size == (96, 64)
    robot.put_first_on_second("red block", "blue bowl")
    assert before.tobytes() != robot.render(96, 64).tobytes()


def test_a_recorder_sees_every_action(robot: RavensRobot) -> None:
    frames: list[Any] = []
    robot.on_frame = lambda: frames.append((robot.render(24, 24), robot.view().placements))
    robot.put_first_on_second("red block", "blue bowl")
    assert len(frames) >= (1 if robot.mode == "instant" else 5)
    for name in ("arm/hand", "objects/red block"):
        places = {placements[name] for _, placements in frames}
        assert len(places) > 2 or robot.mode == "instant"
