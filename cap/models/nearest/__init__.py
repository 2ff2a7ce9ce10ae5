"""`nearest`: the offline model. It answers from a prompt's own examples; it is no language model.

It needs no key, no network and no weights, and it knows no robot: whatever it can do it reads from
the prompt it is given. It serves to try things out, as an honest lower row in every comparison, and
to run the shipped prompts in tests.

How it answers
    1. Fillers and politeness are removed from the instruction (`words`), and the synonyms that the
       prompt states, lines such as `#: put = place, set`, turn it into the words of the examples
       (`synonyms`). Words of the scene's names stay as they are.
    2. Words of an example that its code repeats are slots (`slots`): objects, phrases, colours,
       directions, numbers and ordinals.
    3. The example that costs least is taken (`match`): a literal word that is missing or left over
       costs, and so do words in a slot that are unlike those it has in the examples. The code is
       returned with the instruction's words in its slots. The same prompt gives the same answer;
       ties go to the earlier example.
    4. An instruction is cut at 'then', ';' and full stops, and at 'and' if it does not fit as a
       whole; the answers follow each other. A prompt whose examples all bind one same name returns
       a value and is never answered twice.
    A request for a function (`total = get_total(xs=numbers)`) gets the example's definition whose
    name has the same words, with the parameters named as the call names them (`define`).

When it declines
    `NoMatch` names the words that fit nowhere and up to three sentences that it follows in this
    scene. Nothing runs then. A description it passes to another prompt ('the lemon') may be
    declined there. One part that does not fit declines the whole instruction.

Limits
    It reasons about nothing: conditions, negations, loops, verbs and directions that no example or
    stated synonym has are declined. After an instruction of several parts 'undo that' means the
    last. It can be wrong where two examples read alike and mean different things.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from cap.errors import NoMatch
from cap.models.base import Completion, Request
from cap.models.nearest.define import answer_definition
from cap.models.nearest.match import LIMIT, Match, Matcher, Vocabulary
from cap.models.nearest.slots import names_in, template
from cap.models.nearest.synonyms import canonical, stated
from cap.models.nearest.words import (
    LEADING,
    QUANTIFIERS,
    any_of,
    is_plural,
    stem,
    tokenise,
    unreadable,
)
from cap.prompt.examples import RECALLED, Example, split_examples

_REMEDY = "use a language model with -m"
_LONGEST = 60
"""Words of an instruction: the work grows with their square, and no example is that long."""
_REWRITTEN = 0.02
"""What each rewriting by a synonym costs: an example in the user's own words comes first."""
_PART_LIMIT = 0.4
"""Parts of an instruction that cost more are declined: no doubtful readings in a row."""
_OFFERS = 3
_CUT = re.compile(
    rf"(?:[;.!?]\s+|,?\s+)(?:(?:and|but)\s+)?{any_of('cuts', 'joint')},?\s+|[;.!?]\s+(?=\w)",
    re.IGNORECASE,
)
_AND = re.compile(rf"{_CUT.pattern}|,?\s+and\s+|,\s+", re.IGNORECASE)
"""Where an instruction is cut if it does not fit as a whole."""
_BEGIN = re.compile(rf"^\s*(?:please\s+)?{any_of('cuts', 'opening')},?\s+", re.IGNORECASE)
_ASIDE = LEADING | QUANTIFIERS | {"the", "a", "an", "left", "right", "up", "down", "back"}
"""What a part without a verb begins with, apart from numbers."""


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
        *examples, asked = split_examples(request.prompt) or (None,)
        names = {line.partition(" = ")[0] for line in asked.context.split("\n")} if asked else ()
        if any(f"\n{name} = [" in f"\n{one.code}" for name in names for one in examples if one):
            *examples, asked = split_examples(request.prompt, names=names)  # as in bare prompts
        examples = [*split_examples(request.further), *examples]
        if asked is None or asked.code or not examples:
            raise NoMatch(f"the prompt has no examples or no instruction; {_REMEDY}")
        if sign := unreadable(asked.instruction):
            raise NoMatch(f"nearest cannot read {sign!r} in {asked.instruction!r}; {_REMEDY}")
        read = (one for one in examples if one is not None)
        known = tuple(one for one in read if RECALLED not in one.effects)
        text = answer_definition(asked.instruction, known)
        lines = (*stated(request.further), *stated(request.prompt))
        return Completion(text or _Reader(asked, known, lines).code(), self.name, cost_usd=0.0)


class _Reader:
    """Reads the instructions of one request."""

    def __init__(self, asked: Example, examples: tuple[Example, ...], lines: tuple[str, ...]):
        self._said = asked.instruction
        self._lines = lines
        self._names = names_in(asked.context)
        self._vocabulary = _vocabulary(examples, lines)
        if not self._vocabulary.templates:
            raise NoMatch(f"none of the prompt's examples has code that is Python; {_REMEDY}")

    def code(self) -> str:
        """Return the code for the whole instruction, or for its parts if they match better.

        Raises:
            NoMatch: Neither fits.
        """
        matcher, cost, match = self._read(self._said)
        parts = self._parts(_CUT)
        if not _returns(self._vocabulary):
            for cut in (_CUT, _AND) if cost > LIMIT else (_CUT,):
                found = self._chain(self._parts(cut))
                if found and sum(one[1] for one in found) < cost:
                    return "\n".join(one[0].filled(one[2]) for one in found)
        if cost <= LIMIT:
            return matcher.filled(match)
        refused = [part for part in parts if self._read(part)[1] > LIMIT]
        raise NoMatch(self._refusal(refused[0] if len(parts) > 1 and refused else self._said))

    def _chain(self, parts: list[str]) -> list[tuple[Matcher, float, Match]]:
        """Return one reading for each part; none if there is one part, or one that does not fit."""
        read = [next(self._readings(part, parts[0]), None) for part in parts]
        found = [one for one in read if one is not None]
        return found if len(found) == len(read) > 1 else []

    def _read(self, said: str) -> tuple[Matcher, float, Match]:
        words, rewritten = canonical(said, self._lines, self._names)
        matcher = Matcher(self._vocabulary, words, self._names)
        if len(matcher.tokens) > _LONGEST:
            raise NoMatch(
                f"nearest reads up to {_LONGEST} words, not the {len(matcher.tokens)} in"
                f" {said[:40]!r}...; {_REMEDY}"
            )
        match = matcher.best()
        return matcher, match.cost + rewritten * _REWRITTEN, match

    def _parts(self, cut: re.Pattern[str]) -> list[str]:
        said = _BEGIN.sub("", self._said)
        return [part.strip() for part in cut.split(said) if part.strip(" .!?;")]

    def _readings(self, part: str, first: str) -> Iterator[tuple[Matcher, float, Match]]:
        """Return the readings of a part that fit: as it is, then with the first part's verb."""
        ways, tokens = [part], tokenise(part)
        lent = tokenise(canonical(first, self._lines, self._names)[0])
        if tokens and lent and (tokens[0].text in _ASIDE or tokens[0].kind != "word"):
            pronoun = "them" if is_plural(lent[1:]) else "it"
            ways += [f"{lent[0].text} {part}", f"{lent[0].text} {pronoun} {part}"]
        for way in ways:
            matcher, cost, match = self._read(way)
            # What follows a part that has run must not turn out to be nonsense.
            if cost <= _PART_LIMIT and (part is first or not matcher.unknown):
                yield matcher, cost, match

    def _refusal(self, said: str) -> str:
        matcher, _, match = self._read(said)
        known = {one for one in match.template.elements if isinstance(one, str)}
        filled = {i for span in match.spans if span for i in range(*span)}
        rest = [t.text for i, t in enumerate(matcher.tokens) if i not in filled]
        odd = matcher.unknown or [text for text in rest if stem(text) not in known]
        offers = ", ".join(map(repr, self._offers(matcher)))
        follows = f"in this scene it follows {offers}; say one of these or " if offers else ""
        words = ", ".join(map(repr, sorted(odd)))
        offered = f"{follows}{_REMEDY}"
        if not odd:
            return f"nearest has no example like {said!r}; {offered}"
        return f"nearest cannot match {words} in {said!r}; {offered}"

    def _offers(self, matcher: Matcher) -> list[str]:
        """Return up to three instructions that are followed here, the most alike first."""
        stems = {token.stem for token in matcher.tokens if not token.cheap}

        def unlike(sentence: str) -> float:
            own = {token.stem for token in tokenise(sentence) if not token.cheap}
            return -len(stems & own) / max(len(stems | own), 1)

        found: dict[str, None] = {}
        sentences = {_here(one.example, self._names) for one in self._vocabulary.templates} - {""}
        for sentence in sorted(sorted(sentences), key=unlike):
            if self._read(sentence)[1] <= LIMIT:
                found[sentence] = None
            if len(found) == _OFFERS:
                break
        return list(found)


def _here(example: Example, names: Sequence[str]) -> str:
    """Return an example's instruction about things of this scene; "" if it lacks such things."""
    text, free = example.instruction, list(names)
    for name in names_in(example.context):
        if re.search(rf"\b{re.escape(name)}\b", text):
            alike = [one for one in free if one.split()[-1:] == name.split()[-1:]]
            if not alike:
                return ""
            chosen = name if name in alike else alike[0]
            free.remove(chosen)
            text = re.sub(rf"\b{re.escape(name)}\b", chosen.upper(), text)
    return text.lower()


@lru_cache(maxsize=64)
def _vocabulary(examples: tuple[Example, ...], lines: tuple[str, ...]) -> Vocabulary:
    found = []
    for example in examples:
        words, _ = canonical(example.instruction, lines, names_in(example.context))
        if (one := template(replace(example, instruction=words))) is not None:
            found.append(one)
    return Vocabulary(found)


@lru_cache(maxsize=64)
def _returns(vocabulary: Vocabulary) -> bool:
    """True if every example binds one same name: what it returns, and only one can be returned."""
    bound = [
        {
            n.id
            for n in ast.walk(one.tree)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for one in vocabulary.templates
    ]
    return bool(set.intersection(*bound))
