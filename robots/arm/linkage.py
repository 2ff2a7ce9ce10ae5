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

_PLAIN: Rgb = (150, 150, 155)


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
            material.get("name", ""): _color(material.find("color"))
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


def _numbers(text: str | None) -> Vec3:
    x, y, z = (float(word) for word in (text or "0 0 0").split())
    return (x, y, z)


def _origin(element: ElementTree.Element) -> Placement:
    """Return the origin that an element gives: xyz, and roll, pitch, yaw about fixed axes."""
    origin = element.find("origin")
    if origin is None:
        return ORIGIN
    placed = (*_numbers(origin.get("xyz")), 0.0, 0.0, 0.0, 1.0)
    for angle, axis in zip(reversed(_numbers(origin.get("rpy"))), ("z", "y", "x"), strict=True):
        s, c = math.sin(angle / 2), math.cos(angle / 2)
        about = [s if axis == one else 0.0 for one in "xyz"]
        placed = within(placed, (0.0, 0.0, 0.0, about[0], about[1], about[2], c))
    return placed


def _color(element: ElementTree.Element | None) -> Rgb:
    if element is None:
        return _PLAIN
    red, green, blue = (round(255 * float(w)) for w in (element.get("rgba") or "").split()[:3])
    return red, green, blue


def _shape(visual: ElementTree.Element, colors: Mapping[str, Rgb]) -> Shape:
    material = visual.find("material")
    color = _PLAIN if material is None else colors.get(material.get("name", ""), _PLAIN)
    at = _origin(visual)
    if (box := visual.find("geometry/box")) is not None:
        return Shape("box", color, _numbers(box.get("size")), at)
    cylinder = visual.find("geometry/cylinder")
    assert cylinder is not None, "a URDF file of ours has boxes and cylinders alone"
    size = float(cylinder.get("radius", "0")), float(cylinder.get("length", "0"))
    return Shape("cylinder", color, size, at)


def _joint(element: ElementTree.Element) -> _Joint:
    def link(which: str) -> str:
        found = element.find(which)
        return "" if found is None else found.get("link", "")

    axis = element.find("axis")
    along = (1.0, 0.0, 0.0) if axis is None else _numbers(axis.get("xyz"))
    return _Joint(link("parent"), link("child"), element.get("type", ""), _origin(element), along)
