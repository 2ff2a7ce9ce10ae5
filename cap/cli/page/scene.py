"""The robot and its world in three dimensions: a robot's shapes, drawn by viser."""

from __future__ import annotations

import math
import threading
import time
from itertools import takewhile
from typing import Any

import numpy as np

from cap.robot.view import (
    Appearance,
    Placement,
    Polyline,
    Shape,
    Viewable,
    lathe_mesh,
    ribbon_mesh,
)

LINES_EVERY_S = 0.2
"""How often lines are drawn again while they grow: a browser takes its time for each."""
_LABEL_UP_M = 0.05
_LABEL_NEAR_M = 0.08
"""Things nearer than this, seen from above, are at one place."""


class SceneDrawer:
    """Keeps what browsers see up to date with the robot; only what is new is sent."""

    def __init__(self, server: Any) -> None:
        """Draw nothing yet."""
        self._server = server
        server.scene.configure_default_lights(enabled=False)
        server.scene.add_light_hemisphere("/lights/sky", intensity=0.8)
        server.scene.add_light_directional(
            "/lights/sun", intensity=1.1, position=(-0.8, -1.2, 2.5), cast_shadow=True
        )
        self._lock = threading.Lock()
        self._bodies: dict[str, Any] = {}
        self._labels: dict[str, Any] = {}
        self._placements: dict[str, Placement] = {}
        self._lines: list[tuple[Polyline, Any]] = []
        self._lines_s = 0.0

    def show(self, robot: Viewable, *, moving: bool = False) -> None:
        """Show how a robot's world is at this moment.

        Args:
            robot: Gives its pose, and the shapes of what is new.
            moving: More follows at once, so lines that grow may wait for it.
        """
        appearance = robot.view()
        with self._lock, self._server.atomic():
            now = appearance.placements
            if now.keys() - self._bodies.keys():
                for name, shapes in robot.shapes().items():
                    if name in now and name not in self._bodies:
                        self._add(name, shapes)
            for name in self._bodies.keys() - now.keys():
                self._bodies.pop(name).remove()
                self._placements.pop(name, None)
                self._labels.pop(name, None)
            moved = {n: place for n, place in now.items() if self._placements.get(n) != place}
            for name, place in moved.items():
                self._bodies[name].position = place[:3]
                self._bodies[name].wxyz = (place[6], *place[3:6])
            self._placements |= moved
            if moved:
                self._name_places()
            now_s = time.monotonic()
            if not moving or now_s - self._lines_s > LINES_EVERY_S:
                self._lines_s = now_s
                self._draw_lines(appearance.lines)

    def _name_places(self) -> None:
        """Write the names of what is at one place in one label, at the highest thing there."""
        groups: list[list[str]] = []
        for name in sorted(self._labels, key=lambda name: -self._placements[name][2]):
            at = self._placements[name][:2]
            near = (g for g in groups if math.dist(self._placements[g[0]][:2], at) < _LABEL_NEAR_M)
            if (group := next(near, None)) is None:
                groups.append(group := [])
            group.append(name)
        for group in groups:
            text = ", ".join(name.partition("/")[2] for name in group)
            for name in group:
                label, shown = self._labels[name], name == group[0]
                if (label.text, label.visible) != (text, shown):
                    label.text, label.visible = text, shown

    def look_at(self, appearance: Appearance) -> None:
        """Have browsers begin where all that can be handled is in sight."""
        near = [
            place[:3]
            for name, place in appearance.placements.items()
            if name.startswith(("objects/", "arm/"))
        ]
        if not near:
            return
        low, high = np.min(near, axis=0), np.max(near, axis=0)
        x, y, z = (low + high) / 2
        reach = max(0.5, math.dist(low, high) / 2)
        camera = self._server.initial_camera
        camera.look_at = (x, y, min(z, 0.5) * 0.6)
        camera.position = (x + 0.5 * reach, y - 2.0 * reach, z + 1.3 * reach)

    def _add(self, name: str, shapes: Any) -> None:
        scene = self._server.scene
        self._bodies[name] = scene.add_frame(f"/{name}", show_axes=False)
        for number, shape in enumerate(shapes):
            _add_shape(scene, f"/{name}/{number}", shape)
        part, _, own = name.partition("/")
        if part == "objects":
            self._labels[name] = scene.add_label(
                f"/{name}/name", own, position=(0.0, 0.0, _LABEL_UP_M), anchor="bottom-center"
            )

    def _draw_lines(self, lines: tuple[Polyline, ...]) -> None:
        """Draw ink and paths; what is drawn already stays."""
        same = takewhile(lambda pair: pair[0][0] == pair[1], zip(self._lines, lines, strict=False))
        first = sum(1 for _ in same)
        while len(self._lines) > first:
            self._lines.pop()[1].remove()
        for number, line in enumerate(lines[first:], start=first):
            mesh = ribbon_mesh(line.points, line.width_m)
            drawn = _add_mesh(
                self._server.scene, f"/lines/{number}", mesh, line.color, cast_shadow=False
            )
            self._lines.append((line, drawn))


def _add_mesh(scene: Any, name: str, mesh: Any, color: Any, **more: Any) -> Any:
    """Add a mesh of corners and triangles."""
    corners, triangles = np.array(mesh[0], np.float32), np.array(mesh[1], np.uint32)
    return scene.add_mesh_simple(name, corners, triangles, color=color, side="double", **more)


def _add_shape(scene: Any, name: str, shape: Shape) -> None:
    """Add one solid."""
    placed = {"position": shape.at[:3], "wxyz": (shape.at[6], *shape.at[3:6])}
    if shape.kind == "box":
        scene.add_box(name, shape.color, shape.size, **placed)
    elif shape.kind == "cylinder":
        radius, height = shape.size
        scene.add_cylinder(name, radius, height, shape.color, **placed)
    else:
        _add_mesh(scene, name, lathe_mesh(shape.profile), shape.color, **placed)
