"""What goes wrong on purpose: a noisy camera, a hand that misses, a grasp that slips.

All of it comes from the world's own generator, which is part of the world's state: the same seed
and the same commands go wrong in the same way, also after a snapshot is restored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from cap.errors import UsageError
from robots.perception.camera import Frame
from robots.ravens.scene import Body
from robots.ravens.transfer import Transfer
from robots.table.geometry import Vec3

Size = Annotated[float, Meta(ge=0, le=255)]


class Disturbances(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Standard deviations of normal noise, and how often a grasp slips; all 0 by default."""

    camera_color: Size = 0.0
    """Of each colour value, 0 to 255; 3 in the original environment."""
    camera_depth_m: Size = 0.0
    """Of each depth, metres; 0.003 in the original environment."""
    pick_m: Size = 0.0
    """Of where the gripper closes, in x and in y, metres."""
    place_m: Size = 0.0
    """Of where the object is put down, in x and in y, metres."""
    drop: Annotated[float, Meta(ge=0, le=1)] = 0.0
    """Probability that an object slips from the fingers as it is lifted."""

    @property
    def moves(self) -> bool:
        """True if motions are disturbed."""
        return bool(self.pick_m or self.place_m or self.drop)

    def of_frame(self, frame: Frame, generator: np.random.Generator) -> Frame:
        """Return a frame as a noisy camera takes it; unknown depths stay unknown."""
        rgb, depth = frame.rgb, frame.depth_m
        if self.camera_color:
            noisy = rgb + generator.normal(0.0, self.camera_color, rgb.shape)
            rgb = np.clip(noisy, 0, 255).astype(np.uint8)
        if self.camera_depth_m:
            noise = generator.normal(0.0, self.camera_depth_m, depth.shape)
            depth = np.where(depth > 0, depth + noise, depth)
        return replace(frame, rgb=rgb, depth_m=depth)

    def of_transfer(
        self, planned: Transfer, generator: np.random.Generator
    ) -> tuple[Transfer, bool]:
        """Return a motion as a clumsy hand makes it, and whether the object slips on the way."""
        pick, place = (
            generator.normal(0.0, size_m, 2) if size_m else np.zeros(2)
            for size_m in (self.pick_m, self.place_m)
        )
        slips = bool(self.drop) and bool(generator.random() < self.drop)
        grip = replace(planned.pick, tip=_shifted(planned.pick.tip, pick))
        result = tuple(_moved(body, place) for body in planned.result)
        return replace(planned, pick=grip, result=result), slips


def parse(values: Any) -> Disturbances:
    """Return disturbances given by name.

    Raises:
        UsageError: An unknown name, or a value that is no size.
    """
    try:
        return msgspec.convert(values or {}, Disturbances)
    except msgspec.ValidationError as error:
        known = ", ".join(Disturbances.__struct_fields__)
        why = str(error).replace("`", "'").replace("$.", "")
        raise UsageError(f"disturbances: {why}; known: {known}") from None


def _shifted(place: Vec3, by: Any) -> Vec3:
    return place[0] + float(by[0]), place[1] + float(by[1]), place[2]


def _moved(body: Body, by: Any) -> Body:
    return replace(body, position=_shifted(body.position, by))
