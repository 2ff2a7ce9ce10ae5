"""Synonyms a prompt states: lines `#: put = place, set down` above its first example.

Each line rewrites what stands right of the sign into what stands left of it; lines apply from the
top down, so that a later one sees what an earlier one wrote. A capital letter stands for any words
(`#: put X = take X and put it`), `N` for a length ('5 cm', 'a bit'). If the left side ends in a
full stop, the right sides are whole instructions (`#: undo that. = go back, revert`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from cap.models.nearest.normalizer import named, plain
from cap.models.nearest.numerals import CARDINALS, LENGTHS, NUMBER
from cap.models.nearest.words import stem, tokenise

_LINE = re.compile(r"^#: (.+?) = (.+)$")
_LENGTH = rf"(?:{NUMBER}|{'|'.join(CARDINALS)}) {LENGTHS}|a bit|a lot"
REWRITTEN = 0.02
"""What each rewriting adds to the cost: an example in the person's own words comes first."""


@dataclass(frozen=True)
class SynonymRule:
    """One line: ways of saying something, and the words of the examples for it."""

    pattern: str
    """Matches a way of saying it, between spaces."""
    replacement: str
    """Template of what it becomes."""
    words: frozenset[str]
    """Literal words the text must have; none if there are several ways."""
    phrases: tuple[str, ...] = ()
    """Phrases of which the text must have one; none if words say it."""
    kept: bool = False
    """True if words of the scene's names are left alone: the ways are single phrases."""
    statement: bool = False
    """True if it begins with a variable: then a question is left alone."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when a text first may match: most rules of a prompt never do."""
        return re.compile(self.pattern)


@dataclass(frozen=True)
class Canonical:
    """An instruction in the words of the examples."""

    text: str
    """The words."""
    rewritten: int
    """How many rewritings it took."""


def stated(prompt: str) -> tuple[str, ...]:
    """Return the synonym lines of a prompt's text; they stand above its first example."""
    head = re.split(r"^# ", prompt, maxsplit=1, flags=re.MULTILINE)[0]
    return tuple(line for line in head.split("\n") if line.startswith("#: "))


@lru_cache(maxsize=2048)
def canonical(text: str, lines: tuple[str, ...], names: tuple[str, ...]) -> Canonical:
    """Return an instruction in the words of the examples.

    Args:
        text: The instruction as said.
        lines: The prompt's synonym lines.
        names: Names of things in the scene; their words are never rewritten.
    """
    rules, vocabulary = _rules(lines)
    scene = frozenset(token.stem for name in names for token in tokenise(name))
    text = f" {plain(text, vocabulary, names)} "
    question = text.endswith("? ")
    words = frozenset(text.split())
    rewritten = 0
    for rule in rules:
        if rule.statement and question:
            continue
        if rule.phrases and not any(phrase in text for phrase in rule.phrases):
            continue
        if not rule.words <= words:
            continue
        parts, end = [], 0
        for match in rule.regex.finditer(text):
            if rule.kept and (match["same"] or scene >= {stem(w) for w in match[0].split()}):
                continue
            parts += [text[end : match.start()], match.expand(rule.replacement)]
            end = match.end()
            rewritten += 1
        text = "".join((*parts, text[end:]))
        words = frozenset(text.split())
    return Canonical(named(" ".join(text.split()), names), rewritten)


@lru_cache(maxsize=64)
def _rules(lines: tuple[str, ...]) -> tuple[tuple[SynonymRule, ...], frozenset[str]]:
    """Return the rules in order, of one line the longest first, and all words they know."""
    rules: list[SynonymRule] = []
    vocabulary: set[str] = set()
    for line in lines:
        if match := _LINE.match(line):
            head, ways = match[1], sorted(match[2].split(", "), key=_size)
            phrases = [way for way in ways if not any(map(_variable, way.split()))]
            if phrases and not head.endswith("."):
                # The head is one of the ways, so that nothing is rewritten within it.
                same = "|".join(
                    f"(?P<same>{re.escape(way)})" if way is head else re.escape(way)
                    for way in sorted((head, *phrases), key=_size)
                )
                pattern = rf"(?<= )(?:{same})(?:e?(?P<plural>s))?(?= )"
                becomes, said = rf"{head}\g<plural>", tuple(phrases)
                rules.append(SynonymRule(pattern, becomes, frozenset(), said, kept=True))
                ways = [way for way in ways if way not in phrases]
            rules += [_frame(head, way) for way in ways]
            vocabulary.update(word for way in (head, *ways, *phrases) for word in way.split())
    return tuple(rules), frozenset(vocabulary)


def _size(way: str) -> int:
    return -len(way.split())


def _frame(head: str, way: str) -> SynonymRule:
    """Return a rule for a way of saying it with variables, or for a whole instruction."""
    words = way.split()
    pattern = " ".join(map(_part, words))
    target = " ".join(rf"\g<{w}>" if _variable(w) else w for w in head.rstrip(".").split())
    first = _variable(words[0]) and words[0] != "N"
    if head.endswith("."):
        if len(words) <= len(head.split()):  # what has all words of the head needs no more
            said = " ".join(map(_part, head.rstrip(".").split()))
            pattern = rf"(?! {re.sub(r'[?]P<.>', '?:', said)} (?:[?] )?$) {pattern}"
        else:
            pattern = f" {pattern}"
        pattern = rf"^{pattern} (?P<end>\? )?$"
        target = rf" {target} \g<end>"
    elif first:
        pattern, target = rf"^ {pattern}(?= )", f" {target}"
    else:
        pattern = rf"(?<= ){pattern}(?= )"
    literal = frozenset(word for word in words if not _variable(word))
    return SynonymRule(pattern, target, literal, statement=first)


def _variable(word: str) -> bool:
    return len(word) == 1 and word.isupper()


def _part(word: str) -> str:
    if not _variable(word):
        return re.escape(word)
    return rf"(?P<{word}>{_LENGTH})" if word == "N" else rf"(?P<{word}>\S.*?)"
