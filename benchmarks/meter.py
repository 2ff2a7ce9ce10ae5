"""What one trial asks of a model, counted."""

from __future__ import annotations

import threading

from cap.models.base import Completion, Model, Request, Usage


class Meter:
    """A model that keeps count of what it was asked."""

    def __init__(self, model: Model) -> None:
        self.name = model.name
        self.requests = 0
        """Questions, unanswered ones too."""
        self.usage = Usage()
        """What the answers took."""
        self._model = model
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Completion:
        """Hand the request on and count it."""
        with self._lock:
            self.requests += 1
        completion = self._model.complete(request)
        with self._lock:
            self.usage = self.usage.plus(completion)
        return completion
