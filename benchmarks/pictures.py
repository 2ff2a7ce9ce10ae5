"""The world before and after a trial, as two PNG files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Protocol

SIZE_PX = 320


class Drawable(Protocol):
    """A robot whose world can be restored and drawn."""

    def restore(self, snapshot: Any) -> None:
        """Put a snapshot back."""

    def render(self, width: int = 480, height: int = 480) -> Any:
        """Return a picture as a PIL image."""


def keep_pictures(robot: Drawable, first: Any, folder: Path, stem: str) -> dict[str, Any]:
    """Draw the world as it is and as it was; return what an outcome says of it.

    Args:
        robot: Whose world; it is left as it was at first.
        first: A snapshot of it.
        folder: Where the files go.
        stem: What their names begin with.
    """
    stem = re.sub(r"[^\w.-]+", "-", stem)
    names = [f"{stem}_before.png", f"{stem}_after.png"]
    try:
        robot.render(SIZE_PX, SIZE_PX).save(folder / names[1])
        robot.restore(first)
        robot.render(SIZE_PX, SIZE_PX).save(folder / names[0])
    except OSError:  # a full disk costs the picture, not the trial
        return {}
    return {"pictures": names}
