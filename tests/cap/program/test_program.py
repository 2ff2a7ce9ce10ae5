import ast
import json
import textwrap
import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cap.errors import AnswerFault, EmptyCompletion
from cap.program.extraction import program_in
from cap.program.program import MAX_ANSWER_CHARS, AnsweredInWords, Program, ProgramSyntaxError
from tests.fakes.programs import programs
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


@pytest.mark.parametrize("answer", ["# only\n# comments", "```python\n# only\n```", "  # one"])
def test_an_answer_of_comments_is_a_program_that_does_nothing(answer: str) -> None:
    program = program_in(answer)
    assert program.tree.body == []
    assert program.source.lstrip().startswith("#")


ONE, TWO = "put('red')", "put('green')"
FAULTS = {
    "two options": f"Option 1\n```python\n{ONE}\n```\nOr, better:\n```python\n{TWO}\n```",
    "a correction": f"```python\n{ONE}\n```\nWait. Corrected:\n```python\n{TWO}\n```",
    "two versions that bind the same": f"```\nx = 1\n{ONE}\n```\n```\nx = 2\nput(x)\n```",
    "two options in tags": f"<code>{ONE}</code> or <code>{TWO}</code>",
    "two programs in tool calls": f'[{{"code": "{ONE}"}}, {{"code": "{TWO}"}}]',
    "a fenced diff": f"```diff\n-{ONE}\n+{TWO}\n```",
    "a diff in a block of Python": f"```python\n-{ONE}\n+{TWO}\n```",
    "a bare diff, which is Python": f"-{ONE}\n+{TWO}",
    "a diff with its head": f"--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-{ONE}\n+{TWO}",
    "code before the block": f"{ONE}\n```python\n{TWO}\n```",
    "code behind the block": f"```python\n{ONE}\n```\nThen:\n{TWO}",
    "a block without an end": f"```python\n{ONE}",
    "a second block without an end": f"```python\n{ONE}\n```\n```python\n{TWO}",
}


@pytest.mark.parametrize("answer", FAULTS.values(), ids=FAULTS)
def test_an_answer_that_is_not_one_program_is_a_fault(answer: str) -> None:
    with pytest.raises(AnswerFault, match="one block"):
        program_in(answer)


WHOLE = {
    "a comment between two steps": f"{ONE}\n# then the green one\n{TWO}",
    "a comment after a blank line": f"{ONE}\n\n# Then the green one.\n{TWO}",
    "a comment inside a function": f"def f():\n    {ONE}\n# odd place\n    {TWO}\nf()",
    "context of its own": f"{ONE}\nobjects = ['a']\n{TWO}",
    "definitions, then their use": f"def f():\n    {ONE}\n\n\nf()",
}


@pytest.mark.parametrize("source", WHOLE.values(), ids=WHOLE)
def test_a_chat_answer_is_the_whole_program(source: str) -> None:
    for answer in (source, f"Sure:\n\n{source}\n", f"{TICKS}python\n{source}\n{TICKS}"):
        found = program_in(answer).tree
        assert ast.dump(found) == ast.dump(ast.parse(source))


BEHIND = table(__file__, "BEHIND")


@pytest.mark.parametrize("junk", BEHIND.values(), ids=BEHIND)
def test_what_a_server_lets_through_behind_the_end_is_no_program(junk: str) -> None:
    found = program_in(f"{ONE}\n{TWO}{junk}").tree
    assert ast.dump(found) == ast.dump(ast.parse(f"{ONE}\n{TWO}"))


def test_what_a_program_prints_is_no_program() -> None:
    for output in ("hi", "[0.1, 0.2]", "moved red block", "'red block'", "3"):
        answer = f"{TICKS}python\n{ONE}\n{TICKS}\nThis prints:\n{TICKS}\n{output}\n{TICKS}"
        assert program_in(answer).source.strip() == ONE


def test_half_a_statement_is_no_prose() -> None:
    for stump in ("for name in", "if x", "while", "def place(name", "return"):
        with pytest.raises(ProgramSyntaxError):
            program_in(f"{ONE}\n{stump}")


BROKEN = table(__file__, "BROKEN")


@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_a_broken_program_is_a_typed_failure(answer: str) -> None:
    with pytest.raises(ProgramSyntaxError):
        program_in(answer, STOP)


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
}


@pytest.mark.parametrize("answer", HUGE.values(), ids=HUGE)
@pytest.mark.sweep(share=0.15)
def test_a_huge_answer_is_refused_in_less_than_a_second(answer: str) -> None:
    begin_s = time.process_time()
    with pytest.raises((ProgramSyntaxError, EmptyCompletion, AnswerFault)):
        program_in(answer, STOP)
    assert time.process_time() - begin_s < 1.0


DRESSINGS: dict[str, Callable[[str], str]] = {
    "bare": lambda source: source,
    "a fence": lambda source: f"Sure:\n\n{TICKS}python\n{source}{TICKS}\nDone.",
    "thoughts": lambda source: f"<think>\nx = (\n</think>\n{source}",
    "a tool call": lambda source: json.dumps({"name": "python", "arguments": {"code": source}}),
    "a tagged tool call": lambda source: f"<tool_call>{json.dumps({'code': source})}</tool_call>",
    "tags": lambda source: f"<code>\n{source}</code>",
    "tokens": lambda source: f"{source}<|im_end|>",
    "CRLF": lambda source: source.replace("\n", "\r\n"),
    "indented": lambda source: textwrap.indent(source, "    "),
    "a repeated instruction": lambda source: f"objects = ['a']\n# do it.\n{source}",
}
RANDOM = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.sweep(share=0.15)
@pytest.mark.parametrize("dress", DRESSINGS.values(), ids=DRESSINGS)
@RANDOM
@given(source=programs())
def test_any_program_comes_out_of_any_dressing(dress: Callable[[str], str], source: str) -> None:
    source = f"f()\n{source}\nf()\n"  # a mere name at the end may be half a statement
    try:
        tree = Program.parse(source).tree
    except ProgramSyntaxError:
        return
    found = program_in(dress(source), STOP)
    assert ast.dump(found.tree) == ast.dump(tree)


PIECES = st.sampled_from(
    [
        *("x = 1", "f(x)", "\n", "\n# ", "\n\n", TICKS, "~~~", "python\n", "<think>", "</think>"),
        *("<code>", "</code>", "<tool_call>", '{"code": "', '"}', "[TOOL_CALLS]", ">>> ", "... "),
        *("+", "- ", "`", "&gt;", "Sure: ", "In [1]: ", "%", "'", '"""', "(", "\0", "\ud800", ":"),
        *("    ", "\t", "\ufeff", "<|message|>", "Answer:", "\u597d", "@@ ", "objects = ['a']"),
    ]
)


@settings(RANDOM, max_examples=500)
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
