"""An Intel RealSense depth camera of the D400 family (extra `realsense`)."""

from __future__ import annotations

import contextlib
import importlib
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cap.errors import MissingExtra, NotConnected, RobotError, install_extra
from robots.arm.rotations import rotation_vector
from robots.perception.camera import Array, Frame

Straightening = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]
_SKIPPED = 1
"""Pictures that come after the waiting ones and may still have been exposed before the call."""
_TRIES = 3
_STILL_M, _STILL_RAD = 0.001, 0.003
"""A camera that moves further while it takes a picture is not at rest."""


class RealSenseCamera:
    """Colour and the depth of the same pixels, from the device itself."""

    def __init__(
        self,
        pose: Callable[[], Array],
        *,
        serial: str | None = None,
        width: int = 640,
        height: int = 480,
        fps: int = 30,
        timeout_s: float = 5.0,
        warm_up: int = 30,
        context: Any = None,
    ) -> None:
        """Start the camera and wait until its exposure has settled; this takes a second or two.

        Args:
            pose: Says where the colour camera is in the robot's frame, shape (4, 4), metres, such
                as `HandEye.camera_pose` does.
            serial: Which device, if there are several.
            width: Of its pictures, pixels; one of the device's own modes.
            height: Of its pictures, pixels.
            fps: Pictures per second.
            timeout_s: Longest wait for a picture.
            warm_up: Pictures left out while the exposure settles.
            context: A `pyrealsense2.context` that has the device; the computer's own if None.

        Raises:
            MissingExtra: `pyrealsense2` is not installed, or a system library it needs.
            NotConnected: There is no such device, it has no such mode, or it does not answer.
        """
        rs = self._rs = _library()
        self._pose = pose
        self._timeout_s = timeout_s
        context = rs.context() if context is None else context
        _check_present(rs, context, serial)
        self._pipeline: Any = rs.pipeline(context)
        profile = _started(rs, self._pipeline, serial, width, height, fps)
        self._align = rs.align(rs.stream.color)
        color = profile.get_stream(rs.stream.color).as_video_stream_profile().get_intrinsics()
        # The device counts from the first pixel's centre.
        across, down = color.ppx + 0.5, color.ppy + 0.5
        self._intrinsics = np.array(
            [[color.fx, 0.0, across], [0.0, color.fy, down], [0.0, 0.0, 1.0]]
        )
        self._straight = _straightening(rs, color)
        try:
            self._next(skip=warm_up)
        except NotConnected:
            self.close()
            raise

    def capture(self) -> Frame:
        """Take a picture that was exposed after this call.

        Raises:
            NotConnected: The device sends no pictures, such as after it was unplugged, or the
                camera was closed. Plugged in again, it goes on.
            RobotError: The camera moved meanwhile, each of three times.
        """
        for _ in range(_TRIES):
            before = self._pose()
            if self._pipeline is None:
                raise NotConnected("the RealSense camera is closed; make another")
            # Pictures taken before now are dropped; `_next` says what is wrong.
            with contextlib.suppress(RuntimeError):
                while self._pipeline.poll_for_frames():
                    pass
            rgb, depth_m = self._next(skip=_SKIPPED)
            if _at_rest(before, self._pose()):
                return Frame(rgb, depth_m, self._intrinsics, before)
        raise RobotError("the camera moved while it took a picture; let the arm come to rest first")

    def close(self) -> None:
        """Stop the device; doing so twice does no harm."""
        if self._pipeline is not None:
            with contextlib.suppress(RuntimeError):  # unplugged, it cannot be stopped
                self._pipeline.stop()
            self._pipeline = None

    def _next(self, skip: int) -> tuple[Any, Array]:
        """Return colours and depth (m) of the next picture but `skip`."""
        left = skip
        deadline = time.monotonic() + self._timeout_s
        while (rest_s := deadline - time.monotonic()) > 0:
            try:
                frames = self._pipeline.wait_for_frames(max(1, math.ceil(rest_s * 1000)))
                color, depth = frames.get_color_frame(), frames.get_depth_frame()
                if not color or not depth:
                    continue
                if left:
                    left, deadline = left - 1, time.monotonic() + self._timeout_s
                    continue
                return self._pictures(self._align.process(frames))
            except RuntimeError as error:
                raise NotConnected(_silent(str(error))) from None
        raise NotConnected(_silent(f"nothing for {self._timeout_s:g} s"))

    def _pictures(self, aligned: Any) -> tuple[Any, Array]:
        """Return copies of colours and depth (m), as a camera without distortion takes them."""
        color, depth = aligned.get_color_frame(), aligned.get_depth_frame()
        rgb = np.array(color.get_data(), dtype=np.uint8)
        depth_m = np.asarray(depth.get_data()).astype(np.float64) * depth.get_units()
        if self._straight is None:
            return rgb, depth_m
        rows, columns, outside = self._straight
        rgb, depth_m = rgb[rows, columns], depth_m[rows, columns]
        rgb[outside], depth_m[outside] = 0, 0.0
        return rgb, depth_m


def _library() -> Any:
    try:
        return importlib.import_module("pyrealsense2")
    except ModuleNotFoundError:
        raise MissingExtra(
            "a RealSense camera needs pyrealsense2; run: "
            f"{install_extra('realsense')} (Linux and Windows on x86-64; on other systems build "
            "librealsense with its Python bindings)"
        ) from None
    except ImportError as error:  # it is there, a system library it needs is not
        raise MissingExtra(
            f"pyrealsense2 does not load: {_line(error)}; install the system library it names "
            "(libusb on Debian and Ubuntu: apt-get install libusb-1.0-0)"
        ) from None


def _check_present(rs: Any, context: Any, serial: str | None) -> None:
    """Say at once that a device is missing: the library would wait 15 s for one to come."""
    number = rs.camera_info.serial_number
    found = [each.get_info(number) for each in context.query_devices() if each.supports(number)]
    if not found:
        raise NotConnected(
            "no RealSense camera found; check its cable, a USB 3 port and access rights (udev)"
        )
    if serial is not None and serial not in found:
        raise NotConnected(f"no RealSense camera {serial!r}; connected: {', '.join(found)}")


def _started(rs: Any, pipeline: Any, serial: str | None, width: int, height: int, fps: int) -> Any:
    """Start the streams of colour and depth; return the profile they have.

    Raises:
        NotConnected: The device has no such mode, or another program uses it.
    """
    config = rs.config()
    if serial is not None:
        config.enable_device(serial)
    config.enable_stream(rs.stream.depth, width, height, rs.format.z16, fps)
    config.enable_stream(rs.stream.color, width, height, rs.format.rgb8, fps)
    try:
        return pipeline.start(config)
    except RuntimeError as error:
        raise NotConnected(
            f"the RealSense camera does not start with {width}x{height} at {fps} fps: "
            f"{_line(error)}; close other programs that use it, or choose a mode it has (USB 2 "
            "has fewer)"
        ) from None


def _silent(why: str) -> str:
    return f"the RealSense camera sends no pictures ({_line(why)}); check its cable"


def _line(text: object) -> str:
    return " ".join(str(text).split())


def _straightening(rs: Any, color: Any) -> Straightening | None:
    """Return where a camera without distortion finds each pixel; None if there is none.

    Rows, columns (both clipped to the picture) and which pixels lie outside, each (height, width).
    """
    if color.model == rs.distortion.none or not any(color.coeffs):
        return None
    places = np.array(
        [
            rs.rs2_project_point_to_pixel(color, [x, y, 1.0])
            for y in (np.arange(color.height) - color.ppy) / color.fy
            for x in (np.arange(color.width) - color.ppx) / color.fx
        ]
    ).reshape(color.height, color.width, 2)
    columns, rows = np.moveaxis(np.rint(places), -1, 0).astype(int)
    across, down = np.clip(columns, 0, color.width - 1), np.clip(rows, 0, color.height - 1)
    return down, across, (across != columns) | (down != rows)


def _at_rest(before: Array, after: Array) -> bool:
    turn = rotation_vector(before[:3, :3].T @ after[:3, :3])
    moved = float(np.linalg.norm(after[:3, 3] - before[:3, 3]))
    return moved <= _STILL_M and float(np.linalg.norm(turn)) <= _STILL_RAD
