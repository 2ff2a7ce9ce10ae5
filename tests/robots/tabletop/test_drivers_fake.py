"""The simulated controller itself: is what it simulates so?"""

from __future__ import annotations

import numpy as np
import pytest

from robots.arm import ur5e as ravens
from tests.fakes.ur import arm
from tests.fakes.ur.arm import HOME, Move, SimulatedArm, between
from tests.fakes.ur.controller import FakeController
from tests.fakes.ur.kinematics import joints_at, pose_of, tip, to_matrix, to_vector
from tests.fakes.ur.script import Reader


def some_joints(count: int) -> list[list[float]]:
    return np.random.default_rng(0).uniform(-np.pi, np.pi, (count, 6)).tolist()


def test_the_flange_is_where_another_implementation_has_it() -> None:
    for joints in some_joints(20):
        assert tip(joints, ravens.TOOL_LENGTH) == pytest.approx(ravens.forward(joints), abs=1e-9)


def test_rotation_vectors_there_and_back() -> None:
    for _, _, _, *vector in some_joints(50):
        rotation = to_matrix(vector)
        assert to_matrix(to_vector(rotation)) == pytest.approx(rotation, abs=1e-6)


def test_joints_found_for_a_pose_hold_it() -> None:
    x, y, z, *turn = pose_of(HOME, 0.1)
    for dx, dy, dz in ((0.1, 0.2, -0.2), (-0.1, 0.0, 0.1), (0.05, -0.3, -0.3)):
        goal = (x + dx, y + dy, z + dz, *turn)
        found = joints_at(goal, HOME, 0.1)
        assert found is not None
        assert pose_of(found, 0.1) == pytest.approx(goal, abs=1e-5)
    assert joints_at((3.0, 0.0, 0.3, 3.14, 0.0, 0.0), HOME, 0.1) is None


def test_a_motion_takes_the_time_its_speed_and_acceleration_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [0.0]
    monkeypatch.setattr(arm.time, "monotonic", lambda: now[0])
    body = SimulatedArm(time_factor=2.0, tool_m=0.0)
    x, y, z, *turn = body.pose
    body.begin(Move("movel", (x, y, z - 0.1, *turn), speed=0.1, acceleration=0.5))
    lengths = []
    while body.moving:
        now[0] += 0.01
        body.advance()
        lengths.append(z - body.pose[2])
    assert 2.0 * now[0] == pytest.approx(0.1 / 0.1 + 0.1 / 0.5, abs=0.03)
    assert lengths == sorted(lengths)
    assert max(np.diff(lengths)) <= 0.1 * 0.02 + 1e-9
    assert pose_of(body.joints, 0.0)[:3] == pytest.approx(body.pose[:3], abs=1e-5)


def test_a_straight_path_is_straight_and_turns_evenly() -> None:
    start, end = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (1.0, 0.5, -1.0, 0.0, 0.0, 1.0)
    assert between(start, end, 0.25) == pytest.approx((0.25, 0.125, -0.25, 0.0, 0.0, 0.25))


def test_scripts_are_read_in_whatever_pieces_they_come() -> None:
    text = (
        "movel(p[1,2,3,0,0,0], a=0.3, v=0.1)\n\n"
        "def go():\n  movej([1,2,3,4,5,6], a=1, v=2, r=0)\n  odd(x, y)\nend\n"
        "sec out():\n set_tool_digital_out(0, True)\nend\nstopl(1.5)\n"
    )
    reader = Reader()
    programs = [p for start in range(0, len(text), 5) for p in reader.feed(text[start : start + 5])]
    assert [[s.name for s in p.statements] for p in programs] == [
        ["movel"],
        ["movej", "odd"],
        ["set_tool_digital_out"],
        ["stopl"],
    ]
    assert [p.secondary for p in programs] == [False, False, True, False]
    assert programs[0].statements[0].keywords == {"a": 0.3, "v": 0.1}


def test_what_fails_inside_is_not_swallowed() -> None:
    controller = FakeController()
    controller.__enter__()
    controller._faults.append(RuntimeError("odd"))
    with pytest.raises(AssertionError, match="odd"):
        controller.__exit__()
