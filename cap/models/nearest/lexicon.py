"""What a prompt's instructions say about words: how telling each is, and what slots hold."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from cap.models.nearest.template import Template, names_in
from cap.models.nearest.words import LIGHT, NEGATIONS, PLACING, PREPOSITIONS, QUANTIFIERS, tokenise

CHEAP = LIGHT | PREPOSITIONS
"""Words whose gain or loss matters little."""


@dataclass(frozen=True)
class Lexicon:
    """What a prompt's instructions say about words."""

    templates: tuple[Template, ...]
    """The prompt's own templates, then the derived ones."""
    count: int
    """How many of them are the prompt's own."""
    synonyms: frozenset[tuple[str, str]]
    """Pairs of words, both ways round."""
    frequency: Counter[str] = field(default_factory=Counter)
    """In how many instructions each stem stands."""
    firsts: dict[str, set[str]] = field(default_factory=dict)
    """By use of a slot: the stems its fillers begin with."""
    lasts: dict[str, set[str]] = field(default_factory=dict)
    """By use of a slot: the stems its fillers end with."""
    fillers: dict[str, set[str]] = field(default_factory=dict)
    """By use of a slot: all stems in its fillers."""
    shapes: set[tuple[str, int, str]] = field(default_factory=set)
    """Of each filler: the slot's use, how many words it has, and the last one's stem."""
    labels: set[str] = field(default_factory=set)
    """Stems of all words in strings of the code."""
    named: set[str] = field(default_factory=set)
    """Stems of all words in names of the examples' scenes."""

    @classmethod
    def of(
        cls,
        templates: Sequence[Template],
        derived: Sequence[Template],
        synonyms: frozenset[tuple[str, str]],
        siblings: Iterable[tuple[str, str]] = (),
    ) -> Lexicon:
        """Collect the words of a prompt's templates; of siblings either may begin a phrase."""
        lexicon = cls((*templates, *derived), len(templates), synonyms)
        for template in templates:
            lexicon._add(template)
        for words in lexicon.firsts.values():
            words |= {b for a, b in siblings if a in words}
        return lexicon

    def extended(self, templates: Sequence[Template]) -> Lexicon:
        """Return a copy with more templates to answer from."""
        lexicon = replace(
            self,
            templates=(*self.templates, *templates),
            count=self.count + len(templates),
            frequency=Counter(self.frequency),
            firsts={use: set(words) for use, words in self.firsts.items()},
            lasts={use: set(words) for use, words in self.lasts.items()},
            fillers={use: set(words) for use, words in self.fillers.items()},
            shapes=set(self.shapes),
            labels=set(self.labels),
            named=set(self.named),
        )
        for template in templates:
            lexicon._add(template)
        return lexicon

    def _add(self, template: Template) -> None:
        tokens = tokenise(template.example.instruction)
        self.frequency.update({token.stem for token in tokens})
        self.labels.update(template.strings)
        for name in names_in(template.example.context):
            self.named.update(token.stem for token in tokenise(name))
        for slot in template.slots:
            self.firsts.setdefault(slot.use, set()).add(slot.tokens[0].stem)
            self.shapes.add((slot.use, len(slot.tokens), slot.tokens[-1].stem))
            self.lasts.setdefault(slot.use, set()).add(slot.tokens[-1].stem)
            self.fillers.setdefault(slot.use, set()).update(t.stem for t in slot.tokens)

    def weight(self, word: str) -> float:
        """Return what leaving out or adding a literal word costs; rarer words cost more."""
        if word in PLACING:
            return 0.45  # one gained and one lost: what goes where is no longer sure
        if word in LIGHT and word != "?":
            return 0.08
        if word in CHEAP:
            return 0.25
        if word in QUANTIFIERS:
            return 0.9
        if word in NEGATIONS:
            return 2.0
        share = self.frequency[word] / max(self.count, 1)
        return 1.0 + 0.3 * (1.0 - math.sqrt(share))
