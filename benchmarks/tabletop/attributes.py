"""The words that vary in an instruction, and which of them count as seen.

The lists are those of the Code as Policies tabletop evaluation. `right side` and `middle` are in
neither list of places, as there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CORNERS = ("top left corner", "top right corner", "bottom left corner", "bottom right corner")
SIDES = ("top side", "right side", "bottom side", "left side")


@dataclass(frozen=True)
class Attributes:
    """One list of each kind of word."""

    colors: tuple[str, ...]
    """Of blocks and bowls."""
    places: tuple[str, ...]
    """Corners and sides to put things on."""
    directions: tuple[str, ...]
    """Seen from the front edge."""
    distances: tuple[str, ...]
    """How near to a bowl, with the word that joins it: `closest to`."""
    magnitudes: tuple[str, ...]
    """How far something is moved."""
    ordinals: tuple[str, ...]
    """Which one, counted from a side."""
    lines: tuple[str, ...]
    """How a line runs."""

    def words(self) -> tuple[str, ...]:
        """Return every attribute, distances without their joining word."""
        distances = tuple(words.split()[0] for words in self.distances)
        others = (self.colors, self.places, self.directions, self.magnitudes, self.ordinals)
        return (*(word for words in others for word in words), *distances, *self.lines)


SEEN = Attributes(
    colors=("blue", "red", "green", "orange", "yellow"),
    places=("left side", "top left corner", "top side", "top right corner"),
    directions=("top", "left"),
    distances=("closest to",),
    magnitudes=("a little",),
    ordinals=("first", "second"),
    lines=("horizontal", "vertical"),
)
UNSEEN = Attributes(
    colors=("pink", "cyan", "brown", "gray", "purple"),
    places=("bottom right corner", "bottom side", "bottom left corner"),
    directions=("bottom", "right"),
    distances=("farthest from",),
    magnitudes=("a lot",),
    ordinals=("third", "fourth"),
    lines=("diagonal",),
)
EVERY = Attributes(
    colors=SEEN.colors + UNSEEN.colors,
    places=(*CORNERS, *SIDES, "middle"),
    directions=SEEN.directions + UNSEEN.directions,
    distances=SEEN.distances + UNSEEN.distances,
    magnitudes=SEEN.magnitudes + UNSEEN.magnitudes,
    ordinals=SEEN.ordinals + UNSEEN.ordinals,
    lines=SEEN.lines + UNSEEN.lines,
)
"""What Inner Monologue's scenes draw from: ten colours and nine places."""

NTH: Mapping[str, int] = {"first": 1, "second": 2, "third": 3, "fourth": 4}
MAGNITUDES_M: Mapping[str, tuple[float, float]] = {"a little": (0.05, 0.15), "a lot": (0.15, 0.60)}
"""Centre to centre along the direction, metres: least and most."""
