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

from cap.models.nearest.words import LENGTH, named, plain, stem, tokenise

_LINE = re.compile(r"^#: (.+?) = (.+)$")
_ANY = r"\S.*?"
_VARIABLE = re.compile(r"\b[A-Z]\b")


@dataclass(frozen=True)
class Rewording:
    """Ways of saying something, and the words of the examples for it."""

    pattern: str
    """Matches a way of saying it, between spaces."""
    replacement: str
    """Template of what it becomes."""
    phrases: tuple[str, ...]
    """The text must contain one of these."""
    phrase: bool = False
    """True if words of the scene's names are left alone: the ways are single phrases."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when a text first may match: most rules of a prompt never do."""
        return re.compile(self.pattern)

    def applied(self, text: str, scene: frozenset[str]) -> str:
        """Return a text in the words of the examples."""
        if not any(phrase in text for phrase in self.phrases):
            return text

        def reworded(match: re.Match[str]) -> str:
            named = self.phrase and scene.issuperset(map(stem, match[0].split()))
            return match[0] if named else match.expand(self.replacement)

        return self.regex.sub(reworded, text)


def stated(prompt: str) -> tuple[str, ...]:
    """Return the synonym lines of a prompt's text; they are above its first example."""
    head = re.split(r"^# ", prompt, maxsplit=1, flags=re.MULTILINE)[0]
    return tuple(line for line in head.split("\n") if line.startswith("#: "))


@lru_cache(maxsize=2048)
def canonical(text: str, lines: tuple[str, ...], names: tuple[str, ...]) -> str:
    """Return an instruction in the words of the examples.

    Args:
        text: The instruction as the user wrote it.
        lines: The prompt's synonym lines.
        names: Names of things in the scene; their words are never rewritten.
    """
    scene = frozenset(token.stem for name in names for token in tokenise(name))
    text = f" {plain(text, names)} "
    for rule in _rules(lines):
        text = rule.applied(text, scene)
    return named(" ".join(text.split()), names)


@lru_cache(maxsize=64)
def _rules(lines: tuple[str, ...]) -> list[Rewording]:
    """Return the rules in order, of one line the longest first."""
    rules: list[Rewording] = []
    for match in filter(None, map(_LINE.match, lines)):
        head = match[1]
        ways = sorted(match[2].split(", "), key=_longest_first)
        phrases = () if head.endswith(".") else [w for w in ways if not _VARIABLE.search(w)]
        if phrases:
            # The head is one of the ways, so that nothing is rewritten within it.
            either = "|".join(map(re.escape, sorted((head, *phrases), key=_longest_first)))
            pattern = rf"(?<= )(?:{either})(?:e?(?P<plural>s))?(?= )"
            rules.append(Rewording(pattern, rf"{head}\g<plural>", tuple(phrases), phrase=True))
        rules += [_frame(head, way) for way in ways if way not in phrases]
    return rules


def _longest_first(way: str) -> int:
    return -len(way.split())


def _frame(head: str, way: str) -> Rewording:
    """Return a rule for a way of saying it with variables, or for a whole instruction."""
    pattern, aim = _pattern(way), head.rstrip(".")
    target = _VARIABLE.sub(r"\\g<\g<0>>", aim)
    if head.endswith("."):
        if len(way.split()) <= len(aim.split()):  # what has all words of the head needs no more
            said = re.sub(r"[?]P<.>", "?:", _pattern(aim))
            pattern = rf"(?!{said} (?:[?] )?$){pattern}"
        pattern, target = rf"^ {pattern} (?P<end>\? )?$", rf" {target} \g<end>"
    elif re.match(r"[A-MO-Z]\b", way):
        pattern, target = rf"^ {pattern}(?= )", f" {target}"
    else:
        pattern = rf"(?<= ){pattern}(?= )"
    longest = max(re.split(r"\s*\b[A-Z]\b\s*", way), key=len)
    return Rewording(pattern, target, (f" {longest} ",))


def _pattern(way: str) -> str:
    """Return a pattern with a group for each variable."""

    def group(match: re.Match[str]) -> str:
        return rf"(?P<{match[0]}>{LENGTH if match[0] == 'N' else _ANY})"

    return _VARIABLE.sub(group, re.escape(way).replace("\\ ", " "))
