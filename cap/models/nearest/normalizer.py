"""Plain words: an instruction without what people add out of politeness, in one spelling.

General English only: fillers, contractions, hyphens, numbers in words. Which words a robot's
people use one for another stands in its prompts (`synonyms`).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from cap.models.nearest.numerals import NUMBER, in_digits
from cap.models.nearest.words import singular

_CONTRACTIONS = (
    (re.compile(r"\b(can|do|does|did|is|are|was|would|could|should)n['’]t\b"), r"\1 not"),
    (re.compile(r"\bcannot\b"), "can not"),
    (re.compile(r"\b(can|could|would|will) (?:u|ya)\b"), r"\1 you"),
    (re.compile(r"\b(?:pls|plz)\b"), "please"),
    (re.compile(r"\bwon['’]t\b"), "will not"),
    (re.compile(r"\blet['’]s\b"), "let us"),
    (re.compile(r"\b(what|where|which|who|that|there|it|how)['’]s\b"), r"\1 is"),
    (re.compile(r"\b(i|you|we|they)['’]d\b"), r"\1 would"),
    (re.compile(r"\b(i|you|we|they)['’]ll\b"), r"\1 will"),
    (re.compile(r"\b(you|we|they)['’]re\b"), r"\1 are"),
)
_HYPHEN = re.compile(r"(?<=[^\W\d_])-(?=[^\W\d_])")
_WORD = re.compile(rf"{NUMBER}(?:st|nd|rd|th)?|[^\W\d_]+(?:['’][^\W\d_]+)?|[?°]")
_ANSWER = re.compile(r"^\s*(?:oh,?\s+)?(?:no|nope|yes|wait|stop|sorry)\s*[,.!]\s*(?=\w)")
_ADVERB = r"quickly|slowly|gently|carefully"
_GREETING = (
    r"hey|hi|hello|ok|okay|so|well|alright|all right|and|now|then|next(?! to)|actually|also|just"
    r"|please|kindly|robot|oh|oops|great|good|perfect|thanks|thank you|first of all"
    rf"|simply|maybe|perhaps|i think|{_ADVERB}"
)
_REQUEST = (
    r"(?:(?:will|would) you be|are you) able to|see (?:to it )?that"
    r"|use (?:the|your) (?:robot )?(?:arm|gripper|hand) to"
    r"|on second thoughts?|i(?: have)? changed my mind"
    r"|(?:that|this|it) (?:is|was) (?:wrong|not right|not what i (?:meant|wanted))"
    r"|(?:would|do) you mind|do you think you could|(?:can|could|would|will) (?:you|we)(?! see)"
    r"|i (?:want|need|would like|would love) you to|i (?:want|need|would like) to"
    r"|you (?:should|must|can|could|need to|have to)|we (?:should|must|can|need to|have to)"
    r"|(?:is it|would it be) possible to|let us|go ahead and|go and|try to|try and|make sure to"
    r"|be so kind as to|how about|what about|why do you not|why not|why do not you|consider"
    r"|your (?:task|job) is to"
)
_ENQUIRY = (
    r"(?:can|could|would|will) you (?:tell|show) me|tell me|let me know|do you know"
    r"|i (?:want|need|would like) to know|i wonder"
)
_OPENING = re.compile(rf"(?:{_GREETING}|{_ENQUIRY}|{_REQUEST}) (?=\S)")
_ASKED = re.compile(
    r"(?:can|could|would|will|do|are) (?:you|we) (?!see)|(?:is it|would it be) possible"
)
_CLOSING = re.compile(
    r" (?:please|thanks(?: a lot)?|thank you(?: very much)?|for me|now|right now|ok|okay|robot"
    r"|if you (?:can|could|would|please|like|do not mind|would not mind|would be so kind)"
    r"|(?:will|would|could|can) you|immediately|straight away|at once|instead"
    rf"|(?:very )?(?:{_ADVERB})|one by one|one at a time|one after (?:the other|another))$"
)
_INSIDE = re.compile(rf" (?:please|just|kindly|simply|really|{_ADVERB})(?= )")
_QUESTION = re.compile(
    r"(?:what|which|where|who|how|why|when|is|are|was|were|does|did|do you|can you see)\b"
)
_GERUND = re.compile(r"\b(mind|try|consider|about) (\w+)ing\b")
_ONE = re.compile(r"\b(the|an?|any|each|every|both|another) (?!same|other|last)(\w+) ones?\b")


def plain(text: str, vocabulary: Collection[str] = (), names: Collection[str] = ()) -> str:
    """Return an instruction in lower case without fillers; it ends in " ?" if it is a question.

    Args:
        text: The person's words.
        vocabulary: Words the prompt knows; they decide what 'placing' is a form of.
        names: Names of things in the scene; from them comes the noun of 'the red one'.
    """
    text = _ANSWER.sub("", text.lower())
    for pattern, replacement in _CONTRACTIONS:
        text = pattern.sub(replacement, text)
    words = _WORD.findall(_HYPHEN.sub(" ", in_digits(text)))
    asks = words[-1:] == ["?"]
    text = " ".join(word for word in words if word != "?")
    text = _GERUND.sub(lambda match: f"{match[1]} {_infinitive(match[2], vocabulary)}", text)
    text = _INSIDE.sub("", text)
    requested = False  # by a question, such as 'could you'
    while opening := _OPENING.match(text):
        requested = requested or _ASKED.match(text) is not None
        text = text[opening.end() :]
    while closing := _CLOSING.search(text):
        text = text[: closing.start()]
    text = named(text, names)
    return text + " ?" if _QUESTION.match(text) or (asks and not requested) else text


def _infinitive(stem: str, vocabulary: Collection[str]) -> str:
    """Return what 'plac' or 'putt' is without its ending, as the vocabulary has it."""
    forms = [stem, stem + "e", stem[:-1]]
    return next((form for form in forms if form in vocabulary), stem)


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
