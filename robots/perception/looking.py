"""Named objects as a camera with a detector sees them, or as a file lists them.

The file is for tests, for a first try, and for arms without a camera. It is TOML::

    [[objects]]
    name = "red block"
    position_m = [0.10, -0.45, 0.02]   # its centre, in the robot's frame
    yaw_rad = 0.5                      # about the vertical; 0 if left out

    [[objects]]
    name = "apple"
    position_m = [0.05, -0.30, 0.035]
    size_m = [0.07, 0.07, 0.07]        # its edges; a block's or a bowl's if left out
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cap.errors import clipped
from robots.perception.camera import Camera, Detection, Detector
from robots.perception.open_vocabulary import OpenVocabularyDetector
from robots.perception.segmentation import ColorDepthDetector, Shapes
from robots.simulation.scene_file import PlacedObject, read_scene


def see(camera: Camera, detector: Detector) -> tuple[Detection, ...]:
    """Take one picture and return the objects in it, each name once, the surest first.

    Raises:
        NotConnected: The camera does not answer.
    """
    return detector.detect(camera.capture())


def choose_detector(source: str | None, shapes: Shapes, names: Sequence[str]) -> Detector:
    """Return the detector a person asked for.

    Args:
        source: None or `color` for colour and depth segmentation; anything else is a folder, or a
            name on the hub, of a trained zero-shot detector (extra `detect`).
        shapes: Colours and sizes, for segmentation.
        names: What to look for, for a trained detector.

    Raises:
        UsageError: No names, or the trained detector cannot be loaded.
        MissingExtra: `transformers` or `torch` is not installed.
    """
    if source is None or source == "color":
        return ColorDepthDetector(shapes)
    return OpenVocabularyDetector(names, source)


_FARTHEST_M = 5.0
"""What is further away is most likely written in centimetres or millimetres."""
_LARGEST_M = 2.0


def listed(path: str | Path) -> tuple[Detection, ...]:
    """Return the objects that a scene file lists, in its order.

    Raises:
        ConfigError: The file cannot be used; the message says the line and the remedy.
    """
    return tuple(map(_detection, read_scene(path, str, ("size_m",))))


def _detection(entry: PlacedObject) -> Detection:
    table, name = entry.table, entry.name
    x, y, z = table.numbers("position_m", (3,), "[x, y, z], its centre in metres")
    if max(abs(x), abs(y), abs(z)) > _FARTHEST_M:
        raise table.wrong(
            "position_m",
            f"{clipped(name)!r} would be more than {_FARTHEST_M:g} m away; positions are metres, "
            "not centimetres or millimetres",
        )
    size = None
    if "size_m" in table.values:
        length, width, height = table.numbers("size_m", (3,), "[length, width, height] in metres")
        size = (length, width, height)
        if min(size) <= 0:
            raise table.wrong("size_m", "an object has some extent; every edge must be above 0")
        if max(size) > _LARGEST_M:
            raise table.wrong("size_m", "an edge of more than 2 m; are these millimetres?")
    return Detection(name, (x, y, z), entry.yaw, size_m=size)
