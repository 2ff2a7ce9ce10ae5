"""Whoever sends a comparison's requests to an endpoint, and several of them at once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from cap.errors import ModelError
from cap.models.base import Completion, Mode, Request
from cap.models.capabilities import Abilities
from cap.models.concurrency import together

R = TypeVar("R")


class Known(Protocol):
    """An endpoint and what is known of it."""

    mode: Mode
    abilities: Abilities

    def tokens(self, text: str) -> list[int] | None:
        """Return the numbers of a text's tokens; None where it does not tell them."""

    def learn(self, **known: Any) -> None:
        """Remember something about it."""


class Asker(Protocol):
    """Whoever sends requests to an endpoint: the model itself, or what counts and keeps them."""

    name: str

    @property
    def endpoint(self) -> Known | None:
        """The endpoint behind it."""

    def complete(self, request: Request) -> Completion:
        """Answer one request."""

    def request(self, mode: Mode, parameters: Mapping[str, Any], *, once: bool = False) -> Any:
        """Send one request as it is."""


def at_once(work: Callable[[str], R], texts: Sequence[str]) -> list[R]:
    """Do the same with several texts, a few at a time; after the first error no more is begun."""
    errors: list[ModelError] = []

    def one(text: str) -> R:
        if errors:
            raise errors[0]
        try:
            return work(text)
        except ModelError as error:
            errors.append(error)
            raise

    answers = together([functools.partial(one, text) for text in texts], returned=ModelError)
    if errors:
        raise errors[0]
    return [answer for answer in answers if not isinstance(answer, ModelError)]
