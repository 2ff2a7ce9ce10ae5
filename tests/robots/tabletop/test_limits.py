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
from robots.arm.rotations import rotation_of
from robots.tabletop.limits import MotionLimits, straight_down

HOME = straight_down(0.0, -0.4, 0.3, math.pi / 2)


@given(yaw=st.floats(-6.0, 6.0), x=st.floats(-0.2, 0.2), y=st.floats(-0.6, -0.35))
def test_straight_down_is_how_the_simulated_arm_holds_its_tool(
    yaw: float, x: float, y: float
) -> None:
    held = ur5e.forward(Pose(x, y, 0.2, yaw).joints())
    assert np.allclose(rotation_of(straight_down(x, y, 0.2, yaw)[3:]), held[:3, :3], atol=1e-9)
    assert np.allclose(held[:3, 3], (x, y, 0.2), atol=1e-9)


@pytest.mark.parametrize(
    ("pose", "message"),
    [
        (straight_down(0.5, -0.4, 0.3, 0.0), r"x = 0\.500 m is outside .* box with -R 'x_m="),
        (straight_down(0.0, -0.4, 0.7, 0.0), "z = 0.700 m is outside"),
        ((0.0, -0.4, 0.3, 0.0, 0.0, 0.0), "lean 180 degrees"),
        ((math.nan, -0.4, 0.3, 0.0, math.pi, 0.0), "not finite"),
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
        ({"speed_mps": math.nan}, "finite"),
        ({"tilt_deg": 50}, "tilt_deg must be above 0 and at most 45, not 50$"),
        ({"z_m": (0.5, 0.1)}, "z_m must be"),
        ({"z_m": (-0.3, 0.5)}, "z_m must begin at the table top or above it"),
    ],
)
def test_limits_that_limit_nothing_are_refused(given_limits: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        MotionLimits(**given_limits)
