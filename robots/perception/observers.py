"""What knows which objects are where: a camera with a detector, or a file that lists them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from cap.errors import clipped
from robots.perception.camera import Camera, Detection, Detector
from robots.perception.open_vocabulary import OpenVocabularyDetector
from robots.perception.segmentation import ColorDepthDetector, Shapes
from robots.simulation.scene_file import PlacedObject, read_scene


class Observer(Protocol):
    """Anything that knows which objects are where now."""

    def observe(self) -> tuple[Detection, ...]:
        """Look, and return the objects seen, each name once.

        Raises:
            NotConnected: The camera does not answer.
            ConfigError: The scene file cannot be used.
        """

    def close(self) -> None:
        """Release what it looks with; doing so twice does no harm."""


def see(camera: Camera, detector: Detector) -> tuple[Detection, ...]:
    """Take one picture and return the objects in it, each name once, the surest first.

    Raises:
        NotConnected: The camera does not answer.
    """
    return detector.detect(camera.capture())


class CameraObserver:
    """Looks with a camera."""

    def __init__(self, camera: Camera, detector: Detector) -> None:
        """Look at nothing yet; the camera is closed with the observer."""
        self._camera = camera
        self._detector = detector

    def observe(self) -> tuple[Detection, ...]:
        """Take a picture and return the objects in it.

        Raises:
            NotConnected: The camera does not answer.
        """
        return see(self._camera, self._detector)

    def close(self) -> None:
        """Close the camera."""
        self._camera.close()


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


class SceneFile:
    """Sees what a file lists."""

    def __init__(self, path: str | Path) -> None:
        """Read the file once, so that a wrong one is refused before anything moves.

        Raises:
            ConfigError: The file cannot be used; the message says the line and the remedy.
        """
        self._path = Path(path)
        self.observe()

    def observe(self) -> tuple[Detection, ...]:
        """Read the file and return its objects in the order they are listed.

        Raises:
            ConfigError: The file cannot be used; the message says the line and the remedy.
        """
        return tuple(map(_detection, read_scene(self._path, str, ("size_m",))))

    def close(self) -> None:
        """Do nothing: the file is not kept open."""


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
