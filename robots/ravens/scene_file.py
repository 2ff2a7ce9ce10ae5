"""A tabletop's scene from a file: anything anywhere, as long as it would stay there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cap.errors import Collision, Unreachable, UsageError
from robots.ravens import transfer
from robots.ravens.scene import Body, Scene, size_of
from robots.simulation.scene_file import read_scene, scene_text
from robots.table.geometry import yaw_quaternion
from robots.table.object_names import ALL_NAMES, KINDS, Kind, check_names


def load(
    path: str | Path,
    kinds: Sequence[Kind] = KINDS,
    *,
    stacked: bool = True,
    surface: str = "table",
) -> Scene:
    """Return the scene that a file describes.

    Args:
        path: The file.
        kinds: What may stand there.
        stacked: Whether it may stand on another one.
        surface: What all of it stands on, in messages.

    Raises:
        ConfigError: The file cannot be used, or something in it would not stay where it is.
    """

    def known(name: str) -> str:
        (exact,) = check_names([name], kinds)
        if exact in ALL_NAMES and not exact.endswith(tuple(kinds)):
            raise UsageError(f"{exact!r} cannot stand here, only a {' or a '.join(kinds)}")
        return exact

    entries = read_scene(path, known)
    bodies: list[Body] = []
    for entry in sorted(entries, key=lambda entry: entry.z or 0.0):  # the lower carry the higher
        turn = yaw_quaternion(entry.yaw)
        body = Body(entry.name, (*entry.xy, 0.0), turn, size_of(entry.name))
        below = Scene(tuple(bodies))
        try:
            transfer.check_target(entry.xy, surface)
            height, _ = transfer.support(below, body, entry.xy, entry.yaw)
        except (Collision, Unreachable) as error:
            raise entry.wrong(f"cannot be there: {error}") from None
        # What it would land on, if it is written to be lower than that.
        there = replace(body, position=(*entry.xy, height + body.half_height))
        carrier = next((o.name for o in bodies if transfer.stands_on(there, o)), None)
        if carrier is not None and not stacked:
            raise entry.wrong(f"stands on another block, not on the {surface}; move it beside")
        on = f"the {surface}" if carrier is None else f"'{carrier}'"
        z = entry.settled(height, body.half_height, on)
        bodies.append(replace(body, position=(*entry.xy, z)))
    found = Scene(tuple(bodies))
    return Scene(tuple(found[entry.name] for entry in entries))


def text_of(scene: Scene, about: str) -> str:
    """Return a scene as the text of such a file."""
    return scene_text(about, ((b.name, b.position, b.yaw) for b in scene.bodies))
