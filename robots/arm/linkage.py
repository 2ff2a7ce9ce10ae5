"""An arm as it is drawn: the visible shapes of its URDF file, and where each link is.

Of that format it knows what our own files hold: boxes, cylinders, joints that turn or slide.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

from cap.robot.view import ORIGIN, Placement, Rgb, Shape
from robots.table.geometry import Quat, Vec3


def turned(quaternion: Quat, vector: Vec3) -> Vec3:
    """Return a vector turned by a unit quaternion."""
    qx, qy, qz, w = quaternion
    x, y, z = vector
    tx, ty, tz = 2 * (qy * z - qz * y), 2 * (qz * x - qx * z), 2 * (qx * y - qy * x)
    return (
        x + w * tx + qy * tz - qz * ty,
        y + w * ty + qz * tx - qx * tz,
        z + w * tz + qx * ty - qy * tx,
    )


def within(outer: Placement, inner: Placement) -> Placement:
    """Return where something is that is placed in the frame of another placement."""
    q = (outer[3], outer[4], outer[5], outer[6])
    dx, dy, dz = turned(q, (inner[0], inner[1], inner[2]))
    ax, ay, az, aw = q
    bx, by, bz, bw = inner[3:]
    return (
        outer[0] + dx,
        outer[1] + dy,
        outer[2] + dz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@dataclass(frozen=True)
class _Joint:
    """One joint of the file."""

    parent: str
    child: str
    kind: str
    """`revolute`, `prismatic` or `fixed`."""
    origin: Placement
    axis: Vec3

    def placed(self, value: float) -> Placement:
        """Return where the child is in the frame of the parent."""
        x, y, z = self.axis
        if self.kind == "revolute":
            s, c = math.sin(value / 2), math.cos(value / 2)
            return within(self.origin, (0.0, 0.0, 0.0, x * s, y * s, z * s, c))
        if self.kind == "prismatic":
            return within(self.origin, (x * value, y * value, z * value, 0.0, 0.0, 0.0, 1.0))
        return self.origin


class Linkage:
    """The links of an arm."""

    shapes: Mapping[str, tuple[Shape, ...]]
    """What each link that can be seen is made of, as `arm/LINK`."""

    def __init__(self, urdf: Path) -> None:
        """Read a URDF file of ours."""
        root = ElementTree.parse(urdf).getroot()
        colors = {
            material.get("name", ""): _color(_read(material, "color", "rgba"))
            for material in root.findall("material")
        }
        self.shapes = {
            f"arm/{link.get('name')}": tuple(_shape(visual, colors) for visual in visuals)
            for link in root.findall("link")
            if (visuals := link.findall("visual"))
        }
        self._joints = tuple(_joint(joint) for joint in root.findall("joint"))
        children = {joint.child for joint in self._joints}
        self._root = next(joint.parent for joint in self._joints if joint.parent not in children)

    def placements(self, values: Sequence[float], base: Placement = ORIGIN) -> dict[str, Placement]:
        """Return where each link that can be seen is, as `arm/LINK`.

        Args:
            values: Of each joint that moves, in the file's order: radians, metres.
            base: Where the arm stands.
        """
        left = iter(values)
        found = {self._root: base}
        for joint in self._joints:
            value = 0.0 if joint.kind == "fixed" else next(left)
            found[joint.child] = within(found[joint.parent], joint.placed(value))
        return {
            f"arm/{name}": place for name, place in found.items() if f"arm/{name}" in self.shapes
        }


@lru_cache(maxsize=8)
def linkage(urdf: Path) -> Linkage:
    """Return the arm of a file, read once."""
    return Linkage(urdf)


def _read(element: ElementTree.Element, child: str, name: str, default: str = "") -> str:
    """Return an attribute of a child; the default where there is none."""
    found = element.find(child)
    return default if found is None else found.get(name, default)


def _numbers(text: str) -> Vec3:
    x, y, z = map(float, text.split())
    return (x, y, z)


def _color(rgba: str) -> Rgb:
    red, green, blue = (round(255 * float(share)) for share in rgba.split()[:3])
    return red, green, blue


def _origin(element: ElementTree.Element) -> Placement:
    """Return the origin that an element gives: xyz, and roll, pitch, yaw about fixed axes."""
    placed = (*_numbers(_read(element, "origin", "xyz", "0 0 0")), 0.0, 0.0, 0.0, 1.0)
    angles = _numbers(_read(element, "origin", "rpy", "0 0 0"))
    for angle, axis in zip(reversed(angles), ("z", "y", "x"), strict=True):
        s, c = math.sin(angle / 2), math.cos(angle / 2)
        about = [s if axis == one else 0.0 for one in "xyz"]
        placed = within(placed, (0.0, 0.0, 0.0, about[0], about[1], about[2], c))
    return placed


def _shape(visual: ElementTree.Element, colors: Mapping[str, Rgb]) -> Shape:
    color, at = colors[_read(visual, "material", "name")], _origin(visual)
    if size := _read(visual, "geometry/box", "size"):
        return Shape("box", color, _numbers(size), at)
    radius, length = (_read(visual, "geometry/cylinder", edge) for edge in ("radius", "length"))
    return Shape("cylinder", color, (float(radius), float(length)), at)


def _joint(element: ElementTree.Element) -> _Joint:
    parent, child = (_read(element, end, "link") for end in ("parent", "child"))
    axis = _numbers(_read(element, "axis", "xyz", "1 0 0"))
    return _Joint(parent, child, element.get("type", ""), _origin(element), axis)
