"""Comparing continuations of a prompt, by the best of three ways an endpoint offers.

`exact`   the server gives every token's log-probability, of a text it repeats or one by one
`choice`  a question with lettered answers; the probabilities of the letters
`ranked`  one request for the likeliest continuations, in order, by letter

The best way that works is remembered, so that the others are not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cap.errors import ModelError, ModelUnreachable, SpendLimit, Unranked, UsageError
from cap.models.base import Scores
from cap.models.openai.model import Refused
from cap.models.scorers.asker import Asker
from cap.models.scorers.choice import choice
from cap.models.scorers.exact import exact
from cap.models.scorers.ranked import ranked

if TYPE_CHECKING:
    from cap.models.openai.model import OpenAIModel

WAYS: Mapping[str, Callable[[Asker, str, Sequence[str]], Scores]] = {
    "exact": exact,
    "choice": choice,
    "ranked": ranked,
}
"""From the best to the one that always works."""


def score(endpoint: OpenAIModel, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return how likely each continuation is after the prompt.

    Args:
        endpoint: Whom to ask.
        prompt: What stands before; not empty.
        continuations: What may follow; each different, none empty.

    Raises:
        UsageError: There is nothing to compare.
        ModelError: No usable answer.
    """
    if not prompt or not continuations or not all(continuations):
        raise UsageError("nothing to compare: give a prompt and continuations, none of them empty")
    if len(set(continuations)) < len(continuations):
        raise UsageError("a continuation stands twice; give each once")
    asker = Asker(endpoint)
    known, ways = endpoint.abilities.rung, list(WAYS)
    while known in ways and ways[0] != known:
        del ways[0]
    notes: list[str] = []
    certain = True
    for way in ways:
        try:
            scores = WAYS[way](asker, prompt, continuations)
        except ModelError as error:
            if way == ways[-1] or isinstance(error, ModelUnreachable | SpendLimit):
                error.requests, error.took = asker.usage.requests, vars(asker.usage)
                raise
            # A busy server may do it tomorrow, and one answer in prose says nothing of the next.
            refused = Refused if known else (Refused, Unranked)
            certain = certain and isinstance(error, refused)
            notes.append(f"no {way} scores: {error}")
            continue
        if certain and known != way:
            endpoint.learn(rung=way)
        return replace(scores, notes=(*notes, *scores.notes), usage=asker.usage)
    raise AssertionError("the last way returns or raises")
