"""Reading one instruction as the example it is closest to, or saying why none is close."""

from __future__ import annotations

import math
from dataclasses import dataclass

from cap.errors import NoMatch
from cap.models.nearest.align import LIMIT, Aligner, Alignment
from cap.models.nearest.cost import Reader
from cap.models.nearest.lexicon import Lexicon
from cap.models.nearest.rebind import rebind
from cap.models.nearest.synonyms import REWRITTEN, canonical
from cap.models.nearest.template import Template
from cap.models.nearest.words import tokenise

REMEDY = "rephrase it like an example, or use a language model with -m"
_LONGEST = 60
"""Words of an instruction: the work grows with their square, and no example is that long."""


@dataclass(frozen=True)
class Reading:
    """One instruction, read as an example."""

    words: str
    """The instruction in the words of the examples."""
    code: str
    """The example's code with the instruction's words in it."""
    cost: float
    """How unlike the example it is; 0 is word for word."""
    known: bool
    """True if the prompt or the scene has all its words."""
    refusal: str
    """Why not, in one line; "" if it is close enough."""


def closest(said: str, lexicon: Lexicon, lines: tuple[str, ...], names: tuple[str, ...]) -> Reading:
    """Read one instruction as the example it is closest to."""
    words = canonical(said, lines, names)
    reader = Reader(lexicon, words.text, names)
    if len(reader.tokens) > _LONGEST:
        raise NoMatch(
            f"nearest reads up to {_LONGEST} words, not the {len(reader.tokens)} in"
            f" {said[:40]!r}...; {REMEDY}"
        )
    template, alignment = _cheapest(reader)
    cost = alignment.cost + words.rewritten * REWRITTEN
    known = not any(map(reader.unknown, reader.tokens))
    if cost > LIMIT:
        unknown = [token.text for token in reader.tokens if reader.unknown(token)]
        odd = unknown or [token.text for token in alignment.extra] or [said]
        refusal = (
            f"nearest cannot match {', '.join(map(repr, dict.fromkeys(odd)))} in {said!r};"
            f" the closest example is {template.example.instruction!r}; {REMEDY}"
        )
        return Reading(words.text, "", cost, known, refusal)
    if _same(template, reader):
        code = template.example.code
    else:
        spans = alignment.spans.items()
        code = rebind(template, {i: reader.value(template.slots[i], span) for i, span in spans})
    return Reading(words.text, code, cost, known, "")


def _cheapest(reader: Reader) -> tuple[Template, Alignment]:
    """Return the template an instruction fits best and how.

    Ties go to the example that says the very same, then to the earlier one.
    """
    templates = reader.lexicon.templates
    aligner = Aligner(reader)
    bounds = sorted((aligner.bound(template), i) for i, template in enumerate(templates))
    best: tuple[float, bool, int] | None = None
    found = None
    for bound, i in bounds:
        if best and bound > best[0] + 1e-9:
            break
        alignment = aligner.align(templates[i], best[0] + 1e-9 if best else math.inf)
        if alignment is None:
            continue
        key = (round(alignment.cost, 9), not _same(templates[i], reader), i)
        if best is None or key < best:
            best, found = key, (templates[i], alignment)
    if found is None:
        raise NoMatch(f"none of the prompt's examples has code that is Python; {REMEDY}")
    return found


def _same(template: Template, reader: Reader) -> bool:
    """Tell whether a template is an example of the prompt in the instruction's own words."""
    return not template.derived and reader.tokens == tokenise(template.example.instruction)
