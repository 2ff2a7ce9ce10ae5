"""Exact log-probabilities token by token, where a server takes tokens and tells all alternatives.

llama.cpp does: `/tokenize` beside `/v1`, token numbers as a prompt, and as many alternatives as are
asked for, each with its number. One request is sent for each token of a continuation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import takewhile

from cap.models.base import Scores
from cap.models.openai.errors import Refused
from cap.models.scorers.asker import Asker, at_once
from cap.prompt.prompt import without_synonyms

WIDTHS = (256, 8192, 1_000_000)
"""How many alternatives to ask for, until the token is among them; the last is every vocabulary."""


def walked(asker: Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return the log-probability of each continuation.

    Where a tokenizer joins the prompt's end with a continuation's beginning, all are counted from
    the first such token on, as in `exact`.

    Raises:
        Refused: The server has no such thing.
    """
    prompt = without_synonyms(prompt)
    before = _tokens(asker, prompt)
    tokens = {text: _tokens(asker, prompt + text) for text in continuations}
    begin = min(
        sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, each, strict=False)))
        for each in tokens.values()
    )
    # It is made to write a letter: of half a character it tells no alternatives. What it tells of
    # them is from before that.
    letter = {str(_tokens(asker, "a")[-1]): 100}
    if begin == 0:
        raise Refused("the prompt is too short: its first token has no log-probability")

    def score(text: str) -> float:
        ids = tokens[text]
        return math.fsum(
            _logprob(asker, ids[:at], ids[at], letter) for at in range(begin, len(ids))
        )

    return Scores(tuple(at_once(score, list(continuations))), "exact")


def _tokens(asker: Asker, text: str) -> list[int]:
    found = asker.endpoint.tokens(text) if asker.endpoint else None
    if not found:
        raise Refused("it does not tell its tokens")
    return found


def _logprob(asker: Asker, before: Sequence[int], token: int, letter: Mapping[str, int]) -> float:
    """Return the log-probability of one token after others."""
    for width in WIDTHS:
        asked = {"prompt": list(before), "max_tokens": 1, "temperature": 0.0, "logprobs": width}
        body = asker.request("completion", {**asked, "logit_bias": dict(letter)})
        try:
            entries = body["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            told = {int(entry["id"]): float(entry["logprob"]) for entry in entries}
        except (KeyError, IndexError, TypeError, ValueError):
            raise Refused("it does not number its alternatives to a token") from None
        if token in told:
            return told[token]
        if len(told) < width // 2:  # these are all
            break
    raise Refused("it does not tell every alternative to a token")
