"""Answers as models give them: the whole program comes out, or the right fault."""

from __future__ import annotations

import ast
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cap.engine.model_request import program_of
from cap.errors import AnswerFault
from cap.models.base import Completion, Ended
from cap.program.program import ProgramSyntaxError
from cap.prompt.prompt import parse
from tests.rows import rows

EXAMPLES = "objects = ['a']\n# do a.\nsay('a')\n\nobjects = ['b']\n# do b.\nsay('b')\n"
PROMPT = parse('# /// cap\n# context = ["objects"]\n# ///\n' + EXAMPLES, "ui")


FORMS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "corpus" / "answers.jsonl").read_text().splitlines()
]
"""Answers as language models give them, each with the program that is meant, or the fault that
sends it back; what the check refuses later is a program here."""


def outcome(completion: Completion) -> str | type[Exception]:
    """Return the syntax tree of the program in an answer, or the class of what was raised."""
    try:
        return ast.dump(program_of(completion, PROMPT).tree)
    except Exception as error:
        return type(error)


@rows("form", FORMS, ids=lambda form: form["form"])
def test_an_answer_is_the_program_that_is_meant_or_goes_back(form: dict[str, str]) -> None:
    cut = form["kind"] == "cut"
    for continues in (False, True) if cut else (form["kind"] == "continued",):
        ended: Ended = "cut" if cut else "whole"
        found = outcome(Completion(form["answer"], "m", ended=ended, continues=continues))
        if "program" in form:
            assert found == ast.dump(ast.parse(form["program"]))
        else:
            assert getattr(found, "__name__", found) == form["fault"]


MUCH = 5_000_000
FAR_TOO_LONG: dict[str, Callable[[], str]] = {
    "words": lambda: "I see no way to do this. " * (MUCH // 25),
    "one line": lambda: "a" * MUCH,
    "one statement again and again": lambda: "stop()\n" * (MUCH // 7),
    "the same in a block": lambda: "```python\n" + "stop()\n" * (MUCH // 7) + "```",
    "thoughts": lambda: "<think>\n" + "Hm.\n" * (MUCH // 4),
    "brackets": lambda: "(" * 200_000,
    "brackets in a block": lambda: "```python\n" + "[" * 200_000 + "\n```",
    "brackets of data": lambda: "[" * 200_000,
    "a tool call": lambda: '{"code": "' + "x = 1\\n" * 140_000 + '"}',
    "signs": lambda: f"stop()\nNote: {'-' * 60_000}x",
    "signs that can be read": lambda: f"stop()\n{'-' * 150}X\nreturn",
    "tildes": lambda: f"{'~' * 180}x\nreturn",
}


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("write", FAR_TOO_LONG.values(), ids=FAR_TOO_LONG)
def test_an_answer_far_too_long_or_deep_is_a_fault_at_once(write: Callable[[], str]) -> None:
    answer = write()
    begin_s = time.process_time()
    ast.parse("x = [1, 2, 3]\n" * 10_000)
    usual_s = time.process_time() - begin_s
    for continues in (False, True):
        begin_s = time.process_time()
        found = outcome(Completion(answer, "m", continues=continues))
        took_s = time.process_time() - begin_s
        assert isinstance(found, type)
        assert issubclass(found, AnswerFault | ProgramSyntaxError)
        assert took_s < 40 * usual_s
