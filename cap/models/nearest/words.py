"""Words of an instruction: kinds, numbers with their units, plain wording, and stated synonyms.

General English is in `words.toml`. Synonyms are lines `#: put = place, set down` above a prompt's
first example. Each rewrites what stands right of the sign into what stands left of it; lines apply
from the top down, so that a later one sees what an earlier one wrote. A capital letter stands for
any words (`#: put X = take X and put it`), `N` for a length ('5 cm', 'a bit'). If the left side
ends in a full stop, the right sides are whole instructions (`#: undo that. = go back, revert`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

_DATA: dict[str, Any] = tomllib.loads(
    files(__package__).joinpath("words.toml").read_text(encoding="utf-8")
)
_KINDS = {kind: frozenset(words.split()) for kind, words in _DATA["kinds"].items()}
ARTICLES = _KINDS["articles"]
LIGHT = _KINDS["light"]
"""Words an instruction can gain or lose without meaning something else."""
PLACING = _KINDS["placing"]
"""Prepositions of place, which people use one for another."""
QUANTIFIERS = _KINDS["quantifiers"]
TURNING = _KINDS["negations"] | _KINDS["joints"]
"""Words that turn an instruction round, or join two: no slot takes a new one."""
RELATIONS = _KINDS["relations"]
"""Words after which a noun phrase goes on to speak of something else."""
LEADING = _KINDS["leading"]
"""Words a phrase about a place may begin with."""
QUESTIONS = _KINDS["questions"]
"""Words a question begins with."""
YES_OR_NO = _KINDS["yes_or_no"]
"""Those of them that ask for yes or no."""
CHEAP = LIGHT | _KINDS["prepositions"]
"""Words that carry little information by themselves."""

_CARDINALS = _DATA["numbers"]["cardinals"].split()
_ORDINALS = _DATA["numbers"]["ordinals"].split()
_UNITS = {unit: ("length", metres) for unit, metres in _DATA["lengths"].items()}
_UNITS |= dict.fromkeys(("degree", "deg", "°"), ("angle", 1.0))
_NUMBER = r"(?:(?<![\w.-])-)?(?:\d+(?:\.\d+)?|(?<!\d)\.\d+)"
_UNIT = rf"(?:{'|'.join(_DATA['lengths'])})(?:e?s)?"
LENGTH = rf"(?:{_NUMBER}|{'|'.join(_CARDINALS)}) {_UNIT}|a bit|a lot"
"""Matches a length in words."""
_SIGN = r"[?°\u2190-\u2bff\ud800-\udfff\ufffd\U0001f000-\U0010ffff]"
"""Matches a sign that may mean something: a picture, an arrow, what could not be decoded."""
_TOKEN = re.compile(rf"{_NUMBER}|[^\W\d_]+(?:['’][^\W\d_]+)?|{_SIGN}")
_WORD = re.compile(rf"{_NUMBER}(?:st|nd|rd|th)?|[^\W\d_]+(?:['’][^\W\d_]+)?|{_SIGN}")


def any_of(section: str, *names: str) -> str:
    """Return a pattern for any of the phrases in lists of `words.toml`."""
    return "(?:" + "|".join(phrase for name in names for phrase in _DATA[section][name]) + ")"


_SPELLINGS = [
    (re.compile(pattern.replace("LENGTH", _UNIT)), replacement)
    for pattern, replacement in _DATA["spellings"].items()
]
_OPENINGS = re.compile(
    rf"(?:{any_of('politeness', 'greetings', 'adverbs', 'enquiries', 'requests')} (?=\S))*"
)
_REQUESTED = re.compile(any_of("politeness", "asked"))
_ADVERBS = any_of("politeness", "adverbs")
_CLOSINGS = re.compile(rf"(?: (?:{any_of('politeness', 'closings')}|(?:very )?{_ADVERBS}))+$")
_QUESTION = re.compile(any_of("politeness", "inquiring") + r"\b")
_ONE = re.compile(r"\b(the|an?|any|each|every|both|another) (?!same|other|last)(\w+) ones?\b")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, or one number with its unit."""

    text: str
    """As matched, in lower case."""
    stem: str
    """Without plural ending and spelling variants; what tokens are compared by."""
    kind: str
    """`word`, `cardinal`, `ordinal`, `length` or `angle`."""
    value: float
    """The number: metres for lengths, degrees for angles; 0 for words."""
    start: int
    """First character in the text."""
    end: int
    """One past its last character."""

    @property
    def literal(self) -> str:
        """What it is compared by as a literal word: its stem, of a number the value as well."""
        return self.stem if self.kind == "word" else f"{self.stem}={self.value:g}"

    @property
    def cheap(self) -> bool:
        """True for words that carry little information by themselves."""
        return self.text in CHEAP


@lru_cache(maxsize=4096)
def tokenise(text: str) -> tuple[Token, ...]:
    """Split text into tokens; a number and the unit after it make one."""
    found = [(match.group().lower(), *match.span()) for match in _TOKEN.finditer(text)]
    tokens: list[Token] = []
    while found:
        word, start, end = found.pop(0)
        after = singular(found[0][0]) if found else ""
        kind, value = _number(word)
        if word.isdigit() and after in ("st", "nd", "rd", "th"):
            kind, end = "ordinal", found.pop(0)[2]
        elif kind == "cardinal" and after in _UNITS:
            kind, size = _UNITS[after]
            value, end = round(value * size, 9), found.pop(0)[2]
        stemmed = stem(word) if kind == "word" else f"#{kind}"
        tokens.append(Token(text[start:end].lower(), stemmed, kind, value, start, end))
    return tuple(tokens)


def _number(word: str) -> tuple[str, float]:
    """Return whether a word is a cardinal or an ordinal, and its value."""
    if word[-1].isdigit():
        return "cardinal", float(word)
    if word in _CARDINALS:
        return "cardinal", float(_CARDINALS.index(word))
    return ("ordinal", float(_ORDINALS.index(word))) if word in _ORDINALS else ("word", 0.0)


@lru_cache(maxsize=4096)
def singular(word: str) -> str:
    """Return a word without its English plural ending.

    >>> singular("blocks"), singular("boxes"), singular("berries"), singular("glass")
    ('block', 'box', 'berry', 'glass')
    """
    if len(word) < 4 or word in _KINDS["not_plural"] or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word if word.endswith(("ss", "us", "is")) else word[:-1]


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """Return the form two words are compared by."""
    word = singular(word.replace("’", "'"))
    if len(word) > 4:
        word = re.sub(r"our(ed)?$", r"or\1", word)
    same: str = _DATA["same"].get(word, word)
    return same


def is_plural(tokens: Collection[Token]) -> bool:
    """True if a noun phrase speaks of several things, by its words up to the first preposition."""
    for i, token in enumerate(tokens):
        if token.text in RELATIONS or (i == 0 and token.text in QUESTIONS):
            return False
        several = token.text in _KINDS["plural"] or token.text == "and"
        noun = token.kind == "word" and token.text not in LIGHT
        if several or (noun and singular(token.text) != token.text):
            return True
        if token.kind == "cardinal" and token.value > 1:
            return True
    return False


def direction(words: Sequence[Token], own: Sequence[Token]) -> tuple[int, ...] | None:
    """Return the unit vector for words that may be said in place of an example's `own`, or None."""
    for table in (_DATA["directions"], _DATA["shifts"]):
        said, known = (" ".join(token.text for token in tokens) for tokens in (words, own))
        if said in table and known in table:
            return tuple(table[said])
    return None


def plain(text: str, names: Collection[str] = ()) -> str:
    """Return an instruction in lower case without fillers; it ends in " ?" if it is a question.

    >>> plain("Could you please move it minus 25 cm?")
    'move it -25 cm'

    Args:
        text: The instruction.
        names: Names of things in the scene; from them comes the noun of 'the red one'.
    """
    text = text.lower()
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    words = _WORD.findall(text)
    asks = words[-1:] == ["?"]
    text = " ".join(word for word in words if word != "?")
    said = _OPENINGS.sub("", text, count=1)
    requested = _REQUESTED.search(text[: len(text) - len(said)])  # such as 'could you'
    text = named(_CLOSINGS.sub("", said), names)
    return text + " ?" if _QUESTION.match(text) or (asks and not requested) else text


def named(text: str, names: Collection[str]) -> str:
    """Return the text with 'the red one' as 'the red block'.

    The noun is what was spoken of before; else what the one name with that word ends with.
    """
    match = _ONE.search(text)
    if match is None:
        return text
    things = [name.lower().split() for name in names if name.split()]
    nouns = {words[-1] for words in things}
    before = [singular(word) for word in text[: match.start()].split()]
    meant = [words[-1] for words in things if match[2] in words[:-1]]
    noun = next((word for word in before if word in nouns), meant[0] if len(meant) == 1 else None)
    return text[: match.start(2)] + f"{match[2]} {noun}" + text[match.end() :] if noun else text


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
