"""What the arm may be told: every limit refuses before anything is sent."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cap.errors import LimitExceeded, UsageError
from robots.arm import ur5e
from robots.arm.motion import Pose
from robots.tabletop.limits import MotionLimits, straight_down, tilt_of

HOME = straight_down(0.0, -0.4, 0.3, math.pi / 2)


def matrix(pose: tuple[float, ...]) -> np.ndarray:
    """Return the rotation of a pose by Rodrigues' formula."""
    turn = np.array(pose[3:])
    angle = float(np.linalg.norm(turn))
    x, y, z = turn / angle
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * cross + (1 - math.cos(angle)) * cross @ cross


@given(yaw=st.floats(-6.0, 6.0), x=st.floats(-0.2, 0.2), y=st.floats(-0.6, -0.35))
def test_straight_down_is_how_the_simulated_arm_holds_its_tool(
    yaw: float, x: float, y: float
) -> None:
    held = ur5e.forward(Pose(x, y, 0.2, yaw).joints())
    assert np.allclose(matrix(straight_down(x, y, 0.2, yaw)), held[:3, :3], atol=1e-9)
    assert np.allclose(held[:3, 3], (x, y, 0.2), atol=1e-9)


@given(st.floats(0.0, math.pi), st.floats(0.0, 2 * math.pi))
def test_the_tilt_of_a_leaning_tool_is_its_angle(lean: float, about: float) -> None:
    turned = matrix(HOME)
    axis = np.array([math.cos(about), math.sin(about), 0.0])
    leaning = matrix((0, 0, 0, *(axis * max(lean, 1e-9)))) @ turned
    cosine = (np.trace(leaning) - 1) / 2
    angle = math.acos(max(-1.0, min(1.0, cosine)))
    if 1e-3 < angle < math.pi - 1e-3:
        skew = (leaning - leaning.T) / (2 * math.sin(angle))
        vector = angle * np.array([skew[2, 1], skew[0, 2], skew[1, 0]])
        assert tilt_of((0, 0, 0, *vector)) == pytest.approx(lean, abs=1e-5)


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        (straight_down(0.5, -0.4, 0.3, 0.0), r"x = 0\.500 m is outside .* box with -R 'x_m="),
        (straight_down(0.0, 0.1, 0.3, 0.0), "y = 0.100 m is outside"),
        (straight_down(0.0, -0.4, -0.001, 0.0), "z = -0.001 m is outside"),
        (straight_down(0.0, -0.4, 0.7, 0.0), "z = 0.700 m is outside"),
        ((0.0, -0.4, 0.3, 0.0, 0.0, 0.0), "lean 180 degrees"),
        ((0.0, -0.4, 0.3, 0.0, 2.5, 0.0), "lean 37 degrees"),
        ((math.nan, -0.4, 0.3, 0.0, math.pi, 0.0), "not finite"),
        ((0.0, -0.4, 0.3, 0.0, math.inf, 0.0), "not finite"),
    ],
)
def test_a_pose_out_of_the_limits_is_refused(pose: tuple[float, ...], message: str) -> None:
    with pytest.raises(LimitExceeded, match=message):
        MotionLimits().check(pose, HOME)  # type: ignore[arg-type]


def test_a_long_step_is_refused_and_a_short_one_is_not() -> None:
    far = straight_down(0.3, -0.8, 0.3, 0.0)
    MotionLimits().check(far, HOME)
    with pytest.raises(LimitExceeded, match="longer than step_m"):
        MotionLimits(step_m=0.2).check(far, HOME)


@pytest.mark.parametrize(
    ("given_limits", "message"),
    [
        ({"speed_mps": 0.3}, "speed_mps must be above 0 and at most 0.25"),
        ({"speed_mps": 0}, "speed_mps"),
        ({"speed_mps": -0.1}, "speed_mps"),
        ({"speed_mps": math.nan}, "finite"),
        ({"acceleration_mps2": 9.0}, "acceleration_mps2"),
        ({"tilt_rad": math.radians(50)}, "tilt_deg must be above 0 and at most 45, not 50$"),
        ({"z_m": (0.5, 0.1)}, "z_m must be"),
        ({"z_m": (-0.3, 0.5)}, "z_m must begin at the table top or above it"),
    ],
)
def test_limits_that_limit_nothing_are_refused(given_limits: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        MotionLimits(**given_limits)
