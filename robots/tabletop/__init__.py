"""A real UR5e at a table: the primitives of the simulated tabletop, on hardware.

Programs are the same as for `ravens`, and so are their plans; a driver (`urx` or `ur_rtde`) sends
them to the controller as straight moves, one after the other, each checked against limits first.
Those limits are not safety-rated: the robot's own safety configuration, an emergency stop within
reach and a risk assessment are what protects people.

The tool centre point set on the pendant must be between the fingertips, its z axis along them; the
base frame's z axis must point up, the table in front of it at negative y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from cap.errors import UsageError, did_you_mean
from robots.arm import rotations
from robots.arm.gripper import OPEN_GAP_M
from robots.arm.ur5e import TOOL_LENGTH
from robots.perception.calibration import file
from robots.perception.observers import CameraObserver, choose_detector
from robots.perception.realsense import RealSenseCamera
from robots.perception.scene_file import SceneFile
from robots.ravens.observation import SHAPES
from robots.table.object_names import DEFAULT_NAMES, check_names
from robots.tabletop.bring_up import TabletopBringUp
from robots.tabletop.driver import ArmDriver
from robots.tabletop.dry_run import DIALECTS, DryDriver
from robots.tabletop.gripper import MAX_STROKE_M, fingers_of
from robots.tabletop.limits import MotionLimits
from robots.tabletop.observation import CameraSight, InventedTable, ListedSight, Sight
from robots.tabletop.robot import TabletopRobot
from robots.tabletop.safety_guard import GuardedArm

__all__ = ["PROMPTS", "TabletopRobot", "arm_driver", "bring_up", "create"]

PROMPTS = "ravens"
"""The folder of its prompts: the primitives are the same, so the examples are."""

_INVENTED = (
    "the table is invented, as no -R scene=FILE and no -R camera=realsense is given: give the one "
    "that the session had again"
)
_TEXTS = ("host", "driver", "gripper", "scene", "camera", "calibration", "detector")
_NUMBERS = {
    "table_z_m": (-2.0, 2.0),
    "tool_m": (0.0, 1.0),
    "tool_turn_deg": (-360.0, 360.0),
    "stroke_m": (0.0, MAX_STROKE_M),
}
"""Options that are numbers: the least and the greatest."""


def create(
    *,
    host: str | None = None,
    driver: str = "ur_rtde",
    gripper: str = "tool_io",
    scene: str | None = None,
    camera: str | None = None,
    calibration: str | None = None,
    detector: str | None = None,
    names: Sequence[str] | None = None,
    table_z_m: float = 0.0,
    tool_m: float = TOOL_LENGTH,
    tool_turn_deg: float = 0.0,
    stroke_m: float = OPEN_GAP_M,
    mode: str = "physics",
    seed: int = 0,
    objects: Sequence[str] | None = None,
    **limits: Any,
) -> TabletopRobot:
    """Connect to the arm.

    Args:
        host: The controller's address; needed unless it is a dry run.
        driver: `ur_rtde` (any UR with RTDE) or `urx` (also CB2).
        gripper: `robotiq` (its socket), `tool_io` (a tool output closes it; `tool_io:1` for the
            second), `standard_io:3` (an output of the control box) or `none`.
        scene: A file that lists where the objects are, instead of a camera.
        camera: `realsense`.
        calibration: Where the camera is: a hand-eye calibration file.
        detector: A trained zero-shot detector instead of colours and sizes (extra `detect`).
        names: What such a detector looks for.
        table_z_m: Height of the table top in the base frame, metres.
        tool_m: Flange to fingertips, metres; the tool centre point on the pendant must agree.
        tool_turn_deg: How far the direction the fingers close in, which is the tool centre point's
            x axis, is turned from the flange's, degrees.
        stroke_m: How far the fingers open, metres. A `robotiq` stops anywhere; any other gripper
            opens so far each time, and plans leave room for it.
        mode: `instant` makes it a dry run: commands are written down and nothing is sent; its
            table is invented unless `scene` or `camera` tells of objects.
        seed: Of an invented table.
        objects: What stands on an invented table; otherwise the camera says what is there.
        limits: Of motion, by the names in `MotionLimits`; `tilt_deg` in degrees.

    Raises:
        UsageError: Something is missing, unknown or beyond the ceilings.
        NotConnected, ProtectiveStop, LimitExceeded: As `GuardedArm.connect`.
        MissingExtra: The driver or the camera needs an extra.
    """
    _require_sound(
        host=host,
        driver=driver,
        gripper=gripper,
        scene=scene,
        camera=camera,
        calibration=calibration,
        detector=detector,
        names=names,
        table_z_m=table_z_m,
        tool_m=tool_m,
        tool_turn_deg=tool_turn_deg,
        stroke_m=stroke_m,
    )
    if objects is not None and (mode != "instant" or scene or camera):
        raise UsageError("--objects invents a table for a dry run; here the camera tells of one")
    if driver not in DIALECTS:
        raise UsageError(f"no driver {driver!r}; use {' or '.join(map(repr, DIALECTS))}")
    allowed = _limits(limits)
    dry = mode == "instant"
    if dry:
        fingers = fingers_of(gripper, stroke_m)
        written = DryDriver(driver, table_z_m=table_z_m, fingers=fingers)
        arm = GuardedArm(written, allowed, table_z_m)
    else:
        real = arm_driver(driver, host, gripper, stroke_m)
        arm = GuardedArm(real, allowed, table_z_m, tool_m, math.radians(tool_turn_deg))
    if dry and scene is None and camera is None:
        names = DEFAULT_NAMES if objects is None else check_names(objects)
        return TabletopRobot(arm, ListedSight(InventedTable(names, seed)), _INVENTED)
    return TabletopRobot(arm, _sight(scene, camera, calibration, detector, names, arm))


def bring_up(
    *,
    host: str | None = None,
    driver: str = "ur_rtde",
    gripper: str = "tool_io",
    scene: str | None = None,
    camera: str | None = None,
    calibration: str | None = None,
    detector: str | None = None,
    names: Sequence[str] | None = None,
    table_z_m: float = 0.0,
    tool_m: float = TOOL_LENGTH,
    tool_turn_deg: float = 0.0,
    stroke_m: float = OPEN_GAP_M,
    **limits: Any,
) -> TabletopBringUp:
    """Return the checklist of a new arm, with the options of `create`; nothing is connected yet."""
    _require_sound(
        host=host,
        driver=driver,
        gripper=gripper,
        scene=scene,
        camera=camera,
        calibration=calibration,
        detector=detector,
        names=names,
        table_z_m=table_z_m,
        tool_m=tool_m,
        tool_turn_deg=tool_turn_deg,
        stroke_m=stroke_m,
    )
    real = arm_driver(driver, host, gripper, stroke_m)
    arm = GuardedArm(real, _limits(limits), table_z_m, tool_m, math.radians(tool_turn_deg))
    seen = scene is not None or camera is not None
    sight = _sight(scene, camera, calibration, detector, names, arm) if seen else None
    return TabletopBringUp(arm, host or "", sight)


def _limits(given: dict[str, Any]) -> MotionLimits:
    """Read limits by name.

    Raises:
        UsageError: A name is unknown, or a value is not what it should be.
    """
    limits = {field.name: field.default for field in fields(MotionLimits)}
    known = [*_TEXTS, *_NUMBERS, "names", "tilt_deg", *limits]
    known.remove("tilt_rad")
    values: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            hint = did_you_mean(name, known) or f" It takes: {', '.join(known)}."
            raise UsageError(f"robot 'tabletop' has no option {name!r}.{hint}")
        if not isinstance(limits.get(name), tuple):
            values[name] = _number(name, value)
        elif isinstance(value, list | tuple) and len(value) == 2:
            values[name] = tuple(_number(name, one) for one in value)
        else:
            raise UsageError(f"{name} must be [least, greatest], such as [-0.4, 0.4], not {value}")
    if "tilt_deg" in values:
        values["tilt_rad"] = math.radians(values.pop("tilt_deg"))
    return MotionLimits(**values)


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError(f"{name} must be a finite number, not {value!r}")
    return value


def _require_sound(**given: Any) -> None:
    """Refuse options that are not what they should be, before anything is connected.

    Raises:
        UsageError: There is one.
    """
    for name, value in given.items():
        if name in _NUMBERS:
            least, most = _NUMBERS[name]
            if not least <= _number(name, value) <= most:
                raise UsageError(f"{name} must be from {least:g} to {most:g}, not {value}")
        elif name == "names":
            if isinstance(value, str) or not all(isinstance(one, str) for one in value or ()):
                raise UsageError(f'names must be a list, such as ["apple", "mug"], not {value!r}')
        elif not (value is None or isinstance(value, str)):
            raise UsageError(f"{name} must be text, not {value!r}")


def arm_driver(
    name: str, host: str | None, gripper: str = "tool_io", stroke_m: float = OPEN_GAP_M
) -> ArmDriver:
    """Return a driver by name; nothing is connected yet.

    Args:
        name: `ur_rtde`, or `urx`.
        host: The controller's address.
        gripper: `none`, `robotiq`, `tool_io[:0-1]` or `standard_io[:0-7]`.
        stroke_m: How far its fingers open, metres.

    Raises:
        UsageError: No host, or no such driver or gripper.
        MissingExtra: The driver's package is not installed.
    """
    if not host:
        raise UsageError(
            "say where the arm's controller is: -R host=192.168.0.10; or see the commands first "
            "with --dry-run; in Python: robot_options={'host': ...}, or mode='instant'"
        )
    if name == "urx":
        from robots.tabletop.urx.driver import UrxDriver

        return UrxDriver(host, gripper=gripper, stroke_m=stroke_m)
    if name == "ur_rtde":
        from robots.tabletop.rtde.driver import RtdeDriver

        return RtdeDriver(host, gripper=gripper, stroke_m=stroke_m)
    raise UsageError(
        f"there is no driver '{name}': use ur_rtde or urx." + did_you_mean(name, ("ur_rtde", "urx"))
    )


def _sight(
    scene: str | None,
    camera: str | None,
    calibration: str | None,
    detector: str | None,
    names: Sequence[str] | None,
    arm: GuardedArm,
) -> Sight:
    if (scene is None) == (camera is None):
        raise UsageError(
            "say how objects are seen: -R camera=realsense -R calibration=FILE, or list them in "
            "a file, -R scene=FILE; one of the two"
        )
    if scene is not None:
        for name, value in (("calibration", calibration), ("detector", detector), ("names", names)):
            if value is not None:
                raise UsageError(f"{name} is for a camera, and here a file lists the objects")
        return ListedSight(SceneFile(scene))
    if camera != "realsense":
        raise UsageError(f"no camera {camera!r}; use 'realsense'")
    if calibration is None:
        raise UsageError("a camera needs its hand-eye calibration: -R calibration=FILE")
    seen_by = choose_detector(detector, SHAPES, names or ())
    place = file.load(calibration)
    above = rotations.pose_of((0.0, 0.0, -arm.table_z_m))
    pose = place.pose_source(arm.driver.tcp_pose, base=above)
    return CameraSight(CameraObserver(RealSenseCamera(pose, serial=place.serial), seen_by))
