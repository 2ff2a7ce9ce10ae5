"""Comparing by counting: which continuation is each of several completions?"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence

from cap.models.base import Model, Request, Scores
from cap.models.scorers.asker import Asker, at_once

SAMPLES = 8
"""How many completions are asked for."""

TEMPERATURE = 0.7
MAX_TOKENS = 64
"""Longest of these completions; continuations are lines, not programs."""

_CLOSE = 0.6
"""How alike (difflib's ratio) a completion must be to count for the closest continuation."""


def sampled(model: Model | Asker, prompt: str, continuations: Sequence[str]) -> Scores:
    """Return the logarithm of each continuation's share of completions, one added to each count."""

    def ask(seed: str) -> str:
        request = Request(prompt, max_tokens=MAX_TOKENS, temperature=TEMPERATURE, seed=int(seed))
        return model.complete(request).text

    texts = at_once(ask, [str(seed) for seed in range(SAMPLES)])
    found = [match(text, continuations) for text in texts]
    counted = [found.count(number) for number in range(len(continuations))]
    matched = sum(counted)
    total = matched + len(continuations)
    note = f"{matched} of {SAMPLES} samples were one of the {len(continuations)} continuations"
    return Scores(tuple(math.log((n + 1) / total) for n in counted), "sampled", (note,))


def match(text: str, continuations: Sequence[str]) -> int | None:
    """Return the number of the continuation a completion is; None if it is like none of them."""
    words = _plain(text)
    if not words:
        return None
    plain = [_plain(continuation) for continuation in continuations]
    begun = [n for n, each in enumerate(plain) if each and re.match(rf"{re.escape(each)}\b", words)]
    if begun:
        return max(begun, key=lambda n: len(plain[n]))  # "apple juice" before "apple"
    first = words.split("\n")[0]
    ratios = [difflib.SequenceMatcher(None, first, each).ratio() for each in plain]
    best = max(range(len(plain)), key=ratios.__getitem__)
    return best if ratios[best] >= _CLOSE else None


def _plain(text: str) -> str:
    """Return the text from its first line with words on: lower case, no fence, no end marks."""
    lines = [line.strip(" \t.,;:!*`\"'") for line in text.lower().splitlines()]
    kept = [line for line in lines if re.search(r"\w", line) and line != "python"]
    return "\n".join(kept)
