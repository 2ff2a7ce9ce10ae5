"""The robot and its world in three dimensions: a robot's shapes, drawn by viser."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

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
        self._named = True
        """Whether names are shown."""
        self._placements: dict[str, Placement] = {}
        self._lines: list[tuple[Polyline, Any]] = []
        self._lines_s = 0.0
        self.sent = 0
        """How many times something was new."""

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
            new = False
            for name, place in now.items():
                if self._placements.get(name) != place:
                    body = self._bodies[name]
                    body.position = place[:3]
                    body.wxyz = (place[6], *place[3:6])
                    self._placements[name] = place
                    new = True
            if new:
                self._name_places()
            now_s = time.monotonic()
            if not moving or now_s - self._lines_s > LINES_EVERY_S:
                self._lines_s = now_s
                new = self._draw_lines(appearance.lines) or new
            self.sent += new

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
                label, shown = self._labels[name], self._named and name == group[0]
                if (label.text, label.visible) != (text, shown):
                    label.text, label.visible = text, shown

    def placements(self) -> dict[str, Placement]:
        """Return where everything is shown."""
        with self._lock:
            return dict(self._placements)

    def name_objects(self, visible: bool) -> None:
        """Show the names of the objects beside them, or not."""
        with self._lock:
            self._named = visible
            self._name_places()

    def look_at(self, appearance: Appearance) -> None:
        """Have browsers begin where all that can be handled is in sight."""
        near = [
            place[:3]
            for name, place in appearance.placements.items()
            if name.startswith(("objects/", "arm/"))
        ]
        if not near:
            return
        low, high = ([pick(axis) for axis in zip(*near, strict=True)] for pick in (min, max))
        x, y, z = ((a + b) / 2 for a, b in zip(low, high, strict=True))
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

    def _draw_lines(self, lines: tuple[Polyline, ...]) -> bool:
        """Draw ink and paths; tell whether anything was new."""
        import numpy as np

        new = len(lines) != len(self._lines)
        while len(self._lines) > len(lines):
            self._lines.pop()[1].remove()
        for number, line in enumerate(lines):
            known = self._lines[number] if number < len(self._lines) else None
            if known is not None and known[0] == line:
                continue
            vertices, faces = ribbon_mesh(line.points, line.width_m)
            corners, triangles = np.array(vertices, np.float32), np.array(faces, np.uint32)
            if known is not None and known[0].color == line.color:
                drawn = known[1]
                drawn.vertices, drawn.faces = corners, triangles
            else:
                drawn = self._server.scene.add_mesh_simple(
                    f"/lines/{number}",
                    corners,
                    triangles,
                    color=line.color,
                    side="double",
                    cast_shadow=False,
                )
            self._lines[number : number + 1] = [(line, drawn)]
            new = True
        return new


def _add_shape(scene: Any, name: str, shape: Shape) -> None:
    """Add one solid."""
    placed = {"position": shape.at[:3], "wxyz": (shape.at[6], *shape.at[3:6])}
    if shape.kind == "box":
        scene.add_box(name, shape.color, shape.size, **placed)
    elif shape.kind == "cylinder":
        radius, height = shape.size
        scene.add_cylinder(name, radius, height, shape.color, **placed)
    else:
        import numpy as np

        vertices, faces = lathe_mesh(shape.profile)
        corners, triangles = np.array(vertices, np.float32), np.array(faces, np.uint32)
        scene.add_mesh_simple(name, corners, triangles, color=shape.color, side="double", **placed)
