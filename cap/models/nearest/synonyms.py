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
    statement: bool = False
    """True if it begins with a variable: then a question is left alone."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when a text first may match: most rules of a prompt never do."""
        return re.compile(self.pattern)


def stated(prompt: str) -> tuple[str, ...]:
    """Return the synonym lines of a prompt's text; they are above its first example."""
    head = re.split(r"^# ", prompt, maxsplit=1, flags=re.MULTILINE)[0]
    return tuple(line for line in head.split("\n") if line.startswith("#: "))


@lru_cache(maxsize=2048)
def canonical(text: str, lines: tuple[str, ...], names: tuple[str, ...]) -> tuple[str, int]:
    """Return an instruction in the words of the examples, and how many rewritings that took.

    Args:
        text: The instruction as the user wrote it.
        lines: The prompt's synonym lines.
        names: Names of things in the scene; their words are never rewritten.
    """
    rules, vocabulary = _rules(lines)
    scene = frozenset(token.stem for name in names for token in tokenise(name))
    text = f" {plain(text, vocabulary, names)} "
    question = text.endswith("? ")
    rewritten = 0
    for rule in rules:
        if (rule.statement and question) or not any(phrase in text for phrase in rule.phrases):
            continue
        parts, end = [], 0
        for match in rule.regex.finditer(text):
            words = {stem(word) for word in match[0].split()}
            if rule.phrase and (match["same"] or scene >= words):
                continue
            parts += [text[end : match.start()], match.expand(rule.replacement)]
            end = match.end()
            rewritten += 1
        text = "".join((*parts, text[end:]))
    return named(" ".join(text.split()), names), rewritten


@lru_cache(maxsize=64)
def _rules(lines: tuple[str, ...]) -> tuple[tuple[Rewording, ...], frozenset[str]]:
    """Return the rules in order, of one line the longest first, and all words they know."""
    rules: list[Rewording] = []
    for match in filter(None, map(_LINE.match, lines)):
        head = match[1]
        ways = sorted(match[2].split(", "), key=lambda way: -len(way.split()))
        phrases = () if head.endswith(".") else [way for way in ways if not _variables(way)]
        if phrases:
            # The head is one of the ways, so that nothing is rewritten within it.
            same = sorted((head, *phrases), key=lambda way: -len(way.split()))
            parts = (f"(?P<same>{re.escape(w)})" if w is head else re.escape(w) for w in same)
            pattern = rf"(?<= )(?:{'|'.join(parts)})(?:e?(?P<plural>s))?(?= )"
            rules.append(Rewording(pattern, rf"{head}\g<plural>", tuple(phrases), phrase=True))
        rules += [_frame(head, way) for way in ways if way not in phrases]
    words = re.findall(r"[^\s,=]+", " ".join(line[3:] for line in lines))
    return tuple(rules), frozenset(words)


def _frame(head: str, way: str) -> Rewording:
    """Return a rule for a way of saying it with variables, or for a whole instruction."""
    pattern, aim = _pattern(way), head.rstrip(".")
    target = re.sub(r"\b[A-Z]\b", r"\\g<\g<0>>", aim)
    first = bool(re.match(r"[A-MO-Z]\b", way))
    if head.endswith("."):
        if len(way.split()) <= len(aim.split()):  # what has all words of the head needs no more
            said = re.sub(r"[?]P<.>", "?:", _pattern(aim))
            pattern = rf"(?! {said} (?:[?] )?$) {pattern}"
        else:
            pattern = f" {pattern}"
        pattern, target = rf"^{pattern} (?P<end>\? )?$", rf" {target} \g<end>"
    elif first:
        pattern, target = rf"^ {pattern}(?= )", f" {target}"
    else:
        pattern = rf"(?<= ){pattern}(?= )"
    longest = max(re.split(r"\s*\b[A-Z]\b\s*", way), key=len)
    return Rewording(pattern, target, (f" {longest} ",), statement=first)


def _variables(way: str) -> bool:
    return re.search(r"\b[A-Z]\b", way) is not None


def _pattern(way: str) -> str:
    """Return a pattern with a group for each variable."""
    kinds = {word: LENGTH if word == "N" else r"\S.*?" for word in re.findall(r"\b[A-Z]\b", way)}
    words = (f"(?P<{w}>{kinds[w]})" if w in kinds else re.escape(w) for w in way.split())
    return " ".join(words)
