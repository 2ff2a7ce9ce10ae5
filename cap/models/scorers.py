"""Comparing continuations of a prompt, by the best of three ways an endpoint offers.

`exact`   the server repeats a text with every token's log-probability (vLLM, llama-cpp-python)
`choice`  a question with lettered answers; the probabilities of the letters
`ranked`  one request for the likeliest continuations, in order, by letter

The best way that works is remembered, so that the others are not tried again.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cap.errors import ModelError, ModelUnreachable, SpendLimit, Unranked
from cap.models.base import Completion, Mode, Model, Request, Scores, Usage
from cap.models.concurrency import together
from cap.models.openai.model import Refused
from cap.prompt.examples import without_synonyms

if TYPE_CHECKING:
    from cap.models.openai.model import OpenAIModel

LETTERS = string.ascii_uppercase
WIDE, NARROW = 20, 5
"""How many alternatives to a letter are asked for; servers have different limits."""
MISSING = 2.0
"""A letter that is not given is at most as likely as the last one given; this many nats less."""
RANKED = 5
"""How many continuations a ranking asks for."""
FIRST = 0.95
"""Probability of the first of a ranking; each later one has this share of what is left."""
RANKING_SYSTEM = (
    "You are given a text and what may come next in it, by letter. Answer with letters only."
)
_ONLY_LETTERS = "That names no letter. Write only letters of the list, such as: B, A"
"""What is added where an answer was prose; the question is asked once more."""
_SHOWN = 60
_OTHER_SHAPES = (LookupError, TypeError, ValueError, AttributeError)
"""What reading an answer of another shape raises."""


class Asker:
    """Asks an endpoint, and counts what that takes."""

    def __init__(self, endpoint: OpenAIModel) -> None:
        """Begin with nothing asked."""
        self.endpoint = endpoint
        self._taken: list[Usage] = []

    @property
    def usage(self) -> Usage:
        """What it took so far."""
        return functools.reduce(Usage.plus, self._taken, Usage())

    def complete(self, request: Request) -> Completion:
        """Answer one request.

        Raises:
            ModelError: No usable answer.
        """
        with self._failures():
            completion = self.endpoint.complete(request)
        self._taken.append(Usage.of(completion))
        return completion

    def request(self, mode: Mode, parameters: Mapping[str, Any], *, once: bool = False) -> Any:
        """Send one request as it is and return the decoded answer.

        Raises:
            ModelError: No usable answer.
        """
        with self._failures():
            body, usage = self.endpoint.request(mode, parameters, once=once)
        self._taken.append(usage)
        return body

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        """Count what led to no answer."""
        try:
            yield
        except ModelError as error:
            self._taken.append(Usage.of_failed(error))
            raise


def score(endpoint: OpenAIModel, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return how likely each continuation is after the prompt.

    Args:
        endpoint: Whom to ask.
        prompt: The text before; not empty.
        continuations: What may follow; each different, none empty.

    Raises:
        ModelError: No usable answer.
    """
    asker, known = Asker(endpoint), endpoint.abilities.rung
    ways = list(WAYS)
    ways = ways[ways.index(known) :] if known in ways else ways
    notes: list[str] = []
    certain = True
    while True:
        way = ways.pop(0)
        try:
            scores = WAYS[way](asker, without_synonyms(prompt), continuations)
        except ModelError as error:
            if not ways or isinstance(error, ModelUnreachable | SpendLimit):
                error.requests, error.took = asker.usage.requests, vars(asker.usage)
                raise
            # A busy server may do it tomorrow, and one answer in prose says nothing of the next.
            certain = certain and isinstance(error, Refused)
            notes.append(f"no {way} scores: {error}")
            continue
        if certain and known != way:
            endpoint.learn(rung=way)
        return replace(scores, notes=(*notes, *scores.notes), usage=asker.usage)


def exact(asker: Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return the log-probability of each continuation.

    The server repeats a prompt's tokens with theirs. A tokenizer may join the prompt's last
    characters with a continuation's first. Then all are counted from the first such token on: each
    has the same term more, and their differences stay exact.

    Raises:
        Refused: The server does not give them.
    """

    def ask(text: str, once: bool = False) -> list[tuple[int, float]]:
        # To some servers no token means no limit.
        asked = {"prompt": text, "max_tokens": 1, "temperature": 0.0, "echo": True, "logprobs": 1}
        return echoed_tokens(asker.request("completion", asked, once=once), text)

    # The first alone: where it is refused, the others are not sent.
    answers = [ask(prompt + continuations[0], once=True)]
    answers += together([functools.partial(ask, prompt + text) for text in continuations[1:]])
    begin = len(prompt)
    while any(begin not in [start for start, _ in tokens] for tokens in answers):
        begin -= 1  # back to the last place that is inside no token
    if begin <= 0:
        raise Refused("the prompt is too short: its first token has no log-probability")
    sums = (math.fsum(value for start, value in each if start >= begin) for each in answers)
    return Scores(tuple(sums), "exact")


def echoed_tokens(body: Any, text: str) -> list[tuple[int, float]]:
    """Return the tokens of the text that was sent: where each begins, and its log-probability.

    The very first has none, and counts as 0. What the server wrote after the text is left out.

    Raises:
        Refused: The answer does not have them.
    """
    try:
        choice = body["choices"][0]
        words, logprobs = choice["logprobs"]["tokens"], choice["logprobs"]["token_logprobs"]
        if not words[0] or not text.startswith(words[0]):  # a mark such as `<s>`
            words = ["", *words[1:]]
        if not "".join(words).startswith(text) or not choice["text"].startswith(text[:40]):
            raise Refused("it does not repeat the prompt")
        starts = [0, *itertools.accumulate(map(len, words[:-1]))]
        values = [0.0, *map(float, logprobs[1:])]
        tokens = [one for one in zip(starts, values, strict=True) if one[0] < len(text)]
    except _OTHER_SHAPES:
        raise Refused("it does not give the log-probabilities of the prompt") from None
    return tokens


def choice(asker: Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return the log-probability of each continuation among them all.

    Where there are more options than letters given, they are compared in groups, and the groups by
    their best: p(option) = p(option in its group) / p(best in its group) * p(best among the bests).

    Raises:
        Refused: The endpoint does not give log-probabilities.
        Unranked: None of its likely answers is a letter.
    """
    known = asker.endpoint.abilities.logprobs
    width = known or WIDE
    try:
        logprobs = _grouped(asker, prompt, continuations, width)
    except Refused:
        if known:
            raise
        width = NARROW
        logprobs = _grouped(asker, prompt, continuations, width)
    asker.endpoint.learn(logprobs=width)
    return Scores(tuple(normalized(logprobs)), "choice")


def _grouped(asker: Asker, prompt: str, options: Sequence[str], width: int) -> list[float]:
    """Return the log-probabilities of options, of which `width` fit into one question."""
    if len(options) == 1:
        return [0.0]
    if len(options) <= width:  # both orders, and their mean: models favour the first, or the last
        forward = _letters(asker, prompt, options, width)
        backward = _letters(asker, prompt, options[::-1], width)[::-1]
        return list(map(float, np.logaddexp(forward, backward) - math.log(2)))
    size = math.ceil(len(options) / math.ceil(len(options) / width))
    groups = [options[at : at + size] for at in range(0, len(options), size)]
    within = [_grouped(asker, prompt, group, width) for group in groups]
    best = [group[values.index(max(values))] for group, values in zip(groups, within, strict=True)]
    among = _grouped(asker, prompt, best, width)
    return [
        value - max(values) + shift
        for values, shift in zip(within, among, strict=True)
        for value in values
    ]


def _letters(asker: Asker, prompt: str, options: Sequence[str], width: int) -> list[float]:
    """Return the log-probabilities of options by one question, in this order of letters."""
    labels = [*LETTERS[: len(options)]]
    lines = [f"{LETTERS[n]}) {' '.join(text.split())}" for n, text in enumerate(options)]
    chat = asker.endpoint.mode == "chat"
    answer = "Answer with its letter alone." if chat else "Answer:"
    text = "\n".join([prompt, "", "Which of these comes next?", *lines, answer])
    asked: dict[str, Any] = {"prompt": text, "logprobs": width}
    if chat:
        message = {"role": "user", "content": text}
        asked = {"messages": [message], "logprobs": True, "top_logprobs": width}
    body = asker.request(asker.endpoint.mode, {**asked, "max_tokens": 1, "temperature": 0.0})
    given = alternatives(body)
    found: dict[str, float] = {}
    for token, value in given.items():
        label = token.strip(" \n\t().:*\u2581\u0120")  # however its token is written
        if label in labels:
            found[label] = _log_sum([found.get(label, -math.inf), value])
    if not found:
        raise Unranked("none of its likely answers is a letter")
    lowest = min(given.values()) - MISSING
    return normalized([found.get(label, lowest) for label in labels])


def alternatives(body: Any) -> Mapping[str, float]:
    """Return the alternatives to an answer's first token.

    Raises:
        Refused: It gives none.
    """
    try:
        logprobs = body["choices"][0]["logprobs"]
        if content := logprobs.get("content"):
            pairs = [(entry["token"], entry["logprob"]) for entry in content[0]["top_logprobs"]]
        else:
            pairs = [*logprobs["top_logprobs"][0].items()]
        given = {token: float(value) for token, value in pairs}
    except _OTHER_SHAPES:
        raise Refused("it does not give log-probabilities") from None
    given = {token: value for token, value in given.items() if value > -math.inf}
    if len(given) < 2:
        raise Refused("it gives no alternatives to a token")
    return given


def ranked(model: Model | Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return probabilities by place among the likeliest; those not named have probability 0.

    Raises:
        Unranked: Two answers name no letter.
    """
    count = min(RANKED, len(continuations))
    pairs = map("".join, itertools.product(LETTERS, repeat=2))
    labels = [*LETTERS, *pairs][: len(continuations)]
    listed = [f"{label}) {text.strip()}" for label, text in zip(labels, continuations, strict=True)]
    asked = (
        f"Which of these comes next? Write the letters of the {count} likeliest in one line, "
        "the likeliest first:"
    )
    text = "\n".join([without_synonyms(prompt), "", asked, *listed, "Answer:"])
    for _ in range(2):
        completion = model.complete(Request(text, stop=("\n\n",), system=RANKING_SYSTEM))
        if named := _labels(completion.said(), labels):
            break
        shown = " ".join(completion.said().split())[:_SHOWN]
        text = f"{text} {shown}\n\n{_ONLY_LETTERS}\nAnswer:"
    else:
        said = f"it answered {shown!r}"
        raise Unranked(f"the model ranked no step, {said}; use another model with -m")
    logprobs = [-math.inf] * len(continuations)
    for place, label in enumerate(list(dict.fromkeys(named))[:count]):
        logprobs[labels.index(label)] = math.log(FIRST) + place * math.log(1 - FIRST)
    note = f"the model only ranks its likeliest: say is {FIRST} for the first, and so on"
    return Scores(tuple(logprobs), "ranked", (note,), Usage.of(completion))


def _labels(said: str, labels: Sequence[str]) -> list[str]:
    """Return the labels of an answer: lines of labels alone, and those that begin with `B)`."""
    found: list[str] = []
    for line in said.splitlines():
        words = [word.upper() for word in re.findall(r"[^\W\d_]+", line)]
        begun = re.match(r"\W*(?:\d+[.)]\s*)?([A-Z]{1,2})[).:]", line)
        if {*words} <= {*labels}:
            found += words
        elif begun and begun[1] in labels:
            found.append(begun[1])
    return found


def _log_sum(logprobs: Sequence[float]) -> float:
    """Return the logarithm of the sum of the probabilities."""
    return float(np.logaddexp.reduce(logprobs))


def normalized(logprobs: Sequence[float]) -> list[float]:
    """Return log-probabilities whose probabilities sum to one, unless all of them are 0."""
    total = _log_sum(logprobs)
    return [value if value == -math.inf else value - total for value in logprobs]


WAYS: Mapping[str, Callable[[Asker, str, Sequence[str]], Scores]] = {
    "exact": exact,
    "choice": choice,
    "ranked": ranked,
}
"""From the best to the one that always works."""
