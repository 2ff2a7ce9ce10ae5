"""`nearest`: answers from a prompt's own examples. It is not a language model."""

from __future__ import annotations

import math
from functools import lru_cache

from cap.errors import NoMatch
from cap.models.base import Completion, Request
from cap.models.nearest.align import LIMIT, Alignment, Reader
from cap.models.nearest.analogy import derive, learn_analogies, learn_synonyms
from cap.models.nearest.define import answer_definition
from cap.models.nearest.lexicon import Lexicon
from cap.models.nearest.rebind import rebind
from cap.models.nearest.template import Template, induce, names_in
from cap.models.nearest.words import tokenise
from cap.prompt import Example, split_examples

_REMEDY = "rephrase it like an example, or use a language model with -m"


class Nearest:
    """A model without a network: the closest example of the prompt, rebound."""

    name = "nearest"

    def complete(self, request: Request) -> Completion:
        """Return the closest example's code with the instruction's words in it.

        Raises:
            NoMatch: No example is close enough; the message names what did not fit.
        """
        *examples, asked = split_examples(request.prompt) or (None,)
        if asked is None or asked.code or not examples:
            raise NoMatch(f"the prompt has no examples or no instruction; {_REMEDY}")
        known = tuple(example for example in examples if example is not None)
        text = answer_definition(asked.instruction, known)
        return Completion(text or _answer(asked, known), model=self.name)


def _answer(asked: Example, examples: tuple[Example, ...]) -> str:
    reader = Reader(_lexicon(asked, examples), asked.instruction, names_in(asked.context))
    template, alignment = closest(reader)
    if alignment.cost > LIMIT:
        raise NoMatch(_declined(reader, template, alignment))
    if not template.derived and reader.tokens == tokenise(template.example.instruction):
        return template.example.code
    values = {i: reader.value(template.slots[i], span) for i, span in alignment.spans.items()}
    return rebind(template, values)


def closest(reader: Reader) -> tuple[Template, Alignment]:
    """Return the template an instruction fits best and how; ties go to the earlier one."""
    templates = reader.lexicon.templates
    bounds = sorted((reader.bound(template), i) for i, template in enumerate(templates))
    best: tuple[float, int] | None = None
    found = None
    for bound, i in bounds:
        if best and bound > best[0] + 1e-9:
            break
        alignment = reader.align(templates[i], best[0] + 1e-9 if best else math.inf)
        if alignment is None:
            continue
        key = (round(alignment.cost, 9), i)
        if best is None or key < best:
            best, found = key, (templates[i], alignment)
    if found is None:
        raise NoMatch(f"none of the prompt's examples has code that is Python; {_REMEDY}")
    return found


def _lexicon(asked: Example, examples: tuple[Example, ...]) -> Lexicon:
    """Return the prompt's words and templates.

    A session's turns stand last and show the request's own context. They can be answered from,
    but teach nothing, so that what the prompt file teaches is worked out once.
    """
    size = len(examples)
    while size and examples[size - 1].context == asked.context:
        size -= 1
    fixed = _learned(examples[:size] or examples)
    turns = examples[size:] if size else ()
    return fixed.extended(_templates(turns)) if turns else fixed


@lru_cache(maxsize=64)
def _learned(examples: tuple[Example, ...]) -> Lexicon:
    templates = _templates(examples)
    derived = derive(templates, learn_analogies(templates))
    return Lexicon.of(templates, derived, learn_synonyms([*templates, *derived]))


def _templates(examples: tuple[Example, ...]) -> list[Template]:
    return [found for example in examples if (found := induce(example)) is not None]


def _declined(reader: Reader, template: Template, alignment: Alignment) -> str:
    unknown = [token.text for token in reader.tokens if reader.unknown(token)]
    words = unknown or [token.text for token in alignment.extra] or [reader.text]
    return (
        f"nearest cannot match {', '.join(map(repr, dict.fromkeys(words)))} in"
        f" {reader.text!r}; the closest example is {template.example.instruction!r}; {_REMEDY}"
    )
