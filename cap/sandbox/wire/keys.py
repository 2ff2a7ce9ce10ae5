"""What hashes: keys chosen to clash make one dictionary or set take for ever to fill.

Hashes of text and bytes are seeded anew in each process. Those of numbers, and of tuples of them,
are known to everybody, and a chosen thousand can lie in each other's way however different they
are. So there may be few of them; a robot's programs seldom have more than a hundred.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from cap.sandbox.wire.errors import WireError

MAX_KEYS = 4096
"""Keys that are neither text nor bytes, in one dictionary or set: the worst take 20 ms."""
MAX_FRAME_KEYS = 16 * MAX_KEYS
"""In all of one frame."""
TOO_MANY = f"more than {MAX_KEYS} keys that are not text cannot cross the sandbox"
_FEW = 16
"""So few keys cannot clash much."""
_MAX_CLASHES = 1000
_MAX_COMPARED = 32
"""Parts of a key that is compared with others of its hash."""


class KeyBudget:
    """The keys of one frame, counted."""

    def __init__(self) -> None:
        """Begin; there are none."""
        self.left = MAX_FRAME_KEYS
        """How many more there may be."""
        self._clashes_left = _MAX_CLASHES

    def count(self, keys: Collection[Any]) -> list[Any]:
        """Count the keys of one dictionary or set; return those whose hashes can be chosen.

        Raises:
            WireError: There are too many.
        """
        if len(keys) <= _FEW:
            return []
        odd = [key for key in keys if type(key) is not str and type(key) is not bytes]
        self.left -= len(odd)
        if len(odd) > MAX_KEYS or self.left < 0:
            raise WireError(TOO_MANY)
        return odd

    def check(self, keys: Collection[Any]) -> None:
        """Refuse keys that may not be put into one dictionary or set.

        Raises:
            WireError: They are too many, or were made to share one hash.
        """
        odd = self.count(keys)
        if clashes := len(odd) - len({hash(key) for key in odd}):
            self._clashes_left -= clashes
            large = clashes > _FEW and any(_parts(key) > _MAX_COMPARED for key in odd)
            if self._clashes_left < 0 or large:
                raise WireError("keys that share one hash")


def _parts(key: Any) -> int:
    """Return how many values a key is made of, as far as that matters."""
    level, count = [key], 0
    while level and count <= _MAX_COMPARED:
        count += len(level)
        level = [part for value in level if type(value) in (tuple, frozenset) for part in value]
    return count
