"""What it costs a slot to take words: nothing if they are like its own, more the stranger they are.

Costs are in units of "one ordinary word with meaning", which is 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

from cap.models.nearest.lexicon import Lexicon
from cap.models.nearest.rebind import Value
from cap.models.nearest.template import Slot
from cap.models.nearest.words import (
    ARTICLES,
    JOINTS,
    LEADING,
    LIGHT,
    NEGATIONS,
    PLACING,
    PRONOUNS,
    QUANTIFIERS,
    QUESTIONS,
    RELATIONS,
    YES_OR_NO,
    Token,
    is_function,
    is_plural,
    singular,
    tokenise,
)

_MISMATCH = 0.45
"""Another kind of first word; twice that where the slot is the whole instruction."""
_NUMBER = 0.9
"""One thing where several stood, or several for one: the code would not fit."""
_UNKNOWN = 0.25
"""A word neither the prompt nor the scene has; another prompt may know it."""
_ALONE = 3.0
"""Factor on strange words in a slot that nothing else in the instruction supports."""
_DANGLING = 0.6
"""A phrase that breaks off before its noun."""
_BROKEN_NAME = 0.5
"""A phrase that begins or ends inside a name of the scene."""
_SECOND_PLACE = 0.4
"""Each further preposition of place in a phrase about a place: that is seldom one phrase."""

Profile = tuple[str, bool, bool, bool, str, bool]
"""What a price depends on besides the words: use, plural, whole, alone, first word, bare."""


@dataclass
class Reader:
    """One instruction, read with the words of a prompt and the names of a scene."""

    lexicon: Lexicon
    """The prompt's words."""
    text: str
    """The instruction."""
    names: tuple[str, ...]
    """Names of things in the scene."""
    _prices: dict[Profile, dict[tuple[int, int], float]] = field(default_factory=dict)
    _plurals: dict[tuple[int, int], bool] = field(default_factory=dict)
    _sums: dict[str, list[float]] = field(default_factory=dict)
    """By use: running sums, by token, of what words cost that no filler of the use has."""

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The instruction's tokens."""
        return tokenise(self.text)

    @cached_property
    def scene(self) -> tuple[tuple[str, ...], ...]:
        """Stems of each name in the scene."""
        return tuple(tuple(t.stem for t in tokenise(name)) for name in self.names)

    @cached_property
    def scene_words(self) -> frozenset[str]:
        """All stems of names in the scene."""
        return frozenset(word for name in self.scene for word in name)

    def unknown(self, token: Token) -> bool:
        """True for a word that neither the prompt nor the scene has."""
        return (
            token.kind == "word"
            and not is_function(token)
            and not self.lexicon.frequency[token.stem]
            and token.stem not in self.scene_words
        )

    def prices(self, slot: Slot) -> dict[tuple[int, int], float]:
        """Return the prices known so far of the spans a slot may take."""
        bare = _bare(slot.tokens)
        profile = (slot.use, slot.plural, slot.whole, slot.alone, slot.tokens[0].stem, bare)
        return self._prices.setdefault(profile, {})

    def price(self, slot: Slot, start: int, end: int) -> float:
        """Return what it costs a slot to take a span of tokens; infinite if it cannot."""
        size = 0.01 + 0.02 * (end - start)
        span = self.tokens[start:end]
        first, last = span[0], span[-1]
        own = slot.tokens[0]
        lexicon = self.lexicon
        match slot.kind:
            case "phrase":
                return size + self._phrase_price(slot, start, end)
            case "number":
                negative = own.kind == "cardinal" and first.value < 0
                fits = len(span) == 1 and first.kind == own.kind and not negative
                return size if fits else math.inf
            case "name":
                return math.inf if self.name(span) is None else size
            case "word":  # words of a name in the scene
                words = tuple(token.stem for token in span)
                places = [(name, i) for name in self.scene for i in range(len(name))]
                if not any(words == name[i : i + len(words)] for name, i in places):
                    return math.inf
                return size + (0.0 if is_plural(span) == slot.plural else _NUMBER)
            case "absent":  # a word that some example's scene has, if not this one
                named = len(span) == 1 and first.stem in lexicon.named
                return size + 0.1 if named and first.stem not in self.scene_words else math.inf
            case "label":
                shape = slot.use, len(span), last.stem
                if shape not in lexicon.shapes or is_function(first):
                    return math.inf
                strange = [t.stem for t in span if t.stem not in lexicon.fillers[slot.use]]
                known = lexicon.labels.issuperset(strange)
                return size + 0.1 * len(strange) if known else math.inf

    def name(self, span: Sequence[Token]) -> str | None:
        """Return the one name in the scene that has all words of the span, or None."""
        words = {token.stem for token in span if token.text not in LIGHT}
        if not words or is_plural(tuple(span)) or is_function(span[0]) or is_function(span[-1]):
            return None
        found = [i for i, name in enumerate(self.scene) if words <= set(name)]
        exact = [i for i in found if words == set(self.scene[i])]
        chosen = exact or found
        return self.names[chosen[0]] if len(chosen) == 1 else None

    def _phrase_price(self, slot: Slot, start: int, end: int) -> float:
        first = self.tokens[start]
        if slot.use not in self._sums:
            usual = self.lexicon.fillers[slot.use]
            prices = (0.0 if t.stem in usual else self._strange_price(t) for t in self.tokens)
            self._sums[slot.use] = [0.0, *accumulate(prices)]
        strange = self._sums[slot.use]
        price = (strange[end] - strange[start]) * (_ALONE if slot.alone else 1.0)
        price += self._first_price(slot, first) + self._last_price(slot, end)
        price += self._cuts[start] + self._cuts[end]
        if not self.lexicon.firsts[slot.use].isdisjoint(LEADING):  # it is about places
            price += _SECOND_PLACE * (self._placings[end] - self._placings[start + 1])
            if _bare(self.tokens[start:end]) and not _bare(slot.tokens):
                price += 2 * _MISMATCH  # 'put the red block the blue bowl'
            words = {token.text for token in self.tokens[start:end]}
            if "and" in words and "between" not in words:
                price += 1.0  # 'on the red block and the blue block'
        if (start, end) not in self._plurals:
            self._plurals[start, end] = is_plural(self.tokens[start:end])
        if self._plurals[start, end] != slot.plural:
            price += _NUMBER
        if not slot.plural:
            price += self._apart[end] - self._apart[start + 1]
        if end - start == 1 and first.text in PRONOUNS and slot.tokens[0].text not in PRONOUNS:
            price += 1.0
        return price

    def _first_price(self, slot: Slot, first: Token) -> float:
        own = slot.tokens[0]
        if first.stem == own.stem:
            return 0.0
        words = {first.text, own.text}
        if words & QUESTIONS and not words <= YES_OR_NO:
            return 1.0  # 'how' for 'is': another kind of question
        if first.stem in self.lexicon.firsts[slot.use]:
            return 0.1
        begins_noun = first.stem in self.scene_words or first.text in QUANTIFIERS
        if begins_noun and (own.text in ARTICLES or own.stem in self.scene_words):
            return 0.1  # 'red block' for 'the red block'
        if _leads(first) and _leads(own):
            return 0.15
        return 2 * _MISMATCH if slot.whole else _MISMATCH

    def _last_price(self, slot: Slot, end: int) -> float:
        last = self.tokens[end - 1]
        if last.text in PRONOUNS and slot.tokens[-1].text not in PRONOUNS:
            return _DANGLING  # 'to the left of it': who is told this does not know what it is
        if last.stem in self.lexicon.lasts[slot.use] or last.stem in self._nouns:
            return 0.0
        if last.stem in self.scene_words:
            return _DANGLING  # 'the red' of 'the red and the blue block'
        after_article = end > 1 and self.tokens[end - 2].text in LIGHT
        dangles = last.kind != "word" or last.text in LIGHT or last.text in RELATIONS
        if dangles or (last.stem in self._beginnings and not after_article):
            return _DANGLING
        return _UNKNOWN if self.unknown(last) else 0.15

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """Words that whole phrases begin with; what comes before them ends there."""
        firsts = self.lexicon.firsts
        whole = [use for use in firsts if use.startswith("phrase") and not use.endswith("-")]
        return frozenset().union(*(firsts[use] for use in whole))

    @cached_property
    def _placings(self) -> list[int]:
        """Running count of prepositions of place."""
        return [
            0,
            *accumulate(int(token.text in PLACING and token.text != "to") for token in self.tokens),
        ]

    @cached_property
    def _nouns(self) -> frozenset[str]:
        """Words that names of the scene end with."""
        return frozenset(name[-1] for name in self.scene if name)

    @cached_property
    def _apart(self) -> list[float]:
        """Running count of places where a thing's name is followed by the next: a list."""
        firsts = ARTICLES | {name[0] for name in self.scene if len(name) > 1}
        pairs = pairwise(self.tokens)
        found = (a.stem in self._nouns and b.text in firsts for a, b in pairs)
        return [0.0, 0.0, *accumulate(map(float, found))]

    @cached_property
    def _cuts(self) -> list[float]:
        """What it costs to begin or end a phrase before each token: names stay whole."""
        joined = {pair for name in self.scene for pair in pairwise(name)}
        pairs = pairwise(token.stem for token in self.tokens)
        return [0.0, *(_BROKEN_NAME if pair in joined else 0.0 for pair in pairs), 0.0]

    def _strange_price(self, token: Token) -> float:
        if token.text in NEGATIONS or token.text in JOINTS - {"and"}:
            return 1.0
        if token.text == "and":
            return 0.3
        plain = token.text in LIGHT or token.text in QUANTIFIERS or token.kind != "word"
        if plain or token.stem in self.scene_words:
            return 0.0
        if token.text in RELATIONS:
            return 0.1
        if any(token.stem in words for words in self.lexicon.fillers.values()):
            return 0.1
        return _UNKNOWN if self.unknown(token) else 0.15

    def value(self, slot: Slot, span: tuple[int, int]) -> Value:
        """Return what a slot's span puts into the code."""
        tokens = self.tokens[span[0] : span[1]]
        if slot.kind == "number":
            return tokens[0].value
        if slot.kind == "name":
            return self.name(tokens) or ""
        words = " ".join(self.text[token.start : token.end].lower() for token in tokens)
        if slot.singular:
            head = tokens[-1].end - tokens[-1].start
            words = words[:-head] + singular(words[-head:])
        return words


def _leads(token: Token) -> bool:
    """True for what a phrase about a place may begin with, if it is no thing: 'above', '5 cm'."""
    return token.text in LEADING or token.kind == "length"


def _bare(tokens: Sequence[Token]) -> bool:
    """True if a phrase about a place has no preposition."""
    return not any(map(_leads, tokens))
