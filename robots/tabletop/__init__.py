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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from cap.errors import UsageError, did_you_mean
from robots.arm import rotations
from robots.arm.gripper import OPEN_GAP_M
from robots.arm.ur5e import TOOL_LENGTH
from robots.perception import hand_eye
from robots.perception.looking import choose_detector, listed
from robots.perception.realsense import RealSenseCamera
from robots.ravens.observation import SHAPES
from robots.ravens.scene import sample_scene
from robots.table.object_names import DEFAULT_NAMES, check_names
from robots.tabletop.bring_up import TabletopBringUp
from robots.tabletop.controller import ControllerDriver
from robots.tabletop.dry_run import DIALECTS, DryDriver
from robots.tabletop.gripper import MAX_STROKE_M, fingers_of
from robots.tabletop.limits import MotionLimits
from robots.tabletop.observation import CameraSight, ListedSight, Sight, scene_of
from robots.tabletop.robot import TabletopRobot
from robots.tabletop.safety_guard import GuardedArm

__all__ = ["PROMPTS", "TabletopRobot", "arm_driver", "bring_up", "create"]

PROMPTS = "ravens"
"""The folder of its prompts: the primitives are the same, so the examples are."""

_INVENTED = (
    "the table is invented, as no -R scene=FILE and no -R camera=realsense is given: give the one "
    "that the session had again"
)


@dataclass(frozen=True, kw_only=True)
class TabletopOptions(MotionLimits):
    """The options of the arm, by the names in which `-R` takes them; its limits are among them."""

    host: str | None = None
    """The controller's address; needed unless it is a dry run."""
    driver: str = "ur_rtde"
    """`ur_rtde` (any UR with RTDE) or `urx` (also CB2)."""
    gripper: str = "tool_io"
    """`robotiq` (its socket), `tool_io` (a tool output closes it; `tool_io:1` for the second),
    `standard_io:3` (an output of the control box) or `none`."""
    scene: str | None = None
    """A file that lists where the objects are, instead of a camera."""
    camera: str | None = None
    """`realsense`."""
    calibration: str | None = None
    """Where the camera is: a hand-eye calibration file."""
    detector: str | None = None
    """A trained zero-shot detector instead of colours and sizes (extra `detect`)."""
    table_z_m: Annotated[float, Meta(ge=-2, le=2)] = 0.0
    """Height of the table top in the base frame, metres."""
    tool_m: Annotated[float, Meta(ge=0, le=1)] = TOOL_LENGTH
    """Flange to fingertips, metres; the tool centre point on the pendant must agree."""
    tool_turn_deg: Annotated[float, Meta(ge=-360, le=360)] = 0.0
    """How far the direction the fingers close in, which is the tool centre point's x axis, is
    turned from the flange's, degrees."""
    stroke_m: Annotated[float, Meta(ge=0, le=MAX_STROKE_M)] = OPEN_GAP_M
    """How far the fingers open, metres. A `robotiq` stops anywhere; any other gripper opens so far
    each time, and plans leave room for it."""
    names: Sequence[str] | None = None
    """What such a detector looks for."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TabletopOptions:
        """Read options by name.

        Raises:
            UsageError: A name is unknown, or a value is not what it should be.
        """
        limits = [entry.name for entry in fields(MotionLimits)]
        own = [entry.name for entry in fields(cls) if entry.name not in limits]
        known = [*own, *limits]
        for name in given:
            if name not in known:
                hint = did_you_mean(name, known) or f" It takes: {', '.join(known)}."
                raise UsageError(f"robot 'tabletop' has no option {name!r}.{hint}")
        try:
            return msgspec.convert(dict(given), cls)
        except msgspec.ValidationError as error:
            why = str(error).replace("`", "'").replace("$.", "")
            raise UsageError(f"options of the robot 'tabletop': {why}") from None

    @property
    def sees(self) -> bool:
        """Whether something knows where objects are."""
        return self.scene is not None or self.camera is not None


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
    invented = sample_scene(names, np.random.default_rng(seed))
    return TabletopRobot(arm, ListedSight(lambda: invented), _INVENTED)


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
    if (path := options.scene) is not None:
        for name in ("calibration", "detector", "names"):
            if getattr(options, name) is not None:
                raise UsageError(f"{name} is for a camera, and here a file lists the objects")
        return ListedSight(lambda: scene_of(listed(path)))
    if options.camera != "realsense":
        raise UsageError(f"no camera {options.camera!r}; use 'realsense'")
    if options.calibration is None:
        raise UsageError("a camera needs its hand-eye calibration: -R calibration=FILE")
    seen_by = choose_detector(options.detector, SHAPES, options.names or ())
    place = hand_eye.load(options.calibration)
    above = rotations.pose_of((0.0, 0.0, -arm.table_z_m))
    pose = place.pose_source(arm.driver.tcp_pose, base=above)
    return CameraSight(RealSenseCamera(pose, serial=place.serial), seen_by)
