"""A model that answers a request it was asked before as it did then.

What a rehearsal asked for is what the run that follows gets, as long as it asks the very same.
"""

from __future__ import annotations

from dataclasses import replace

from cap.models.base import Completion, Model, Request
from cap.models.replay import request_key
from cap.models.wrapper import Ask, Wrapped

NOTE = "from the rehearsal"


class Remembered(Wrapped):
    """Keeps answers in memory from one `forget` to the next."""

    def __init__(self, model: Model) -> None:
        """Wrap a model; nothing is known yet."""
        super().__init__(model)
        self._answers: dict[str, Completion] = {}

    def forget(self) -> None:
        """Ask anew from here on."""
        self._answers.clear()

    def _through(self, request: Request, ask: Ask) -> Completion:
        key = request_key(request)
        if (known := self._answers.get(key)) is not None:
            return replace(known, cost_usd=0.0, notes=(*known.notes, NOTE))
        self._answers[key] = answer = ask()
        return answer
