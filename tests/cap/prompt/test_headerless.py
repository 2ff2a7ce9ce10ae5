"""Prompt files without a header, in the form of the original release."""

from pathlib import Path

import pytest

from cap.prompt.examples import Example, without_synonyms
from cap.prompt.prompt import Header, Prompt, load, parse
from cap.prompt.released import infer, is_title, prefix_of
from tests.rows import table

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
