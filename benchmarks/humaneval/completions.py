"""Asking a model for a completion, in the paper's three arms.

- `hierarchical`: two examples ahead of the problem, one of which calls a function that nobody
  defined; what a completion calls and does not define is generated, recursively.
- `flat`: the same two examples, written out; nothing is generated.
- `none`: the problem alone; nothing is generated.

A completion model goes on with the body. A chat model answers with a whole program, in a fence
perhaps; that is a completion as well: after the problem's own head, whose docstring is its body, it
defines the function again.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.humaneval.judge import POLICY
from benchmarks.humaneval.problems import HumanEvalProblem
from cap.checker.checker import examine
from cap.engine.function_generation import Generation
from cap.engine.model_request import Author, Tally
from cap.errors import CapError, PromptError
from cap.models.base import Model, Request
from cap.program.extraction import program_text
from cap.program.program import Program, parses
from cap.program.scope import Scope
from cap.prompt.prompt import Prompt
from cap.robot import registry
from cap.trace.trace import Trace

ARMS = ("hierarchical", "flat", "none")
MAX_TOKENS = 512
"""Of a completion."""
STOP = ("\ndef ", "\nif __name__")
"""Where a completion ends in the arm without a prompt; prompts say it in their headers."""


@dataclass(frozen=True)
class WrittenSample:
    """What a model made of a problem."""

    completion: str
    """What follows the problem's prompt, generated functions included."""
    whole: bool = False
    """It is a whole program instead, which needs no prompt."""
    generated: tuple[str, ...] = ()
    """The functions that were generated, by name."""
    note: str = ""
    """Why functions it calls were not generated, or ""."""


def write(
    problem: HumanEvalProblem,
    arm: str,
    model: Model,
    prompts: Path | None = None,
) -> WrittenSample:
    """Have a problem completed.

    Args:
        problem: The problem.
        arm: One of `ARMS`.
        model: Whom to ask.
        prompts: Folder of `hierarchical.py`, `flat.py` and `define.py`; the shipped one by default.

    Raises:
        ModelError: There is no answer to the problem itself.
        PromptError: The prompts cannot be used.
    """
    files = _prompts(prompts or registry.prompts_path() / "humaneval")
    text = ""
    stop: tuple[str, ...] = STOP
    if arm != "none":
        text, stop = f"{files[arm].text.rstrip()}\n\n\n", files[arm].header.stop
    request = Request(f"{text}{problem.prompt}", stop, MAX_TOKENS)
    completion = completion_of(problem, model.complete(request).said(), stop)
    if arm != "hierarchical":
        return WrittenSample(completion)
    return _with_functions(problem, completion, model, files["define"])


def completion_of(problem: HumanEvalProblem, answer: str, stop: tuple[str, ...]) -> str:
    """Return what of a model's answer goes after the problem's prompt."""
    cut = min((place for word in stop if (place := answer.find(word)) >= 0), default=len(answer))
    if _goes_on(answer) and (body := answer[:cut]) and parses(f"{problem.prompt}{body}\n"):
        return body
    source, _ = program_text(answer)
    if f"def {problem.entry_point}(" in source:
        return f"\n\n{source.strip()}\n"
    body = textwrap.indent(textwrap.dedent(source), "    ")
    if body.strip() and parses(f"{problem.prompt}{body}\n"):
        return f"{body}\n"
    return answer[:cut]


def _goes_on(answer: str) -> bool:
    """Tell whether a text begins inside the function, as a completion model's does."""
    first = next((line for line in answer.split("\n") if line.strip()), "")
    return first[:1] in (" ", "\t")


def _with_functions(
    problem: HumanEvalProblem, completion: str, model: Model, prompt: Prompt
) -> WrittenSample:
    """Have what a completion calls and nobody defines generated, and put it behind."""
    author = Author(model, Trace(), Tally())
    try:
        program = Program.parse(problem.prompt + completion)
        examined = examine(program, Scope(), POLICY)
        if examined.violations:
            return WrittenSample(completion)
        made = Generation(author, prompt, Scope(), POLICY).run(examined.program)
    except CapError as error:
        return WrittenSample(completion, note=f"{type(error).__name__}: {error}")
    sources = [entry.source.rstrip() for entry in made]
    if not made:
        return WrittenSample(completion)
    whole = "\n\n\n".join([completion.rstrip(), *sources])
    return WrittenSample(f"{whole}\n", generated=tuple(entry.name for entry in made))


@cache
def _prompts(folder: Path) -> Mapping[str, Prompt]:
    found = registry.load_prompts(folder)
    if missing := sorted({"hierarchical", "flat", "define"} - found.keys()):
        raise PromptError(f"{folder} lacks {', '.join(f'{name}.py' for name in missing)}")
    return found
