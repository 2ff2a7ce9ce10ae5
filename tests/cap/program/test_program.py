import ast
import json
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cap.engine.model_request import program_of
from cap.errors import AnswerFault, EmptyCompletion
from cap.models.base import Completion, Ended
from cap.program.extraction import program_in
from cap.program.program import MAX_ANSWER_CHARS, AnsweredInWords, Program, ProgramSyntaxError
from cap.prompt.prompt import parse
from tests.rows import rows, table

STOP = ("\n# ", "\nobjects = [")
TICKS = "```"

ANSWERS = table(__file__, "ANSWERS")


@rows(("answer", "source"), ANSWERS.values(), ids=ANSWERS)
def test_the_program_is_found_in_the_answer(answer: str, source: str) -> None:
    assert program_in(answer, STOP).source.strip() == source


NOTHING = table(__file__, "NOTHING")


@rows("answer", NOTHING.values(), ids=NOTHING)
def test_an_answer_without_code_is_words_or_nothing(answer: str) -> None:
    kind = AnsweredInWords if answer.strip() else EmptyCompletion
    for separators in (STOP, ()) if "\n# " not in answer else (STOP,):
        with pytest.raises(kind, match="answered"):
            program_in(answer, separators)


ONE, TWO = "put('red')", "put('green')"
BEHIND = table(__file__, "BEHIND")


@pytest.mark.parametrize("junk", BEHIND.values(), ids=BEHIND)
def test_what_a_server_lets_through_behind_the_end_is_no_program(junk: str) -> None:
    found = program_in(f"{ONE}\n{TWO}{junk}").tree
    assert ast.dump(found) == ast.dump(ast.parse(f"{ONE}\n{TWO}"))


BROKEN = table(__file__, "BROKEN")


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_a_broken_program_is_a_typed_failure(answer: str) -> None:
    with pytest.raises(ProgramSyntaxError):
        program_in(answer, STOP)


def test_why_an_answer_goes_back_is_said() -> None:
    two = f"{TICKS}\n{ONE}\n{TICKS}\nOr:\n{TICKS}\n{TWO}\n{TICKS}"
    for answer, why in ((f"{ONE}\n\n# do b.\n{TWO}\n", "another example"), (two, "one block")):
        with pytest.raises(AnswerFault, match=why):
            program_of(Completion(answer, "m"), PROMPT)


def test_a_syntax_error_names_its_line() -> None:
    with pytest.raises(ProgramSyntaxError, match="not valid Python") as caught:
        Program.parse("x = 1\ny = = 2\n")
    assert caught.value.line == 2


HUGE = {
    "code": "x = 1\n" * 1_700_000,
    "prose": "no way to do this. " * 500_000,
    "comments": "# a\n" * (MAX_ANSWER_CHARS // 4),
    "blank lines": "\n" * MAX_ANSWER_CHARS,
    "backticks": "`" * MAX_ANSWER_CHARS,
    "a fence and a long tag": TICKS + "a" * (MAX_ANSWER_CHARS - 3),
    "a fence and blanks": TICKS + "\n" + " " * (MAX_ANSWER_CHARS - 4),
    "many fences": (TICKS + "\n") * (MAX_ANSWER_CHARS // 4),
    "many tags": "</think>" * (MAX_ANSWER_CHARS // 8 - 1) + "'",
    "many open tags": "<think>\n" * (MAX_ANSWER_CHARS // 8),
    "lines of prose": "no way.\n" * 8000,
    "brackets": "[" * MAX_ANSWER_CHARS,
    "braces": '{"a":' * (MAX_ANSWER_CHARS // 5),
    "elements": "<code>" * (MAX_ANSWER_CHARS // 6),
    "closed elements": "<code>a b</code>" * (MAX_ANSWER_CHARS // 16),
    "tokens": "<|a|>" * (MAX_ANSWER_CHARS // 5),
    "stop strings": "x = [" + "\n# a" * 10_000,
    "prompts": ">>> a b\n" * 8000,
    "entities": "&gt;" * 16_000,
    "lines in backticks": "`a b`\n" * 10_000,
    "a diff": "+a b\n" * 13_000,
    "spaces and a backtick": " " * 60_000 + "`" * 5,
    "dots": "." * 65_000,
    "thoughts without end": "<think>\n" + "Hm.\n" * (MAX_ANSWER_CHARS // 8),
    "a tool call": '{"code": "' + "x = 1\\n" * 8_000 + '"}',
    "signs": f"stop()\nNote: {'-' * 60_000}x",
    "signs that can be read": f"stop()\n{'-' * 150}X\nreturn",
    "tildes": f"{'~' * 180}x\nreturn",
}


@pytest.mark.parametrize("answer", HUGE.values(), ids=HUGE)
@pytest.mark.sweep(share=0.15)
def test_a_huge_answer_is_refused_in_less_than_a_second(answer: str) -> None:
    begin_s = time.process_time()
    with pytest.raises((ProgramSyntaxError, EmptyCompletion, AnswerFault)):
        program_in(answer, STOP)
    assert time.process_time() - begin_s < 1.0


RANDOM = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


PIECES = st.sampled_from(
    [
        *("x = 1", "f(x)", "\n", "\n# ", "\n\n", TICKS, "~~~", "python\n", "<think>", "</think>"),
        *("<code>", "</code>", "<tool_call>", '{"code": "', '"}', "[TOOL_CALLS]", ">>> ", "... "),
        *("+", "- ", "`", "&gt;", "Sure: ", "In [1]: ", "%", "'", '"""', "(", "\0", "\ud800", ":"),
        *("    ", "\t", "\ufeff", "<|message|>", "Answer:", "\u597d", "@@ ", "objects = ['a']"),
    ]
)


@settings(RANDOM, max_examples=250)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_any_answer_is_a_program_or_a_typed_failure(answer: str) -> None:
    try:
        program = program_in(answer, STOP)
    except (ProgramSyntaxError, EmptyCompletion, AnswerFault):
        return
    assert ast.dump(ast.parse(program.source)) == ast.dump(program.tree)


def test_what_was_taken_off_is_noted() -> None:
    program = program_in("<think>a</think>\n```python\nx = 1\n```", STOP)
    assert program.notes == ("thoughts removed", "code taken from a fence")
    assert program_in("x = 1\n# b.\ny = 2", STOP).notes == ("cut where a next example begins",)
    assert program_in("Sure:\nx = 1", STOP).notes == ("words removed",)
    assert program_in("x = 1", STOP).notes == ()


def test_questionable_style_is_no_warning() -> None:
    program_in("x = '\\d'\ny = x is 'a'\n", STOP)


def test_the_tree_belongs_to_the_source() -> None:
    program = program_in("Sure:\nx = 1\ny = 2\n", STOP)
    assert [node.lineno for node in program.tree.body] == [1, 2]


# --- answers as models give them: the whole program comes out, or the right fault

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
