"""What the last turns began with, so that programs can undo them, and what they were."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from cap.errors import NotFound

MAX_TURNS = 50
"""So many of the last turns can be undone."""
Before = TypeVar("Before")


@dataclass(frozen=True)
class EarlierTurn(Generic[Before]):
    """A turn that did something."""

    before: Before
    """What it began with."""
    words: str = ""
    """Its instruction; "" while it goes on."""


@dataclass(frozen=True)
class TurnHistory(Generic[Before]):
    """The turns that did something: plain data, so that it is a part of a robot's state."""

    earlier: tuple[EarlierTurn[Before], ...] = ()
    """The oldest first."""
    acted: bool = False
    """Whether this turn has done anything: the last of those is then its own."""
    undone: tuple[str, ...] = ()
    """The instructions of the turns that this one undid, the last of them first."""

    def begun(
        self, before: Before, same: Callable[[Before, Before], bool] = operator.eq
    ) -> TurnHistory[Before]:
        """Return the history now that this turn does something.

        Args:
            before: What it began with.
            same: Whether two of these are the same: then the last turn came to nothing.
        """
        if self.acted:
            return self
        kept = self.lasting(before, same).earlier
        return replace(self, earlier=(*kept, EarlierTurn(before))[-MAX_TURNS:], acted=True)

    def lasting(
        self, now: Before, same: Callable[[Before, Before], bool] = operator.eq
    ) -> TurnHistory[Before]:
        """Return the history without its last turns, if they began with what there is now."""
        left = self.earlier
        while left and same(left[-1].before, now):
            left = left[:-1]
        return replace(self, earlier=left)

    def before(self, count: int, did: str) -> Before:
        """Return what the oldest of so many of the last turns began with.

        Args:
            count: How many.
            did: What turns that count did, for the message.

        Raises:
            NotFound: There were fewer.
        """
        if count > (known := len(self.earlier)):
            raise NotFound(f"turns that {did}: {known} remembered; ask for no more than that")
        return self.earlier[-count].before

    def taken_back(self, count: int) -> TurnHistory[Before]:
        """Return the history now that so many of the last turns are undone."""
        words = [turn.words for turn in reversed(self.earlier[-count:]) if turn.words]
        return TurnHistory(self.earlier[:-count], undone=(*self.undone, *words))

    def ended(self, words: str) -> TurnHistory[Before]:
        """Return the history now that this turn is over.

        Args:
            words: Its instruction.
        """
        if not self.acted:
            return TurnHistory(self.earlier)
        return TurnHistory((*self.earlier[:-1], replace(self.earlier[-1], words=words)))
