"""The RealSense camera on the library's own pipeline, fed by its software device.

The pipeline, the alignment of depth to colour and the intrinsics are the real ones; only the
pictures come from here instead of from USB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from cap.errors import NotConnected, RobotError
from robots.arm.rotations import looking, pose_of, pose_of_tcp
from robots.perception.lens import Lens
from robots.perception.realsense import RealSenseCamera
from tests.fakes.realsense import HEIGHT, MATRIX, SERIAL, WIDTH, Device, Pictures, intrinsics

rs = pytest.importorskip("pyrealsense2", exc_type=ImportError)
"""Missing with the package, or with a system library it needs (libusb)."""


@pytest.fixture
def plugged() -> Iterator[Callable[..., Device]]:
    devices: list[Device] = []

    def make(pictures: Pictures, **options: Any) -> Device:
        devices.append(Device(pictures, **options))
        devices[-1].plug_in()
        return devices[-1]

    yield make
    for device in devices:
        device.unplug()


def plain(number: int) -> tuple[Any, Any]:
    """A wall at 0.5 m whose colour and distance count pictures."""
    color = np.full((HEIGHT, WIDTH, 3), number % 256, dtype=np.uint8)
    return color, np.full((HEIGHT, WIDTH), 5000 + number, dtype=np.uint16)


def test_a_frame_has_colours_metres_and_the_devices_lens(plugged: Any) -> None:
    pose = looking((0.1, -0.5, 0.6), (0.0, -0.5, 0.0))
    camera = plugged(lambda _: plain(40)).camera(pose=lambda: pose, serial=SERIAL)
    frame = camera.capture()
    camera.close()
    assert frame.rgb.shape == (HEIGHT, WIDTH, 3)
    assert frame.rgb.dtype == np.uint8
    assert (frame.rgb == 40).all()
    assert frame.depth_m[5:-5, 5:-5] == pytest.approx(0.504)
    assert np.allclose(frame.intrinsics, MATRIX, atol=1e-4)
    assert np.array_equal(frame.pose, pose)


def test_a_picture_is_never_older_than_the_call(plugged: Any) -> None:
    device = plugged(plain)
    camera = device.camera()
    for _ in range(5):
        before = device.sent
        frame = camera.capture()
        assert round(float(frame.depth_m[24, 32]) * 10000) - 5000 >= before
    camera.close()


def test_unplugged_in_mid_stream_is_not_connected_and_plugged_in_goes_on(plugged: Any) -> None:
    device = plugged(plain)
    camera = device.camera(timeout_s=0.3)
    device.unplug()
    with pytest.raises(NotConnected, match="sends no pictures"):
        camera.capture()
    device.plug_in()
    assert camera.capture().rgb.shape == (HEIGHT, WIDTH, 3)
    camera.close()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"serial": "123"}, f"no RealSense camera '123'; connected: {SERIAL}"),
        ({"width": 1920, "height": 1080}, "does not start with 1920x1080 at 30 fps"),
    ],
)
def test_what_is_not_there_is_not_connected(plugged: Any, asked: Any, message: str) -> None:
    with pytest.raises(NotConnected, match="no RealSense camera found; check its cable"):
        RealSenseCamera(lambda: np.eye(4))
    with pytest.raises(NotConnected, match=message):
        plugged(plain).camera(**asked)


def test_closed_it_is_not_connected_and_closing_twice_does_no_harm(plugged: Any) -> None:
    camera = plugged(plain).camera()
    camera.close()
    camera.close()
    with pytest.raises(NotConnected, match="closed"):
        camera.capture()


def test_a_moving_camera_is_refused_and_one_at_rest_is_not(plugged: Any) -> None:
    device = plugged(plain)
    steps = iter(np.linspace(0.0, 0.1, 6))
    camera = device.camera(pose=lambda: pose_of((next(steps), 0.0, 0.0)))
    with pytest.raises(RobotError, match="moved while it took a picture"):
        camera.capture()
    camera.close()
    turns = iter([0.0, 0.05, 0.05, 0.05])
    camera = device.camera(pose=lambda: pose_of_tcp((0, 0, 0, 0, 0, next(turns))))
    assert np.array_equal(camera.capture().pose, pose_of_tcp((0, 0, 0, 0, 0, 0.05)))
    camera.close()


@pytest.mark.parametrize("bend", [-0.25, 0.2])
def test_a_bent_lens_is_straightened(plugged: Any, bend: float) -> None:
    """The colours say in which direction each pixel of the bent picture looks."""
    size = 96
    matrix = Lens(size, size, 60.0).intrinsics
    lens = intrinsics(matrix, size, size, (bend, 0.0, 0.0, 0.0, 0.0))
    rays = np.array(
        [
            rs.rs2_deproject_pixel_to_point(lens, [float(u), float(v)], 1.0)
            for v in range(size)
            for u in range(size)
        ]
    ).reshape(size, size, 3)
    color = np.rint(128 + 120 * rays / 0.8).clip(0, 255).astype(np.uint8)
    depth = np.full((size, size), 5000, dtype=np.uint16)
    wide = intrinsics(Lens(size, size, 75.0).intrinsics, size, size)
    device = plugged(lambda _: (color, depth), color_lens=lens, depth_lens=wide)
    camera = device.camera(width=size, height=size)
    frame = camera.capture()
    camera.close()
    points = frame.points()
    known = frame.depth_m > 0
    assert known[20:-20, 20:-20].all()
    found = points[known][:, :2] / points[known][:, 2:]
    told = (frame.rgb[known][:, :2].astype(float) - 128) / 120 * 0.8
    assert np.abs(found - told).max() < 1.2 / matrix[0, 0]  # a pixel, and the colours' steps
