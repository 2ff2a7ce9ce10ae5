"""What a run may ask of its model, and what it has: calls, tokens, dollars, requests at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from cap.errors import SpendLimit, UsageError
from cap.models.base import Completion, Mode, Model, Request, Usage
from cap.models.openai.replies import read_reply
from cap.models.wrapper import Ask, Wrapped

CHARS_PER_TOKEN = 4
"""Stands in where an endpoint counts no tokens: English and code have about so many."""

ESTIMATED = "the endpoint counts no tokens; its price is estimated from the length of the texts"


@dataclass(frozen=True)
class Price:
    """What a model costs, in dollars for a million tokens."""

    read: float
    """Of the prompt."""
    written: float
    """Of the completion."""

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the price of a completion, dollars."""
        return (prompt_tokens * self.read + completion_tokens * self.written) / 1e6


FREE = Price(0.0, 0.0)


@dataclass(frozen=True)
class Allowance:
    """The most a run may use; None for no limit."""

    calls: int | None = None
    """Requests."""
    cost_usd: float | None = None
    """Dollars; needs a known price."""
    at_once: int = 8
    """Requests under way at the same time."""


Check = Callable[[int, float], None]
"""Told the requests and dollars so far; raises if there may be no more."""


class Account(Protocol):
    """What was used of an allowance, by everyone who shares it."""

    def begin(self, check: Check) -> None:
        """Count one more request, unless `check` raises."""

    def pay(self, cost_usd: float) -> None:
        """Add to what was spent, dollars."""


class OwnAccount:
    """The account of one model in one process."""

    def __init__(self) -> None:
        self._begun, self._spent_usd = 0, 0.0
        self._lock = threading.Lock()

    def begin(self, check: Check) -> None:
        """Count one more request, unless `check` raises."""
        with self._lock:
            check(self._begun, self._spent_usd)
            self._begun += 1

    def pay(self, cost_usd: float) -> None:
        """Add to what was spent, dollars."""
        with self._lock:
            self._spent_usd += cost_usd


class Metered(Wrapped):
    """A model that counts and stops; safe to call from several threads.

    A request past a limit is not sent. Those under way may pass the spend limit by their own price,
    since nobody knows it before. A request that fails counts as a call, at no price.
    """

    def __init__(
        self,
        model: Model,
        allowance: Allowance | None = None,
        price: Price | None = None,
        account: Account | None = None,
    ) -> None:
        """Wrap a model.

        Args:
            model: Whom to ask.
            allowance: The limits.
            price: Its price, if known.
            account: Where what is used counts against them; one of its own by default.

        Raises:
            UsageError: There is a spend limit and no price.
        """
        super().__init__(model)
        self._allowance = allowance or Allowance()
        self._price = price
        if self._allowance.cost_usd is not None and price is None:
            raise UsageError(
                f"no price is known for {model.name}, so --max-cost cannot hold; add it to your "
                f'config.toml, dollars for a million tokens: [prices] "{model.name}" = '
                "{ read = 0.4, written = 1.6 }"
            )
        self._account = account or OwnAccount()
        self._usage = Usage()
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(self._allowance.at_once)

    @property
    def usage(self) -> Usage:
        """What was used so far."""
        return self._usage

    def _through(self, request: Request, ask: Ask) -> Completion:
        return self._count(request.prompt, self._sent(ask))

    def _through_bare(
        self, mode: Mode, parameters: Mapping[str, Any], ask: Callable[[], Any]
    ) -> Any:
        body = self._sent(ask)
        reply = read_reply(body, Request(""))
        texts = parameters.get("prompt") or str(parameters.get("messages"))
        tokens = reply.prompt_tokens, reply.completion_tokens
        self._count(str(texts), Completion(reply.text, self.name, *tokens))
        return body

    def _sent(self, ask: Callable[[], Any]) -> Any:
        """Ask once there is a place, if the limits allow it then."""
        with self._places:
            self._account.begin(self._check)
            return ask()

    def _check(self, begun: int, spent_usd: float) -> None:
        """Refuse one more request, if that would be past a limit."""
        limit = self._allowance
        if limit.calls is not None and begun >= limit.calls:
            raise SpendLimit(
                f"{self.name} was asked {begun} times, the limit of this run; raise --max-calls"
            )
        if limit.cost_usd is not None and spent_usd >= limit.cost_usd:
            raise SpendLimit(
                f"{self.name} has cost ${spent_usd:.4f}, the limit of this run is "
                f"${limit.cost_usd:g}; raise --max-cost"
            )

    def _count(self, prompt: str, completion: Completion) -> Completion:
        """Add an answer to what was used, and its price to the answer."""
        if self._price is not None and completion.cost_usd is None:
            read, written = completion.prompt_tokens, completion.completion_tokens
            notes = completion.notes
            if not (read or written):
                texts = prompt, completion.text
                read, written = (-(-len(text) // CHARS_PER_TOKEN) for text in texts)
                notes = notes if self._price == FREE else (*notes, ESTIMATED)
            completion = replace(completion, cost_usd=self._price.of(read, written), notes=notes)
        if completion.cost_usd:
            self._account.pay(completion.cost_usd)
        with self._lock:
            self._usage = self._usage.plus(Usage.of(completion))
        return completion
