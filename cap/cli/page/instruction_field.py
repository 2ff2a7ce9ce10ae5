"""What is typed as an instruction, and when it is whole.

A browser sends what stands in a field at most every 50 ms, and of its messages that wait the last
one alone. So Enter is no message of its own, which would drop the last letters: it is a line break
in the text, and a reader of the break has read all that stands before it.
"""

from __future__ import annotations

SETTLE_S = 0.5
"""What was taken leaves the field once nothing was typed for so long."""
_ON_ITS_WAY_S = 2.0
"""So long after it left, a text that still begins with it was typed before the browser knew."""


class InstructionField:
    """Reads one field of one browser, each time that it changes."""

    def __init__(self) -> None:
        """Begin empty."""
        self._text = ""
        """What stands in the field."""
        self._taken = ""
        """Its beginning that was taken."""
        self._left = ""
        """What was taken and left the field last."""
        self._left_s = 0.0
        self.changes = 0
        """How many times it was typed in."""

    def typed(self, text: str, now_s: float) -> str:
        """Return the instruction that is complete with this text; "" if none is.

        Enter behind the last word, or within what was typed before, takes all that stands there.
        Where several lines came at once nobody knows whether they are one sentence or two: they
        are made one line, to be looked at, and wait for another Enter.

        Args:
            text: All that stands in the field.
            now_s: When.
        """
        before, self._text = self._text[len(self._taken) :], text
        self.changes += 1
        more = len(text) > len(self._left) and text.startswith(self._left)
        if self._left and more and now_s - self._left_s < _ON_ITS_WAY_S:
            self._taken = self._left
        self._left = ""
        if not text.startswith(self._taken):
            self._taken = ""
        rest = text[len(self._taken) :]
        if rest.endswith("\n"):
            whole = "" if before.startswith(rest) else rest
        else:
            breaks = [n for n, char in enumerate(rest) if char == "\n"]
            longer = len(rest) == len(before) + 1
            within = longer and any(rest[:n] + rest[n + 1 :] == before for n in breaks)
            whole = before if within else ""
        if "\n" in whole.strip():
            return ""
        if whole:
            self._taken = text
        return whole.strip()

    def settled(self, now_s: float) -> str:
        """Take out what was taken; return what then is to stand in the field."""
        self._left, self._left_s = self._taken, now_s
        rest, self._taken = self._text[len(self._taken) :], ""
        self._text = " ".join(rest.split("\n")).strip() if "\n" in rest else rest
        return self._text
