"""Matching: how unlike an example an instruction is, and which of its words fill which slot.

Costs are in units of "one ordinary word with meaning". Literal words match or cost what they mean;
a slot costs nothing if its words are like those of the examples, and more the less they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from cap.models.nearest.slots import Slot, Span, Template, Value, names_in
from cap.models.nearest.words import (
    ARTICLES,
    CHEAP,
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
    direction,
    is_plural,
    singular,
    tokenise,
)

LIMIT = 0.85
"""An instruction that costs more is declined: it is less than one ordinary word with meaning."""
_OTHER_PREPOSITION = 0.15
_NO_SLOT = 2.0
_OTHER_KIND = 0.45
"""Another kind of first word in a phrase."""
_OTHER_NUMBER = 0.9
"""One thing where several were, or several for one: the code would not fit."""
_UNKNOWN = 0.25
"""A word that neither the prompt nor the scene has; another prompt may know it."""
_UNUSUAL = 0.12
"""A known word that no such phrase has."""
_ALONE = 3.0
"""Factor on strange words in a slot that is the whole instruction."""
_BROKEN = 0.6
"""A phrase that breaks off before its noun."""
_TWO_PLACES = 0.9
"""Each preposition of place further inside a phrase beyond those of the example."""


class Vocabulary:
    """The words of a prompt's examples."""

    def __init__(self, templates: Sequence[Template]) -> None:
        """Collect the words that fill slots, by the slot's use."""
        self.templates = templates
        self.words: set[str] = set()
        self.labels: set[str] = set()
        """Words of the code's labels."""
        self.named: set[str] = set()
        """Words of names in the examples' scenes."""
        self.fillers: dict[str, set[str]] = {}
        self.firsts: dict[str, set[str]] = {}
        self.lasts: dict[str, set[str]] = {}
        self.shapes: set[tuple[str, int, str]] = set()
        """Of each filler: the slot's use, how many words it has, and the last."""
        for template in templates:
            self.words.update(token.stem for token in tokenise(template.example.instruction))
            for name in names_in(template.example.context):
                self.named.update(token.stem for token in tokenise(name))
            for slot in template.slots:
                stems = [token.stem for token in slot.tokens]
                self.fillers.setdefault(slot.use, set()).update(stems)
                self.firsts.setdefault(slot.use, set()).add(stems[0])
                self.lasts.setdefault(slot.use, set()).add(stems[-1])
                self.shapes.add((slot.use, len(stems), stems[-1]))
                if slot.kind == "label":
                    self.labels.update(stems)


@dataclass(frozen=True)
class Match:
    """One way to read an instruction as an example."""

    cost: float
    """0 is word for word; see `LIMIT`."""
    template: Template
    spans: tuple[Span | None, ...]
    """Tokens of the instruction by slot; None if the slot is empty."""


class Matcher:
    """Matches one instruction, in a scene, with the examples of a prompt."""

    def __init__(self, vocabulary: Vocabulary, text: str, names: tuple[str, ...]) -> None:
        """Take an instruction in the words of the examples, and the names in the scene."""
        self.tokens = tokenise(text)
        self._text, self._names, self._vocabulary = text, names, vocabulary
        self._scene = [tuple(token.stem for token in tokenise(name)) for name in names]
        self._nouns = {name[-1] for name in self._scene if name}
        self._colours = {name[0] for name in self._scene if len(name) > 1}
        self._scene_words = {word for name in self._scene for word in name}
        self._weights = [_weight(token.literal) for token in self.tokens]
        self._prices: dict[tuple[str, int, int], float] = {}
        known = vocabulary.words | self._scene_words
        self.unknown = frozenset(
            token.text
            for token in self.tokens
            if token.kind == "word" and not token.cheap and token.stem not in known
        )
        """The words that neither the prompt nor the scene has."""

    def best(self) -> Match:
        """Return the cheapest match; ties go to more common words, then to the earlier example."""
        said = [token.literal for token in self.tokens]
        own = {*said, *CHEAP}
        bounds = []  # costs that no match with the template can be below
        for i, template in enumerate(self._vocabulary.templates):
            missing = (word for word in template.elements if isinstance(word, str))
            bounds.append((sum(_weight(word) for word in missing if word not in own), i))
        found: tuple[float, bool, int, int] = (math.inf, True, 0, 0)
        best: Match | None = None
        for bound, i in sorted(bounds):
            if bound > found[0]:
                break
            template = self._vocabulary.templates[i]
            match = self._match(template, found[0] + 1e-9)  # sums of costs are not exact
            if match is not None:
                own_words = [token.literal for token in tokenise(template.example.instruction)]
                differ = own_words != said
                key = (match.cost, differ, -len(set(said).intersection(own_words)), i)
                if best is None or key < found:
                    found, best = key, match
        assert best is not None  # there is an example
        return best

    def filled(self, match: Match) -> str:
        """Return the example's code with the instruction's words in it."""
        template = match.template
        if self.tokens == tokenise(template.example.instruction):
            return template.example.code
        spans = zip(template.slots, match.spans, strict=True)
        return template.filled({slot: self._value(slot, span) for slot, span in spans if span})

    def _match(self, template: Template, ceiling: float) -> Match | None:
        """Return the cheapest match with one template, or None if it costs over `ceiling`."""
        size = len(self.tokens)
        row: list[tuple[float, tuple[Span | None, ...]]]
        row = [(cost, ()) for cost in accumulate(self._weights, initial=0.0)]
        for element in template.elements:
            new: list[tuple[float, tuple[Span | None, ...]]] = []
            for j in range(size + 1):
                cost, spans = row[j]
                if isinstance(element, str):
                    best = cost + _weight(element), spans
                    if j and (other := row[j - 1][0] + self._literal(element, j - 1)) < best[0]:
                        best = other, row[j - 1][1]
                else:
                    best = cost + _NO_SLOT, (*spans, None)
                    for k in range(j):
                        if row[k][0] < best[0] and row[k][0] <= ceiling:
                            other = row[k][0] + self._price(element, k, j)
                            if other < best[0]:
                                best = other, (*row[k][1], (k, j))
                if j and new[-1][0] + self._weights[j - 1] < best[0]:
                    best = new[-1][0] + self._weights[j - 1], new[-1][1]
                new.append(best)
            row = new
            if min(cost for cost, _ in row) > ceiling:
                return None
        cost = round(row[-1][0], 9)
        return Match(cost, template, row[-1][1]) if cost <= ceiling else None

    def _literal(self, word: str, at: int) -> float:
        own = self.tokens[at].literal
        if own == word:
            return 0.0
        return _OTHER_PREPOSITION if own in PLACING and word in PLACING else math.inf

    def _price(self, slot: Slot, start: int, end: int) -> float:
        """Return what it costs a slot to take a span of tokens; infinite if it cannot."""
        key = slot.profile, start, end
        if key not in self._prices:
            span = self.tokens[start:end]
            self._prices[key] = 0.01 + 0.02 * (end - start) + self._misfit(slot, span)
        return self._prices[key]

    def _misfit(self, slot: Slot, span: tuple[Token, ...]) -> float:
        own, first, stems = slot.tokens, span[0], [token.stem for token in span]
        match slot.kind:
            case "number":
                negative = own[0].kind == "cardinal" and first.value < 0
                fits = len(span) == 1 and first.kind == own[0].kind and not negative
                return 0.0 if fits else math.inf
            case "direction":
                return 0.0 if direction(span, own) else math.inf
            case "name":
                return math.inf if self._name(span) is None else 0.0
            case "word":  # words of a name in the scene
                whole = f" {' '.join(stems)} "
                if not any(whole in f" {' '.join(name)} " for name in self._scene):
                    return math.inf
                return 0.0 if is_plural(span) == slot.plural else _OTHER_NUMBER
            case "absent":  # a word that some example's scene has, if not this one
                absent = self._vocabulary.named - self._scene_words
                return 0.1 if len(span) == 1 and stems[0] in absent else math.inf
            case "label":
                usual = self._vocabulary.fillers[slot.use]
                alike = (slot.use, len(span), stems[-1]) in self._vocabulary.shapes
                if not alike or first.cheap or not self._vocabulary.labels.issuperset(stems):
                    return math.inf
                return 0.1 * len(set(stems) - usual)
        return self._phrase(slot, span)

    def _phrase(self, slot: Slot, span: tuple[Token, ...]) -> float:
        usual = self._vocabulary.fillers[slot.use]
        price = sum(self._strange(token) for token in span if token.stem not in usual)
        if slot.whole and "?" not in (token.text for token in self.tokens):
            price *= _ALONE
        price += self._first(slot, span[0]) + self._last(slot, span[-1])
        if is_plural(span) != slot.plural:
            price += _OTHER_NUMBER
        if slot.tokens[0].text not in QUESTIONS:
            price += _TWO_PLACES * max(_places(span) - _places(slot.tokens), 0)
        place = not self._vocabulary.firsts[slot.use].isdisjoint(LEADING)
        if place and not any(map(_leads, span)) and any(map(_leads, slot.tokens)):
            price += 2 * _OTHER_KIND  # 'put the red block the blue bowl'
        if not slot.plural:
            price += sum(
                b.text in ARTICLES or b.text in self._colours
                for a, b in pairwise(span)
                if a.stem in self._nouns
            )
        return price

    def _first(self, slot: Slot, first: Token) -> float:
        own = slot.tokens[0]
        if first.stem == own.stem:
            return 0.0
        words = {first.text, own.text}
        if words & QUESTIONS and not words <= YES_OR_NO:
            return 1.0  # 'how' for 'is': another kind of question
        noun = first.stem in self._scene_words or first.text in QUANTIFIERS
        if noun and (own.text in ARTICLES or own.stem in self._scene_words):
            return 0.1  # 'red block' for 'the red block'
        if first.stem in self._vocabulary.firsts[slot.use] or (_leads(first) and _leads(own)):
            return 0.1
        return _OTHER_KIND * (1 + slot.whole)

    def _last(self, slot: Slot, last: Token) -> float:
        if (last.text in PRONOUNS) != (slot.tokens[-1].text in PRONOUNS):
            return 1.0  # of 'to the left of it' the code alone knows what it is
        if last.stem in self._vocabulary.lasts[slot.use] or last.stem in self._nouns:
            return 0.0
        breaks = last.kind != "word" or last.text in LIGHT or last.text in RELATIONS
        if breaks or last.stem in self._scene_words:
            return _BROKEN  # 'the red' of 'the red and the blue block'
        return _UNKNOWN if last.text in self.unknown else _UNUSUAL

    def _strange(self, token: Token) -> float:
        """Return what a word costs that no phrase of the slot's use has."""
        if token.text in NEGATIONS or token.text in JOINTS:
            return 1.0
        plain = token.text in LIGHT or token.text in QUANTIFIERS or token.kind != "word"
        if plain or token.stem in self._scene_words:
            return 0.0
        return _UNKNOWN if token.text in self.unknown else _UNUSUAL

    def _name(self, span: Iterable[Token]) -> str | None:
        """Return the one name in the scene that has all words of the span, or None."""
        span = tuple(span)
        words = {token.stem for token in span if token.text not in LIGHT}
        if not words or is_plural(span) or span[0].cheap or span[-1].cheap:
            return None
        found = [i for i, name in enumerate(self._scene) if words <= set(name)]
        chosen = [i for i in found if words == set(self._scene[i])] or found
        return self._names[chosen[0]] if len(chosen) == 1 else None

    def _value(self, slot: Slot, span: Span) -> Value:
        """Return what a slot's span puts into the code."""
        tokens = self.tokens[slice(*span)]
        if slot.kind == "number":
            return tokens[0].value
        if slot.kind == "direction":
            return direction(tokens, slot.tokens) or ()
        if slot.kind == "name":
            return self._name(tokens) or ""
        words = [self._text[token.start : token.end].lower() for token in tokens]
        if slot.singular:
            words[-1] = singular(words[-1])
        return " ".join(words)


def _weight(word: str) -> float:
    """Return what leaving out or adding a literal word costs."""
    if word in PLACING:
        return 0.45  # one gained and one lost: what goes where is no longer sure
    if word in LIGHT and word != "?":
        return 0.08
    if word in CHEAP:
        return 0.25
    if word in NEGATIONS:
        return 2.0
    return 0.9 if word in QUANTIFIERS else 1.1


def _leads(token: Token) -> bool:
    """True for what a phrase about a place may begin with, if it is no thing: 'above', '5 cm'."""
    return token.text in LEADING or token.kind == "length"


def _places(tokens: Sequence[Token]) -> int:
    """Return how many prepositions of place are inside a phrase."""
    return sum(token.text in PLACING and token.text != "to" for token in tokens[1:])
