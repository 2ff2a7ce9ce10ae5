"""Answers as models give them: the whole program comes out, or the right fault."""

from __future__ import annotations

import ast
import json
from pathlib import Path

from cap.engine.model_request import program_of
from cap.models.base import Completion, Ended
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
