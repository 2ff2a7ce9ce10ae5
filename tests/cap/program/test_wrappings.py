"""A sweep over wrapped programs: each comes out exactly, or as a fault; never in part."""

from __future__ import annotations

import ast
import random
import re
import textwrap
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cap.engine.model_request import CutOff, program_of
from cap.errors import AnswerFault, EmptyCompletion
from cap.models.base import Completion
from cap.program.program import ProgramSyntaxError
from cap.prompt.prompt import parse

PROGRAMS = (Path(__file__).parents[2] / "corpus" / "programs.txt").read_text().split("=====\n")
CONTEXT = "objects = ['red block', 'green block', 'blue bowl']"
INSTRUCTION = "# put the red block in the blue bowl."
EXAMPLES = f"{CONTEXT}\n{INSTRUCTION}\nsay('a')\n\n{CONTEXT}\n# do b.\nsay('b')\n"
PROMPT = parse('# /// cap\n# context = ["objects"]\n# ///\n' + EXAMPLES, "ui")
FAULTS = (AnswerFault, EmptyCompletion, ProgramSyntaxError)
SHARDS, PER_SHARD, CUT_PER_SHARD = 100, 100, 12
EXACT = 0.98
"""The share of wrappings that must give their program; the others a fault."""

BEFORE = (
    "Sure!",
    "Done",
    "ok",
    "Certainly",
    "Note: untested",
    "Of course, gladly",
    "Here is the program:",
    "Here's a program that uses `put_first_on_second` and `say`:",
    "I'll look for the blocks first. Then I move them, one after the other.\n\nThis is how:",
    "To do this:\n\n1. Find the names with `get_obj_names()`.\n2. Move them.\n3. Say so.\n",
    "**Plan**\n\n- find `red block`\n- move it (carefully)\n\n**Code**",
    "## Solution\n\nThe robot moves each block once.",
    "Let me think step by step: the bowl is at x = 0.2, so it can be reached.",
    "Natürlich, hier ist das Programm:",
    "好的，代码如下：",
    "¡Claro! Aquí tienes:",
)
BEHIND = (
    "Done",
    "Done.",
    "Note: untested",
    "Enjoy!",
    "This is it",
    "Let me know if you'd like anything else!",
    "This moves every block (if there is one) and then says so.",
    "**How it works**\n\n- `get_obj_names()` gives the names.\n- The loop moves each.\n",
    "1. The names are found.\n2. Each is moved.",
    "---\n\nHope this helps 🎉",
    "这段代码会移动方块。",
    "Damit ist alles an seinem Platz.",
)
OUTPUTS = (
    "Output:\n\n```\nmoved the red block\n```",
    "It prints:\n```text\nred block\n3\n```",
    "```output\nsay: hi\n```",
)
THOUGHTS = (
    "<think>\nThe red one goes in.\n</think>\n\n",
    "<think>easy</think>\n",
    "<think>\nMaybe\n```python\nput_first_on_second('a', 'b')\n```\nor not?\n</think>\n",
    "<thinking>\n1. say('x')\n2. stop()\n</thinking>\n\n",
    "Okay, the user wants it moved.\nx = 3\n</think>\n\n",
    "Hm:\n```python\nstop()\n```\nno.\n</think>\n",
)
OPENINGS = ("<|im_start|>assistant\n", "<|start_header_id|>assistant<|end_header_id|>\n\n")
ENDS = (
    *("<|im_end|>", "<|eot_id|>", "</s>", "<|endoftext|>", "<end_of_turn>", "<|end|>", "<|eot|>"),
    *("<｜end▁of▁sentence｜>", "<|im_end|>\n<|im_start|>user\nand now?", "<|return|>"),
)
FENCES = (
    *(("```python\n", "```"), ("```py\n", "```"), ("```Python3\n", "```"), ("```\n", "```")),
    *(("~~~\n", "~~~"), ("~~~python\n", "~~~"), ("````python\n", "````")),
    *(("```python title='robot.py'\n", "```"), ("```{.python .numbered}\n", "```")),
)
NEXT = (
    "\n\n# say hi.\nsay('hi')\n",
    f"\n\n{CONTEXT}\n# say hi.\nsay('hi')\n",
    f"\n{CONTEXT}\n# again.\n",
    "\n\n# put",
)


@dataclass(frozen=True)
class Wrapping:
    """An answer in three pieces: what stands before the program, the program, what behind."""

    source: str
    head: str
    body: str
    tail: str
    continues: bool
    fenced: bool

    @property
    def text(self) -> str:
        return self.head + self.body + self.tail


def wrapped(chance: random.Random) -> Wrapping:
    """Return a program in a random wrapping; of the next step each is dressed in the one before."""
    source = chance.choice(PROGRAMS).strip("\n") + "\n"
    continues = chance.random() < 0.25
    fenced = chance.random() < 0.6 or (continues and "\n\n# " in source)
    w = Wrapping(
        source, "", _varied(chance, source, continues and not fenced), "", continues, fenced
    )
    if fenced:
        opening, closing = chance.choice(FENCES)
        w = replace(w, head=opening, tail=f"{closing}\n")
    if chance.random() < 0.15:
        w = _indented(w, chance.choice(("  ", "    ", "\t")))
        if fenced and chance.random() < 0.5:
            w = replace(w, head="1. So:\n" + w.head)
    # Where a model goes on with the text, words and then a comment are the next example's.
    if chance.random() < 0.5 and not (continues and not fenced and w.body.lstrip()[:1] in "#o"):
        w = replace(w, head=f"{chance.choice(BEFORE)}\n{chance.choice(('', chr(10)))}{w.head}")
    if chance.random() < 0.5 and not (continues and chance.random() < 0.5):
        gap = chance.choice(("", "\n"))
        w = replace(w, tail=f"{w.tail}{gap}{chance.choice(BEHIND)}\n")
    if fenced and chance.random() < 0.1:
        w = replace(w, tail=f"{w.tail}\n{chance.choice(OUTPUTS)}\n")
    if continues and chance.random() < 0.7:
        w = replace(w, tail=w.tail + chance.choice(NEXT))
    elif chance.random() < 0.25:
        w = replace(w, tail=w.tail.rstrip("\n") + chance.choice(ENDS))
    if chance.random() < 0.2:
        w = replace(w, head=chance.choice(THOUGHTS) + w.head)
    if chance.random() < 0.1:
        w = replace(w, head=chance.choice(OPENINGS) + w.head)
    if chance.random() < 0.1:
        w = replace(w, head="\ufeff" + w.head)
    if chance.random() < 0.15:
        crlf = [part.replace("\n", "\r\n") for part in (w.head, w.body, w.tail)]
        w = replace(w, head=crlf[0], body=crlf[1], tail=crlf[2])
    return w


def _varied(chance: random.Random, source: str, bare: bool) -> str:
    """Return the program with comments, blank lines and what the prompt said around it."""
    if chance.random() < 0.2 and "'''" not in source and '"""' not in source:
        source = re.sub(r"^(?: {4})+", lambda m: "\t" * (len(m[0]) // 4), source, flags=re.M)
    if chance.random() < 0.2:
        source = f"{chance.choice(('# the program', INSTRUCTION))}\n{source}"
    elif chance.random() < 0.15:
        source = f"{CONTEXT}\n{INSTRUCTION}\n{source}"
    if chance.random() < 0.2:
        source = f"{source}{'' if bare else chance.choice(('', chr(10)))}# that is all\n"
    if chance.random() < 0.1:
        source = "\n\n" + source
    return source + chance.choice(("", "", "\n"))


def _indented(w: Wrapping, margin: str) -> Wrapping:
    head, body, tail = (textwrap.indent(part, margin) for part in (w.head, w.body, w.tail))
    return replace(w, head=head, body=body, tail=tail)


def came(w: Wrapping, text: str) -> str:
    """Tell what came of an answer: `exact`, `other`, or the class of the fault."""
    try:
        tree = program_of(Completion(text, "m", continues=w.continues), PROMPT).tree
    except FAULTS as fault:
        return type(fault).__name__
    return "exact" if ast.dump(_bare(tree)) == ast.dump(_bare(ast.parse(w.source))) else "other"


def _bare(tree: ast.Module) -> ast.Module:
    """Return a tree without the context that was repeated before it."""
    if tree.body and ast.unparse(tree.body[0]) == CONTEXT:
        return ast.Module(tree.body[1:], [])
    return tree


def counted(shard: int) -> tuple[Counter[str], list[Wrapping]]:
    chance = random.Random(f"wrapping {shard}")
    outcomes, wrong = Counter[str](), []
    for _ in range(PER_SHARD):
        w = wrapped(chance)
        outcome = came(w, w.text)
        outcomes[outcome] += 1
        if outcome == "other":
            wrong.append(w)
    return outcomes, wrong


@pytest.mark.sweep
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_wrapped_program_comes_out_whole_or_as_a_fault(shard: int) -> None:
    outcomes, wrong = counted(shard)
    assert [w.text for w in wrong] == []
    assert outcomes["exact"] >= EXACT * PER_SHARD


def boundaries(w: Wrapping) -> list[int]:
    """Return where the tokens of the program end, counted from the beginning of the answer."""
    return [len(w.head) + m.end() for m in re.finditer(r"\w+|\s+|[^\w\s]", w.body)][:-1]


def open_at(w: Wrapping, end: int) -> bool:
    """Tell whether an answer that ends here shows that it is not all, whoever says so or not."""
    if w.fenced:
        return True
    part = textwrap.dedent(w.text[len(w.head) : end].replace("\r\n", "\n"))
    try:
        ast.parse(part.strip() + "\n")
    except SyntaxError:
        return True
    return False


@pytest.mark.sweep
@pytest.mark.parametrize("shard", range(SHARDS))
def test_an_answer_cut_off_anywhere_is_a_fault(shard: int) -> None:
    chance = random.Random(f"cut {shard}")
    for _ in range(CUT_PER_SHARD):
        w = wrapped(chance)
        for end in boundaries(w):
            part = w.text[:end]
            told = Completion(part, "m", ended="cut", continues=w.continues)
            with pytest.raises(EmptyCompletion if told.empty else CutOff):
                program_of(told, PROMPT)
            if open_at(w, end) and "</think>" not in w.head[10:]:
                assert came(w, part) not in ("exact", "other"), part
