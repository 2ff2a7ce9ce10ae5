"""What a run may ask of its model, and what it has: requests, tokens, dollars."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from cap.errors import SpendLimit, UsageError
from cap.models.base import Completion, Usage
from cap.prompt.prompt import tokens_of

MINUTE_S = 60.0
ESTIMATED = "it counts no tokens: they are estimated from the length of the texts, and so its price"


@dataclass(frozen=True)
class Price:
    """What a model costs, in dollars for a million tokens."""

    read: float
    """Of the prompt."""
    written: float
    """Of the completion."""
    cached: float | None = None
    """Of what it read from its own cache; None for the same as all it reads."""
    reasoning: float | None = None
    """Of its reasoning; None for the same as all it writes."""

    def of(self, completion: Completion) -> float:
        """Return the price of a completion, dollars."""
        cached, reasoning = completion.cached_tokens, completion.reasoning_tokens
        return (
            (completion.prompt_tokens - cached) * self.read
            + cached * (self.read if self.cached is None else self.cached)
            + (completion.completion_tokens - reasoning) * self.written
            + reasoning * (self.written if self.reasoning is None else self.reasoning)
        ) / 1e6


FREE = Price(0.0, 0.0)
NOTHING = Usage()


@dataclass(frozen=True)
class Allowance:
    """The most a run may use; None for no limit."""

    calls: int | None = None
    """Requests, retries included."""
    cost_usd: float | None = None
    """Dollars; needs a known price."""
    at_once: int = 8
    """Requests under way at the same time."""
    per_minute: int | None = None
    """Requests sent in any minute."""

    @property
    def bounded(self) -> bool:
        """True if there is a limit that ends a run."""
        return self.calls is not None or self.cost_usd is not None


Check = Callable[[int, float], None]
"""Called with the requests and dollars so far; raises if there may be no more."""


def cost_message(who: str, spent_usd: float, limit_usd: float) -> str:
    """Return what was spent of a limit that is reached, and by how much it is passed.

    Args:
        who: What has cost so much.
        spent_usd: How much, in dollars.
        limit_usd: The limit, in dollars.
    """
    message = f"{who} has cost ${spent_usd:.4f}, the limit of this run is ${limit_usd:g}"
    over = f"{spent_usd - limit_usd:.4f}"
    if over == "0.0000":
        return message
    return f"{message}, passed by ${over}: what a request costs is known once it is answered"


class Account:
    """What was used of an allowance, by everyone who shares it: here by models of one process."""

    def __init__(self) -> None:
        """Begin with nothing used."""
        self._begun, self._spent_usd = 0, 0.0
        self._lock = threading.Lock()

    def begin(self, check: Check) -> None:
        """Count one more request, unless `check` raises."""
        with self._lock:
            check(self._begun, self._spent_usd)
            self._begun += 1

    def end(self) -> None:
        """Note that a request has ended, answered or not."""

    def pay(self, cost_usd: float) -> None:
        """Add to what was spent, dollars."""
        with self._lock:
            self._spent_usd += cost_usd


class Budget:
    """Lets requests go out one by one, and counts what their answers took.

    A request past a limit is not sent. Those under way may pass the spend limit by their own price,
    since nobody knows it before. A request that is refused counts as a request, at no price; what
    arrived of one that broke off, and its prompt, are estimated and paid.
    """

    def __init__(
        self,
        name: str,
        allowance: Allowance | None = None,
        price: Price | None = None,
        account: Account | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with nothing spent.

        Args:
            name: The model's, for messages.
            allowance: The limits.
            price: Its price, if known.
            account: Where what is used counts against them; one of its own by default.
            sleep: Waits for the minute to pass, in seconds.
            clock: Monotonic time, in seconds.

        Raises:
            UsageError: There is a spend limit and no price.
        """
        self._name = name
        self._allowance = allowance or Allowance()
        self._price = price
        if self._allowance.cost_usd is not None and price is None:
            raise UsageError(
                f"no price is known for {name}, so --max-cost cannot hold; add it to your "
                f'config.toml, dollars for a million tokens: [prices] "{name}" = '
                "{ read = 0.4, written = 1.6 }"
            )
        self._account = account or Account()
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(self._allowance.at_once)
        self._sent: deque[float] = deque()
        """When the requests of the last minute were sent."""
        self._sleep, self._clock = sleep, clock
        self.usage = Usage()
        """What was used so far."""

    @contextlib.contextmanager
    def sending(self) -> Iterator[None]:
        """Hold a place while a request is under way, once there is one and the limits allow it.

        Raises:
            SpendLimit: They do not.
        """
        with self._places:
            self._pace()
            self._account.begin(self._check)
            try:
                yield
            finally:
                self._account.end()

    def count(self, prompt: str, completion: Completion, lost: Usage = NOTHING) -> Completion:
        """Add an answer to what was used, and its price to the answer.

        Args:
            prompt: What was asked, for an estimate where no tokens are reported.
            completion: The answer.
            lost: What tries took that broke off before it, which is counted already.
        """
        priced = completion.cost_usd is not None
        if not (priced or completion.prompt_tokens or completion.completion_tokens):
            notes = [] if self._price in (None, FREE) else [ESTIMATED]
            completion = replace(
                completion,
                prompt_tokens=tokens_of(len(prompt)),
                completion_tokens=tokens_of(len(completion.text)),
                notes=(*completion.notes, *notes),
                estimated=True,
            )
        if self._price is not None and not priced:
            completion = replace(completion, cost_usd=self._price.of(completion))
        took = Usage.of(completion)
        self._add(took)
        return completion if lost == NOTHING else replace(completion, **vars(took.plus(lost)))

    def lose(self, prompt: str, written: int) -> Usage:
        """Add a try to what was used that broke off once the endpoint had begun to answer.

        Args:
            prompt: What was asked.
            written: About how many tokens of an answer there may have been.

        Returns:
            What it took, by estimate, without its request.
        """
        lost = replace(self.cancelled_usage(prompt, written), requests=0)
        self._add(lost)
        return lost

    def _add(self, usage: Usage) -> None:
        if usage.cost_usd:
            self._account.pay(usage.cost_usd)
        with self._lock:
            self.usage = self.usage.plus(usage)

    def cancelled_usage(self, prompt: str, written: int) -> Usage:
        """Return what a request takes, by estimate, that was stopped; nothing is paid.

        Args:
            prompt: What was asked.
            written: About how many tokens of an answer there may have been.
        """
        tokens = Completion("", self._name, tokens_of(len(prompt)), written)
        cost_usd = None if self._price is None else self._price.of(tokens)
        return Usage(1, tokens.prompt_tokens, written, cost_usd, estimated=True)

    def _check(self, begun: int, spent_usd: float) -> None:
        """Refuse one more request, if that would be past a limit."""
        limit = self._allowance
        if limit.calls is not None and begun >= limit.calls:
            raise SpendLimit(
                f"{self._name} was sent {begun} requests, retries included, the limit of this run; "
                "raise it: --set max_calls=N"
            )
        if limit.cost_usd is not None and spent_usd >= limit.cost_usd:
            spent = cost_message(self._name, spent_usd, limit.cost_usd)
            raise SpendLimit(f"{spent}; raise --max-cost")

    def _pace(self) -> None:
        """Wait until one more request is not too many for this minute."""
        most = self._allowance.per_minute
        if most is None:
            return
        with self._lock:
            now = self._clock()
            while self._sent and self._sent[0] <= now - MINUTE_S:
                self._sent.popleft()
            # It may go a minute after the one that stands so many places before it.
            begin = now if len(self._sent) < most else self._sent[-most] + MINUTE_S
            self._sent.append(begin)
        if begin > now:
            self._sleep(begin - now)
