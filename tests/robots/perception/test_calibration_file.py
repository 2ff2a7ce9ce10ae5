"""The calibration file: what it may say, and where the camera then is."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.errors import ConfigError, UsageError
from robots.arm import rotations
from robots.perception.hand_eye import HandEye, Pair, Pairs, load, load_pairs, pairs_text
from tests.rows import rows, table

FILE = """\
version = 1
camera = "RealSense D435"
serial = "832112070255"
mount = "hand"
parent = "tcp"
child = "camera"
position_m = [0.05, -0.03, -0.09]
quaternion_xyzw = [0.0, 0.0, 0.70711, 0.70711]
date = 2026-11-20
method = "points"
pairs = 24
residual_median_mm = 0.9
residual_max_mm = 2.1
"""
TURN = "quaternion_xyzw = [0.0, 0.0, 0.70711, 0.70711]\n"
QUARTER = rotations.pose_of((0.05, -0.03, -0.09), rotations.rotation_of((0, 0, math.pi / 2)))


def loaded(text: str) -> HandEye:
    Path("camera.toml").write_text(text, encoding="utf-8")
    return load("camera.toml")


def test_a_file_says_what_camera_is_where_and_how_that_is_known() -> None:
    found = loaded(FILE)
    assert (found.camera, found.serial, found.mount) == ("RealSense D435", "832112070255", "hand")
    assert (found.date, found.method, found.pairs) == (datetime.date(2026, 11, 20), "points", 24)
    assert (found.residual_median_mm, found.residual_max_mm) == (0.9, 2.1)
    assert np.allclose(found.pose, QUARTER, atol=1e-5)
    assert np.allclose(found.pose[:3, :3] @ found.pose[:3, :3].T, np.eye(3))


def test_both_forms_of_a_rotation_mean_the_same() -> None:
    other = "rotation_vector_rad = [0.0, 0.0, 1.570796]\n"
    assert np.allclose(loaded(FILE.replace(TURN, other)).pose, QUARTER, atol=1e-5)


def test_a_camera_in_the_hand_moves_with_the_tool() -> None:
    found = loaded(FILE)
    tcp = (0.1, -0.5, 0.4, 0.0, math.pi, 0.0)  # straight down: its x is the base's -x
    assert np.allclose(found.camera_pose(tcp)[:3, 3], (0.05, -0.53, 0.49))
    assert np.allclose(found.camera_pose(tcp)[:3, 2], (0, 0, -1))
    places = iter([tcp, (0.2, *tcp[1:])])
    pose = found.pose_source(lambda: next(places), rotations.pose_of((0.0, 0.0, 1.0)))
    assert np.allclose(pose()[:3, 3], (0.05, -0.53, 1.49))
    assert np.allclose(pose()[:3, 3], (0.15, -0.53, 1.49))
    for call in (found.camera_pose, found.pose_source):
        with pytest.raises(UsageError, match="is in the hand"):
            call()


def test_a_fixed_camera_stays_where_it_is() -> None:
    found = loaded(FILE.replace('"hand"', '"fixed"').replace('"tcp"', '"base"'))
    for pose in (found.camera_pose(), found.camera_pose((1, 2, 3, 0, 0, 0)), found.pose_source()()):
        assert np.array_equal(pose, found.pose)


@rows(
    ("name", "mount", "turn", "pairs"),
    [
        ("D435", "hand", (0.1, -1.5, 1.0), None),
        ('a\x7f"\\\n\t', "fixed", (0.0, 0.0, 0.0), 0),
        ("\U00010000 camera \udcff", "hand", (math.pi, 0.0, 0.0), 100),
    ],
)
def test_what_is_written_is_read_back(name: str, mount: Any, turn: Any, pairs: int | None) -> None:
    pose = rotations.pose_of((0.2, -0.5, 0.3), rotations.rotation_of(turn))
    made = HandEye(name, mount, pose, datetime.date(2026, 1, 2), "points", name, pairs, 0.5, None)
    read = loaded(made.text())
    assert np.allclose(read.pose, pose, atol=1e-6)
    written = name.replace("\udcff", "?")
    assert (read.camera, read.serial, read.pairs) == (written, written, pairs)


@rows(
    ("old", "new", "line", "says"),
    [
        ("version = 1", "version = 2", 1, "version must be 1"),
        ('mount = "hand"', 'mount = "wrist"', 4, '"hand" or "fixed"'),
        ('mount = "hand"', 'mount = "fixed"', 5, 'must be "base" with mount = "fixed"'),
        ('parent = "tcp"', "", 1, 'parent must be "tcp"'),
        ('child = "camera"', 'child = "tcp"', 6, 'must be "camera"'),
        ("camera = ", "kamera = ", 2, "Did you mean 'camera'"),
        ("[0.05, -0.03, -0.09]", "[50, -30, -90]", 7, "metres, not millimetres"),
        ("0.70711, 0.70711]", "0.70711]", 8, "[x, y, z, w]"),
        ("0.70711, 0.70711]", "0.7, 0.6]", 8, "length 0.922, not 1"),
        (TURN, "", 7, "must be given once"),
        (TURN, TURN + "rotation_vector_rad = [0.0, 0.0, 0.0]\n", 9, "must be given once"),
        (TURN, "rotation_vector_rad = [0.0, 180.0, 0.0]\n", 8, "radians, not degrees"),
        ("date = 2026-11-20", 'date = "2026-11-20"', 9, "without quotes"),
        ("date = 2026-11-20", "date = 2026-11-20T10:00:00", 9, "must be a day"),
        ('method = "points"', "", 1, "method must be text in quotes; it is missing"),
        ("residual_max_mm = 2.1", 'residual_max_mm = "small"', 13, "must be a number"),
        ("pairs = 24", "pairs = [", 12, "not valid TOML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(old: str, new: str, line: int, says: str) -> None:
    assert FILE.count(old) == 1
    with pytest.raises(ConfigError) as caught:
        loaded(FILE.replace(old, new))
    assert f"camera.toml, line {line}: " in str(caught.value)
    assert says in str(caught.value)


# --- pairs

PAIRS = """\
mount = "hand"

[[pairs]]
tcp = [0.10, -0.45, 0.30, 0.0, 3.1416, 0.0]
marker_m = [0.012, -0.034, 0.285]

[[pairs]]
tcp = [0.15, -0.45, 0.30, 0.0, 3.0, 0.1]
marker_m = [0.052, -0.034, 0.285]
"""


def pairs_of(text: str) -> Pairs:
    Path("pairs.toml").write_text(text, encoding="utf-8")
    return load_pairs("pairs.toml")


def test_pairs_are_read_as_poses_and_points() -> None:
    found = pairs_of(PAIRS)
    assert found.mount == "hand"
    assert np.allclose(found.markers_m[1], (0.052, -0.034, 0.285))
    assert np.allclose(found.tcps[0], rotations.pose_of_tcp((0.1, -0.45, 0.3, 0, 3.1416, 0)))


def test_pairs_that_are_written_are_read_back() -> None:
    tcp = rotations.pose_of_tcp((0.1, -0.45, 0.3, 0.5, 3.0, 0.1))
    made = Pairs("fixed", (Pair(tcp, np.array([0.1, 0.2, 0.3])),) * 2, (0.0, 0.01, 0.02))
    read = pairs_of(pairs_text(made))
    assert np.allclose(read.tcps, made.tcps, atol=2e-6)
    assert np.allclose(read.markers_m, made.markers_m)
    assert read.marker_in_tcp_m == made.marker_in_tcp_m
    assert np.allclose(read.held_m[0], (tcp @ [0.0, 0.01, 0.02, 1.0])[:3], atol=1e-5)


@rows(
    ("old", "new", "line", "says"),
    table(__file__, "wrong_pairs_are_told_with_their_line").values(),
)
def test_wrong_pairs_are_told_with_their_line(old: str, new: str, line: int, says: str) -> None:
    assert PAIRS.count(old) == 1
    with pytest.raises(ConfigError) as caught:
        pairs_of(PAIRS.replace(old, new))
    assert f"pairs.toml, line {line}: " in str(caught.value)
    assert says in str(caught.value)
