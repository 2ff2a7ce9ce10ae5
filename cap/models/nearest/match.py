"""Matching: how unlike an example an instruction is, and which of its words fill which slot.

Costs are in units of "one ordinary word with meaning". Literal words match or cost what they mean;
a slot costs nothing if its words are like those of the examples, and more the less they are.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import itemgetter

from cap.models.nearest.slots import Slot, Span, Template, Value, names_in
from cap.models.nearest.words import (
    ARTICLES,
    CHEAP,
    LEADING,
    LIGHT,
    PLACING,
    QUANTIFIERS,
    QUESTIONS,
    RELATIONS,
    TURNING,
    YES_OR_NO,
    Token,
    direction,
    is_plural,
    singular,
    tokenise,
)

LIMIT = 0.85
"""An instruction that costs more is declined: it is less than one ordinary word with meaning."""
PART_LIMIT = 0.4
"""Parts of an instruction that cost more are declined: no doubtful readings in a row."""
LONGEST = 60
"""Words of an instruction: the work grows with their square, and no example is that long."""
_OTHER_PREPOSITION = 0.15
_UNLIKE = 0.9
"""A phrase of another build: several things where one was, another kind of first or last word."""
_OTHER_FIRST = 0.1
_UNKNOWN = 0.25
"""A word that neither the prompt nor the scene has; another prompt may know it."""
_UNUSUAL = 0.12
"""A known word that no such phrase has."""
_ALONE = 3.0
"""Factor on strange words in a slot that is the whole instruction."""

Spans = tuple[Span, ...]


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
        self.fillers: dict[str, set[str]] = defaultdict(set)
        self.firsts: dict[str, set[str]] = defaultdict(set)
        self.lasts: dict[str, set[str]] = defaultdict(set)
        self.shapes: set[tuple[str, int, str]] = set()
        """Of each filler: the slot's use, how many words it has, and the last."""
        for template in templates:
            self.words.update(token.stem for token in tokenise(template.example.instruction))
            for name in names_in(template.example.context):
                self.named.update(token.stem for token in tokenise(name))
            for slot in template.slots:
                stems = [token.stem for token in slot.tokens]
                self.fillers[slot.use].update(stems)
                self.firsts[slot.use].add(stems[0])
                self.lasts[slot.use].add(stems[-1])
                if slot.kind == "label":
                    self.labels.update(stems)
                self.shapes.add((slot.use, len(stems), stems[-1]))


@dataclass(frozen=True)
class Match:
    """One way to read an instruction as an example."""

    cost: float
    """0 is word for word; see `LIMIT`."""
    code: str
    """The example's code with the instruction's words in it."""


class Matcher:
    """Matches one instruction, in a scene, with the examples of a prompt."""

    def __init__(self, vocabulary: Vocabulary, text: str, names: tuple[str, ...]) -> None:
        """Take an instruction in the words of the examples, and the names in the scene."""
        self.tokens = tokenise(text)
        self._text, self._names, self._vocabulary = text, names, vocabulary
        self._scene = [tuple(token.stem for token in tokenise(name)) for name in names]
        self._nouns = {name[-1] for name in self._scene if name}
        self._scene_words = {word for name in self._scene for word in name}
        self._weights = [_weight(token.literal) for token in self.tokens]
        known = vocabulary.words | self._scene_words
        self.unknown = frozenset(
            token.text
            for token in self.tokens
            if token.kind == "word" and not token.cheap and token.stem not in known
        )
        """The words that neither the prompt nor the scene has."""

    def best(self) -> Match | None:
        """Return the cheapest match, None if all cost too much.

        Ties go to the example with more words in common, then to the earlier one.
        """
        said = {token.literal for token in self.tokens}
        found: list[tuple[float, int, int, Spans]] = []
        for i, template in enumerate(self._vocabulary.templates):
            literal = {word for word in template.elements if isinstance(word, str)}
            if literal <= said | CHEAP and (read := self._read(template)) is not None:
                common = {one.literal for one in tokenise(template.example.instruction)} & said
                found.append((round(read[0], 9), -len(common), i, read[1]))
        if not found:
            return None
        cost, _, i, spans = min(found)
        template = self._vocabulary.templates[i]
        if self.tokens == tokenise(template.example.instruction):
            return Match(cost, template.example.code)
        filled = zip(template.slots, spans, strict=True)
        return Match(cost, template.filled({s.span: self._value(s, span) for s, span in filled}))

    def _read(self, template: Template) -> tuple[float, Spans] | None:
        """Return cost and spans of the cheapest match with one template; None beyond the limit."""
        row: list[tuple[float, Spans]]
        row = [(cost, ()) for cost in accumulate(self._weights, initial=0.0)]
        for element in template.elements:
            new: list[tuple[float, Spans]] = []
            for j, (cost, spans) in enumerate(row):
                ways = []
                if isinstance(element, Slot):
                    ways += [
                        (before + self._price(element, k, j), (*filled, (k, j)))
                        for k, (before, filled) in enumerate(row[:j])
                        if before <= LIMIT
                    ]
                else:
                    ways.append((cost + _weight(element), spans))
                    if j:
                        before, filled = row[j - 1]
                        ways.append((before + self._literal(element, j - 1), filled))
                if j:
                    ways.append((new[-1][0] + self._weights[j - 1], new[-1][1]))
                new.append(min(ways, key=itemgetter(0), default=(math.inf, ())))
            row = new
            if min(row)[0] > LIMIT:
                return None
        return row[-1] if row[-1][0] <= LIMIT else None

    def _literal(self, word: str, at: int) -> float:
        own = self.tokens[at].literal
        if own == word:
            return 0.0
        return _OTHER_PREPOSITION if own in PLACING and word in PLACING else math.inf

    def _price(self, slot: Slot, start: int, end: int) -> float:
        """Return what it costs a slot to take a span of tokens; infinite if it cannot."""
        if self._value(slot, (start, end)) is None:
            return math.inf
        misfit = self._phrase(slot, self.tokens[start:end]) if slot.kind == "phrase" else 0.0
        return 0.01 + 0.02 * (end - start) + misfit

    def _value(self, slot: Slot, span: Span) -> Value | None:
        """Return what a slot's span puts into the code; None if the span does not fit."""
        tokens, own = self.tokens[slice(*span)], slot.tokens
        stems, first = [token.stem for token in tokens], tokens[0]
        fits = True
        match slot.kind:
            case "number":
                counted = first.kind != "cardinal" or first.value >= 0
                fits = len(tokens) == 1 and first.kind == own[0].kind and counted
                return first.value if fits else None
            case "direction":
                return direction(tokens, own)
            case "name":
                return self._name(tokens)
            case "word":  # words of a name in the scene
                whole = f" {' '.join(stems)} "
                named = any(whole in f" {' '.join(name)} " for name in self._scene)
                fits = named and is_plural(tokens) == is_plural(own)
            case "absent":  # a word that some example's scene has, if not this one
                fits = len(tokens) == 1 and stems[0] in self._vocabulary.named - self._scene_words
            case "label":
                alike = (slot.use, len(tokens), stems[-1]) in self._vocabulary.shapes
                fits = alike and not first.cheap and self._vocabulary.labels.issuperset(stems)
        words = [self._text[token.start : token.end].lower() for token in tokens]
        if slot.singular:
            words[-1] = singular(words[-1])
        return " ".join(words) if fits else None

    def _phrase(self, slot: Slot, span: tuple[Token, ...]) -> float:
        own, first, last = slot.tokens, span[0], span[-1]
        usual, firsts = self._vocabulary.fillers[slot.use], self._vocabulary.firsts[slot.use]
        places = not firsts.isdisjoint(LEADING)
        price = sum(self._strange(token) for token in span if token.stem not in usual)
        if slot.whole and all(token.text != "?" for token in self.tokens):
            price *= _ALONE
        if first.stem != own[0].stem:
            price += _OTHER_FIRST
        breaks = last.kind != "word" or last.text in LIGHT or last.text in RELATIONS
        if last.stem in self._vocabulary.lasts[slot.use] or last.stem in self._nouns:
            breaks = False
        elif not (breaks := breaks or last.stem in self._scene_words):
            price += _UNKNOWN if last.text in self.unknown else _UNUSUAL
        unlike = [
            self._head(first) != self._head(own[0])
            and (first.text in QUESTIONS or first.stem not in firsts),
            breaks,  # 'the red' of 'the red and the blue block'
            is_plural(span) != is_plural(own),
            own[0].text not in QUESTIONS and _places(span) > _places(own),
            not is_plural(own)
            and any(a.stem in self._nouns and b.text in ARTICLES for a, b in pairwise(span)),
            places and any(map(_leads, own)) and not any(map(_leads, span)),
        ]
        return price + _UNLIKE * sum(unlike)

    def _head(self, token: Token) -> str:
        """Return what kind of phrase begins with a word: a question, a place, a thing, or other."""
        if token.text in YES_OR_NO:
            return "yes or no"
        if _leads(token):
            return "place"
        known = token.text in ARTICLES | QUANTIFIERS or token.kind == "cardinal"
        return "thing" if known or token.stem in self._scene_words else token.text

    def _strange(self, token: Token) -> float:
        """Return what a word costs that no phrase of the slot's use has."""
        if token.text in TURNING:
            return 1.0
        plain = token.text in LIGHT or token.text in QUANTIFIERS or token.kind != "word"
        if plain or token.stem in self._scene_words:
            return 0.0
        if not token.text[0].isalpha():
            return 1.0  # a picture or an arrow may mean anything
        return _UNKNOWN if token.text in self.unknown else _UNUSUAL

    def _name(self, span: Sequence[Token]) -> str | None:
        """Return the one name in the scene that has all words of the span, or None."""
        words = {token.stem for token in span if token.text not in LIGHT}
        if not words or is_plural(span) or span[0].cheap or span[-1].cheap:
            return None
        found = [i for i, name in enumerate(self._scene) if words <= set(name)]
        chosen = [i for i in found if words == set(self._scene[i])] or found
        return self._names[chosen[0]] if len(chosen) == 1 else None


def _weight(word: str) -> float:
    """Return what leaving out or adding a literal word costs."""
    if word in PLACING:
        return 0.45  # one gained and one lost: what goes where is no longer sure
    if word in LIGHT and word != "?":
        return 0.08
    return 0.25 if word in CHEAP else 2.0


def _leads(token: Token) -> bool:
    """True for what a phrase about a place may begin with, if it is no thing: 'above', '5 cm'."""
    return token.text in LEADING or token.kind == "length"


def _places(tokens: Sequence[Token]) -> int:
    """Return how many prepositions of place are inside a phrase."""
    return sum(token.text in PLACING and token.text != "to" for token in tokens[1:])
