"""A RealSense device in software: the library's own pipeline, fed with pictures from here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robots.perception.lens import Lens
from robots.perception.realsense import RealSenseCamera

try:
    import pyrealsense2 as rs
except ImportError:
    rs = None  # tests that use it are skipped

SERIAL = "832112070255"
WIDTH, HEIGHT = 64, 48
Pictures = Callable[[int], tuple[Any, Any]]


def intrinsics(matrix: Any, width: int, height: int, coeffs: Any = (0.0,) * 5) -> Any:
    made = rs.intrinsics()
    made.width, made.height = width, height
    made.fx, made.fy = float(matrix[0, 0]), float(matrix[1, 1])
    made.ppx, made.ppy = float(matrix[0, 2]) - 0.5, float(matrix[1, 2]) - 0.5
    made.model, made.coeffs = rs.distortion.inverse_brown_conrady, list(coeffs)
    return made


MATRIX = Lens(WIDTH, HEIGHT, 45.0).intrinsics
"""The colour lens; depth has a wider one, as in the device."""
WIDE = Lens(WIDTH, HEIGHT, 58.0).intrinsics


@dataclass
class Device:
    """A device in software that sends pictures from a thread of its own."""

    pictures: Pictures
    """Colours (uint8) and depth (uint16, units of 0.1 mm) of the picture of a number."""
    depth_lens: Any = field(default_factory=lambda: intrinsics(WIDE, WIDTH, HEIGHT))
    color_lens: Any = field(default_factory=lambda: intrinsics(MATRIX, WIDTH, HEIGHT))
    color_at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Of the colour camera, seen from the depth camera, metres."""
    sent: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.context = rs.context()
        self._first = rs.pipeline(self.context)  # the context lists what is added later
        self._device = rs.software_device()
        sensors = [self._device.add_sensor(name) for name in ("Stereo Module", "RGB Camera")]
        sensors[0].add_read_only_option(rs.option.depth_units, 0.0001)
        self._streams = [
            (sensors[0], self._stream(sensors[0], rs.stream.depth, rs.format.z16, 2)),
            (sensors[1], self._stream(sensors[1], rs.stream.color, rs.format.rgb8, 3)),
        ]
        shift = rs.extrinsics()
        shift.rotation = np.eye(3).ravel().tolist()
        shift.translation = [-part for part in self.color_at]
        self._streams[0][1].register_extrinsics_to(self._streams[1][1], shift)
        self._device.create_matcher(rs.matchers.default)
        self._device.register_info(rs.camera_info.serial_number, SERIAL)
        self._device.register_info(rs.camera_info.name, "software device")
        self._device.add_to(self.context)
        self._thread: threading.Thread | None = None

    def _stream(self, sensor: Any, kind: Any, form: Any, size: int) -> Any:
        stream = rs.video_stream()
        lens = self.depth_lens if kind == rs.stream.depth else self.color_lens
        stream.type, stream.fmt, stream.bpp = kind, form, size
        stream.index, stream.uid, stream.fps = 0, size, 30
        stream.width, stream.height, stream.intrinsics = lens.width, lens.height, lens
        return sensor.add_video_stream(stream)

    def send(self) -> None:
        """Send one picture."""
        color, depth = self.pictures(self.sent)
        for (sensor, stream), pixels in zip(self._streams, (depth, color), strict=True):
            size = pixels.dtype.itemsize * (pixels.shape[2] if pixels.ndim == 3 else 1)
            frame = rs.software_video_frame()
            frame.pixels, frame.bpp, frame.stride = pixels, size, pixels.shape[1] * size
            frame.timestamp, frame.domain = self.sent * 33.0, rs.timestamp_domain.hardware_clock
            frame.frame_number, frame.profile = self.sent, stream.as_video_stream_profile()
            if size == 2:
                frame.depth_units = 0.0001
            sensor.on_video_frame(frame)
        self.sent += 1

    def plug_in(self) -> None:
        self.stopped = threading.Event()

        def run() -> None:
            while not self.stopped.wait(0.002):
                self.send()

        self._thread = threading.Thread(target=run)
        self._thread.start()

    def unplug(self) -> None:
        self.stopped.set()
        if self._thread is not None:
            self._thread.join()

    def camera(self, **options: Any) -> RealSenseCamera:
        settings = {"width": WIDTH, "height": HEIGHT, "warm_up": 3, "context": self.context}
        settings |= {"pose": lambda: np.eye(4)} | options
        return RealSenseCamera(**settings)
