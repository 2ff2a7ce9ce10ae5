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
"""A prompt that fills a usual window to the brim is taken for cut off from here on."""
USUAL_WINDOWS = tuple(2**power for power in range(11, 18))
_GROWN = 1.05
"""How much longer a prompt is that is read as the same number of tokens, if it was cut off."""


class Window:
    """What is known of one endpoint's window."""

    def __init__(self, tokens: int | None) -> None:
        """Begin with what a check found, if it found that prompts are cut off.

        Args:
            tokens: How many of a longer prompt are read.
        """
        self._tokens = tokens
        self._fullest = (0, 0)
        """Of the prompt that took most tokens so far, its tokens and characters."""

    def cuts(self, chars: int, tokens: int) -> bool:
        """Tell whether a prompt was cut off.

        Args:
            chars: How long it was.
            tokens: How much of it was read; 0 where nobody says.
        """
        if not tokens or chars < LONG_CHARS:
            return False
        most, most_chars = self._fullest
        same = most and abs(tokens - most) <= 1 and chars > _GROWN * most_chars
        if tokens > most:
            self._fullest = tokens, chars
        full = self._tokens is not None and tokens >= self._tokens - 1
        brimful = any(0 <= window - tokens <= 1 for window in USUAL_WINDOWS)
        return bool(
            same
            or full
            or chars > MOST_CHARS_PER_TOKEN * tokens
            or (brimful and chars > USUAL_CHARS_PER_TOKEN * tokens)
        )
