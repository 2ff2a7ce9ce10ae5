"""Words of an instruction: tokens, numbers with their units, and general English function words."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from cap.models.nearest.numerals import NUMBER, Kind, number, unit

_TOKEN = re.compile(rf"{NUMBER}|[^\W\d_]+(?:['’][^\W\d_]+)?|[?°]")


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


ARTICLES = frozenset(("the", "a", "an"))
"""Words a noun phrase begins with, if people do not leave them out."""
LIGHT = frozenset(
    _words(
        "the a an please to is are was be being there that this these those now then just also"
        " so hey ok okay i we me my you your can could would will want need like let us let's do"
        " does did its ?"
    )
)
"""Words an instruction can gain or lose without meaning something else."""
PREPOSITIONS = frozenset(_words("in on into onto inside upon at by with for as of"))
"""Words that matter less than the nouns they join."""
PLACING = frozenset(_words("in on into onto inside upon at to"))
"""Prepositions of place, which people use one for another."""
QUANTIFIERS = frozenset(_words("all every each any some both everything"))
"""Words that say how many are meant."""
PRONOUNS = frozenset(
    _words("it them they that this those these one ones him her me itself themselves")
)
"""Words that stand for something said before."""
NEGATIONS = frozenset(
    _words("not don't dont never no without except unless avoid but cannot can't won't")
)
"""Words that turn an instruction round; nothing may absorb them unasked."""
JOINTS = frozenset(_words("then and or while until after before if when"))
"""Words that join two instructions or two things."""
RELATIONS = PREPOSITIONS | frozenset(
    _words(
        "to from than that which who between near toward towards out above below behind beside"
        " under over across around along against outside beyond next"
    )
)
"""Words after which a noun phrase goes on to speak of something else."""
QUESTIONS = frozenset(_words("how what which where who when why is are was were do does did can"))
"""Words a question begins with; it has no number."""
YES_OR_NO = frozenset(_words("is are was were do does can"))
"""Those of them that ask for yes or no."""
LEADING = RELATIONS - frozenset(_words("of from than that which who as for with by"))
"""Words a phrase about a place may begin with."""
_PLURAL_WORDS = frozenset(_words("all every each both everything them they everyone those these"))
_NOT_PLURAL = frozenset(_words("is this us its his was as does always plus minus yes"))
_SAME = {
    **dict.fromkeys(("object", "item", "piece"), "thing"),
    **dict.fromkeys(("every", "each"), "all"),
    "furthest": "farthest",
}
"""Words of one meaning, whatever the things are."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word, or one number with its unit."""

    text: str
    """As matched, in lower case."""
    stem: str
    """Without plural ending and spelling variants; what tokens are compared by."""
    kind: Kind
    """`word`, or what sort of number."""
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


def unreadable(text: str) -> str:
    """Return the first sign of a text that may mean something and is no word; "" if none is.

    >>> unreadable("stack the \N{LARGE RED CIRCLE} blocks") == "\N{LARGE RED CIRCLE}"
    True
    """
    for sign in text:
        # Pictures, arrows, and what stands for bytes that could not be decoded.
        telling = unicodedata.category(sign) in ("So", "Sm", "Cs", "Co", "Cn")
        if telling and not (sign.isascii() or sign in "°±×÷−"):
            return sign
    return ""


def singular(word: str) -> str:
    """Return a word without its English plural ending.

    >>> singular("blocks"), singular("boxes"), singular("berries"), singular("glass")
    ('block', 'box', 'berry', 'glass')
    """
    if len(word) < 4 or word in _NOT_PLURAL or not word.endswith("s"):
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
    return _SAME.get(word, word)


@lru_cache(maxsize=1024)
def tokenise(text: str) -> tuple[Token, ...]:
    """Split text into tokens; a number and the unit after it make one."""
    found = [(match.group().lower(), *match.span()) for match in _TOKEN.finditer(text)]
    tokens: list[Token] = []
    i = 0
    while i < len(found):
        word, start, end = found[i]
        after = singular(found[i + 1][0]) if i + 1 < len(found) else ""
        value = number(word)
        i += 1
        if value is None:
            tokens.append(Token(word, stem(word), "word", 0.0, start, end))
        elif word.isdigit() and after in ("st", "nd", "rd", "th"):
            i, end = i + 1, found[i][2]
            tokens.append(Token(text[start:end], "#ordinal", "ordinal", value[1], start, end))
        elif value[0] == "cardinal" and (measure := unit(after)):
            i, end = i + 1, found[i][2]
            kind, size = measure[0], round(value[1] * measure[1], 9)
            tokens.append(Token(text[start:end].lower(), f"#{kind}", kind, size, start, end))
        else:
            tokens.append(Token(word, f"#{value[0]}", *value, start, end))
    return tuple(tokens)


def is_function(token: Token) -> bool:
    """True for words that carry little information by themselves."""
    return token.text in LIGHT or token.text in PREPOSITIONS


def is_plural(tokens: tuple[Token, ...]) -> bool:
    """True if a noun phrase speaks of several things, by its words up to the first preposition."""
    if tokens[0].text in QUESTIONS:
        return False
    for token in tokens:
        if token.text in RELATIONS:
            return False
        if token.text in _PLURAL_WORDS or token.text == "and":
            return True
        if token.kind == "cardinal" and token.value > 1:
            return True
        if token.kind == "word" and token.text not in LIGHT and singular(token.text) != token.text:
            return True
    return False
