"""Where a camera is, from pairs of TCP and marker with a known truth."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cap.errors import UsageError
from robots.arm import rotations
from robots.perception import hand_eye
from robots.perception.hand_eye import GAIN_LIMIT, Pair, Pairs

IN_HAND = rotations.pose_of((0.05, -0.03, -0.09), rotations.rotation_of((0.2, -0.1, 1.5)))
ON_STAND = rotations.looking((0.3, -1.2, 0.8), (0.0, -0.5, 0.0))
MARKER = np.array([0.05, -0.5, 0.002])
SEEDS = st.integers(0, 2**31)


def turn_of(rng: np.random.Generator, most_rad: float = math.pi) -> Any:
    axis = rng.normal(size=3)
    return rotations.rotation_of(axis / np.linalg.norm(axis) * rng.uniform(0, most_rad))


def hand_pairs(truth: Any, n: int, noise_m: float, seed: int, tilt_rad: float = 0.6) -> Pairs:
    """Cameras 0.35 to 0.6 m from a marker somewhere in their picture, turned this way and that."""
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(n):
        seen = np.array([*rng.uniform(-0.12, 0.12, 2), rng.uniform(0.35, 0.6)])
        turn = rotations.rotation_of((math.pi, 0, 0)) @ turn_of(rng, tilt_rad)
        camera = rotations.pose_of(MARKER - turn @ seen, turn)
        noisy = seen + rng.normal(0.0, noise_m, 3)
        pairs.append(Pair(camera @ np.linalg.inv(truth), noisy))
    return Pairs("hand", tuple(pairs))


def fixed_pairs(truth: Any, n: int, noise_m: float, seed: int) -> Pairs:
    rng = np.random.default_rng(seed)
    offset = (0.01, 0.0, 0.03)
    pairs = []
    for _ in range(n):
        turn = turn_of(rng)
        marker = rng.uniform((-0.25, -0.75, 0.0), (0.25, -0.25, 0.3))
        seen = (np.linalg.inv(truth) @ [*marker, 1.0])[:3] + rng.normal(0.0, noise_m, 3)
        pairs.append(Pair(rotations.pose_of(marker - turn @ offset, turn), seen))
    return Pairs("fixed", tuple(pairs), offset)


def apart(found: Any, truth: Any) -> tuple[float, float]:
    """Distance (m) and angle (rad) between two poses."""
    turn = rotations.rotation_vector(found[:3, :3].T @ truth[:3, :3])
    return float(np.linalg.norm(found[:3, 3] - truth[:3, 3])), float(np.linalg.norm(turn))


@pytest.mark.parametrize("seed", range(3))
def test_perfect_pairs_give_back_any_camera(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for make, n in ((hand_pairs, 14), (fixed_pairs, 8)):
        truth = rotations.pose_of(rng.uniform(-0.2, 0.2, 3), turn_of(rng))
        pose, fit = hand_eye.solve(make(truth, n, 0.0, seed))
        assert apart(pose, truth) == pytest.approx((0.0, 0.0), abs=1e-7)
        assert fit.max_mm < 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_a_millimetre_of_noise_costs_three_millimetres_and_half_a_degree(seed: int) -> None:
    for truth, make in ((IN_HAND, hand_pairs), (ON_STAND, fixed_pairs)):
        pairs = make(truth, 20, 0.001, seed)
        pose, fit = hand_eye.solve(pairs)
        middle = pairs.markers_m.mean(axis=0)
        assert np.linalg.norm((pose - truth)[:3] @ [*middle, 1.0]) <= 0.003
        assert apart(pose, truth)[1] <= math.radians(0.5)
        assert 0.8 < fit.median_mm < 2.2
        assert fit.off_mm < 1e-4


@pytest.mark.parametrize(
    ("shift_m", "turn"),
    [((0.012, 0, 0), (0, 0, 0)), ((0, 0, 0), (0, 0.03, 0))],
)
def test_a_camera_that_was_knocked_is_refused(shift_m: Any, turn: Any) -> None:
    knock = rotations.pose_of(shift_m, rotations.rotation_of(turn))
    for truth, make in ((IN_HAND, hand_pairs), (ON_STAND, fixed_pairs)):
        pairs = make(truth, 20, 0.001, 3)
        assert hand_eye.fit(truth, pairs).ok()
        assert not hand_eye.fit(truth @ knock, pairs).ok()


def test_one_wrong_pair_is_refused_and_found() -> None:
    pairs = hand_pairs(IN_HAND, 20, 0.001, 5)
    right = pairs.pairs[7]
    wrong = replace(right, marker_m=right.marker_m + np.array([0.0, 0.03, 0.0]))
    fit = hand_eye.solve(replace(pairs, pairs=(*pairs.pairs[:7], wrong, *pairs.pairs[8:])))[1]
    assert not fit.ok()
    assert fit.errors_mm.argmax() == 7


def test_a_tool_that_never_turns_is_refused_with_a_remedy() -> None:
    with pytest.raises(UsageError, match="turn the tool by 30 degrees or more about at least two"):
        hand_eye.solve(hand_pairs(IN_HAND, 20, 0.001, 0, tilt_rad=0.0))


def test_a_tool_that_turns_about_one_axis_only_is_refused() -> None:
    rng = np.random.default_rng(0)
    pairs = []
    for angle in np.linspace(-1.5, 1.5, 12):
        tcp = rotations.pose_of(
            rng.uniform((-0.1, -0.6, 0.3), (0.1, -0.4, 0.5)),
            rotations.rotation_of((math.pi, 0, 0)) @ rotations.rotation_of((0, 0, angle)),
        )
        seen = (np.linalg.inv(tcp @ IN_HAND) @ [*MARKER, 1.0])[:3]
        pairs.append(Pair(tcp, seen + rng.normal(0, 0.0005, 3)))
    made = Pairs("hand", tuple(pairs))
    for call in (lambda: hand_eye.solve(made), lambda: hand_eye.fit(IN_HAND, made)):
        with pytest.raises(UsageError, match="cannot tell where the camera is"):
            call()


def test_a_marker_moved_along_a_line_is_refused_with_a_remedy() -> None:
    pairs = []
    for x in np.linspace(-0.2, 0.2, 8):
        tcp = rotations.pose_of((x, -0.5, 0.1))
        pairs.append(Pair(tcp, (np.linalg.inv(ON_STAND) @ tcp)[:3, 3]))
    with pytest.raises(UsageError, match="places that lie on no line"):
        hand_eye.solve(Pairs("fixed", tuple(pairs)))


@pytest.mark.parametrize(("n", "make"), [(0, hand_pairs), (5, hand_pairs), (3, fixed_pairs)])
def test_too_few_pairs_are_refused(n: int, make: Any) -> None:
    with pytest.raises(UsageError, match=f"{n} pairs are too few"):
        hand_eye.solve(make(IN_HAND, n, 0.0, 0))


@settings(max_examples=10, deadline=None, derandomize=True)
@given(seed=SEEDS, spread_rad=st.floats(0.0, 0.5), n=st.integers(6, 12))
def test_pairs_are_refused_or_lead_close_to_the_truth(seed: int, spread_rad: float, n: int) -> None:
    pairs = hand_pairs(IN_HAND, n, 0.0005, seed, tilt_rad=spread_rad)
    with contextlib.suppress(UsageError):
        pose, fit = hand_eye.solve(pairs)
        assert fit.gain <= GAIN_LIMIT
        middle = pairs.markers_m.mean(axis=0)
        off_mm = 1000 * np.linalg.norm((pose - IN_HAND)[:3] @ [*middle, 1.0])
        assert off_mm <= 0.5 * 4 * math.sqrt(3) * GAIN_LIMIT
