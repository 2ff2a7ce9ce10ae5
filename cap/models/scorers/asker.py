"""The requests of one comparison at an endpoint, and what they take."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from cap.errors import ModelError
from cap.models.base import Completion, Mode, Request, Usage

if TYPE_CHECKING:
    from cap.models.openai.model import OpenAIModel

R = TypeVar("R")


class Asker:
    """Asks an endpoint, and counts what that takes."""

    def __init__(self, endpoint: OpenAIModel) -> None:
        """Begin with nothing asked."""
        self.endpoint = endpoint
        self.usage = Usage()
        """What it took so far."""
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelError: No usable answer.
        """
        completion = self._tried(functools.partial(self.endpoint.complete, request))
        self._add(Usage.of(completion))
        return completion

    def request(self, mode: Mode, parameters: Mapping[str, Any], *, once: bool = False) -> Any:
        """Send one request as it is and return the decoded answer.

        Raises:
            ModelError: No usable answer.
        """
        send = functools.partial(self.endpoint.request, mode, parameters, once=once)
        body, usage = self._tried(send)
        self._add(usage)
        return body

    def _tried(self, ask: Callable[[], R]) -> R:
        try:
            return ask()
        except ModelError as error:
            self._add(Usage.of_failed(error))
            raise

    def _add(self, usage: Usage) -> None:
        with self._lock:
            self.usage = self.usage.plus(usage)
