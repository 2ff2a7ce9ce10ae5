"""Alignment: the cheapest way to read an instruction as a template with other words in its slots.

Dynamic programming over template elements and tokens. A literal word matches itself, its plural
or a synonym, or is left out at its weight; a token nothing explains costs its weight; a slot takes
one token or more at its price.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

from cap.models.nearest.cost import Reader
from cap.models.nearest.lexicon import CHEAP
from cap.models.nearest.template import Slot, Template
from cap.models.nearest.words import PLACING, Token, is_function

LIMIT = 0.85
"""Alignments that cost more are refused: it is less than one ordinary word with meaning."""
_SYNONYM = 0.08
_OTHER_PREPOSITION = 0.15
_NO_SLOT = 2.0

Row = list[float]
Steps = list[int]


@dataclass(frozen=True)
class Alignment:
    """One reading of the instruction."""

    cost: float
    """0 is word for word; see `LIMIT`."""
    spans: dict[int, tuple[int, int]]
    """Tokens each slot takes."""
    extra: tuple[Token, ...]
    """Tokens nothing in the template explains."""


class Aligner:
    """Aligns one instruction with templates."""

    def __init__(self, reader: Reader) -> None:
        """Work out what each token is and costs by itself."""
        lexicon = reader.lexicon
        self._reader = reader
        self._lexicon = lexicon
        self._tokens = reader.tokens
        self._words = [token.literal for token in reader.tokens]
        self._weight = cache(lexicon.weight)
        self._weights = [
            self._weight(token.text if is_function(token) else token.stem)
            for token in reader.tokens
        ]
        own = set(self._words)
        self._known = own | {b for a, b in lexicon.synonyms if a in own} | CHEAP

    def bound(self, template: Template) -> float:
        """Return a cost no alignment with the template can beat."""
        return sum(
            self._weight(word)
            for word in template.elements
            if isinstance(word, str) and word not in self._known
        )

    def align(self, template: Template, ceiling: float = math.inf) -> Alignment | None:
        """Return the cheapest alignment with one template, or None if it costs over `ceiling`."""
        row = [0.0]
        for weight in self._weights:
            row.append(row[-1] + weight)
        steps: list[Steps] = []
        for element in template.elements:
            if isinstance(element, str):
                row, step = self._word_row(row, element)
            else:
                row, step = self._slot_row(row, template.slots[element], ceiling)
            if min(row) > ceiling:
                return None
            steps.append(step)
        return self._trace(template, row[-1], steps) if row[-1] <= ceiling else None

    def _word_row(self, above: Row, word: str) -> tuple[Row, Steps]:
        """Return costs after a literal word, and how many tokens each step took (-1: extra)."""
        weight = self._weight(word)
        row, step = [above[0] + weight], [0]
        for j, own in enumerate(self._words, start=1):
            best, took = above[j] + weight, 0
            if own == word:
                match = 0.0
            elif (own, word) in self._lexicon.synonyms:
                match = _SYNONYM
            else:
                match = _OTHER_PREPOSITION if own in PLACING and word in PLACING else math.inf
            if above[j - 1] + match < best:
                best, took = above[j - 1] + match, 1
            if row[j - 1] + self._weights[j - 1] < best:
                best, took = row[j - 1] + self._weights[j - 1], -1
            row.append(best)
            step.append(took)
        return row, step

    def _slot_row(self, above: Row, slot: Slot, ceiling: float) -> tuple[Row, Steps]:
        """Return costs after a slot, and how many tokens each step took (-1: extra)."""
        prices = self._reader.prices(slot)
        row, step = [above[0] + _NO_SLOT], [0]
        for j in range(1, len(self._words) + 1):
            best, took = above[j] + _NO_SLOT, 0
            for k in range(j):
                if above[k] >= best or above[k] > ceiling:
                    continue
                price = prices.get((k, j))
                if price is None:
                    price = prices[k, j] = self._reader.price(slot, k, j)
                if above[k] + price < best:
                    best, took = above[k] + price, j - k
            if row[j - 1] + self._weights[j - 1] < best:
                best, took = row[j - 1] + self._weights[j - 1], -1
            row.append(best)
            step.append(took)
        return row, step

    def _trace(self, template: Template, cost: float, steps: list[Steps]) -> Alignment:
        """Walk back through the steps to what each slot took."""
        spans: dict[int, tuple[int, int]] = {}
        extra: list[Token] = []
        j = len(self._tokens)
        for element, step in zip(reversed(template.elements), reversed(steps), strict=True):
            while step[j] < 0:
                j -= 1
                extra.append(self._tokens[j])
            if isinstance(element, int) and step[j]:
                spans[element] = (j - step[j], j)
            j -= step[j]
        extra += reversed(self._tokens[:j])
        return Alignment(cost, spans, tuple(reversed(extra)))
