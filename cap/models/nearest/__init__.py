"""`nearest`: the offline model. It answers from a prompt's own examples; it is no language model.

It needs no key, no network and no weights, and it knows no robot: whatever it can do it reads from
the prompt it is given. It serves to try things out, as an honest lower row in every comparison, and
to run the shipped prompts in tests.

How it answers
    1. Fillers and politeness are taken off the instruction (`normalizer`), and it is put into the
       words of the examples by the synonyms the prompt states, lines such as `#: put = place, set`
       above its first example (`synonyms`). Words of the scene's names stay as they are.
    2. Every example becomes a template (`induce`). Words of the instruction that come back in
       the code are slots: a string ('the red block'), a run of words in a longer string, or a
       number (0.05 from '5 cm', index 1 from 'second', 3 from 'three').
    3. The examples teach each other (`analogy`). Two with the same code make their differing words
       synonyms ('put', 'place'). Two that differ in one stretch of words and one expression make an
       analogy: with 'left' and `[-1, 0]` against 'right' and `[1, 0]`, an example for 'a bit to the
       left of' also serves 'a bit to the right of'.
    4. The instruction is read as each template in the cheapest way (`align`, `cost`). Literal
       words match or cost what they tell; slots take words like the ones they held, and a slot for
       a name only what means exactly one name of the scene (the lists in the context lines).
    5. The cheapest template's code is returned with the new words and numbers in it (`rebind`).
       The same prompt gives the same answer, to the letter; ties go to the earlier example.
    6. An instruction that is several ('put A in B, then move it to the left') is cut where that
       reads cheaper than the whole, and the answers stand one after the other (`chain`). A prompt
       whose examples all bind one same name returns a value and is never answered twice.
    A request for a function (`total = get_total(xs=numbers)`) gets the example's definition whose
    name has the same words, with the parameters named as the call names them (`define`).

When it declines
    A word that tells something and fits nowhere costs more than the limit: `NoMatch` names it, the
    closest example and the remedy. Nothing runs then. A description it passes on to another prompt
    ('the lemon') may be declined there, before the program that asked goes on. Of a chain every
    part must be close; one that is not declines it all, since nothing can be taken back.

Limits
    Conditions, negations and loops no example shows are declined. It reasons about nothing; words
    count only as they stand in examples, stated synonyms and names, so an unusual order or an
    unseen verb ends in a refusal. After a chain 'undo that' means its last part. It can be wrong
    where two examples read alike and mean different things.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from functools import lru_cache

from cap.errors import NoMatch
from cap.models.base import Completion, Request
from cap.models.nearest.analogy import derive, learn_analogies, learn_synonyms, siblings
from cap.models.nearest.chain import certain_parts, chain
from cap.models.nearest.define import answer_definition
from cap.models.nearest.induce import induce
from cap.models.nearest.lexicon import Lexicon
from cap.models.nearest.reading import REMEDY, Reading, closest
from cap.models.nearest.synonyms import canonical, stated
from cap.models.nearest.template import Template, names_in
from cap.models.nearest.words import unreadable
from cap.prompt.examples import RECALLED, Example, split_examples


class Nearest:
    """A model without a network: the closest example of the prompt, rebound."""

    name = "nearest"
    repairs = False
    """It cannot mend a program: it would only write the same one again."""
    by_example = True
    """It writes what an example wrote, whose names may be those of another session."""
    sees = False
    """It reads words alone."""

    def complete(self, request: Request) -> Completion:
        """Return the closest example's code with the instruction's words in it.

        Raises:
            NoMatch: No example is close enough; the message names what did not fit.
        """
        *examples, asked = split_examples(request.prompt) or (None,)
        names = {line.partition(" = ")[0] for line in asked.context.split("\n")} if asked else ()
        if any(f"\n{name} = [" in f"\n{one.code}" for name in names for one in examples if one):
            *examples, asked = split_examples(request.prompt, names=names)  # as in bare prompts
        examples = [*split_examples(request.further), *examples]
        if asked is None or asked.code or not examples:
            raise NoMatch(f"the prompt has no examples or no instruction; {REMEDY}")
        if odd := unreadable(asked.instruction):
            raise NoMatch(f"nearest cannot read {odd!r} in {asked.instruction!r}; {REMEDY}")
        read = (one for one in examples if one is not None)
        known = tuple(one for one in read if RECALLED not in one.effects)
        text = answer_definition(asked.instruction, known)
        lines = (*stated(request.further), *stated(request.prompt))
        return Completion(text or _answer(asked, known, lines), model=self.name, cost_usd=0.0)


def _answer(asked: Example, examples: tuple[Example, ...], lines: tuple[str, ...]) -> str:
    lexicon, names = _lexicon(asked, examples, lines), names_in(asked.context)

    def read(said: str) -> Reading:
        return closest(said, lexicon, lines, names)

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
    found: list[Template] = []
    for example in examples:
        words = canonical(example.instruction, lines, names_in(example.context))
        template = induce(replace(example, instruction=words.text))
        if template is not None:
            found.append(template)
    return found
