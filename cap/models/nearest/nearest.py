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
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import islice

from cap.errors import NoMatch, misspelt, one_edit
from cap.models.base import Completion, Request
from cap.models.nearest.match import LONGEST, PART_LIMIT, Match, Matcher, Vocabulary
from cap.models.nearest.slots import names_in, template
from cap.models.nearest.synonyms import canonical, stated
from cap.models.nearest.words import ARTICLES, CHEAP, any_of, is_plural, tokenise
from cap.program.program import parses
from cap.prompt.examples import FAILED, RECALLED, Example, first_instructions, split_examples
from cap.prompt.prompt import SESSION

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
        examples = [*split_examples(request.further), *split_examples(request.prompt)]
        if len(examples) < 2 or examples[-1].code:
            raise NoMatch(f"the prompt has no examples or no instruction; {_REMEDY}")
        asked = examples.pop()
        known = tuple(one for one in examples if RECALLED not in one.effects and not _failed(one))
        text = _definition(asked.instruction, known)
        lines = (*stated(request.further), *stated(request.prompt))
        prompt, session, _ = request.prompt.partition(SESSION)
        shown = (*split_examples(prompt), *split_examples(request.further)) if session else ()
        text = text or _Reader(asked, known, lines, shown).code()
        turns = examples[len(split_examples(request.further)) + len(split_examples(prompt)) :]
        if session and (failed := _last_failed(turns, asked.instruction, text)):
            raise NoMatch(
                f"{failed!r} failed, so it is not clear what {asked.instruction!r} refers to; name"
                f" the object, or {_REMEDY}"
            )
        return Completion(text, self.name, cost_usd=0.0)


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
