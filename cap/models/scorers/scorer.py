"""Comparing continuations of a prompt, by the best of three ways an endpoint offers.

`exact`   the server tells every token's log-probability, of a text it repeats or one by one
`choice`  a question with lettered answers; the probabilities of the letters
`ranked` one request for the likeliest continuations, in order, by letter

The best way that works is remembered, so that the others are not tried again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cap.errors import ModelError, ModelUnreachable, SpendLimit, UsageError
from cap.models.base import Scores
from cap.models.openai.errors import Refused
from cap.models.scorers.asker import Asker
from cap.models.scorers.choice import choice
from cap.models.scorers.exact import exact
from cap.models.scorers.ranked import ranked


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
    if not prompt or not continuations or not all(continuations):
        raise UsageError("nothing to compare: give a prompt and continuations, none of them empty")
    if len(set(continuations)) < len(continuations):
        raise UsageError("a continuation stands twice; give each once")
    endpoint = asker.endpoint
    if endpoint is None:
        return ranked(asker, prompt, continuations)
    ways: dict[str, Callable[[Asker, str, Sequence[str]], Scores]]
    ways = {"exact": exact, "choice": choice, "ranked": ranked}
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
