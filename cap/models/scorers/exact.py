"""Exact log-probabilities of continuations, in two ways that servers offer.

`echoed`  the server repeats a prompt with the log-probability of each token: vLLM, llama-cpp-python
`walked`  it takes tokens for a prompt and gives all alternatives to the next one: llama.cpp, by
          `/tokenize` beside `/v1`; one request is sent for each token of a continuation
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, takewhile
from typing import Any

from cap.models.base import Scores
from cap.models.concurrency import together
from cap.models.openai.model import Refused
from cap.models.scorers.asker import Asker
from cap.prompt.prompt import without_synonyms

MOST = 1e-3
"""Greatest log-probability that is taken for one: 0, and what rounding adds."""


@dataclass(frozen=True)
class ScoredToken:
    """A token of prompt and continuation."""

    start: int
    """Where it begins in the text, in characters."""
    end: int
    """Where the next one begins."""
    logprob: float | None
    """Of it, after all before; None for the very first."""


def exact(asker: Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return the log-probability of each continuation, in the way that works.

    Raises:
        Refused: The server offers neither.
    """
    if asker.endpoint.abilities.echo is False:
        return walked(asker, prompt, continuations)
    try:
        return echoed(asker, prompt, continuations)
    except Refused as refused:
        try:
            scores = walked(asker, prompt, continuations)
        except Refused:
            raise refused from None
    asker.endpoint.learn(echo=False)  # the longer way is the only one
    return scores


def echoed(asker: Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return the log-probability of each continuation.

    A tokenizer may join the prompt's last characters with a continuation's first. Then all are
    counted from the first such token on: each has the same term more, the log-probability of
    those characters, and their differences stay exact.

    Raises:
        Refused: The server has no such thing.
    """
    prompt = without_synonyms(prompt)

    def ask(continuation: str, once: bool = False) -> list[ScoredToken]:
        text = prompt + continuation
        # To some servers no token means no limit.
        asked = {"prompt": text, "max_tokens": 1, "temperature": 0.0, "echo": True, "logprobs": 1}
        return tokens_of(asker.request("completion", asked, once=once), text)

    # The first alone: where it is refused, the others are not sent.
    answers = [ask(continuations[0], once=True)]
    answers += together([partial(ask, text) for text in continuations[1:]])
    begin = len(prompt)
    tokens = [token for each in answers for token in each]
    while starts := [token.start for token in tokens if token.start < begin < token.end]:
        begin = min(starts)  # back to the last place that lies inside no token
    sums = tuple(_sum(each, begin) for each in answers)
    joined = len(prompt) - begin
    note = f"the prompt's last {joined} characters share tokens with continuations"
    return Scores(sums, "exact", (note,) if joined else ())


def tokens_of(body: Any, text: str) -> list[ScoredToken]:
    """Return the tokens of the text that was sent, without those that were written.

    Raises:
        Refused: The answer does not have them.
    """
    try:
        choice = body["choices"][0]
        found = choice["logprobs"]
        words, logprobs = list(found["tokens"]), list(found["token_logprobs"])
        repeated = choice["text"].lstrip()[:40]
    except (KeyError, IndexError, TypeError, AttributeError):
        raise Refused("it does not give the log-probabilities of the prompt") from None
    if len(words) != len(logprobs) or not text.lstrip().startswith(repeated[: len(text.lstrip())]):
        raise Refused("it does not repeat the prompt")
    sizes = [*map(len, words)]
    if words and not text.startswith(words[0]):
        sizes[0] = 0  # a mark such as `<s>`, which is no part of the text
    ends = list(accumulate(sizes))
    entries = zip([0, *ends], ends, logprobs, strict=False)
    tokens = [ScoredToken(*entry) for entry in entries if entry[0] < len(text)]
    numbers: list[Any] = [token.logprob for token in tokens[1:]]
    if not tokens or ends[-1] < len(text) or not {*map(type, numbers)} <= {int, float}:
        raise Refused("it does not give the log-probabilities of the whole prompt")
    for number in numbers:
        if not number <= MOST:
            raise Refused(f"it gives {number} for a log-probability, which is none")
    return tokens


def _sum(tokens: Sequence[ScoredToken], begin: int) -> float:
    """Return the log-probability of the text from a place on."""
    counted = [token for token in tokens if token.end > begin]
    if any(token.logprob is None for token in counted):
        raise Refused("the prompt is too short: its first token has no log-probability")
    return math.fsum(token.logprob or 0.0 for token in counted)


WIDTHS = (256, 8192, 1_000_000)
"""How many alternatives to ask for, until the token is among them; the last is every vocabulary."""


def walked(asker: Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return the log-probability of each continuation.

    Where a tokenizer joins the prompt's end with a continuation's beginning, all are counted from
    the first such token on, as in `echoed`.

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
    # It is made to write a letter: of half a character it gives no alternatives. What it gives of
    # them is from before that.
    letter = {str(_tokens(asker, "a")[-1]): 100}
    if begin == 0:
        raise Refused("the prompt is too short: its first token has no log-probability")

    def score(text: str) -> float:
        ids = tokens[text]
        return math.fsum(
            _logprob(asker, ids[:at], ids[at], letter) for at in range(begin, len(ids))
        )

    sums = together([partial(score, text) for text in continuations])
    return Scores(tuple(sums), "exact")


def _tokens(asker: Asker, text: str) -> list[int]:
    found = asker.endpoint.tokens(text)
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
            found = {int(entry["id"]): float(entry["logprob"]) for entry in entries}
        except (KeyError, IndexError, TypeError, ValueError):
            raise Refused("it does not number its alternatives to a token") from None
        if token in found:
            return found[token]
        if len(found) < width // 2:  # these are all
            break
    raise Refused("it does not tell every alternative to a token")
