"""What a robot's words claim: plain sentences, without doubt, each no for its own clause.

Words are read by these rules alone. A sentence ends at `.`, `!`, `?`, `;`, a new line or `but`, a
clause at `:` as well. A sentence with a word of doubt or of alternatives, or a question, claims
nothing, and takes back what was said before it. A no makes nothing of its clause.
"""

from __future__ import annotations

import re

NEGATION = re.compile(
    r"\b(?:no|nope|not|cannot|false|none|nothing|never|neither|nor|nobody|without|except)\b|n['’]t\b",
    re.IGNORECASE,
)
_DOUBT = re.compile(
    r"\b(?:may|might|could|maybe|perhaps|possibly|probably|or|either|elsewhere|anywhere|somewhere|"
    r"unsure|uncertain|not (?:sure|certain)|guess|suppose|doubt|if|unless|wrong)\b|\?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?:(?!\bbut\b)[^.!?;\n])+\??", re.IGNORECASE)
_CERTAIN = re.compile(
    r",?\s*\b(?:no|without(?: a)?) (?:doubt|question|problem)\b|,?\s*\bnot far\b", re.IGNORECASE
)
"""Words of no that deny nothing."""


def claims(text: str) -> list[str]:
    """Return the sentences that claim something: what stands behind the last one of doubt."""
    found: list[str] = []
    for sentence in _SENTENCE.findall(_CERTAIN.sub(" ", text)):
        if _DOUBT.search(sentence):
            found.clear()
        elif sentence.strip(" ,"):
            found.append(sentence.strip(" ,"))
    return found


def unnegated(sentence: str) -> list[str]:
    """Return the clauses of a sentence that no negation stands in."""
    return [clause for clause in sentence.split(":") if not NEGATION.search(clause)]
