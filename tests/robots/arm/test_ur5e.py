import math

import numpy as np
import pytest

from cap.errors import Unreachable
from robots.arm import motion, ur5e
from robots.arm.motion import PARK, Pose

DOWN = math.pi / 2


def table_points(z: float) -> np.ndarray:
    xs, ys = np.meshgrid(np.linspace(-0.28, 0.28, 15), np.linspace(-0.78, -0.22, 15))
    return np.stack([xs.ravel(), ys.ravel(), np.full(xs.size, z)], axis=1)


@pytest.mark.parametrize("z", [0.01, 0.25])
def test_inverse_then_forward_returns_to_the_point_tool_down(z: float) -> None:
    tips = table_points(z)
    yaws = np.random.default_rng(0).uniform(-math.pi, math.pi, len(tips))
    for tip, yaw, joints in zip(tips, yaws, ur5e.inverse(tips, yaws), strict=True):
        pose = ur5e.forward(joints)
        assert np.allclose(pose[:3, 3], tip, atol=1e-12)
        assert np.allclose(pose[:3, 2], [0, 0, -1], atol=1e-12)
        assert np.allclose(pose[:2, 0], [math.cos(yaw), math.sin(yaw)], atol=1e-12)


def test_a_point_is_reached_where_there_are_joint_angles_for_it() -> None:
    points = np.random.default_rng(0).uniform([-1.2, -1.2, -0.5], [1.2, 1.2, 1.2], (2000, 3))
    angles = ur5e.inverse(points, np.zeros(len(points)))
    reached = [ur5e.reaches(tuple(point)) for point in points.tolist()]
    assert reached == np.isfinite(angles).all(axis=1).tolist()
    assert {True, False} == set(reached)
    assert not any(ur5e.reaches((0.3, y, 0.1)) for y in (1e300, math.inf, math.nan))


@pytest.mark.parametrize(
    ("start", "end"),
    [
        (PARK, Pose(0.28, -0.78, 0.02, DOWN)),
        (Pose(-0.28, -0.22, 0.02, 0.0), Pose(0.28, -0.78, 0.02, math.pi)),
        (Pose(0.1, -0.3, 0.02, DOWN), Pose(0.1, -0.3, 0.021, DOWN)),
    ],
)
def test_motion_keeps_the_speed_limit_and_arrives(start: Pose, end: Pose) -> None:
    over = [start, Pose(*start.array[:2], 0.2, start.yaw), Pose(*end.array[:2], 0.2, end.yaw), end]
    leg = motion.through(over)
    assert np.abs(leg.velocities).max() < ur5e.MAX_SPEED
    slow = motion.ACCELERATION_LIMITS * motion.DT_S * 1.5
    assert (np.abs(leg.velocities[[0, -1]]) < slow).all()
    last = leg.positions[-1] + leg.velocities[-1] * motion.DT_S
    assert Pose.of_joints(last.tolist()).array == pytest.approx(end.array, abs=1e-9)


def test_loose_load_limits_the_acceleration_of_the_fingertips() -> None:
    way = [Pose(-0.2, -0.6, 0.2, DOWN), Pose(0.2, -0.6, 0.2, DOWN)]
    leg = motion.through(way, acceleration_mps2=1.0)
    tips = np.array([ur5e.forward(joints)[:3, 3] for joints in leg.positions])
    acceleration = np.diff(tips, n=2, axis=0) / motion.DT_S**2
    assert np.linalg.norm(acceleration, axis=1).max() < 1.2


def test_motion_beyond_the_arm_is_refused() -> None:
    with pytest.raises(Unreachable, match="beyond the arm"):
        motion.through([PARK, Pose(0.9, -0.9, 0.1, DOWN)])
