"""How much of a simulation's time its pictures may take, where it goes as fast as it can."""

from __future__ import annotations

SHARE = 0.025
"""Of the time of a motion, on the thread that moves the robot: the server's own thread takes
about as much for each picture again, and meanwhile the robot waits."""
_LONGEST_S = 0.005
"""More than this between two moments is no motion, but a program that does something else."""


class FrameBudget:
    """Lets a picture pass once enough time went into what moves; none is owed at the beginning."""

    def __init__(self) -> None:
        """Begin with nothing saved."""
        self._saved_s = 0.0
        self._last_s: float | None = None

    def allows(self, now_s: float) -> bool:
        """Tell whether a picture may be made at this moment of a motion.

        Args:
            now_s: When; pictures that were made before it are already `spent`.
        """
        if self._last_s is not None:
            self._saved_s += SHARE * min(now_s - self._last_s, _LONGEST_S)
        self._last_s = now_s
        return self._saved_s > 0.0

    def spent(self, now_s: float) -> None:
        """Note that the picture of the last moment is made; it is paid for by what comes.

        Args:
            now_s: When it was done.
        """
        assert self._last_s is not None
        self._saved_s -= now_s - self._last_s
        self._last_s = now_s
