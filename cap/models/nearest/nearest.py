"""`nearest`: the offline model. It answers from a prompt's own examples; it is no language model.

It needs no key, no network and no weights, and it knows no robot: whatever it can do it reads from
the prompt it is given. It serves to try things out, as an honest lower row in every comparison, and
to run the shipped prompts in tests.

How it answers
    1. Fillers and politeness are removed from the instruction (`words`), and the synonyms that the
       prompt states, lines such as `#: put = place, set`, turn it into the words of the examples.
       Words of the scene's names stay as they are.
    2. Words of an example that its code repeats are slots (`slots`): objects, phrases, colours,
       directions, numbers and ordinals.
    3. The example that costs least is taken: a literal word that is missing or left over costs what
       it means, and so do words in a slot, the more the less they are like those of the examples;
       the unit is one ordinary word with meaning. The code is returned with the instruction's words
       in its slots. The same prompt gives the same answer; ties go to the earlier example.
    4. An instruction is cut at 'then', ';' and full stops, and at 'and' if it does not fit as a
       whole; a part without a verb has that of the first. The answers follow each other. A prompt
       whose examples all bind one same name returns a value and is never answered twice.
    A request for a function (`total = get_total(xs=numbers)`) gets the example's definition of that
    name.

When it declines
    `NoMatch` names the words that fit nowhere and up to three sentences that it follows in this
    scene, or the one that was misspelt. Nothing runs then. A description it passes to another
    prompt ('the lemon') may be declined there: the message names the objects of the scene. One part
    that does not fit declines the whole instruction.

Limits
    It reasons about nothing: conditions, negations, loops, verbs and directions that no example or
    stated synonym has are declined. After an instruction of several parts 'undo that' means the
    last. It can be wrong where two examples read alike and mean different things.
"""

from __future__ import annotations

import ast
import math
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import accumulate, islice, pairwise
from operator import itemgetter

from cap.errors import NoMatch, misspelt, one_edit
from cap.models.base import Completion, Request
from cap.models.nearest.slots import Slot, Span, Template, Value, names_in, template
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
    any_of,
    canonical,
    direction,
    is_plural,
    singular,
    stated,
    tokenise,
)
from cap.program.program import parses
from cap.prompt.examples import FAILED, RECALLED, Example, first_instructions, split_examples
from cap.prompt.prompt import SESSION

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
        for known in templates:
            self.words.update(token.stem for token in tokenise(known.example.instruction))
            for name in names_in(known.example.context):
                self.named.update(token.stem for token in tokenise(name))
            for slot in known.slots:
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
        for i, known in enumerate(self._vocabulary.templates):
            literal = {word for word in known.elements if isinstance(word, str)}
            if literal <= said | CHEAP and (read := self._read(known)) is not None:
                common = {one.literal for one in tokenise(known.example.instruction)} & said
                found.append((round(read[0], 9), -len(common), i, read[1]))
        if not found:
            return None
        cost, _, i, spans = min(found)
        known = self._vocabulary.templates[i]
        if self.tokens == tokenise(known.example.instruction):
            return Match(cost, known.example.code)
        filled = zip(known.slots, spans, strict=True)
        return Match(cost, known.filled({s.span: self._value(s, span) for s, span in filled}))

    def _read(self, known: Template) -> tuple[float, Spans] | None:
        """Return cost and spans of the cheapest match with one example; None beyond the limit."""
        row: list[tuple[float, Spans]]
        row = [(cost, ()) for cost in accumulate(self._weights, initial=0.0)]
        for element in known.elements:
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


_REMEDY = "use a language model with -m"
_OFFERS = 3
_SHORT = 3
"""Letters of words of which no letter is taken away or added: most would be another word."""
_CUT = re.compile(
    rf"(?:[;.!?]\s+|,?\s+)(?:(?:and|but)\s+)?{any_of('cuts', 'joint')},?\s+|[;.!?]\s+(?=\w)",
    re.IGNORECASE,
)
_AND = re.compile(rf"{_CUT.pattern}|,?\s+and\s+|,\s+", re.IGNORECASE)
"""Where an instruction is also cut if it does not fit as a whole."""
_CALLS = re.compile(r"(?:\S+ ){0,2}\S+: (?:\w+ = )?((\w+)\(.*\))")
"""A request for a function, such as `define function: value = name(arguments)`."""
_POINTING = re.compile(r"\b(?:it|that|this|them|these|those|ones?|there)\b", re.IGNORECASE)
"""Words that refer to an earlier instruction."""
_BEGIN = re.compile(rf"^\s*(?:please\s+)?{any_of('cuts', 'opening')},?\s+", re.IGNORECASE)


class Nearest:
    """A model without a network: the closest example with other words in its slots."""

    name = "nearest"
    repairs = False
    """It cannot repair a program: it would write the same one again."""
    by_example = True
    """It writes what an example wrote, whose names may be those of another session."""
    sees = False
    """It reads words alone."""

    def complete(self, request: Request) -> Completion:
        """Return the closest example's code with the instruction's words in it.

        Raises:
            NoMatch: No example is close enough; the message says what it would follow.
        """
        further = _shipped(request.further)
        examples = [*further, *split_examples(request.prompt)]
        if len(examples) < 2 or examples[-1].code:
            raise NoMatch(f"the prompt has no examples or no instruction; {_REMEDY}")
        asked = examples.pop()
        known = tuple(one for one in examples if RECALLED not in one.effects and not _failed(one))
        text = _definition(asked.instruction, known)
        lines = (*stated(request.further), *stated(request.prompt))
        prompt, session, _ = request.prompt.partition(SESSION)
        shown = (*_shipped(prompt), *further) if session else ()
        text = text or _Reader(asked, known, lines, shown).code()
        turns = examples[len(shown) :]
        if session and (failed := _last_failed(turns, asked.instruction, text)):
            raise NoMatch(
                f"{failed!r} failed, so it is not clear what {asked.instruction!r} refers to; name"
                f" the object, or {_REMEDY}"
            )
        return Completion(text, self.name, cost_usd=0.0)


_shipped = lru_cache(maxsize=32)(split_examples)
"""Of the texts that stay the same from request to request."""


class _Reader:
    """Reads the instructions of one request."""

    def __init__(
        self,
        asked: Example,
        examples: tuple[Example, ...],
        lines: tuple[str, ...],
        shown: tuple[Example, ...],
    ) -> None:
        """Take what is asked.

        Args:
            asked: The instruction, in its context.
            examples: Of the prompt and of the session so far.
            lines: The prompt's synonyms.
            shown: Examples that a user may be shown; none of a prompt that programs ask.
        """
        self._said = asked.instruction
        self._lines, self._shown = lines, shown
        self._names = names_in(asked.context)
        self._vocabulary = _vocabulary(examples, lines)
        if not self._vocabulary.templates:
            raise NoMatch(f"none of the prompt's examples has code that is Python; {_REMEDY}")

    def code(self) -> str:
        """Return the code for the whole instruction, or for its parts if they match better.

        Raises:
            NoMatch: Neither fits.
        """
        whole = self._read(self._said)
        if not _returns(self._vocabulary):
            for cut in (_CUT,) if whole else (_CUT, _AND):
                chain = self._chain(self._parts(cut))
                if chain and (whole is None or sum(part.cost for part in chain) < whole.cost):
                    return "\n".join(part.code for part in chain)
        if whole is None:
            parts = (part for part in self._parts(_CUT) if self._read(part) is None)
            raise NoMatch(self._refusal(next(parts, self._said)))
        return whole.code

    def _matcher(self, said: str) -> Matcher:
        words = canonical(said, self._lines, self._names)
        return Matcher(self._vocabulary, words, self._names)

    def _read(self, said: str) -> Match | None:
        matcher = self._matcher(said)
        if len(matcher.tokens) > LONGEST:
            raise NoMatch(
                f"nearest reads up to {LONGEST} words, not the {len(matcher.tokens)} in"
                f" {said[:40]!r}...; {_REMEDY}"
            )
        return matcher.best()

    def _parts(self, cut: re.Pattern[str]) -> list[str]:
        said = _BEGIN.sub("", self._said)
        return [part.strip() for part in cut.split(said) if part.strip(" .!?;")]

    def _chain(self, parts: list[str]) -> list[Match]:
        """Return one match for each part; none if there is one part, or one that does not fit."""
        if len(parts) < 2:
            return []
        verb = canonical(parts[0], self._lines, self._names).partition(" ")[0]
        found = [self._read(part) or self._read(f"{verb} {part}") for part in parts]
        # What follows a part that has run must not turn out to be nonsense.
        known = not any(self._matcher(part).unknown for part in parts[1:])
        chain = [match for match in found if match is not None and match.cost <= PART_LIMIT]
        return chain if known and len(chain) == len(parts) else []

    def _refusal(self, said: str) -> str:
        """Return why an instruction is declined, and what to say in its place."""
        unknown = self._matcher(said).unknown
        words = ", ".join(map(repr, sorted(unknown)))
        reason = f"nearest cannot match {words} in" if unknown else "nearest has no example like"
        if not self._shown:
            return self._phrase_refusal(said, f"{reason} {said!r}", unknown)
        meant = self._respelt(said, unknown)
        match = self._read(meant) if meant != said else None
        if match is not None and match.cost <= PART_LIMIT:
            return f"{reason} {said!r}. Did you mean {meant!r}? Say that or {_REMEDY}"
        for one, other in zip(said.split(), meant.split(), strict=True):
            if one != other and sorted(one.lower()) == sorted(other):  # two letters are swapped
                reason = reason.replace(repr(one), f"{one!r} (did you mean {other!r}?)")
        offers = ", ".join(map(repr, self._offers(said)))
        follows = f"in this scene it follows {offers}; say one of these or " if offers else ""
        return f"{reason} {said!r}; {follows}{_REMEDY}"

    def _phrase_refusal(self, said: str, reason: str, unknown: Collection[str]) -> str:
        """Return why a phrase that a program passed on is declined, such as 'the purple block'."""
        slots = (slot for one in self._vocabulary.templates for slot in one.slots)
        if not any(slot.kind == "name" for slot in slots):
            return f"{reason}; say it in other words or {_REMEDY}"
        article, _, noun = canonical(said, self._lines, self._names).partition(" ")
        tokens = tokenise(noun)
        if not (article in ARTICLES and tokens and self._names):
            return f"{reason}; say it in other words or {_REMEDY}"
        scene = [{token.stem for token in tokenise(name)} for name in self._names]
        words = {token.stem for token in tokens}
        is_name = words <= self._vocabulary.named.union(*scene) or tokens[-1].text in unknown
        plain = not is_plural(tokens) and all(t.kind == "word" and not t.cheap for t in tokens)
        if is_name and plain and not any(words <= name for name in scene):
            reason = f"there is no {noun!r} here"
        hint = misspelt(noun, self._names)
        return f"{reason}; objects here: {', '.join(self._names)}{hint and '.' + hint}"

    def _respelt(self, said: str, unknown: Collection[str]) -> str:
        """Return an instruction with known words for the unknown ones that are one edit away."""
        texts = [*(one.instruction for one in self._shown), *self._lines, *self._names]
        known = {token.text for text in texts for token in tokenise(text)}
        words = said.split()
        for at, word in enumerate(map(str.lower, words)):
            if word in unknown:
                # A wrong letter often makes another word: 'smash' is not 'stash'.
                near = [
                    other
                    for other in sorted(known)
                    if sorted(word) == sorted(other)
                    or (_SHORT < len(word) != len(other) and other not in CHEAP)
                ]
                near = [other for other in near if one_edit(word, other)]
                words[at] = next(iter(get_close_matches(word, near, n=1)), words[at])
        return " ".join(words)

    def _offers(self, said: str) -> list[str]:
        """Return up to three instructions that are followed here, the most alike first."""
        own = {token.stem for token in self._matcher(said).tokens if not token.cheap}

        def alike(words: str) -> float:
            other = {token.stem for token in tokenise(words) if not token.cheap}
            return len(own & other) / max(len(own | other), 1)

        every = first_instructions(self._shown, self._names)
        offers = (words for words in sorted(every, key=alike, reverse=True) if self._read(words))
        return list(islice(offers, _OFFERS))


def _failed(turn: Example) -> bool:
    return turn.code.rpartition("\n")[2].startswith(FAILED)


def _last_failed(turns: Sequence[Example], said: str, code: str) -> str:
    """Return the instruction that was to set a variable which a program reads, and failed, or "".

    A failed program sets none: "it" would be what an instruction before it named.
    """
    if not _POINTING.search(said):
        return ""
    failed: dict[str, str] = {}
    for turn in turns:
        if not _POINTING.search(turn.instruction) and parses(turn.code):
            names = dict.fromkeys(_set_in(turn.code), turn.instruction if _failed(turn) else "")
            failed.update(names)
    for statement in ast.parse(code).body:
        names_in_it = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
        for node in names_in_it:
            if isinstance(node.ctx, ast.Load) and failed.get(node.id):
                return failed[node.id]
        failed |= {node.id: "" for node in names_in_it if isinstance(node.ctx, ast.Store)}
    return ""


def _set_in(code: str) -> Iterator[str]:
    """Yield the variables that a program sets to what has nothing to do with earlier values."""
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Assign):
            names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
            stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
            if stored.isdisjoint(node.id for node in names if isinstance(node.ctx, ast.Load)):
                yield from stored


@lru_cache(maxsize=64)
def _vocabulary(examples: tuple[Example, ...], lines: tuple[str, ...]) -> Vocabulary:
    worded = (
        replace(one, instruction=canonical(one.instruction, lines, names_in(one.context)))
        for one in examples
    )
    return Vocabulary([found for found in map(template, worded) if found is not None])


@lru_cache(maxsize=64)
def _returns(vocabulary: Vocabulary) -> bool:
    """True if every example binds one same name: what it returns, and only one can be returned."""
    bound = [{*re.findall(r"^(\w+) = ", one.example.code, re.M)} for one in vocabulary.templates]
    return bool(set.intersection(*bound))


def _definition(instruction: str, examples: Sequence[Example]) -> str | None:
    """Return the definition of the function an instruction calls, or None if it calls none.

    Raises:
        NoMatch: No example defines such a function.
    """
    called = _CALLS.fullmatch(instruction)
    if called is None:
        return None
    for example in examples:
        if example.code.startswith(f"def {called[2]}("):
            return example.code
    raise NoMatch(
        f"nearest knows no example function like {called[1]!r}; define it in the prompt, "
        f"or {_REMEDY}"
    )
