"""Rotations in every form people and controllers write them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robots.arm import rotations
from tests.rows import rows

VECTORS = st.tuples(*(st.floats(-1.0, 1.0) for _ in range(3))).filter(
    lambda v: math.hypot(*v) > 1e-3
)
ANGLES = st.one_of(st.floats(0.0, math.pi), st.sampled_from([0.0, 1e-10, 1e-5, math.pi]))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(axis=VECTORS, angle=ANGLES)
def test_forms_of_a_rotation_agree(axis: tuple[float, float, float], angle: float) -> None:
    vector = np.array(axis) / math.hypot(*axis) * angle
    rotation = rotations.rotation_of(vector)
    assert np.allclose(rotation @ rotation.T, np.eye(3))
    assert np.allclose(
        rotations.rotation_of(rotations.rotation_vector(rotation)), rotation, atol=1e-9
    )
    assert np.allclose(
        rotations.rotation_of_quaternion(rotations.quaternion_of(rotation)), rotation, atol=1e-9
    )
    assert math.acos(min(1.0, max(-1.0, (np.trace(rotation) - 1) / 2))) == pytest.approx(
        angle, abs=1e-5
    )


def test_a_quarter_turn_about_z_takes_x_to_y() -> None:
    expected = [0.0, 1.0, 0.0]
    assert np.allclose(rotations.rotation_of((0, 0, math.pi / 2)) @ [1, 0, 0], expected)
    half = math.sqrt(0.5)
    assert np.allclose(rotations.rotation_of_quaternion((0, 0, half, half)) @ [1, 0, 0], expected)


def test_the_rotation_nearest_to_a_mirror_is_none() -> None:
    found = rotations.nearest_rotation(np.diag([1.0, 1.0, -0.1]))
    assert np.allclose(found, np.eye(3))


@rows("eye", [(0.0, -1.2, 0.85), (0.3, 0.1, 0.5), (0.0, 0.0, 1.0)])
def test_a_looking_camera_has_its_target_straight_ahead_and_its_top_up(
    eye: tuple[float, float, float],
) -> None:
    pose = rotations.looking(eye, (0.0, 0.0, 0.0))
    seen = np.linalg.inv(pose) @ [0.0, 0.0, 0.0, 1.0]
    assert np.allclose(seen[:3], [0, 0, np.linalg.norm(eye)])
    assert np.allclose(pose[:3, :3].T @ pose[:3, :3], np.eye(3))
    assert pose[2, 1] <= 0
    assert pose[2, 0] == pytest.approx(0.0)
