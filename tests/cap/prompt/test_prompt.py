import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry import Point

from cap.errors import PromptError
from cap.prompt.context import Context
from cap.prompt.examples import first_instructions, without_synonyms
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
    turn_tokens,
    within,
)
from cap.prompt.released import infer, is_title, prefix_of
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


# --- history within a token budget

CODE = "put_first_on_second('red block', 'blue bowl')\n" * 4


def turns(count: int, note: str = "") -> list[PastTurn]:
    return [PastTurn(f"instruction {n}", CODE, "objects = ['a']", note) for n in range(count)]


def total(history: tuple[PastTurn, ...]) -> int:
    return sum(map(turn_tokens, history))


def test_the_oldest_leave_whole_and_one_line_says_how_many() -> None:
    given = turns(10)
    budget = total(tuple(given)) - 1
    first, *kept = within(given, budget)
    assert kept == given[first.left_out :]
    assert first.note == f"{first.left_out} earlier instructions are left out here"
    assert 0.5 * budget < total(tuple(kept)) <= 0.75 * budget
    text = parse("from robot import say\n", "ui").render("x", "", [first, *kept])
    assert f"\n\n#! {first.note}\n\nobjects = ['a']\n# instruction {first.left_out}.\n" in text


@pytest.mark.parametrize("budget", [0, 1, 10, 100])
def test_the_last_turns_keep_their_programs_whatever_their_length(budget: int) -> None:
    assert within(turns(8), budget)[1:] == tuple(turns(8)[-3:])
    long = [PastTurn("a", CODE * 100), PastTurn("b", CODE)]
    assert within(long, budget) == tuple(long)


def test_one_pasted_page_pushes_nothing_out() -> None:
    given = [*turns(5), PastTurn("w " * 8_000, CODE), *turns(2)]
    kept = within(given, 1200)
    assert len(kept) == 8
    assert kept[5].instruction.endswith(" ... (cut here)")
    assert len(kept[5].instruction) < 1_100


def test_the_prompt_up_to_the_newest_turn_changes_only_when_something_is_dropped() -> None:
    prompt = parse("from robot import say\n", "ui")
    history: tuple[PastTurn, ...] = ()
    before, changes = prompt.render("x", "", history).removesuffix("# x.\n"), 0
    for turn in turns(60):
        history = within((*history, turn), 1200)
        now = prompt.render("x", "", history).removesuffix("# x.\n")
        changes += not now.startswith(before)
        before = now
    assert 1 <= changes <= 15


# --- prompt files without a header, in the form of the original release

BARE = Path(__file__).parents[2] / "prompts" / "bare"


def bare(text: str) -> Prompt:
    return parse(text, "p", infer=True)


HEADERS = {
    "tray_ui.py": Header(
        context=("objects",), session=True, actions=True, stop=("\n# ", "\nobjects = [")
    ),
    "parse_obj_name.py": Header(
        returns="ret_val", context=("objects",), stop=("\n# ", "\nobjects = [")
    ),
    "parse_position.py": Header(returns="ret_val", stop=("\n# ",)),
    "parse_question.txt": Header(
        returns="ret_val", context=("objects",), stop=("\n# ", "\nobjects = [", "\nplaces = {")
    ),
    "transform_shape_pts.py": Header(returns="new_shape_pts", stop=("\n# ",)),
    "fgen.py": Header(prefix="define function: ", stop=("\n# ",)),
}


@pytest.mark.parametrize("name", HEADERS)
def test_what_a_header_would_say_is_read_off_the_examples(name: str) -> None:
    assert load(BARE / name).header == HEADERS[name]


@pytest.mark.parametrize("name", HEADERS)
def test_every_character_reaches_the_model(name: str) -> None:
    text = (BARE / name).read_text(encoding="utf-8")
    loaded = load(BARE / name)
    assert loaded.text == text.strip("\n") + "\n"
    assert loaded.render("x").startswith(without_synonyms(text).strip("\n"))


@pytest.mark.parametrize("name", HEADERS)
def test_what_was_inferred_is_a_header_that_says_the_same(name: str) -> None:
    loaded = load(BARE / name)
    header = "".join(f"# {line}\n" for line in ("/// cap", *loaded.inferred, "///"))
    assert parse(header + loaded.text, name).header == loaded.header


def test_examples_follow_each_other_without_blank_lines() -> None:
    examples = load(BARE / "parse_obj_name.py").examples
    assert [example.instruction for example in examples] == [
        *(
            "the tan bowl",
            "the blocks",
            "the block nearest the tan bowl",
            "the thing further right",
        ),
    ]
    assert examples[1].code == "ret_val = ['pink block', 'gray block', 'tan block']"
    assert examples[2].context.startswith("objects = ['pink block'")
    assert examples[3].context == "objects = ['cup', 'plate']"
    assert [example.follows for example in examples] == [False, True, False, False]


def test_a_title_above_the_imports_is_no_example() -> None:
    assert (
        load(BARE / "tray_ui.py").examples[0].instruction == "drop the pink block in the tan bowl"
    )
    assert is_title("import numpy as np\n\nfrom a import b")
    assert not is_title("")
    assert not is_title("import numpy as np\nx = 1")


def test_examples_of_use_are_no_part_of_a_function() -> None:
    second = load(BARE / "fgen.py").examples[1]
    assert second.code == "def step_left(pos, by):\n    return pos + [-by, 0]"


VARIANTS = table(__file__, "headerless: variants")


@pytest.mark.parametrize("text", VARIANTS.values(), ids=VARIANTS)
def test_variants_of_the_form_are_read(text: str) -> None:
    loaded = bare(text)
    assert (loaded.header.returns, loaded.header.context) == ("ret_val", ("objects",))
    (example, *_) = [entry for entry in loaded.examples if entry.code]
    assert (example.instruction, example.code) == ("b", "ret_val = 'a'")
    assert example.context == "objects = ['a']"


RETURNS = table(__file__, "headerless: returns")


@pytest.mark.parametrize(("codes", "returns"), RETURNS.values(), ids=RETURNS)
def test_what_is_returned_is_what_nearly_all_set_last(
    codes: list[str], returns: str | None
) -> None:
    examples = [Example("", code, "", 1, False) for code in codes]
    assert infer(examples, "")["returns"] == returns


def test_a_prompt_for_functions_is_known_by_its_comments() -> None:
    assert prefix_of("# define function: f().\n# example: a.") == "define function: "
    assert prefix_of("# a function: f().\nx = 1") == ""


def test_a_call_that_is_commented_out_is_no_instruction() -> None:
    loaded = bare("objects = ['a']\n# put it.\n# put('a')\n# x = put('a', 'b')\nsay('yes')\n")
    (example,) = loaded.examples
    assert example.instruction == "put it"
    assert example.code.endswith("say('yes')")
