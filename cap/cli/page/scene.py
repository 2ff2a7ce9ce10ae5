"""The robot and its world in three dimensions: a robot's shapes, drawn by viser."""

from __future__ import annotations

import math
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from cap.robot.view import Appearance, Placement, Polyline, Shape, Viewable, lathe_mesh

LINES_EVERY_S = 0.2
"""How often lines are drawn again while they grow: a browser takes its time for each."""
_LABEL_UP_M = 0.05
_LABEL_NEAR_M = 0.08
"""Things in a square of this size, seen from above, are at one place."""


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
        self._lines: tuple[Polyline, ...] = ()
        self._drawn: dict[int, Any] = {}
        """What draws each of the lines."""
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
                self._labels.pop(name, None)
            for name, place in now.items():  # what is as before is not sent
                self._bodies[name].position = place[:3]
                self._bodies[name].wxyz = (place[6], *place[3:6])
            self._name_places(now)
            now_s = time.monotonic()
            if not moving or now_s - self._lines_s > LINES_EVERY_S:
                self._lines_s = now_s
                self._draw_lines(appearance.lines)

    def _name_places(self, placements: Mapping[str, Placement]) -> None:
        """Write the names of what is at one place in one label, at the highest thing there."""
        groups: dict[tuple[int, int], list[str]] = defaultdict(list)
        for name in sorted(self._labels, key=lambda name: -placements[name][2]):
            x, y, *_ = placements[name]
            groups[round(x / _LABEL_NEAR_M), round(y / _LABEL_NEAR_M)].append(name)
        for group in groups.values():
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
        for number, line in enumerate(lines):
            if self._lines[number : number + 1] != (line,):
                points = np.array([line.points[0], *line.points])  # one point is a line as well
                self._drawn[number] = self._server.scene.add_line_segments(
                    f"/lines/{number}",
                    np.stack([points[:-1], points[1:]], axis=1),
                    line.color,
                    thickness=line.width_m,
                )
        for number in range(len(lines), len(self._lines)):
            self._drawn.pop(number).remove()
        self._lines = lines


def _add_shape(scene: Any, name: str, shape: Shape) -> None:
    """Add one solid."""
    placed = {"position": shape.at[:3], "wxyz": (shape.at[6], *shape.at[3:6])}
    if shape.kind == "box":
        scene.add_box(name, shape.color, shape.size, **placed)
    elif shape.kind == "cylinder":
        radius, height = shape.size
        scene.add_cylinder(name, radius, height, shape.color, **placed)
    else:
        corners, triangles = lathe_mesh(shape.profile)
        mesh = np.array(corners, np.float32), np.array(triangles, np.uint32)
        scene.add_mesh_simple(name, *mesh, color=shape.color, side="double", **placed)
