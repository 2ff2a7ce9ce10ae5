"""Objects by their names, found with a trained zero-shot detector (extra `detect`).

Any detector that `transformers` loads as a zero-shot object detector will do, such as OWLv2 or
Grounding DINO: from a folder, or by its name on the hub where there is a network.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cap.errors import MissingExtra, UsageError, install_extra
from robots.perception.camera import Array, Detection, Frame

_LEAST_M = 0.005
"""No object is smaller than this in any direction."""
_CLEAR_M = 0.008
"""What rises less above the surface is the surface."""
_TOP_M = 0.01
"""Points this far below a box's highest belong to the object's top."""


@dataclass(frozen=True)
class Box:
    """What the trained detector says: a name somewhere in the picture."""

    name: str
    """One of those asked for."""
    score: float
    """How sure it is, 0 to 1."""
    edges: tuple[float, float, float, float]
    """Left, top, right and bottom, pixels."""


class OpenVocabularyDetector:
    """Finds what it is asked for by name, on a surface at height 0."""

    def __init__(
        self,
        names: Sequence[str],
        source: str | Path = "google/owlv2-base-patch16-ensemble",
        *,
        threshold: float = 0.1,
    ) -> None:
        """Load the detector; this takes seconds.

        Args:
            names: What to look for, such as `red block`.
            source: A folder, or a name on the hub.
            threshold: Least score that counts, 0 to 1.

        Raises:
            UsageError: No names, or the detector cannot be loaded.
            MissingExtra: `transformers` or `torch` is not installed.
        """
        if not names:
            raise UsageError("the detector has no names to look for")
        self._names = list(names)
        self._threshold = threshold
        self._processor, self._model = _load(str(source))

    def detect(self, frame: Frame) -> tuple[Detection, ...]:
        """Return the objects seen, each name once, the surest first."""
        points = frame.points()
        best: dict[str, Detection] = {}
        for box in sorted(self.boxes(frame), key=lambda box: -box.score):
            if box.name not in best and (seen := self._located(box, points)) is not None:
                best[box.name] = seen
        return tuple(best.values())

    def boxes(self, frame: Frame) -> list[Box]:
        """Return what the trained detector finds in the picture, in no order."""
        torch: Any = importlib.import_module("torch")
        labels = [self._names]
        inputs = self._processor(text=labels, images=frame.rgb, return_tensors="pt")
        with torch.no_grad():
            outputs = self._model(**inputs)
        (found,) = self._processor.post_process_grounded_object_detection(
            outputs,
            threshold=self._threshold,
            target_sizes=[frame.rgb.shape[:2]],
            text_labels=labels,
        )
        rows = zip(found["text_labels"], found["scores"], found["boxes"], strict=True)
        return [Box(name, float(score), tuple(edges.tolist())) for name, score, edges in rows]

    def _located(self, box: Box, points: Array) -> Detection | None:
        """Return where a box's object is: its top's middle, half way down to the surface.

        Its size is that of its top along x and y, down to the surface.
        """
        height, width = points.shape[:2]
        left, top, right, bottom = box.edges
        rows, columns = _pixels(top, bottom, height), _pixels(left, right, width)
        inside = points[rows, columns].reshape(-1, 3)
        with np.errstate(invalid="ignore"):  # unknown depth compares as false
            inside = inside[inside[:, 2] > _CLEAR_M]
        if not len(inside):
            return None
        z = float(np.quantile(inside[:, 2], 0.98))
        face = inside[inside[:, 2] > z - _TOP_M, :2]
        low, high = face.min(axis=0), face.max(axis=0)
        x, y = ((low + high) / 2).tolist()
        length, breadth = np.maximum(high - low, _LEAST_M).tolist()
        size = (length, breadth, max(z, _LEAST_M))
        return Detection(box.name, (x, y, z / 2), 0.0, len(inside), size)


def _pixels(first: float, last: float, count: int) -> slice:
    """Return the pixels between two edges, of those there are."""
    return slice(max(0, math.floor(first)), max(0, min(count, math.ceil(last))))


def _load(source: str) -> tuple[Any, Any]:
    """Return a processor and a model."""
    try:
        transformers: Any = importlib.import_module("transformers")
    except ImportError:
        raise MissingExtra(
            f"this detector needs transformers and torch; run: {install_extra('detect')}"
        ) from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        with _quiet():
            processor = transformers.AutoProcessor.from_pretrained(source)
            model = transformers.AutoModelForZeroShotObjectDetection.from_pretrained(source)
    except (OSError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise UsageError(f"cannot load the detector {source!r}: {why}") from None
    return processor, model.eval()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep what the libraries print while they load off the terminal."""
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        yield
