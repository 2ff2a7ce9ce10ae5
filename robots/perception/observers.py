"""From what there is to look with to named objects: one function, one protocol."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from robots.perception.camera import Camera, Detection, Detector
from robots.perception.open_vocabulary import OpenVocabularyDetector
from robots.perception.segmentation import ColorDepthDetector, Shapes


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
