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
from typing import Any

from cap.errors import UsageError, did_you_mean
from robots.arm import rotations
from robots.arm.gripper import OPEN_GAP_M
from robots.perception.calibration import file
from robots.perception.observers import CameraObserver, choose_detector
from robots.perception.realsense import RealSenseCamera
from robots.perception.scene_file import SceneFile
from robots.ravens.observation import SHAPES
from robots.table.object_names import DEFAULT_NAMES, check_names
from robots.tabletop.bring_up import TabletopBringUp
from robots.tabletop.controller import ControllerDriver
from robots.tabletop.dry_run import DIALECTS, DryDriver
from robots.tabletop.gripper import fingers_of
from robots.tabletop.observation import CameraSight, InventedTable, ListedSight, Sight
from robots.tabletop.options import TabletopOptions
from robots.tabletop.robot import TabletopRobot
from robots.tabletop.safety_guard import GuardedArm

__all__ = ["PROMPTS", "TabletopRobot", "arm_driver", "bring_up", "create"]

PROMPTS = "ravens"
"""The folder of its prompts: the primitives are the same, so the examples are."""

_INVENTED = (
    "the table is invented, as no -R scene=FILE and no -R camera=realsense is given: give the one "
    "that the session had again"
)


def create(
    *,
    mode: str = "physics",
    seed: int = 0,
    objects: Sequence[str] | None = None,
    **options: Any,
) -> TabletopRobot:
    """Connect to the arm.

    Args:
        mode: `instant` makes it a dry run: commands are written down and nothing is sent; its
            table is invented unless `scene` or `camera` gives objects.
        seed: Of an invented table.
        objects: What stands on an invented table; otherwise the camera says what is there.
        options: As `TabletopOptions.of` takes them.

    Raises:
        UsageError: Something is missing, unknown or beyond the ceilings.
        NotConnected, ProtectiveStop, LimitExceeded: As `GuardedArm.connect`.
        MissingExtra: The driver or the camera needs an extra.
    """
    given = TabletopOptions.of(options)
    dry = mode == "instant"
    if objects is not None and (not dry or given.scene or given.camera):
        raise UsageError("--objects invents a table for a dry run; here the camera sees one")
    if given.driver not in DIALECTS:
        raise UsageError(f"no driver {given.driver!r}; use {' or '.join(map(repr, DIALECTS))}")
    if not dry:
        arm = _arm(given)
        return TabletopRobot(arm, _sight(given, arm))
    fingers = fingers_of(given.gripper, given.stroke_m)
    written = DryDriver(given.driver, table_z_m=given.table_z_m, fingers=fingers)
    arm = GuardedArm(written, given, given.table_z_m)
    if given.sees:
        return TabletopRobot(arm, _sight(given, arm))
    names = DEFAULT_NAMES if objects is None else check_names(objects)
    return TabletopRobot(arm, ListedSight(InventedTable(names, seed)), _INVENTED)


def bring_up(**options: Any) -> TabletopBringUp:
    """Return the checklist of a new arm, with the options of `create`; nothing is connected yet."""
    given = TabletopOptions.of(options)
    arm = _arm(given)
    return TabletopBringUp(arm, given.host or "", _sight(given, arm) if given.sees else None)


def _arm(options: TabletopOptions) -> GuardedArm:
    """Return the arm itself, not connected yet."""
    return GuardedArm(
        arm_driver(options.driver, options.host, options.gripper, options.stroke_m),
        options,
        options.table_z_m,
        options.tool_m,
        math.radians(options.tool_turn_deg),
    )


def arm_driver(
    name: str, host: str | None, gripper: str = "tool_io", stroke_m: float = OPEN_GAP_M
) -> ControllerDriver:
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


def _sight(options: TabletopOptions, arm: GuardedArm) -> Sight:
    """Return what sees the objects.

    Raises:
        UsageError: It is not known by what, or from where.
        MissingExtra: The camera or its detector needs an extra.
    """
    if (options.scene is None) == (options.camera is None):
        raise UsageError(
            "say how objects are seen: -R camera=realsense -R calibration=FILE, or list them in "
            "a file, -R scene=FILE; one of the two"
        )
    if options.scene is not None:
        for name in ("calibration", "detector", "names"):
            if getattr(options, name) is not None:
                raise UsageError(f"{name} is for a camera, and here a file lists the objects")
        return ListedSight(SceneFile(options.scene))
    if options.camera != "realsense":
        raise UsageError(f"no camera {options.camera!r}; use 'realsense'")
    if options.calibration is None:
        raise UsageError("a camera needs its hand-eye calibration: -R calibration=FILE")
    seen_by = choose_detector(options.detector, SHAPES, options.names or ())
    place = file.load(options.calibration)
    above = rotations.pose_of((0.0, 0.0, -arm.table_z_m))
    pose = place.pose_source(arm.driver.tcp_pose, base=above)
    return CameraSight(CameraObserver(RealSenseCamera(pose, serial=place.serial), seen_by))
