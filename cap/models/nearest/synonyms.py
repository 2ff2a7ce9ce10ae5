"""Synonyms a prompt states: lines `#: put = place, set down` above its first example.

Each line rewrites what stands right of the sign into what stands left of it; lines apply from the
top down, so that a later one sees what an earlier one wrote. A capital letter stands for any words
(`#: put X = take X and put it`), `N` for a length ('5 cm', 'a bit'). If the left side ends in a full stop,
the right sides are whole instructions (`#: undo that. = go back, revert`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cap.models.nearest.plain import plain
from cap.models.nearest.words import CARDINALS, UNITS, stem, tokenise

_LINE = re.compile(r"^#: (.+?) = (.+)$")
_LENGTH = (
    rf"(?:\d+(?:\.\d+)?|{'|'.join(CARDINALS)}) (?:{'|'.join(UNITS)})s?"
    r"|a bit|a lot"
)
REWRITTEN = 0.02
"""What each rewriting adds to the cost: an example in the person's own words comes first."""


@dataclass(frozen=True)
class Rule:
    """One way of saying something, and the words of the examples for it."""

    pattern: re.Pattern[str]
    """Matches the way of saying it, spaces around."""
    replacement: str
    """Template of what it becomes."""
    words: frozenset[str]
    """Literal words, all of which the text must have."""
    plain: bool
    """True if it has no variable."""
    statement: bool
    """True if it begins with a variable: then a question is left alone."""


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
    nouns = {name.split()[-1].lower() for name in names if name.split()}
    text = f" {plain(text, vocabulary, nouns)} "
    question = text.endswith("? ")
    rewritten = 0
    for rule in rules:
        if rule.plain and scene >= {stem(word) for word in rule.words}:
            continue
        if (rule.statement and question) or not rule.words <= _forms(text):
            continue
        text, times = rule.pattern.subn(rule.replacement, text)
        rewritten += times
    return Canonical(" ".join(text.split()), rewritten)


@lru_cache(maxsize=4096)
def _forms(text: str) -> frozenset[str]:
    """Return the words of a text, with and without plural ending."""
    words = text.split()
    return frozenset((*words, *map(stem, words)))


@lru_cache(maxsize=64)
def _rules(lines: tuple[str, ...]) -> tuple[tuple[Rule, ...], frozenset[str]]:
    """Return the rules in order, of one line the longest first, and all words they know."""
    rules: list[Rule] = []
    vocabulary: set[str] = set()
    for line in lines:
        if match := _LINE.match(line):
            head, ways = match[1], sorted(match[2].split(", "), key=_size)
            rules += [_rule(head, way) for way in ways]
            vocabulary.update(word for way in (head, *ways) for word in way.rstrip(".").split())
    return tuple(rules), frozenset(vocabulary)


def _size(way: str) -> int:
    return -len(way.split())


def _rule(head: str, way: str) -> Rule:
    whole = head.endswith(".")
    words = way.split()
    variables = [word for word in words if _variable(word)]
    pattern = " ".join(_part(word) for word in words)
    target = " ".join(rf"\g<{w}>" if _variable(w) else w for w in head.rstrip(".").split())
    if whole:
        pattern, target = rf"^ {pattern} (?P<end>\? )?$", rf" {target} \g<end>"
    elif _variable(words[0]) and words[0] != "N":
        pattern, target = rf"^ {pattern}(?= )", f" {target}"
    elif not variables and words[-1].isalpha() and head.split()[-1].isalpha():
        pattern, target = rf"(?<= ){pattern}(?:e?(?P<plural>s))?(?= )", rf"{target}\g<plural>"
    else:
        pattern = rf"(?<= ){pattern}(?= )"
    return Rule(
        re.compile(pattern),
        target,
        frozenset(word for word in words if not _variable(word)),
        plain=not variables,
        statement=_variable(words[0]) and words[0] != "N",
    )


def _variable(word: str) -> bool:
    return len(word) == 1 and word.isupper()


def _part(word: str) -> str:
    if not _variable(word):
        return re.escape(word)
    return rf"(?P<{word}>{_LENGTH})" if word == "N" else rf"(?P<{word}>\S.*?)"
