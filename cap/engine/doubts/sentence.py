"""What an order says of things: which are meant, which are to be moved, and where to.

References are resolved to things of the scene before the turn. Where one cannot be, or the words
leave it open, nothing is said of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from cap.robot.observation import Observation

COLORS = "red|green|blue|yellow|orange|purple|pink|cyan|brown|gray|white|black"
FRUIT = frozenset(
    ["apple", "banana", "orange", "lemon", "lime", "pear", "peach", "plum", "strawberry", "cherry"]
)
KINDS_OF_ALL = "thing|object|item"
NUMBERS = {
    **{"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8},
    **{"nine": 9, "ten": 10, "twelve": 12},
}
_NUMBER = "|".join(NUMBERS)
UNITS = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
LENGTH = r"(\d+(?:\.\d+)?) ?(mm|cm|m)\b"
INSIDE = ("in", "into", "inside", "inside of", "on", "onto", "on top of", "atop", "to", "at")
WAYS = {
    "left": (-1, 0),
    "right": (1, 0),
    "up": (0, 1),
    "down": (0, -1),
    "away": (0, 1),
    "towards": (0, -1),
}
"""In the frame of a table, x to the right and y away from its front edge."""
HALVES = ("left half", "right half", "top half", "bottom half")
CLEAR_M = 0.01
"""A thing is the nearest, or the leftmost, if no other is within so much of it."""
_VERB = (
    r"(?:put|place|position|move|bring|throw|toss|drop|push|pull|slide|shift|nudge|shove|scoot|serve|pop"
    r"|stick|haul|take|set|stack|pile"
    r"|sort|lay|carry|fetch|get|return|deliver|transfer|pick up|grab|insert|swap|exchange|switch"
    r"|lift|raise|leave|keep|stow|dump|build|make|form|arrange|line up|line|find|let|go|drive|come"
    r"|remove"
    r"|open|close|shut|draw|erase|wipe|rub|delete|say|tell|turn|wait|stop|halt|point|hover|empty|clear"
    r"|gather|collect|don't|do not)"
)
_MOVES = (
    r"(?:put|place|position|move|bring|throw|toss|drop|push|pull|slide|shift|nudge|shove|scoot|serve|pop"
    r"|stick|haul|take|set|stack|pile"
    r"|sort|lay|carry|fetch|get|return|deliver|transfer|pick up|grab|insert|swap|exchange|switch"
    r"|lift|raise|leave (?=it|them)|stow|dump|build|make|form|arrange|line up|line|let|gather"
    r"|collect)"
)
"""Verbs after which a thing is elsewhere."""
MOVES = re.compile(_MOVES + r"\b")
_STATES = (
    r"(?:goes|go|belongs?|(?:should|must|has to|have to|needs? to) (?:go|be|stand|lie)|sits?"
    r"|sitting|(?:is|are) wanted)"
)
_SAYS_WHICH = re.compile(rf" {_STATES}\b")
"""After a place that says which thing is meant: "the can on the cart should be put away"."""
_WANTS = r"(?:i (?:only |just )?(?:want|need)|i would like|i'd like)"
SWAPS = re.compile(r"\b(?:swap|exchange|switch|trade places|change places)\b")
STACKS = re.compile(
    r"^(?:stack|pile)\b|\b(?:tower|stack|pile) (?:of|from|out of)\b|\btower\b"
    r"|^(?:make|build|form) an? (?:stack|pile)\b"
)
STACKS_OF = re.compile(r"\b(?:tower|stack|pile|row|line|column)\b")
_CUT = re.compile(
    rf"(?:\s*[.;:!]+\s+|,?\s+(?:and|then|but)\b|,)(?:[ ,]*(?:and|then|but|also|just|now"
    rf"|finally|afterwards))*"
    rf"\s*(?=(?:{_VERB}|without|{_WANTS})\b)"
    r"|,? (?:and )?then (?=the (?:\w+ ){1,3}(?:into|in|onto|on|to)\b)"
)
"""Between two clauses."""
OPEN_WORDS = re.compile(
    r"\b(?:if|unless|until|while|when|whenever|or|either|any|some|few|several|something|maybe"
    r"|perhaps|no wait|wait|i mean|actually|rather|wherever|whichever|whatever|anywhere"
    r"|somewhere|pretend|(?<!is )(?<!are )wanted|mistake|undo|nowhere|different|whose|share"
    r"|opposite|friends?|would|could|times in a row|times over|smallest|biggest|largest"
    r"|tallest|heaviest|lightest"
    r"|(?:farther|further) apart"
    r"|(?:closer|nearer|be) together)\b"
)
"""Words that leave open what is meant."""
_MATCHING = re.compile(
    r"^(?!.*(?:\b(?:not|other|different)|n't)\b).*\b(?:matching|(?:same|own) colors?)\b"
)
"""Where each of several things goes to another place."""
_STAYS = re.compile(
    r"^(?:don't|do not|never|without) (?:touch|mov|chang|disturb|us)\w*|^leave (?:out\b|.* out$)"
    r"|^(?:leave|keep) .*(?:where|alone|as (?:it|they)|in place|untouched)"
)
"""How a clause begins whose things are to stay."""
_NOT_A_WISH = re.compile(r"\b(?:where|as|like|than|same \w+|instead of|not|without \w+|nor)\b")
"""Before a name that only says where or how."""
_LEFT_OUT = ("except", "except for", "but", "but not", "apart from", "other than", "save", "not")
_SOURCES = ("from", "off", "out of", "off of")
_NO_PLACE = ("of", "with", "using", "than", "as", "like", "for", "instead of")
"""Before a name that does not say where."""
_NO_LIST = ("", "moved", "of", *_SOURCES, *_LEFT_OUT)
"""What was said before a name after which "and the bowl" is no other place."""
_SIDE_OF = r"(?:(?:to|on|at) the )?(?:immediate )?(left|right)(?: hand)?(?: side)? of"
_RELATION = re.compile(
    rf"\b(?:{_SIDE_OF}|(on top of|atop|in front of|next to|close to|closer to|nearer to|inside of"
    r"|out of|off of|away from|farther from|further from|apart from|other than|except for|but not"
    r"|instead of|inside|into|onto|in|on|to|along|behind|above|below|underneath|under|beneath|over"
    r"|beside|near|by|around|between|from|off|of|than|except|but|save|not|at|for|with|using"
    r"|towards?|like|as))(?: all| both)?(?: the| a| an| your| its| my)?"
    r"(?: (?:matching|respective|own|correct|other|different|empty|big|small))?\s*$"
)
_RESTRICTS = re.compile(
    r" (?:that|which|who|with(?! \w+(?: \w+)? (?:at|on)\b)|of|by|near|whose|matching"
    r"|to the \w+ of|left of|right of|you)\b"
)
"""After some things: only some of them are meant."""
_AT_SIDE = re.compile(r" (?:at|on|in|from(?! \w+ to\b)|between|around)\b")
_COMES = re.compile(r"^(?:come|go|drive|return|be)\b(?! it)")
_TO_PLACE = re.compile(r"\b(?:in|into|inside|on|onto|to|next)\b")
"""After things at a place: where they are to be, so that the place says which are meant."""
_BEFORE_PLACE = re.compile(
    r"\b(?:in|into|inside|on|onto|on top of|out of|to|from|of|off|by|near|beside|behind|above"
    r"|below|is|are|be|become)"
    r"(?: the| a| an)? ?$"
)
"""Before a name that says where, or what something is to be."""
_OUT_OF = re.compile(r" (?:out of|off of|off|from)(?: the)? ")
"""After some things: only those there are meant."""
_JOINS = re.compile(
    r"^(?=.*(?:,|\band\b|&))(?:,|and|, and|&|then|\s)*(?:both |also |then )?(?:the |a |an )?\s*$"
)
_GOES_ON = re.compile(
    rf"^[\w ,]*?\b(?:in|into|inside|on|onto|to|next to|beside|by|left|right|{_STATES})\b"
)
_PUSHES = re.compile(r"^(?:move|push|pull|slide|shift|nudge|shove)\b")
"""Verbs after which "up" and "away" say which way."""
_WAY = re.compile(
    rf"(?:{LENGTH}(?: further)? )?(?:to (?:the|your|my) )?\b(left|right|up|down|away|towards)"
    rf"(?:wards?)?\b(?! (?:of|side|half|edge|corner|\w+ corner|from the|in|on|the|most|one|hand))"
    rf"(?: from (?:you|me|yourself)| (?:you|me|yourself))?(?:,? by)?(?: {LENGTH})?"
)
"""Which way, and how far."""
_PLACE_WORDS: Mapping[str, str | Callable[[re.Match[str]], str]] = {
    r"\b(?:upper|rear|back|far)(?=(?: left| right)?(?:[- ]hand)? (?:corner|side|edge|half))": "top",
    r"\b(?:lower|front|near)(?=(?: left| right)?(?:[- ]hand)? (?:corner|side|edge|half))": "bottom",
    r"\b(left|right)[- ](top|bottom|upper|lower) corner\b": r"\2 \1 corner",
    r"\b(top|bottom)[- ](left|right)[- ](?:hand )?corner\b": r"\1 \2 corner",
    r"\b(top|bottom) (left|right) (?:part|area|region|quarter)\b": r"\1 \2 corner",
    r"\b(left|right|top|bottom)[- ](?:hand )?(?:edge|part)\b": r"\1 side",
    r"\b(left|right)[- ]hand side\b": r"\1 side",
    r"\b(?:farther |further )?away from the bottom side\b": "away",
    rf"({LENGTH}) (?:closer|nearer) to the (left|right) side\b": r"\1 to the \4",
    r"\b(?:(?:from )?(?:center|centre|middle) to (?:center|centre|middle))\b": "apart",
    r"\b(?:about|around|roughly|approximately|nearly|almost|circa|~) ?\d+(?:\.\d+)? ?"
    r"(?:mm|cm|m|meters?|metres?|degrees?|deg)\b": "a bit",
    r"\btowards? the (?:back|rear)\b(?! of)": "up",
    r"\btowards? the front\b(?! of)": "down",
    r"\b(?:center|centre)\b": "middle",
    rf"({LENGTH}) (?:away )?from (?:its|their) (?:own )?middles?\b": r"\1 in radius",
    r"\b(middle|side|half|corner|left|right|top|bottom) of (?:the )?(?:table|board)\b": r"\1",
    r"\b(on|at) the (?:far |very )?(left|right|top|bottom)$": r"\1 the \2 half",
    r"\bto the (?:(?:far|very) (left|right)|(top|bottom))$": (
        lambda m: f"to the {m[1] or m[2]} half"
    ),
}


_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_TEENS = ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]


def _in_digits(match: re.Match[str]) -> str:
    """Return thirteen to ninety-nine in digits."""
    tens = 10 * (_TENS.index(match[1]) + 2) if match[1] in _TENS else 13 + _TEENS.index(match[1])
    return str(tens + NUMBERS.get(match[2] or "", 0))


def _and_a_half(match: re.Match[str]) -> str:
    return f"{NUMBERS.get(match[1]) or int(match[1])}.5"


def _in_cm(match: re.Match[str]) -> str:
    number = NUMBERS.get(match[1]) or float(match[1])
    return f"{(2.54 if match[2] == 'inch' else 30.48) * number:g} cm"


_USUAL: Mapping[str, str | Callable[[re.Match[str]], str]] = {
    rf"\b({'|'.join(_TENS)}|{'|'.join(_TEENS)})(?:[- ]({_NUMBER})(?=\W))?": _in_digits,
    r"\beleven\b": "11",
    rf"\b({_NUMBER})[- ](pointed|sided|cornered|armed|edged)\b": r"\1\2",
    r"\bhalf a dozen\b": "six",
    r"\ba dozen\b": "twelve",
    r"\ba couple of (?=\w)": "two ",
    r"\b(\w+)-(?=(?:mm|cm|m|met(?:er|re)s?|centi\w+|milli\w+|foot|feet|inch\w*)\b)": r"\1 ",
    rf"\b(\d+|{_NUMBER}) and (?:a|one) half\b": _and_a_half,
    r"\b\w+ (?:\w+ )?and (?:a|one) half\b": "some",
    rf"\b(\d+(?:\.\d+)?|{_NUMBER}) (inch|f(?:oo|ee)t)(?:es)?\b": _in_cm,
    r"\bpieces? of fruit\b": "fruit",
    r"\bafter that\b": "then",
    r"\bpull out (?=(?:the|all|both)\b.*\bdrawer)": "open ",
    r"\b(?:do not|don't|never) leave (the \w+(?: drawer)?) open\b": r"close \1",
    r"\b(?:rub|wipe) (the (?:\w+ )?\w+|it|them) (?:out|off|away)\b": r"erase \1",
    r"\bclean (?:up )?(?=the (?:whole |entire )?board)": "wipe ",
    r",? (?:when|once|after) (?:you(?:'re| are)|that is|it is) (?:done|finished)\b": "",
    r"\bgrey\b": "gray",
    r"\bthat's\b": "that is",
    r"(?<=[a-z] )what(?:'s| is) (?=in |on )|\bthe contents of (?=the )": "everything in ",
    r"\beverything in (?=in |on )": "everything ",
    r"\b(?:exactly|precisely) (?=\w)": "",
    r"\bcolour": "color",
    r"\bcenti ?met(?:er|re)s?\b": "cm",
    r"\bmilli ?met(?:er|re)s?\b": "mm",
    r"\b(?:a|one) half (?=met|kilomet|cm)": "0.5 ",
    r"\bhalf (?:a|an|of a) (?=(?:square )?met|kilomet|cm\b)": "0.5 ",
    r"\buntil (?:you|the robot)(?:'re| are| is) (?:at least |exactly )?(?=\d)": "to ",
    r"\bthree quarters of a (?=(?:square )?met|kilomet)": "0.75 ",
    r"\b(?:a quarter|one quarter) of a (?=(?:square )?met|kilomet)": "0.25 ",
    rf"\b(a|{_NUMBER}) (?=(?:met(?:er|re)s?|cm|m|seconds?|degrees?)\b)": (
        lambda m: f"{NUMBERS.get(m[1], 1)} "
    ),
    r"(?:(?<=\d)|(?<=\d )|(?<=\d square ))met(?:er|re)s?\b": "m",
    r"\buntil (?=[^.;]*\d ?(?:mm|cm|m)\b)": "so that ",
    r"(?<=\d) ?[x×] ?(?=\d)": " by ",
    r"\b(\d+(?:\.\d+)?) by (\d+(?:\.\d+)?) ?(mm|cm|m)\b": r"\1 \3 by \2 \3",
    **_PLACE_WORDS,
}
"""What is said in several ways, and how it is written here."""
_USUAL_WORDS = [(re.compile(said), usual) for said, usual in _USUAL.items()]
_POLITE_BEFORE = re.compile(
    r"^(?:(?:please|now|ok|okay|and|also|first|robot|so|just|next|then|now then|hey|hi)[, ]+"
    r"|(?:could|can|may) (?:i|we) (?:please )?have (?=an?\b)"
    r"|(?:could|can|would|will|may) (?:you|we|i|the robot) (?:please |now )?|can (?=the )"
    r"|(?:would|is) it (?:be )?possible (?:for you )?to |(?:how|what) about (?:drawing )?"
    r"|i(?:'d| would) like you to |i want you to |i need you to )+"
)
_REQUEST = re.compile(r"\b(?:could|can|would|will|may|possible|about)\b")
_POLITE_AFTER = re.compile(
    r"(?:,? (?:please|for me|now|as well|too|if you (?:can|please)"
    r"|(?:would|could|can|will) you))+\??$"
)
_ELLIPSIS = re.compile(
    rf"\b({COLORS})(,? and (?:the )?|, (?:the )?)({COLORS}) (block|bowl|plate|chair)s?\b"
)


@dataclass(frozen=True)
class Reference:
    """A phrase that means things of the scene."""

    names: tuple[str, ...]
    """The things; none if it is open which are meant."""
    begin: int
    end: int
    group: bool = False
    """Whether it does not call the things by their names."""
    kind: str = ""
    """What they are called together."""
    number: int = 0
    """How many are meant, where it is open which; 0 if that is open as well."""
    place: bool = False
    """Whether a preposition is before it, so that it says where."""


@dataclass(frozen=True)
class Placing:
    """A thing that is to be moved."""

    name: str
    """The thing, as the scene calls it."""
    relation: str = ""
    """Where to, as a preposition; "" where nothing is named there."""
    targets: tuple[str, ...] = ()
    """The things or the place it is said of; none if that is open."""
    length_m: float | None = None
    """How far from it, metres."""
    way: tuple[float, float] | None = None
    """Which way, as a direction; with `exact`, how far as well, metres."""
    exact: bool = False
    group: bool = False
    """Whether the thing is one of several that are not called by their names."""
    out_of: tuple[str, ...] = ()
    """The things it is to be taken out of, or off."""
    clause: str = ""
    """What is said of it."""


@dataclass
class Reading:
    """What an instruction says of the things of a scene."""

    wishes: dict[str, list[Placing]] = field(default_factory=dict)
    """What is to be so with each thing that is to be moved."""
    counts: list[tuple[str, int, bool]] = field(default_factory=list)
    """How many of a kind are to be moved, where it is open which; and whether not more."""
    stay: tuple[str, ...] = ()
    """The things that are to stay where they are."""
    clauses: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    """Its clauses, each with the things that are to be moved, of which all are known."""


def plain_words(words: str) -> str:
    """Return an instruction in small letters, with no polite words and whole names."""
    text = " ".join(words.lower().strip().rstrip(".!").split())
    for said, usual in _USUAL_WORDS:
        text = said.sub(usual, text)
    if polite := _POLITE_BEFORE.match(text):
        asked = _REQUEST.search(polite[0])
        text = text[polite.end() :]
        text = text.rstrip("? ") if asked else text
    text = _POLITE_AFTER.sub("", text)
    for _ in range(3):
        text = _ELLIPSIS.sub(r"\1 \4\2\3 \4", text)
    return text


def clauses_of(text: str) -> list[str]:
    """Return the parts of an instruction of which each has a verb of its own."""
    return [clause.strip(" ,.") for clause in _CUT.split(text) if clause.strip(" ,.")]


def mentions(text: str, names: Collection[str]) -> list[tuple[str, int, int]]:
    """Return the things that a text names, with where each begins and ends."""
    if not names:
        return []
    return [(m[1], m.start(), m.end()) for m in _names(tuple(names)).finditer(text)]


@lru_cache(maxsize=64)
def _names(names: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(map(re.escape, names), key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(longest)})\b(?! \w*most\b)")


@lru_cache(maxsize=64)
def _phrases(names: tuple[str, ...], places: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of all that can refer to things of a scene, or to its places."""
    longest = "|".join(sorted(map(re.escape, (*names, *places)), key=len, reverse=True))
    kinds = {name.split()[-1] for name in names}
    kind = "|".join(sorted(map(re.escape, kinds), key=len, reverse=True))
    return re.compile(
        rf"\b(?:(?:the |an? |this |that )?(?P<name>{longest})\b(?!'s\b)(?!s?[- ]?most)"
        rf"|(?:(?P<all>all|every|each|both|a|an|one|another|most|half|no)(?: one)?(?: of)?\b ?)?"
        rf"(?P<the>the |these |those |this |that )?"
        rf"(?:(?P<other>other|remaining) )?(?P<number>(?:{_NUMBER})\b(?: of the\b)? ?)?"
        rf"(?P<most>(?:left|right|top|bottom|upper|lower)[- ]?most |(?:clos|near|farth|furth)est )?"
        rf"(?:(?:{COLORS})(?: ones?| (?P<odd>{kind}))?|(?P<kind>{kind}|{KINDS_OF_ALL}|fruit|ones?))"
        rf"(?P<plural>(?:e?s)?)\b"
        r"|(?P<rest>(?:the )?(?:rest|others|remaining|other (?:two|three|four|five))"
        r"|everything else)\b"
        r"|(?P<everything>everything)\b|(?P<pronoun>it|them|they|these|those|that one)\b)"
    )


def lies_in(name: str, places: Collection[str], whereabouts: Mapping[str, str]) -> bool:
    """Return whether a thing is in or on one of some places, or on something that is."""
    under = whereabouts.get(name, "")
    while under and under not in places:
        under = whereabouts.get(under, "")
    return bool(under)


def is_a(name: str, kind: str) -> bool:
    """Return whether a thing is of a kind, as people call it."""
    if kind == "fruit":
        return bool(FRUIT & set(name.split()))
    return kind in KINDS_OF_ALL.split("|") or name.split()[-1] == kind


class _Scene:
    """Resolves references to the things of a scene."""

    def __init__(
        self, seen: Observation, moved_before: Collection[str], it: Collection[str]
    ) -> None:
        shown = seen.facts.get("objects") or ()
        self.seen = seen
        self.it = it
        self.here = [name for name in seen.positions if not shown or name in shown]
        self.moved_before = [name for name in moved_before if name in seen.positions]
        self.places = [*seen.landmarks, *map(str, seen.facts.get("locations", ()))]
        self.places += HALVES if "middle" in seen.landmarks else ()

    def references(self, text: str, before: Sequence[Reference]) -> list[Reference]:
        """Return the references of a clause.

        Args:
            text: The clause.
            before: Those of the clauses before it.
        """
        found = list[Reference]()
        if self.seen.positions:
            pattern = _phrases(tuple(self.seen.positions), tuple(self.places))
            for match in pattern.finditer(text):
                one = self._resolved(text, match, [*before, *found])
                # "make it the leftmost one" says what it is to be.
                found.append(replace(one, place=one.place or bool(match["most"] and found)))
        return found

    def _resolved(self, text: str, match: re.Match[str], before: Sequence[Reference]) -> Reference:
        place = bool(_BEFORE_PLACE.search(text[: match.start()]))
        group, kind, number, names = False, "", 0, tuple[str, ...]()
        color = re.search(rf"\b({COLORS})\b", match[0])
        if match["name"]:
            names = (match["name"],)
            kind = names[0].split()[-1] if names[0] in self.seen.positions else ""
        elif match["pronoun"]:
            subjects = [one for one in before if not one.place]
            names = subjects[-1].names if subjects else tuple(self.moved_before or self.it)
            if place or (match["pronoun"] == "it" and len(names) > 1):
                names = ()
        elif match["everything"]:
            group, kind, names = True, "thing", self._there(text, match)
        else:
            alike = [one for one in before if one.place == place]
            kind = self._kind(match, alike or ([] if place else before))
            number = _number(match)
            if match["rest"] or match["other"]:
                group, names = True, self._others(match, kind, before)
            elif color is not None:
                called = [n for n in self.here if n.split()[0] == color[1]]
                names = tuple(n for n in called if len(called) == 1 or is_a(n, kind))
                number, names = 0, names if len(names) == 1 else ()
            else:
                group, names = True, self._of_kind(text, match, kind, number)
                number = 0 if names or _only_some(text, match) else number
        return Reference(names, match.start(), match.end(), group, kind, number, place)

    def _of_kind(self, text: str, match: re.Match[str], kind: str, number: int) -> tuple[str, ...]:
        """Return the things of a kind that words such as "both blocks" mean; none if open."""
        names = tuple(name for name in self._there(text, match) if is_a(name, kind))
        if most := match["most"]:
            names = self._at_the_end(names, most)
        several = match["plural"] or match["all"] in ("all", "every", "each", "both")
        definite = match["the"] or match["all"] or not (match["plural"] or number)
        if match["all"] in ("a", "an", "one", "another", "most", "half", "no") or not definite:
            return ()
        wrong_number = number and number != len(names)
        alone = not (several or kind == "fruit") and len(names) != 1
        return () if wrong_number or alone else names

    def _there(self, text: str, match: re.Match[str]) -> tuple[str, ...]:
        """Return the things that may be meant: of "out of the bowl" those in it; none if open."""
        if _only_some(text, match):
            return ()
        if source := _OUT_OF.match(text, match.end()):
            named = mentions(text[source.end() :], self.seen.positions)[:1]
            if not named or named[0][1]:
                return ()
            return tuple(n for n in self.here if lies_in(n, named[0][:1], self.seen.whereabouts))
        return tuple(self.here)

    def _kind(self, match: re.Match[str], before: Sequence[Reference]) -> str:
        kind = match["kind"] or match["odd"] or ""
        if kind.removesuffix("s") == "one" or not kind:
            last = [one.kind for one in before if one.kind]
            moved = {name.split()[-1] for name in self.moved_before}
            kind = last[-1] if last else moved.pop() if len(moved) == 1 else ""
        return kind

    def _others(
        self, match: re.Match[str], kind: str, before: Sequence[Reference]
    ) -> tuple[str, ...]:
        """Return the things of a kind that were not named before, or else not moved before."""
        named = [name for one in before for name in one.names if is_a(name, kind)]
        had = named or [name for name in self.moved_before if is_a(name, kind)]
        names = [name for name in self.here if is_a(name, kind) and name not in had]
        number = _number(match)
        single = match["other"] and not match["plural"] and not number and kind != "fruit"
        wrong_number = number and number != len(names)
        if not had or not kind or wrong_number or (single and len(names) != 1):
            return ()
        if {self.seen.whereabouts.get(name, "") for name in names} != {""} and not single:
            return ()  # one that was put away before may be none of the rest
        return tuple(names)

    def _at_the_end(self, names: Sequence[str], most: str) -> tuple[str, ...]:
        """Return the leftmost thing, for one; none if another is nearly as far, or it is open."""
        ways = {"left": (-1, 0), "righ": (1, 0), "top": (0, 1), "uppe": (0, 1), "bott": (0, -1)}
        ways["lowe"] = ways["bott"]
        x, y = ways.get(most[:4].strip(" -m"), (0, 0))
        far = {name: x * at[0] + y * at[1] for name, at in self.seen.positions.items()}
        ordered = sorted(names, key=lambda name: -far[name])
        if len(ordered) > 1 and far[ordered[0]] - far[ordered[1]] < CLEAR_M:
            return ()
        return tuple(ordered[:1])


def _only_some(text: str, match: re.Match[str]) -> bool:
    """Tell whether the words after things, such as "near the bowl", say which of them are meant."""
    rest = text[match.end() :]
    side = _AT_SIDE.match(rest)
    return bool(_RESTRICTS.match(rest) or (side and _TO_PLACE.search(rest[side.end() :])))


def _number(match: re.Match[str]) -> int:
    """Return the number in a reference; 0 if it has none."""
    words = (match["number"] or match["rest"] or "").split()
    return next((NUMBERS[word] for word in words if word in NUMBERS), 2 * (match["all"] == "both"))


def read(
    text: str, seen: Observation, moved_before: Collection[str], it: Collection[str] = ()
) -> Reading:
    """Return what an instruction says of the things of a scene.

    Args:
        text: The instruction, as `plain_words` has it.
        seen: The world before the turn.
        moved_before: What the turn before it moved.
        it: What `it` may mean where nothing was named or moved before.
    """
    found, before = Reading(), list[Reference]()
    scene = _Scene(seen, moved_before, it)
    for clause in clauses_of(text):
        references = scene.references(clause, before)
        before += references
        moves = re.match(rf"(?:{_MOVES}|{_WANTS})\b", clause)
        if _STAYS.match(clause):
            stay = [name for one in references if not one.group for name in one.names]
            found.stay += tuple(stay)
            for name in stay:
                found.wishes.pop(name, None)
            continue
        subjects, wishes, excluded = _wishes(clause, references, seen)
        found.stay += tuple(excluded)
        counted = [one for one in references if one.number]
        if moves and not wishes and len(counted) == 1 and not counted[0].place:
            both = "both" in clause[counted[0].begin : counted[0].end]
            found.counts.append((counted[0].kind, counted[0].number, not both))
        found.clauses.append((clause, subjects))
        found.wishes |= {wish.name: [] for wish in wishes}
        for wish in wishes:
            found.wishes[wish.name].append(wish)
        undone = re.search(r"\b(?:again|back)\b", clause) and not _COMES.match(clause)
        if undone or (moves and not subjects):  # what was moved before may be elsewhere now
            found.wishes.clear()
    return found


_Said = tuple[str, tuple[str, ...], float | None]
"""A relation, its targets, and how far from them, metres."""


def _wishes(
    clause: str, references: Sequence[Reference], seen: Observation
) -> tuple[tuple[str, ...], list[Placing], set[str]]:
    """Return the things that a clause says something of, what is to be with each, and exceptions.

    A thing has several wishes where it says where in several ways.
    """
    start = _after_verb(clause, references)
    if start is None:
        return (), [], set()
    subjects, excluded = list[Reference](), set[str]()
    said = list[_Said]()
    wishes, every = list[Placing](), dict[str, None]()
    relation, end, known, out_of = "", start, True, tuple[str, ...]()

    def finish() -> None:
        for one in subjects:
            for name in one.names:
                if name not in excluded and _is_subject(name, one, said):
                    every[name] = None
                    for where, targets, metres in said or [("", (), None)]:
                        if where in INSIDE and not targets and _MATCHING.search(clause):
                            targets = _of_its_color(name, seen)
                        wish = Placing(name, where, targets, metres, group=one.group, clause=clause)
                        wishes.append(replace(wish, out_of=out_of))

    swaps = SWAPS.search(clause)
    for one in references:
        if one.begin < end:
            continue
        gap = clause[end : one.begin]
        end = one.end
        if ":" in gap:  # what follows says it of each
            subjects, said, relation = [], [], ""
        here = relation_before(gap)
        if here in _NO_PLACE and not subjects and STACKS_OF.search(clause):
            here = ""  # "a tower of all the blocks"
        things = all(name in seen.positions for name in one.names)
        if swaps:
            subjects.append(one)
            known = known and bool(one.names)
        elif here in _LEFT_OUT or (not here and relation in _LEFT_OUT and _JOINS.match(gap)):
            excluded |= {*one.names}
            known, relation = known and bool(one.names), here or relation
        elif here in _SOURCES and not STACKS.search(clause):
            relation, out_of = here if subjects else relation, one.names
        elif (
            subjects and here and not said and _SAYS_WHICH.match(clause[one.end :])
        ) or here in _NO_PLACE:
            relation = here
        elif here:
            if re.search(r"\bthen\b", gap):
                said.clear()
            if STACKS.search(clause) and ({*one.names} & {*HALVES} or ":" in clause):
                continue  # "a tower: red at the bottom, green in the middle"
            if not said or said[-1][1]:
                named = () if clause.startswith(("'s", " of "), one.end) else one.names
                said.append((here, named, _length_in(gap)))
            relation = here
        elif relation not in _NO_LIST and _JOINS.match(gap):
            if _GOES_ON.match(clause[one.end :]):
                finish()
                subjects, said, relation = [one], [], "moved"
            elif said and subjects:
                said[-1] = (relation, (), None)
            elif not subjects:
                subjects.append(one)
        elif _NOT_A_WISH.search(gap):  # "where the red block is"
            finish()
            subjects, said, relation = [], [], "where"
        elif things and (not subjects or _JOINS.match(gap)):
            subjects.append(one)
            relation = "moved"
    finish()
    known = known and all(one.names for one in subjects)
    if swaps or not known:
        return (tuple(every) if known else ()), [], set()
    if subjects and not said:
        wishes = _with_way(wishes, clause, start)
    return tuple(every), wishes, excluded if any(one.group for one in subjects) else set()


def relation_before(gap: str) -> str:
    """Return the preposition at the end of a text, before the name of a thing; "" for none."""
    found = _RELATION.search(gap)
    return (f"{found[1]} of" if found[1] else found[2]) if found else ""


def _length_in(text: str) -> float | None:
    """Return the length in a text, metres."""
    found = re.search(LENGTH, text)
    return float(found[1]) * UNITS[found[2]] if found else None


def _after_verb(clause: str, references: Sequence[Reference]) -> int | None:
    """Return where a clause goes on after its verb, or after none; None if it moves nothing."""
    if verb := re.match(rf"(?:{_MOVES}|{_WANTS})\b(?: down| up)?", clause):
        return verb.end()
    begins = references and re.match(r"(?:the |both |all )?$", clause[: references[0].begin])
    return 0 if begins else None


def _is_subject(name: str, one: Reference, said: Sequence[_Said]) -> bool:
    """Return whether a thing is to be moved, and not where others are to be."""
    targets = {target for _, targets, _ in said for target in targets}
    kinds = {target.split()[-1] for target in targets}
    # "everything in the red bowl" means no bowls
    return name not in targets and not (one.kind == "thing" and name.split()[-1] in kinds)


def _of_its_color(name: str, seen: Observation) -> tuple[str, ...]:
    """Return the one thing of another kind that has the color of a thing."""
    color, kind = name.split()[0], name.split()[-1]
    others = [other for other in seen.positions if other.split()[-1] != kind]
    alike = tuple(other for other in others if other.split()[0] == color)
    return alike if len(alike) == 1 else ()


def _with_way(wishes: list[Placing], clause: str, start: int) -> list[Placing]:
    """Return wishes with the way that a clause says things are to be moved, and how far."""
    legs = list(_WAY.finditer(clause, start))
    lengths = [_length_in(leg[0]) for leg in legs]
    exact = None not in lengths
    if not legs or not (exact or (len(legs) == 1 and _PUSHES.match(clause))):
        return wishes
    x = sum(WAYS[leg[3]][0] * (far or 1) for leg, far in zip(legs, lengths, strict=True))
    y = sum(WAYS[leg[3]][1] * (far or 1) for leg, far in zip(legs, lengths, strict=True))
    words = " and ".join(leg[3] for leg in legs)
    return [replace(one, way=(x, y), exact=exact, relation=words) for one in wishes]
