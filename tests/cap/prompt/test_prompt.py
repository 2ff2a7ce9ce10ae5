import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import Point

from cap.errors import PromptError
from cap.prompt.context import Context
from cap.prompt.examples import first_instructions
from cap.prompt.prompt import (
    Example,
    Header,
    PastTurn,
    Prompt,
    comment,
    load,
    one_line,
    parse,
    split_examples,
)
from tests.rows import table

FIXED = settings(max_examples=80, derandomize=True, database=None, deadline=None)
HEADER = """\
# /// cap
# returns = "ret_val"
# kind = ["name", "names"]
# context = ["objects"]
# session = true
# actions = true
# prefix = "do: "
# stop = ["\\n# "]
# arguments = {n = 1}
# ///
"""
BODY = """\
import numpy as np
from robot import get_obj_pos, put_first_on_second as put

objects = ['red block', 'blue bowl']
# the red block.
ret_val = 'red block'
# the bowl.
ret_val = 'blue bowl'

objects = ['cup']
# everything.
ret_val = objects
"""


def prompt(text: str = BODY) -> Prompt:
    return parse(text, "ui")


# --- header


def test_the_header_is_read_and_taken_off() -> None:
    loaded = prompt(HEADER + BODY)
    assert loaded.header == Header(
        returns="ret_val",
        kind=("name", "names"),
        context=("objects",),
        session=True,
        actions=True,
        stop=("\n# ",),
        prefix="do: ",
        arguments={"n": 1},
    )
    assert loaded.text == BODY
    assert "///" not in loaded.render("x")


def test_without_a_header_the_defaults_hold() -> None:
    loaded = prompt()
    assert replace(loaded.header, stop=()) == Header()
    assert loaded.text == BODY


def test_one_word_stands_for_a_list_of_one() -> None:
    header = prompt('# /// cap\n# kind = "name"\n# stop = "END"\n# ///\n').header
    assert (header.kind, header.stop) == (("name",), ("END",))


WRONG_HEADERS = table(__file__, "prompt: wrong headers")


@pytest.mark.parametrize(("line", "message"), WRONG_HEADERS.values(), ids=WRONG_HEADERS)
def test_a_wrong_header_is_an_error_that_names_the_file(line: str, message: str) -> None:
    with pytest.raises(PromptError, match=f"prompts/ui.py: header.*{message}"):
        parse(f"# /// cap\n# {line}\n# ///\n", "ui", Path("prompts/ui.py"))


def test_a_header_without_an_end_is_an_error_with_its_line() -> None:
    with pytest.raises(PromptError, match="ui, line 2: header has no end"):
        prompt('\n# /// cap\n# returns = "x"\n\nx = 1\n')


# --- errors


@pytest.mark.parametrize(("before", "line"), [("", 2), (HEADER, 12), ("# /// cap\n# ///\n", 4)])
def test_a_syntax_error_names_file_and_line_of_the_file(before: str, line: int) -> None:
    with pytest.raises(PromptError, match=f"ui.py, line {line}: .*must be valid Python"):
        parse(before + "x = 1\ny = = 2\n", "ui", Path("ui.py"))


@pytest.mark.parametrize(
    "text", ["x = 1\0", "x = " + "(" * 5000, "x = " + "-" * 30_000 + "1"], ids=["NUL", "(", "-"]
)
def test_text_that_cannot_be_parsed_is_a_prompt_error(text: str) -> None:
    with pytest.raises(PromptError, match="ui"):
        prompt(text)


def test_a_file_that_is_not_text_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_bytes(b"x = '\xff\xfe'")
    with pytest.raises(PromptError, match=r"cannot read prompt file .*bad\.py"):
        load(tmp_path / "bad.py")


# --- hints and examples


def test_hints_are_the_names_its_imports_bind() -> None:
    assert prompt().hints == ("np", "get_obj_pos", "put")
    assert prompt("import a.b\nfrom c import d\nimport a.b\n").hints == ("a", "d")


def test_examples_have_instruction_code_context_line() -> None:
    first, second, third = prompt().examples
    assert first == Example(
        "the red block", "ret_val = 'red block'", "objects = ['red block', 'blue bowl']", 5, False
    )
    assert (second.instruction, second.context, second.follows) == ("the bowl", first.context, True)
    assert (third.context, third.line, third.follows) == ("objects = ['cup']", 11, False)


def test_lines_of_examples_are_those_of_the_file() -> None:
    with_header = prompt(HEADER + BODY).examples
    assert with_header == ()  # its prefix is none of theirs
    text = "# /// cap\n# ///\n" + BODY
    lines = text.split("\n")
    for example in prompt(text).examples:
        assert lines[example.line - 1] == f"# {example.instruction}."


def split(text: str, prefix: str = "") -> list[tuple[str, str, str, bool]]:
    return [
        (example.instruction, example.code, example.context, example.follows)
        for example in split_examples(text, prefix)
    ]


SPLITS = table(__file__, "prompt: splits")


@pytest.mark.parametrize(("text", "expected"), SPLITS.values(), ids=SPLITS)
def test_text_is_split_into_examples(text: str, expected: list[list[str | bool]]) -> None:
    assert [list(example) for example in split(text)] == expected


# --- rendering


def test_a_request_shows_earlier_turns_with_their_failures() -> None:
    turns = [PastTurn("go", "x()\n", "objects = ['a']"), PastTurn("stop", "y()", note="it\nfailed")]
    text = prompt().render("again", history=turns)
    assert text.endswith(
        "\n\nobjects = ['a']\n# go.\nx()\n\n# stop.\ny()\n#! it failed\n\n# again.\n"
    )


def test_the_prefix_stands_in_the_comment() -> None:
    loaded = parse('# /// cap\n# prefix = "define function: "\n# ///\nx = 1\n', "f")
    assert loaded.render("f(1)") == "x = 1\n\n# define function: f(1).\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("put it there", "# put it there."),
        ("put it there.", "# put it there."),
        ("is it there?", "# is it there?"),
        ("stop!", "# stop!"),
        ("  two\t words \n", "# two words."),
    ],
)
def test_an_instruction_ends_with_one_mark(words: str, line: str) -> None:
    assert comment(words) == line


@FIXED
@given(st.text(max_size=40))
def test_no_instruction_leaves_the_comment_line(words: str) -> None:
    text = prompt("x = 1\n").render(words, "objects = []")
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse("x = 1\nobjects = []"))
    assert len(text.splitlines()) == 4


@pytest.mark.parametrize(
    "words",
    [
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\U0001f44b\U0001f3fd \U0001f469\u200d\U0001f692 \u2764\ufe0f",
        "na\u0308he",
    ],
)
def test_every_language_and_emoji_pass_intact(words: str) -> None:
    assert one_line(words) == words


# --- context

LITERALS = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
        st.binary(max_size=4),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=5), inner, max_size=3),
    ),
    max_leaves=8,
)


@FIXED
@given(st.dictionaries(st.sampled_from(["objects", "pos", "\u540d"]), LITERALS, max_size=3))
def test_context_is_read_back_as_it_was(facts: dict[str, Any]) -> None:
    text = Context.of(facts).text
    assert Context.read(text).facts == facts
    assert len(text.splitlines()) == len(facts)


NUMPY = {
    "a name": (np.str_("it's"), "it's"),
    "a number": (np.float64(0.5), 0.5),
    "a truth": (np.bool_(True), True),
    "a position": (np.array([0.1, 0.2]), [0.1, 0.2]),
    "names": ([np.str_("a"), "b"], ["a", "b"]),
    "a table": ({np.str_("a"): (np.int64(1), None)}, {"a": (1, None)}),
}


@pytest.mark.parametrize(("value", "expected"), NUMPY.values(), ids=NUMPY)
def test_numpy_values_enter_the_context_as_literals(value: Any, expected: Any) -> None:
    text = Context.of({"fact": value}).text
    assert "np." not in text
    assert Context.read(text).facts == {"fact": expected}


@pytest.mark.parametrize("value", [float("inf"), [Point(1, 2)], {"a": range(3)}], ids=repr)
def test_a_value_that_is_no_literal_does_not_enter_the_context(value: Any) -> None:
    with pytest.raises(PromptError, match=r"the context 'fact' holds .*; give numbers, words"):
        Context.of({"fact": value})


@FIXED
@given(st.text(max_size=20), st.text(max_size=20))
def test_no_earlier_turn_leaves_its_comment_lines(words: str, note: str) -> None:
    turns = [PastTurn(words, "y = 2", note=note)]
    text = prompt("x = 1\n").render("again", history=turns)
    assert ast.unparse(ast.parse(text)) == "x = 1\ny = 2"


NOT_LITERAL = {
    **table(__file__, "prompt: no literal"),
    "NUL": "x = 1\0",
    "deep": "x = " + "-" * 30_000 + "1",
    "brackets": "x = " + "[" * 5000,
    "surrogate": "x = '\ud800'",
}


@pytest.mark.parametrize("text", NOT_LITERAL.values(), ids=NOT_LITERAL)
def test_a_line_that_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(PromptError, match="scene must be lines of `name = literal`: "):
        Context.read(text, "scene")


PARTED = table(__file__, "prompt: parted")


@pytest.mark.parametrize(("text", "context", "stop"), PARTED.values(), ids=PARTED)
def test_what_parts_the_examples_of_a_file_ends_a_completion(
    text: str, context: list[str], stop: list[str]
) -> None:
    header = f"# /// cap\n# context = {context!r}\n# ///\n".replace("'", '"')
    assert parse(header + text, "p").header.stop == tuple(stop)


STARTS = """
objects = ['red block', 'blue bowl']
# is there a red block.
say('yes')
#= said yes; nothing moved

# put the red block in the blue bowl.
put('red block', 'blue bowl')
#= moved red block to blue bowl

# put the red block back.
undo()
#= moved red block

# build a tower.
build()
#= moved red block

# now cut the red block.
#= moved red block

# cut the red block.
say('I cannot do that')
#= said cannot; nothing moved

objects = ['red block', 'green block', 'blue bowl']
# push the red block.
push('red block')

objects = ['red block', 'green block', 'blue bowl']
# stack all the blocks.
stack()
#= moved green block to red block

# count the blocks.
count()
#= said 2; nothing moved

objects = ['red block', 'white lid']
# lift the lids.
lift()
#= moved white lid

# lift the red block.
lift('red block')
#= moved red block
#? as named before
"""


@pytest.mark.parametrize(
    ("things", "first"),
    [
        (
            ["red block", "blue bowl"],
            [
                "put the red block in the blue bowl",
                "is there a red block",
                "push the red block",
            ],
        ),
        (
            ["red block", "green block", "lid"],
            ["stack all the blocks", "lift the lids", "is there a red block", "push the red block"],
        ),
        (["blue block"], []),
        ([], []),
    ],
)
def test_what_can_be_said_first_needs_no_earlier_line_and_only_what_is_there(
    things: list[str], first: list[str]
) -> None:
    assert first_instructions(split_examples(STARTS), things) == first
