"""Memory: answers of the model that a session need not ask for again."""

from __future__ import annotations

from dataclasses import replace

from cap.models.base import Completion, Request

ASKED_BEFORE = "asked before in this session; its answer is used again"
"""Note of an answer to an LMP that was called before."""
REHEARSED = "from the rehearsal"
"""Note of an answer that was given in the same turn."""


class Memory:
    """What was answered, by request.

    An LMP that programs call gets the answer it got before, as long as all has gone well since.
    Where programs are rehearsed every answer holds for its whole turn: the run that follows a
    rehearsal does what was seen there, as long as it asks the very same.
    """

    def __init__(self, rehearses: bool = False) -> None:
        """Know nothing yet.

        Args:
            rehearses: Whether programs run in a twin before they run on the robot.
        """
        self._rehearses = rehearses
        self._of_turn: dict[Request, Completion] = {}
        self._proven: dict[Request, Completion] = {}
        """Answers to LMPs that programs called, whose own programs ended well."""
        self._forgotten: dict[Request, Completion] = {}

    def begin_turn(self) -> None:
        """Let go of what holds for one turn."""
        self._of_turn.clear()

    def get(self, request: Request, nested: bool) -> Completion | None:
        """Return the answer to a request, at no cost; None if it is to be asked.

        Args:
            request: What would be asked.
            nested: Whether an LMP asks that a program called.
        """
        known, note = self._of_turn.get(request), REHEARSED
        if known is None and nested:
            known, note = self._proven.get(request), ASKED_BEFORE
        if known is None:
            return None
        free = replace(known, prompt_tokens=0, completion_tokens=0, cost_usd=0.0)
        return replace(free, notes=(*known.notes, note), remembered=True)

    def hear(self, request: Request, answer: Completion) -> None:
        """Take note of an answer; an empty one is asked for again."""
        if self._rehearses and not (answer.empty or answer.remembered):
            self._of_turn[request] = answer

    def prove(self, request: Request, answer: Completion) -> None:
        """Take note that the program in an LMP's answer ended well."""
        self._proven[request] = answer

    def forget(self) -> None:
        """Have LMPs asked anew from here on: something failed, or was undone."""
        if self._proven:
            self._forgotten = dict(self._proven)
            self._proven.clear()

    def recall(self) -> None:
        """Take the last `forget` back: the world is again as it was, and the same will be asked."""
        self._proven.update(self._forgotten)
