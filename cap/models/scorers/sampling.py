"""Comparing by counting: which continuation is each of several completions?"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from cap.models.base import Model, Request, Scores
from cap.models.scorers.asker import Asker, at_once

SAMPLES = 8
"""How many completions are asked for."""

TEMPERATURE = 0.7
MAX_TOKENS = 64
"""Longest of these completions; continuations are lines, not programs."""

_SHOWN, _SHOWN_LETTERS = 3, 60
"""How many completions that were no continuation a note has, and how long each."""
_NUMBER = re.compile(r"(?:robot:\s*)?(?:step\s*)?\d+\s*[.):]\s+|robot:\s*")
_ARTICLE = re.compile(r"\b(?:a|an|the)\s+")


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
    others = Counter(
        (text.strip().splitlines() or [""])[0].strip()[:_SHOWN_LETTERS]
        for text, number in zip(texts, found, strict=True)
        if number is None
    )
    shown = [f"{line!r} ({count})" for line, count in others.most_common(_SHOWN)]
    if shown:
        note += f"; said, but none of them: {', '.join(shown)}"
    return Scores(tuple(math.log((n + 1) / total) for n in counted), "sampled", (note,))


def match(text: str, continuations: Sequence[str]) -> int | None:
    """Return the number of the continuation a completion is; None if it is none of them.

    Case, spaces, marks at the ends, articles and the number of a step do not count; whatever
    follows must be set off by a mark or a new line.
    """
    for form in (_plain, _bare):
        words, options = form(text), [form(continuation) for continuation in continuations]
        begun = [
            number
            for number, each in enumerate(options)
            if each and re.match(rf"{re.escape(each)}(?:\s*[.,;:!?\n]|$)", words)
        ]
        if begun:
            return max(begun, key=lambda n: len(options[n]))  # "yes, all" before "yes"
    return None


def _plain(text: str) -> str:
    """Return the text from its first line with words on: lower case, no fence, no end marks."""
    lines = [" ".join(line.split()).strip(" .,;:!*`\"'") for line in text.lower().splitlines()]
    kept = [line for line in lines if re.search(r"\w", line) and line != "python"]
    return "\n".join(kept)


def _bare(text: str) -> str:
    """Return the plain text without articles and without the number of a step."""
    return _ARTICLE.sub("", _NUMBER.sub("", _plain(text), count=1))
