"""The simulated camera's geometry, cameras in the hand, and detectors on any of their frames."""

from __future__ import annotations

import datetime
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.errors import MissingExtra, NotFound
from cap.robot.view import ORIGIN, Shape
from robots.arm import rotations, ur5e
from robots.arm.motion import Pose
from robots.perception import see
from robots.perception.camera import Frame
from robots.perception.hand_eye import HandEye, find_marker
from robots.perception.lens import Lens, Light
from robots.perception.realsense import RealSenseCamera
from robots.perception.segmentation import ColorDepthDetector
from robots.ravens import create
from robots.ravens.observation import SHAPES
from robots.table.object_names import ALL_NAMES

pytest.importorskip("mujoco")

from robots.simulation.rays import RayCamera, RayStudio

DETECTOR = ColorDepthDetector(SHAPES)
IN_HAND = HandEye(
    "simulated",
    "hand",
    rotations.pose_of((0.0, 0.13, -0.16), rotations.rotation_of((0.03, 0.02, 0.05))),
    datetime.date(2026, 1, 1),
    "drawing",
)


ROOM = {
    "floor": [Shape("box", (153, 153, 153), (4.0, 4.0, 0.02), (0, 0, -0.01, 0, 0, 0, 1))],
    "sticker": [Shape("cylinder", (230, 26, 204), (0.015, 0.001), (0, 0, 0.0005, 0, 0, 0, 1))],
}
"""A grey floor at height 0 with a flat magenta sticker 30 mm wide on it."""
STUDIO = RayStudio()


def camera_at(pose: Any, lens: Lens) -> RayCamera:
    room = (ROOM, dict.fromkeys(ROOM, ORIGIN))
    return RayCamera(STUDIO, lambda: room, lens, lambda: pose, Light())


@pytest.mark.parametrize(("width", "height"), [(96, 54), (65, 49)])
def test_every_pixel_knows_the_point_it_sees(width: int, height: int) -> None:
    down = rotations.rotation_of((math.pi, 0, 0)) @ rotations.rotation_of((-0.3, 0.2, 1.0))
    pose = rotations.pose_of((0.5, 0.3, 0.5), down)
    frame = camera_at(pose, Lens(width, height, 50.0)).capture()
    assert (frame.depth_m > 0).all()
    assert np.abs(frame.points()[..., 2]).max() < 1e-5


def test_a_camera_that_sees_nothing_knows_no_depth() -> None:
    frame = camera_at(rotations.pose_of((0, 0, 1)), Lens(16, 16, 50.0)).capture()
    assert (frame.depth_m == 0).all()
    assert DETECTOR.detect(frame) == ()


# --- in the hand


def held_camera(robot: Any, calibrated: HandEye, joints: Any) -> RayCamera:
    world = robot._world
    world.state = replace(world.state, joints=joints)

    def tcp() -> list[float]:
        tip = ur5e.forward(world.state.joints)
        return [*tip[:3, 3], *rotations.rotation_vector(tip[:3, :3])]

    camera: RayCamera = world.camera(Lens(320, 320, 66.0), calibrated.pose_source(tcp))
    return camera


@pytest.mark.inside
@pytest.mark.sweep(share=0.17)
@pytest.mark.parametrize("seed", range(6))
def test_a_camera_in_the_hand_sees_what_the_fixed_one_sees(seed: int) -> None:
    names = [str(name) for name in np.random.default_rng(seed).permutation(ALL_NAMES)[:8]]
    robot: Any = create(seed=seed, objects=names)
    try:
        fixed = {each.name: each.position for each in see(robot._world.camera(), DETECTOR)}
        for x, turn in ((0.02, 0.0), (-0.02, 0.1)):
            camera = held_camera(robot, IN_HAND, Pose(x, -0.36, 0.45, turn).joints())
            held = {each.name: each.position for each in see(camera, DETECTOR)}
            assert sorted(held) == sorted(fixed) == sorted(names)
            for name, place in held.items():
                assert math.dist(place, fixed[name]) <= 0.003, name
    finally:
        robot.close()


# --- a sticker


def sticker_color(frame: Frame) -> tuple[int, int, int]:
    """The pixel in which red and blue exceed green most, as a person picks it."""
    rgb = frame.rgb.astype(int)
    row, column = divmod(int((rgb[..., 0] - rgb[..., 1]).argmax()), rgb.shape[1])
    red, green, blue = rgb[row, column].tolist()
    return red, green, blue


@pytest.mark.parametrize("eye", [(0.2, -0.25, 0.35), (-0.1, 0.2, 0.5), (0.0, -0.2, 0.4)])
def test_a_sticker_is_found_to_half_a_pixel(eye: tuple[float, float, float]) -> None:
    """As a person shows it to a camera that is to be calibrated: from many sides."""
    pose = rotations.looking(eye, (0.07, -0.05, 0.0))
    frame = camera_at(pose, Lens(240, 240, 58.0)).capture()
    found = find_marker(replace(frame, pose=np.eye(4)), sticker_color(frame))
    assert (pose @ [*found, 1.0])[:3] == pytest.approx((0.0, 0.0, 0.001), abs=0.0015)


def test_no_sticker_and_two_stickers_are_refused() -> None:
    pose = rotations.looking((0.1, -0.3, 0.5), (0, 0, 0))
    frame = camera_at(pose, Lens(240, 240, 50.0)).capture()
    color = sticker_color(frame)
    with pytest.raises(NotFound, match="only 0 pixels have the marker's colour"):
        find_marker(frame, (0, 200, 0))
    twice = frame.rgb.copy()
    twice[:40, :40] = color
    with pytest.raises(NotFound, match="more than one thing"):
        find_marker(replace(frame, rgb=twice), color)


def test_without_a_system_library_of_a_realsense_the_remedy_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = "libusb-1.0.so.0: cannot open shared object file"
    (tmp_path / "pyrealsense2.py").write_text(f"raise ImportError({missing!r})\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pyrealsense2", raising=False)
    with pytest.raises(MissingExtra, match=f"{missing}; .*: apt-get install libusb-1.0-0"):
        RealSenseCamera(lambda: np.eye(4))
