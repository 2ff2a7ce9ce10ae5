"""`nearest`: the offline model. It answers from a prompt's own examples; it is no language model.

It needs no key, no network and no weights, and it knows no robot: whatever it can do it reads from
the prompt it is given. It serves to try things out, as an honest lower row in every comparison, and
to run the shipped prompts in tests.

How it answers
    1. Fillers and politeness are taken off the instruction (`plain`), and it is put into the words
       of the examples by the synonyms the prompt states, lines such as `#: put = place, set` above
       its first example (`synonyms`). Words of the scene's names stay as they are.
    2. Every example becomes a template (`induce`). Words of the instruction that come back in
       the code are slots: a string ('the red block'), a run of words in a longer string, or a
       number (0.05 from '5 cm', index 1 from 'second', 3 from 'three').
    3. The examples teach each other (`analogy`). Two with the same code make their differing words
       synonyms ('put', 'place'). Two that differ in one stretch of words and one expression make an
       analogy: with 'left' and `[-1, 0]` against 'right' and `[1, 0]`, an example for 'a bit to the
       left of' also serves 'a bit to the right of'.
    4. The instruction is read as each template in the cheapest way (`align`, `price`). Literal
       words match or cost what they tell; slots take words like the ones they held, and a slot for
       a name only what means exactly one name of the scene (the lists in the context lines).
    5. The cheapest template's code is returned with the new words and numbers in it (`rebind`).
       The same prompt gives the same answer, to the letter; ties go to the earlier example.
    A request for a function (`total = get_total(xs=numbers)`) gets the example's definition whose
    name has the same words, with the parameters named as the call names them (`define`).

When it declines
    A word that tells something and fits nowhere costs more than the limit: `NoMatch` names it, the
    closest example and the remedy. Nothing runs then. A description it passes on to another prompt
    ('the lemon') may be declined there, before the program that asked goes on. Two instructions in
    one are declined with both named.

Limits
    One instruction, one example: 'do this, then that' is declined, and so are conditions, negations
    and loops no example shows. It reasons about nothing; words count only as they stand in
    examples, stated synonyms and names, so an unusual order or an unseen verb ends in a refusal. It
    can be wrong where two examples read alike and mean different things.
"""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from functools import lru_cache

from cap.errors import NoMatch
from cap.models.base import Completion, Request
from cap.models.nearest.align import LIMIT, Aligner, Alignment
from cap.models.nearest.analogy import derive, learn_analogies, learn_synonyms, siblings
from cap.models.nearest.chain import Reading, certain_parts, chain
from cap.models.nearest.define import answer_definition
from cap.models.nearest.induce import induce
from cap.models.nearest.lexicon import Lexicon
from cap.models.nearest.price import Reader
from cap.models.nearest.rebind import rebind
from cap.models.nearest.synonyms import REWRITTEN, canonical, stated
from cap.models.nearest.template import Template, names_in
from cap.models.nearest.words import tokenise
from cap.prompt import Example, split_examples

_LONGEST = 60
"""Words of an instruction: the work grows with their square, and no example is that long."""
_REMEDY = "rephrase it like an example, or use a language model with -m"


class Nearest:
    """A model without a network: the closest example of the prompt, rebound."""

    name = "nearest"
    repairs = False
    """It cannot mend a program: it would only write the same one again."""

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
        lines = stated(request.prompt)
        return Completion(text or _answer(asked, known, lines), model=self.name)


def _answer(asked: Example, examples: tuple[Example, ...], lines: tuple[str, ...]) -> str:
    lexicon, names = _lexicon(asked, examples, lines), names_in(asked.context)

    def read(said: str) -> Reading:
        return _read(said, lexicon, lines, names)

    whole = read(asked.instruction)
    parts = None if _return(examples) else chain(asked.instruction, read)
    if parts is not None and (whole.refusal or parts[0] < whole.cost):
        return "\n".join(part.code for part in parts[1])
    if not whole.refusal:
        return whole.code
    refused = [part.refusal for part in map(read, certain_parts(asked.instruction)) if part.refusal]
    raise NoMatch(refused[0] if refused else whole.refusal)


@lru_cache(maxsize=64)
def _return(examples: tuple[Example, ...]) -> bool:
    """True if every example binds one same name: what it returns, and only one can be returned."""
    codes = [found.tree for example in examples if (found := induce(example)) is not None]
    bound = [
        {n.id for n in ast.walk(code) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        for code in codes
    ]
    return bool(bound) and bool(set.intersection(*bound))


def _read(
    said: str, lexicon: Lexicon, lines: tuple[str, ...], names: tuple[str, ...]
) -> Reading:
    """Read one instruction as the example it is closest to."""
    words = canonical(said, lines, names)
    reader = Reader(lexicon, words.text, names)
    if len(reader.tokens) > _LONGEST:
        raise NoMatch(
            f"nearest reads up to {_LONGEST} words, not the {len(reader.tokens)} in"
            f" {said[:40]!r}...; {_REMEDY}"
        )
    template, alignment = closest(reader)
    cost = alignment.cost + words.rewritten * REWRITTEN
    known = not any(map(reader.unknown, reader.tokens))
    if cost > LIMIT:
        return Reading(words.text, "", cost, known, _declined(said, reader, template, alignment))
    if not template.derived and reader.tokens == tokenise(template.example.instruction):
        code = template.example.code
    else:
        spans = alignment.spans.items()
        code = rebind(template, {i: reader.value(template.slots[i], span) for i, span in spans})
    return Reading(words.text, code, cost, known, "")


def closest(reader: Reader) -> tuple[Template, Alignment]:
    """Return the template an instruction fits best and how; ties go to the earlier one."""
    templates = reader.lexicon.templates
    aligner = Aligner(reader)
    bounds = sorted((aligner.bound(template), i) for i, template in enumerate(templates))
    best: tuple[float, int] | None = None
    found = None
    for bound, i in bounds:
        if best and bound > best[0] + 1e-9:
            break
        alignment = aligner.align(templates[i], best[0] + 1e-9 if best else math.inf)
        if alignment is None:
            continue
        key = (round(alignment.cost, 9), i)
        if best is None or key < best:
            best, found = key, (templates[i], alignment)
    if found is None:
        raise NoMatch(f"none of the prompt's examples has code that is Python; {_REMEDY}")
    return found


def _lexicon(asked: Example, examples: tuple[Example, ...], lines: tuple[str, ...]) -> Lexicon:
    """Return the prompt's words and templates.

    A session's turns stand last and show the request's own context. They can be answered from,
    but teach nothing, so that what the prompt file teaches is worked out once.
    """
    size = len(examples)
    while size and examples[size - 1].context == asked.context:
        size -= 1
    fixed = _learned(examples[:size] or examples, lines)
    turns = examples[size:] if size else ()
    return fixed.extended(_templates(turns, lines)) if turns else fixed


@lru_cache(maxsize=64)
def _learned(examples: tuple[Example, ...], lines: tuple[str, ...]) -> Lexicon:
    templates = _templates(examples, lines)
    analogies = learn_analogies(templates)
    derived = derive(templates, analogies)
    synonyms = learn_synonyms([*templates, *derived])
    return Lexicon.of(templates, derived, synonyms, siblings(analogies))


def _templates(examples: tuple[Example, ...], lines: tuple[str, ...]) -> list[Template]:
    plain = (_in_known_words(example, lines) for example in examples)
    return [found for example in plain if (found := induce(example)) is not None]


def _in_known_words(example: Example, lines: tuple[str, ...]) -> Example:
    words = canonical(example.instruction, lines, names_in(example.context))
    return replace(example, instruction=words.text)


def _declined(said: str, reader: Reader, template: Template, alignment: Alignment) -> str:
    closest = template.example.instruction
    unknown = [token.text for token in reader.tokens if reader.unknown(token)]
    words = unknown or [token.text for token in alignment.extra] or [said]
    return (
        f"nearest cannot match {', '.join(map(repr, dict.fromkeys(words)))} in {said!r};"
        f" the closest example is {closest!r}; {_REMEDY}"
    )
