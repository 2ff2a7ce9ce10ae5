"""Alignment: the cheapest way to read an instruction as a template with other words in its slots.

Dynamic programming over template elements and tokens. A literal word matches itself, its plural
or a synonym, or is left out at its weight; a token nothing explains costs its weight; a slot takes
one token or more at a price that grows with how unlike its fillers the words are. Weights are in
units of "one ordinary word with meaning", which is 1 and more than `LIMIT`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cap.models.nearest.lexicon import CHEAP, Lexicon
from cap.models.nearest.rebind import Value
from cap.models.nearest.template import Slot, Template
from cap.models.nearest.words import (
    JOINTS,
    LEADING,
    LIGHT,
    NEGATIONS,
    PREPOSITIONS,
    PRONOUNS,
    RELATIONS,
    Token,
    is_function,
    is_plural,
    singular,
    tokenise,
)

LIMIT = 0.85
"""Alignments that cost more are refused."""
_SYNONYM = 0.08
_OTHER_PREPOSITION = 0.15
_MISMATCH = 0.45
_UNKNOWN = 0.25
_ALONE = 3.0
"""Factor on strange words in a slot that nothing else in the instruction supports."""
_NO_SLOT = 2.0
_JOINING = PREPOSITIONS | {"to", "of"}
_DANGLING = LIGHT | RELATIONS


@dataclass(frozen=True)
class Alignment:
    """One reading of the instruction."""

    cost: float
    """0 is word for word; see `LIMIT`."""
    spans: dict[int, tuple[int, int]]
    """Tokens each slot takes."""
    extra: tuple[Token, ...]
    """Tokens nothing in the template explains."""


@dataclass
class Reader:
    """One instruction being aligned with the templates of a lexicon."""

    lexicon: Lexicon
    """The prompt's words."""
    text: str
    """The instruction."""
    names: tuple[str, ...]
    """Names of things in the scene."""
    _prices: dict[tuple[str, bool, bool, int, int], float] = field(default_factory=dict)
    _plurals: dict[tuple[int, int], bool] = field(default_factory=dict)
    _sums: dict[str, list[float]] = field(default_factory=dict)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The instruction's tokens."""
        return tokenise(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The words of the instruction and their synonyms."""
        own = {_literal(token) for token in self.tokens}
        return frozenset(own | {b for a, b in self.lexicon.synonyms if a in own})

    @cached_property
    def scene(self) -> tuple[tuple[str, ...], ...]:
        """Stems of each name in the scene."""
        return tuple(tuple(t.stem for t in tokenise(name)) for name in self.names)

    @cached_property
    def scene_words(self) -> frozenset[str]:
        """All stems of names in the scene."""
        return frozenset(word for name in self.scene for word in name)

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """What each token costs when nothing explains it."""
        return tuple(
            self.lexicon.weight(token.text if is_function(token) else token.stem)
            for token in self.tokens
        )

    @cached_property
    def _heads(self) -> frozenset[str]:
        return frozenset().union(*self.lexicon.lasts.values())

    def unknown(self, token: Token) -> bool:
        """True for a word that neither the prompt nor the scene has."""
        return (
            token.kind == "word"
            and not is_function(token)
            and not self.lexicon.frequency[token.stem]
            and token.stem not in self.scene_words
        )

    def bound(self, template: Template) -> float:
        """Return a cost no alignment with the template can beat."""
        return sum(
            self.lexicon.weight(word)
            for word in template.elements
            if isinstance(word, str) and word not in self.stems and word not in CHEAP
        )

    def align(self, template: Template, ceiling: float = math.inf) -> Alignment | None:
        """Return the cheapest alignment with one template, or None if it costs over `ceiling`."""
        elements, tokens = template.elements, self.tokens
        size = len(tokens)
        row = [0.0]
        for j in range(size):
            row.append(row[j] + self.weights[j])
        rows: list[list[float]] = [row]
        steps: list[list[int]] = []
        for element in elements:
            if isinstance(element, str):
                row, step = self._word_row(rows[-1], element)
            else:
                row, step = self._slot_row(rows[-1], template.slots[element])
            if min(row) > ceiling:
                return None
            rows.append(row)
            steps.append(step)
        return self._trace(template, rows[-1][size], steps)

    def _word_row(self, above: list[float], word: str) -> tuple[list[float], list[int]]:
        """Return costs after a literal word, and how many tokens each step took (-1: extra)."""
        weight = self.lexicon.weight(word)
        row, step = [above[0] + weight], [0]
        for j, token in enumerate(self.tokens, start=1):
            best, took = above[j] + weight, 0
            match = above[j - 1] + self._match(word, token)
            if match < best:
                best, took = match, 1
            if row[j - 1] + self.weights[j - 1] < best:
                best, took = row[j - 1] + self.weights[j - 1], -1
            row.append(best)
            step.append(took)
        return row, step

    def _match(self, word: str, token: Token) -> float:
        own = _literal(token)
        if own == word:
            return 0.0
        if (own, word) in self.lexicon.synonyms:
            return _SYNONYM
        return _OTHER_PREPOSITION if own in _JOINING and word in _JOINING else math.inf

    def _slot_row(self, above: list[float], slot: Slot) -> tuple[list[float], list[int]]:
        """Return costs after a slot, and how many tokens each step took (-1: extra)."""
        row, step = [above[0] + _NO_SLOT], [0]
        for j in range(1, len(self.tokens) + 1):
            best, took = above[j] + _NO_SLOT, 0
            for k in range(j):
                if above[k] < best and (cost := above[k] + self.price(slot, k, j)) < best:
                    best, took = cost, j - k
            if row[j - 1] + self.weights[j - 1] < best:
                best, took = row[j - 1] + self.weights[j - 1], -1
            row.append(best)
            step.append(took)
        return row, step

    def _trace(self, template: Template, cost: float, steps: list[list[int]]) -> Alignment:
        """Walk back through the steps to what each slot took."""
        spans: dict[int, tuple[int, int]] = {}
        extra: list[Token] = []
        j = len(self.tokens)
        for element, step in zip(reversed(template.elements), reversed(steps), strict=True):
            while step[j] < 0:
                j -= 1
                extra.append(self.tokens[j])
            if isinstance(element, int) and step[j]:
                spans[element] = (j - step[j], j)
            j -= step[j]
        extra += reversed(self.tokens[:j])
        return Alignment(cost, spans, tuple(reversed(extra)))

    def price(self, slot: Slot, start: int, end: int) -> float:
        """Return what it costs a slot to take a span of tokens; infinite if it cannot."""
        size = 0.01 + 0.02 * (end - start)
        if slot.kind == "phrase":
            return size + self._phrase_price(slot, start, end)
        key = (slot.use, slot.plural, slot.alone, start, end)
        if key not in self._prices:
            price = {
                "number": self._number_price,
                "name": self._name_price,
                "word": self._word_price,
                "label": self._label_price,
            }[slot.kind]
            self._prices[key] = size + price(slot, self.tokens[start:end])
        return self._prices[key]

    def _number_price(self, slot: Slot, span: Sequence[Token]) -> float:
        return 0.0 if len(span) == 1 and span[0].kind == slot.tokens[0].kind else math.inf

    def _name_price(self, slot: Slot, span: Sequence[Token]) -> float:
        return math.inf if self.name(span) is None else 0.0

    def name(self, span: Sequence[Token]) -> str | None:
        """Return the one name in the scene that has all words of the span, or None."""
        words = {token.stem for token in span if token.text not in LIGHT}
        if not words or is_plural(tuple(span)) or is_function(span[0]) or is_function(span[-1]):
            return None
        found = [i for i, name in enumerate(self.scene) if words <= set(name)]
        exact = [i for i in found if words == set(self.scene[i])]
        chosen = exact or found
        return self.names[chosen[0]] if len(chosen) == 1 else None

    def _word_price(self, slot: Slot, span: Sequence[Token]) -> float:
        words = tuple(token.stem for token in span)
        size = len(words)
        known = any(words == name[i : i + size] for name in self.scene for i in range(len(name)))
        if not known:
            return math.inf
        if is_plural(tuple(span)) == slot.plural:
            return 0.0
        return 2 * _MISMATCH if slot.alone else _MISMATCH

    def _label_price(self, slot: Slot, span: Sequence[Token]) -> float:
        lexicon = self.lexicon
        if span[-1].stem not in lexicon.lasts[slot.use] or is_function(span[0]):
            return math.inf
        strange = [token for token in span if token.stem not in lexicon.fillers[slot.use]]
        if any(token.stem not in lexicon.labels for token in strange):
            return math.inf
        return 0.1 * len(strange)

    def _phrase_price(self, slot: Slot, start: int, end: int) -> float:
        first, last = self.tokens[start], self.tokens[end - 1]
        strange = self._strange(slot.use)
        price = (strange[end] - strange[start]) * (_ALONE if slot.alone else 1.0)
        price += self._first_price(slot, first)
        if self._plural(start, end) != slot.plural:
            price += _MISMATCH
        if last.text in _DANGLING and slot.tokens[-1].text not in _DANGLING:
            price += 0.6
        elif self.unknown(last):
            price += _UNKNOWN
        elif last.stem not in self._heads and last.stem not in self.scene_words:
            price += 0.1
        if end - start == 1 and first.text in PRONOUNS and slot.tokens[0].text not in PRONOUNS:
            price += 1.0
        return price

    def _first_price(self, slot: Slot, first: Token) -> float:
        own = slot.tokens[0]
        if first.stem == own.stem:
            return 0.0
        if first.stem in self.lexicon.firsts[slot.use]:
            return 0.1
        return 0.15 if first.text in LEADING and own.text in LEADING else _MISMATCH

    def _plural(self, start: int, end: int) -> bool:
        key = (start, end)
        if key not in self._plurals:
            self._plurals[key] = is_plural(self.tokens[start:end])
        return self._plurals[key]

    def _strange(self, use: str) -> list[float]:
        """Return running sums, by token, of what words cost that no filler of the use has."""
        if use not in self._sums:
            sums = [0.0]
            for token in self.tokens:
                usual = token.stem in self.lexicon.fillers[use]
                sums.append(sums[-1] + (0.0 if usual else self._strange_price(token)))
            self._sums[use] = sums
        return self._sums[use]

    def _strange_price(self, token: Token) -> float:
        if token.text in NEGATIONS or token.text in JOINTS - {"and"}:
            return 1.0
        if token.text == "and":
            return 0.3
        if token.kind != "word" or token.text in LIGHT or token.stem in self.scene_words:
            return 0.0
        if token.text in RELATIONS:
            return 0.1
        if any(token.stem in words for words in self.lexicon.fillers.values()):
            return 0.05
        return _UNKNOWN if self.unknown(token) else 0.15

    def value(self, slot: Slot, span: tuple[int, int]) -> Value:
        """Return what a slot's span puts into the code."""
        tokens = self.tokens[span[0] : span[1]]
        if slot.kind == "number":
            return tokens[0].value
        if slot.kind == "name":
            return self.name(tokens) or ""
        words = self.text[tokens[0].start : tokens[-1].end].lower()
        words = " ".join(words.split())
        if slot.singular:
            head = self.text[tokens[-1].start : tokens[-1].end].lower()
            words = words[: len(words) - len(head)] + singular(head)
        return words


def _literal(token: Token) -> str:
    return token.stem if token.kind == "word" else f"{token.stem}={token.value:g}"
