"""Comparing continuations of a prompt, by the best of three ways an endpoint offers.

`exact`   the server reads prompt and continuation and tells every token's log-probability
`choice`  a question with lettered answers; the probabilities of the letters
`sampled` several completions, counted

The best way that works is remembered, so that the others are not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol, TypeVar

from cap.errors import ModelError, ModelUnreachable, SpendLimit, UsageError
from cap.models.base import Completion, Model, Request, Scores
from cap.models.capabilities import Abilities
from cap.models.openai.errors import Refused
from cap.models.openai.transport import Mode

R = TypeVar("R")

AT_ONCE = 8
"""Most requests under way for one comparison."""


class Known(Protocol):
    """An endpoint and what is known of it."""

    mode: Mode
    abilities: Abilities

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


def score(asker: Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return how likely each continuation is after the prompt.

    Args:
        asker: Whom to ask.
        prompt: What stands before; not empty.
        continuations: What may follow; each different, none empty.

    Raises:
        UsageError: There is nothing to compare.
        ModelError: No usable answer.
    """
    _check(prompt, continuations)
    endpoint = asker.endpoint
    if endpoint is None:
        return sampled(asker, prompt, continuations)
    from cap.models.scorers.choice import choice
    from cap.models.scorers.exact import exact

    ways: dict[str, Callable[[Asker, str, Sequence[str]], Scores]]
    ways = {"exact": exact, "choice": choice, "sampled": sampled}
    rungs = list(ways)
    first = rungs.index(endpoint.abilities.rung) if endpoint.abilities.rung in ways else 0
    notes: list[str] = []
    certain = True
    for rung in rungs[first:]:
        try:
            scores = ways[rung](asker, prompt, continuations)
        except (ModelUnreachable, SpendLimit):
            raise
        except ModelError as error:
            if rung == rungs[-1]:
                raise
            certain = certain and isinstance(error, Refused)  # a busy server may do it tomorrow
            notes.append(f"no {rung} scores: {error}")
            continue
        if certain and endpoint.abilities.rung != rung:
            endpoint.learn(rung=rung)
        return Scores(scores.logprobs, rung, (*notes, *scores.notes))
    raise AssertionError("the last way returns or raises")


def sampled(model: Model | Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Compare by counting which continuation each of several completions is."""
    from cap.models.scorers.sampling import sampled as count

    return count(model, prompt, continuations)


def at_once(work: Callable[[str], R], texts: Sequence[str]) -> list[R]:
    """Do the same with several texts, a few at a time; the first error ends it."""
    with ThreadPoolExecutor(min(AT_ONCE, len(texts))) as pool:
        waiting = [pool.submit(work, text) for text in texts]
        try:
            return [each.result() for each in waiting]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _check(prompt: str, continuations: Sequence[str]) -> None:
    if not prompt or not continuations or not all(continuations):
        raise UsageError("nothing to compare: give a prompt and continuations, none of them empty")
    if len(set(continuations)) < len(continuations):
        raise UsageError("a continuation stands twice; give each once")
