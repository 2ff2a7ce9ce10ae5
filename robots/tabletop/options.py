"""What a person says of a real arm: its controller, its gripper, its table and what sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from cap.errors import UsageError, did_you_mean
from robots.arm.gripper import OPEN_GAP_M
from robots.arm.ur5e import TOOL_LENGTH
from robots.tabletop.gripper import MAX_STROKE_M
from robots.tabletop.limits import MotionLimits


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
