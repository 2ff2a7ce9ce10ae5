"""Comparing by one question: continuations as lettered answers, and how likely each letter is."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from typing import Any

from cap.errors import Unranked
from cap.models.base import Scores
from cap.models.openai.model import Refused
from cap.models.scorers.asker import Asker
from cap.models.scorers.exact import MOST
from cap.prompt.prompt import without_synonyms

LABELS = string.ascii_uppercase
MISSING = 2.0
"""A letter that is not given is at most as likely as the last one given; this many nats less."""

WIDTHS = (20, 5)
"""How many alternatives to ask for; servers have different limits."""

_QUESTION = "Which of these comes next?"
_ANSWER = "Answer with its letter alone."
_AGAIN = "Write one letter of the list and no other word, such as: A\n"


def choice(asker: Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return the log-probability of each continuation among them all.

    Where there are more options than letters given, they are compared in groups, and the groups by
    their best: p(option) = p(option in its group) / p(best in its group) * p(best among the bests).

    Raises:
        Refused: The endpoint does not tell log-probabilities.
        Unranked: None of its likely answers is a letter, although asked twice.
    """
    question = _Question(asker, prompt)
    return Scores(tuple(_normal(question.compare(list(continuations)))), "choice")


class _Question:
    """One comparison, which learns on the way how many letters the endpoint gives."""

    def __init__(self, asker: Asker, prompt: str) -> None:
        self._asker = asker
        self._prompt = without_synonyms(prompt)
        self._mode = asker.endpoint.mode
        known = asker.endpoint.abilities.logprobs
        if known is not None and known < 2:
            raise Refused("it gives no alternatives to a token")
        self._widths = [known] if known else list(WIDTHS)

    def compare(self, options: Sequence[str]) -> list[float]:
        """Return log-probabilities; normalised within what was compared at once."""
        width = min(self._widths[0], len(LABELS))
        if len(options) == 1:
            return [0.0]
        if len(options) <= width:
            # Both orders, and their mean: models favour the first letters, or the last.
            forward = self._ask(options)
            backward = None if forward is None else self._ask(options[::-1])
            if forward is None or backward is None:
                return self.compare(options)  # in smaller groups
            return [
                math.log((math.exp(one) + math.exp(other)) / 2)
                for one, other in zip(forward, backward[::-1], strict=True)
            ]
        size = math.ceil(len(options) / math.ceil(len(options) / width))
        groups = [list(options[at : at + size]) for at in range(0, len(options), size)]
        within = [self.compare(group) for group in groups]
        bests = [
            group[values.index(max(values))] for group, values in zip(groups, within, strict=True)
        ]
        among = self.compare(bests)
        return [
            value - max(values) + best
            for values, best in zip(within, among, strict=True)
            for value in values
        ]

    def _ask(self, options: Sequence[str]) -> list[float] | None:
        """Return log-probabilities in one order; None if fewer letters are given than options."""
        letters = alternatives(self._send(options))
        width = self._widths[0]
        if len(letters) < min(len(options), width):
            if len(letters) < 2:
                raise Refused("it gives no alternatives to a token")
            width = len(letters)
        self._widths = [width]
        if self._asker.endpoint.abilities.logprobs != width:
            self._asker.endpoint.learn(logprobs=width)
        if width < len(options):
            return None
        labels = LABELS[: len(options)]
        found = _letters(letters, labels)
        if not found:  # it would begin in prose: asked again once
            letters = alternatives(self._send(options, _AGAIN))
            found = _letters(letters, labels)
        if not found:
            raise Unranked("none of its likely answers is a letter")
        lowest = min(letters.values()) - MISSING
        return _normal([found.get(label, lowest) for label in labels])

    def _send(self, options: Sequence[str], more: str = "") -> Any:
        """Ask for one token and its alternatives, with fewer of them if need be."""
        texts = (" ".join(text.split()) for text in options)
        lines = [f"{label}) {text}" for label, text in zip(LABELS, texts, strict=False)]
        chat = self._mode == "chat"
        asks = f"{more}{_ANSWER}" if chat else f"{more}Answer:"
        text = "\n".join([self._prompt, "", _QUESTION, *lines, asks])
        while True:
            width = self._widths[0]
            asked: dict[str, Any] = {"prompt": text, "logprobs": width}
            if chat:
                message = {"role": "user", "content": text}
                asked = {"messages": [message], "logprobs": True, "top_logprobs": width}
            try:
                return self._asker.request(
                    self._mode, {**asked, "max_tokens": 1, "temperature": 0.0}
                )
            except Refused:
                if len(self._widths) == 1:
                    raise
                del self._widths[0]


def _letters(words: Mapping[str, float], labels: str) -> dict[str, float]:
    """Return the log-probability of each label that is among some words."""
    found: dict[str, float] = {}
    for word, value in words.items():
        label = word.strip(" \n\t().:*\u2581\u0120")  # however its token is written
        if len(label) == 1 and label in labels:
            found[label] = _sum(found[label], value) if label in found else value
    return found


def alternatives(body: Any) -> Mapping[str, float]:
    """Return the alternatives to an answer's first token.

    Raises:
        Refused: It gives none.
    """
    try:
        logprobs = body["choices"][0]["logprobs"]
        if content := logprobs.get("content"):
            entries = content[0]["top_logprobs"]
            given = {entry["token"]: float(entry["logprob"]) for entry in entries}
        else:
            given = {word: float(value) for word, value in logprobs["top_logprobs"][0].items()}
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise Refused("it does not tell log-probabilities") from None
    if wrong := [value for value in given.values() if value > MOST]:
        raise Refused(f"it gives {wrong[0]} for a log-probability, which is none")
    return {word: value for word, value in given.items() if math.isfinite(value)}


def _sum(one: float, other: float) -> float:
    """Return log(e^one + e^other)."""
    high = max(one, other)
    return high + math.log(math.exp(one - high) + math.exp(other - high))


def _normal(logprobs: Sequence[float]) -> list[float]:
    """Return log-probabilities that sum to one."""
    high = max(logprobs)
    total = high + math.log(math.fsum(math.exp(value - high) for value in logprobs))
    return [value - total for value in logprobs]
