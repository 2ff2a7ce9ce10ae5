"""Whether an endpoint read a prompt in whole, by the tokens it says it read.

Some servers cut off what does not fit in their context window, without a word: then the model has
lost the hints and half of the examples, and writes worse programs.
"""

from __future__ import annotations

LONG_CHARS = 2000
"""Shorter prompts fit everywhere."""
MOST_CHARS_PER_TOKEN = 7.0
"""Programs and English have three to five; a prompt that seems to have more was not read whole."""
USUAL_CHARS_PER_TOKEN = 3.9
"""Where prompts are cut off unsaid, one that fills a usual window to the brim is from here on."""
USUAL_WINDOWS = tuple(2**power for power in range(11, 18))
_GROWN = 1.05
_ALIKE = 3
"""So many prompts, the longest so much longer than the shortest, are not read as the same number of
tokens unless they were cut off."""


class Window:
    """What is known of one endpoint's window."""

    def __init__(self, tokens: int | None = None, unsaid: bool = False) -> None:
        """Begin with what is known.

        Args:
            tokens: How many of a longer prompt are read, where a check saw it cut off.
            unsaid: Whether this kind of server is known to cut off without a word.
        """
        self._tokens = tokens
        self._unsaid = unsaid
        self._most = 0
        """The most tokens that were read of any prompt."""
        self._lengths: set[int] = set()
        """How long the prompts were, in characters, of which so many were read."""

    def cuts(self, chars: int, tokens: int) -> bool:
        """Tell whether a prompt was cut off.

        Args:
            chars: How long it was.
            tokens: How much of it was read; 0 where nobody says.
        """
        if not tokens or chars < LONG_CHARS:
            return False
        if tokens > self._most + 1:
            self._lengths = set()
        self._most = max(self._most, tokens)
        fullest = tokens >= self._most - 1
        if fullest:
            self._lengths.add(chars)
        same = len(self._lengths) >= _ALIKE and chars > _GROWN * min(self._lengths)
        full = self._tokens is not None and tokens >= self._tokens - 1
        brimful = any(0 <= window - tokens <= 1 for window in USUAL_WINDOWS)
        return (
            chars > MOST_CHARS_PER_TOKEN * tokens
            or full
            or (fullest and same)
            or (self._unsaid and fullest and brimful and chars > USUAL_CHARS_PER_TOKEN * tokens)
        )
