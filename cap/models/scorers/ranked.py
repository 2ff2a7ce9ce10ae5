"""Ranking where there are no log-probabilities: one request for the likeliest, by letter."""

from __future__ import annotations

import itertools
import math
import re
import string
from collections.abc import Sequence

from cap.errors import Unranked
from cap.models.base import Completion, Model, Request, Scores, Usage
from cap.models.scorers.asker import Asker
from cap.prompt.prompt import without_synonyms

MOST = 5
"""How many continuations are asked for."""
FIRST = 0.95
"""Probability of the first; each later one has so much of what those before it left."""
SYSTEM = "You are given a text and what may come next in it, by letter. Answer with letters only."
AGAIN = "That names no letter. Write only letters of the list, such as: B, A"
_SHOWN = 60


def ranked(asker: Model | Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return probabilities by place among the likeliest; those not named have probability 0.

    Raises:
        Unranked: Two answers name no letter.
    """
    count = min(MOST, len(continuations))
    pairs = map("".join, itertools.product(string.ascii_uppercase, repeat=2))
    labels = list(itertools.islice((*string.ascii_uppercase, *pairs), len(continuations)))
    listed = [f"{label}) {text.strip()}" for label, text in zip(labels, continuations, strict=True)]
    asked = (
        f"Which of these comes next? Write the letters of the {count} likeliest in one line, "
        "the likeliest first:"
    )
    text = "\n".join([without_synonyms(prompt), "", asked, *listed, "Answer:"])
    completion = asker.complete(Request(text, stop=("\n\n",), system=SYSTEM))
    named = _labels(completion.said(), set(labels))
    if not named:  # in prose: asked again once
        text = f"{text} {_shown(completion)}\n\n{AGAIN}\nAnswer:"
        completion = asker.complete(Request(text, stop=("\n\n",), system=SYSTEM))
        named = _labels(completion.said(), set(labels))
    if not named:
        raise Unranked(
            f"the model ranked no step, it answered {_shown(completion)!r}; use another model with "
            "-m"
        )
    named = list(dict.fromkeys(named))[:count]
    logprobs = [-math.inf] * len(continuations)
    for place, label in enumerate(named):
        logprobs[labels.index(label)] = math.log(FIRST) + place * math.log(1 - FIRST)
    note = f"the model only ranks its likeliest: say is {FIRST} for the first, and so on"
    return Scores(tuple(logprobs), "ranked", (note,), Usage.of(completion))


def _shown(completion: Completion) -> str:
    return " ".join(completion.said().split())[:_SHOWN]


def _labels(said: str, labels: set[str]) -> list[str]:
    """Return the labels of an answer: lines of labels alone, and those that begin with `B)`."""
    found: list[str] = []
    for line in said.splitlines():
        words = re.findall(r"[^\W\d_]+", line)
        if words and all(word.upper() in labels for word in words):
            found += [word.upper() for word in words]
        elif (begun := re.match(r"\W*(?:\d+[.)]\s*)?([A-Z]{1,2})[).:]", line)) and (
            begun[1] in labels
        ):
            found.append(begun[1])
    return found
