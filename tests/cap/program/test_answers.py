"""Answers as models give them: the whole program comes out, or the right fault."""

from __future__ import annotations

import ast

import pytest

from cap.engine.question import program_of
from cap.models.base import Completion
from cap.prompt.prompt import parse
from tests.corpus.answers import CHAT, CONTINUED, CUT, FAULT_OF_A_CUT, Outcome

EXAMPLES = "objects = ['a']\n# do a.\nsay('a')\n\nobjects = ['b']\n# do b.\nsay('b')\n"
PROMPT = parse('# /// cap\n# context = ["objects"]\n# ///\n' + EXAMPLES, "ui")


def outcome(completion: Completion) -> str | type[Exception]:
    """Return the syntax tree of the program in an answer, or the class of what was raised."""
    try:
        return ast.dump(program_of(completion, PROMPT).tree)
    except Exception as error:
        return type(error)


def wanted(expected: Outcome) -> str | type[Exception]:
    return ast.dump(ast.parse(expected)) if isinstance(expected, str) else expected


@pytest.mark.parametrize(("answer", "expected"), CHAT.values(), ids=CHAT)
def test_what_comes_of_a_chat_models_answer(answer: str, expected: Outcome) -> None:
    assert outcome(Completion(answer, "m")) == wanted(expected)


@pytest.mark.parametrize(("answer", "expected"), CONTINUED.values(), ids=CONTINUED)
def test_what_comes_of_a_text_that_goes_on(answer: str, expected: Outcome) -> None:
    assert outcome(Completion(answer, "m", continues=True)) == wanted(expected)


@pytest.mark.parametrize("answer", CUT.values(), ids=CUT)
def test_an_answer_that_was_cut_off_is_no_program(answer: str) -> None:
    for continues in (False, True):
        completion = Completion(answer, "m", ended="cut", continues=continues)
        assert outcome(completion) is FAULT_OF_A_CUT
