"""Answers as models give them: the whole program comes out, or the right fault."""

from __future__ import annotations

import ast
import time
from collections.abc import Callable

import pytest

from cap.engine.question import program_of
from cap.models.base import Completion
from cap.program.blocks import AnswerFault
from cap.program.program import ProgramSyntaxError
from cap.prompt.prompt import parse
from tests.corpus.answers import CHAT, CONTINUED, CUT, FAULT_OF_A_CUT, Outcome
from tests.rows import rows

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


@rows(("answer", "expected"), CHAT.values(), ids=CHAT)
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


MUCH = 50_000_000
FAR_TOO_LONG: dict[str, Callable[[], str]] = {
    "words": lambda: "I see no way to do this. " * (MUCH // 25),
    "one line": lambda: "a" * MUCH,
    "one statement again and again": lambda: "stop()\n" * (MUCH // 7),
    "the same in a block": lambda: "```python\n" + "stop()\n" * (MUCH // 7) + "```",
    "thoughts": lambda: "<think>\n" + "Hm.\n" * (MUCH // 4),
    "brackets": lambda: "(" * 1_000_000,
    "brackets in a block": lambda: "```python\n" + "[" * 1_000_000 + "\n```",
    "brackets of data": lambda: "[" * 1_000_000,
    "a tool call": lambda: '{"code": "' + "x = 1\\n" * 140_000 + '"}',
    "signs": lambda: f"stop()\nNote: {'-' * 60_000}x",
    "signs that can be read": lambda: f"stop()\n{'-' * 150}X\nreturn",
    "tildes": lambda: f"{'~' * 180}x\nreturn",
}


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("write", FAR_TOO_LONG.values(), ids=FAR_TOO_LONG)
def test_an_answer_far_too_long_or_deep_is_a_fault_at_once(write: Callable[[], str]) -> None:
    answer = write()
    for continues in (False, True):
        begin_s = time.process_time()
        found = outcome(Completion(answer, "m", continues=continues))
        assert isinstance(found, type)
        assert issubclass(found, AnswerFault | ProgramSyntaxError)
        assert time.process_time() - begin_s < 1.0
