"""What a person says of a real arm: its controller, its gripper, its table and what sees it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from cap.errors import UsageError, did_you_mean
from robots.arm.gripper import OPEN_GAP_M
from robots.arm.ur5e import TOOL_LENGTH
from robots.tabletop.gripper import MAX_STROKE_M
from robots.tabletop.limits import MotionLimits

_NUMBERS = {
    "table_z_m": (-2.0, 2.0),
    "tool_m": (0.0, 1.0),
    "tool_turn_deg": (-360.0, 360.0),
    "stroke_m": (0.0, MAX_STROKE_M),
}
"""Options that are numbers: the least and the greatest."""


@dataclass(frozen=True, kw_only=True)
class TabletopOptions:
    """The options of the arm, by the names in which `-R` takes them."""

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
    table_z_m: float = 0.0
    """Height of the table top in the base frame, metres."""
    tool_m: float = TOOL_LENGTH
    """Flange to fingertips, metres; the tool centre point on the pendant must agree."""
    tool_turn_deg: float = 0.0
    """How far the direction the fingers close in, which is the tool centre point's x axis, is
    turned from the flange's, degrees."""
    stroke_m: float = OPEN_GAP_M
    """How far the fingers open, metres. A `robotiq` stops anywhere; any other gripper opens so far
    each time, and plans leave room for it."""
    names: Sequence[str] | None = None
    """What such a detector looks for."""
    limits: MotionLimits = field(default_factory=MotionLimits)
    """Of motion; each is an option of its own."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> TabletopOptions:
        """Read options by name: these, and limits by the names in `MotionLimits`.

        The limit `tilt_rad` is said in degrees, as `tilt_deg`.

        Raises:
            UsageError: A name is unknown, or a value is not what it should be.
        """
        known = [entry.name for entry in fields(cls) if entry.name != "limits"]
        own = {name: value for name, value in given.items() if name in known}
        for name, value in own.items():
            if name in _NUMBERS:
                least, most = _NUMBERS[name]
                if not least <= _number(name, value) <= most:
                    raise UsageError(f"{name} must be from {least:g} to {most:g}, not {value}")
            elif name == "names":
                if isinstance(value, str) or not all(isinstance(one, str) for one in value or ()):
                    raise UsageError(
                        f'names must be a list, such as ["apple", "mug"], not {value!r}'
                    )
            elif not (value is None or isinstance(value, str)):
                raise UsageError(f"{name} must be text, not {value!r}")
        limits = {name: value for name, value in given.items() if name not in own}
        return cls(**own, limits=_limits(limits, known))

    @property
    def sees(self) -> bool:
        """Whether something knows where objects are."""
        return self.scene is not None or self.camera is not None


def _limits(given: Mapping[str, Any], others: Sequence[str]) -> MotionLimits:
    """Read limits by name; the names of other options are for the message alone.

    Raises:
        UsageError: A name is unknown, or a value is not what it should be.
    """
    limits = {entry.name: entry.default for entry in fields(MotionLimits)}
    known = [*others, "tilt_deg", *limits]
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
