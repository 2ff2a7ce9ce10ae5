"""The offline model, at the garden of `garden.txt` and the prompts that ship.

`answers.jsonl` has instructions with the code they get, None for those that are declined; `prompt`
is a prompt's text, or the name of one that ships. `words.jsonl` has texts before and after `plain`
or `canonical`.
"""

import ast
import contextlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cap.errors import NoMatch
from cap.models.base import ModelSettings, Request
from cap.models.nearest.nearest import Nearest
from cap.models.nearest.words import canonical, plain, singular, stated, tokenise
from cap.models.openai.client import Client
from cap.models.openai.model import OpenAIModel
from cap.prompt.examples import RECALLED, split_examples, without_synonyms
from cap.prompt.prompt import PastTurn, parse
from cap.robot.registry import robot_prompts
from tests.fakes.openai_server import FakeServer
from tests.rows import rows

HERE = Path(__file__).parent
GARDEN = (HERE / "garden.txt").read_text(encoding="utf-8")
PLANTS = "plants = ['white lily', 'red tulip', 'young birch', 'old oak']"
SYNONYMS = """
#: rose = flower, blossom
#: the left side = the left, the far left
#: take = grab, pick up
#: water X = give water to X, X needs water
#: move X N up. = move X up by N
#: undo that. = go back
"""


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def answer(instruction: str, text: str = GARDEN, context: str = PLANTS, **rest: Any) -> str:
    robot, _, name = text.partition("/")
    shipped = robot_prompts("ravens").get(name) if robot == "ravens" else None
    prompt = shipped or parse(text, name="garden")
    rendered = prompt.render(instruction, context, **rest)
    return Nearest().complete(Request(rendered, further=prompt.further)).text


def same(first: str, second: str) -> bool:
    return ast.dump(ast.parse(first)) == ast.dump(ast.parse(second))


ANSWERS = read("answers.jsonl")
SHIPPED = [row for row in ANSWERS if row.get("prompt", "").startswith("ravens/")]


@rows("row", [row for row in ANSWERS if row not in SHIPPED], ids=lambda row: row["said"])
def test_an_instruction_gets_its_code_or_is_declined(row: dict[str, Any]) -> None:
    check(row)


@pytest.mark.parametrize("row", SHIPPED, ids=lambda row: row["said"])
def test_shipped_prompts_serve_everyday_words(row: dict[str, Any]) -> None:
    check(row)


def check(row: dict[str, Any]) -> None:
    asked = row["said"], row.get("prompt", GARDEN), row.get("context", PLANTS)
    if row["code"] is None:
        with pytest.raises(NoMatch):
            answer(*asked)
    else:
        assert same(answer(*asked), row["code"])


def test_a_refusal_names_the_word_and_three_sentences_it_follows_in_this_scene() -> None:
    with pytest.raises(NoMatch, match=r"cannot match 'burn' in 'burn the old oak'; .* -m") as info:
        answer("burn the old oak", f"# /// cap\n# session = true\n# ///\n{GARDEN}")
    offers = re.findall(r"'([^']*)'", str(info.value))[2:]
    assert len(offers) == 3
    for offer in offers:
        ast.parse(answer(offer))
        assert not {"rose", "fern"} & set(offer.split())  # which do not grow here


FIND = """
plants = ['tall rose', 'small fern']
# the tall rose.
ret_val = 'tall rose'

# the highest fern.
ret_val = 'small fern'

# two plants.
ret_val = plants[:2]
"""


@rows(
    ("said", "message"),
    [
        ("the tall fern", "there is no 'tall fern' here; objects here: white lily"),
        ("a cactus", "there is no 'cactus' here; objects here: white lily"),
        ("the old oaks", "cannot match 'old', 'oaks' in|no example like 'the old oaks'"),
        ("the white lilly", r"there is no 'white lilly' here; .* Did you mean 'white lily'\?$"),
        ("the shiny lily", "cannot match 'shiny' in 'the shiny lily'; objects here: white lily"),
        ("the highest", "no example like 'the highest'; objects here: white lily"),
        ("near the gate", "'near the gate'; say it in other words or use a language model"),
    ],
)
def test_a_phrase_of_a_program_is_declined_with_what_is_there(said: str, message: str) -> None:
    with pytest.raises(NoMatch, match=message) as info:
        answer(said, FIND)
    assert "it follows" not in str(info.value)


@rows(
    ("said", "message"),
    [
        ("prune teh young birch", r"\. Did you mean 'prune the young birch'\? Say that or"),
        ("pruen the young birch", r"\. Did you mean 'prune the young birch'\? Say that or"),
        ("burn the yougn birch", r"'yougn' \(did you mean 'young'\?\) in"),
        ("prone the old oak", "'prone' in 'prone the old oak'; in this scene it follows"),
        ("prone the red gate", "'prone' in 'prone the red gate'; in this scene it follows"),
    ],
)
def test_a_misspelt_word_is_pointed_out(said: str, message: str) -> None:
    with pytest.raises(NoMatch, match=message):
        answer(said, f"# /// cap\n# session = true\n# ///\n{GARDEN}")


def test_a_chain_is_declined_whole_and_the_part_that_does_not_fit_is_named() -> None:
    with pytest.raises(NoMatch, match="cannot match 'sing', 'song' in 'sing a song'"):
        answer("mow the lawn, then sing a song")


def test_earlier_turns_do_not_change_the_answer() -> None:
    turns = [
        PastTurn("prune the red tulip", "prune('red tulip')", PLANTS),
        PastTurn("water the lily", "", PLANTS, note="failed: NoMatch"),
        PastTurn("what happened", "this is not python", PLANTS),
    ]
    assert same(answer("prune the young birch", history=turns), "prune('young birch')")


def test_an_instruction_cannot_break_out_of_its_string() -> None:
    code = answer("water the white lily'); prune('")
    calls = [node.func for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    assert [ast.unparse(call) for call in calls] == ["water", "find"]


@settings(derandomize=True, max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from([*GARDEN.split(), *PLANTS.split(), "\\", "{0}", "é", "#", '"']), max_size=9
    )
)
def test_any_words_give_python_or_a_refusal(words: list[str]) -> None:
    with contextlib.suppress(NoMatch):
        ast.parse(answer(" ".join(words)))


@pytest.mark.parametrize("name", sorted(robot_prompts("ravens")))
def test_every_example_answers_its_own_instruction(name: str) -> None:
    prompt = robot_prompts("ravens")[name]
    for example in prompt.examples:
        request = Request(prompt.render(example.instruction, example.context))
        if RECALLED in example.effects:  # what only earlier turns tell is not guessed
            with pytest.raises(NoMatch):
                Nearest().complete(request)
        else:
            assert same(Nearest().complete(request).text, example.code), example


DEFINE = """
# define function: total = get_total(xs=numbers).
def get_total(xs):
    return sum(xs) if len(xs) < 2 else xs[0] + get_total(xs[1:])

# define function: y = eval_line(x, slope=2, offset=1).
def eval_line(x, slope, offset=0.0):
    return slope * x + offset
"""


def define(call: str) -> str:
    return Nearest().complete(Request(DEFINE + f"\n# define function: {call}.\n")).text


@rows(
    ("call", "arguments", "value"),
    [
        ("total = get_total(xs=numbers)", {"xs": [1, 2]}, 3),
        ("y = eval_line(x=1, slope=3)", {"x": 1, "slope": 3}, 3),
        ("y = eval_line(1, slope=3, offset=2)", {"x": 1, "slope": 3, "offset": 2}, 5),
    ],
)
def test_a_definition_answers_the_call_of_its_name(
    call: str, arguments: dict[str, object], value: float
) -> None:
    scope: dict[str, Any] = {}
    exec(define(call), scope)
    assert scope[call.split(" = ")[1].split("(")[0]](**arguments) == value


@rows("row", read("words.jsonl"), ids=lambda row: row["said"])
def test_words_become_those_of_the_examples(row: dict[str, Any]) -> None:
    if row["how"] == "canonical":
        assert canonical(row["said"], stated(SYNONYMS), ()) == row["words"]
    else:
        assert plain(row["said"], names={"old rose"}) == row["words"]


@rows(
    ("said", "found"),
    [
        ("-5 cm", [("length", -0.05)]),
        ("5-10", [("cardinal", 5.0), ("cardinal", 10.0)]),
        ("30 mm, 2 inches", [("length", 0.03), ("length", 0.0508)]),
        ("-45 degrees", [("angle", -45.0)]),
        ("second, 3rd 5cm", [("ordinal", 2.0), ("ordinal", 3.0), ("length", 0.05)]),
    ],
)
def test_numbers_keep_their_sign_and_unit(said: str, found: list[tuple[str, float]]) -> None:
    tokens = tokenise(said)
    assert [token.kind for token in tokens] == [kind for kind, _ in found]
    assert [token.value for token in tokens] == pytest.approx([value for _, value in found])


@rows(
    ("words", "one"),
    [
        ("blocks", "block"),
        ("glasses", "glass"),
        ("dishes", "dish"),
        ("berries", "berry"),
        ("cactus", "cactus"),
        ("gas", "gas"),
    ],
)
def test_a_plural_ending_is_taken_off(words: str, one: str) -> None:
    assert singular(words) == one


def test_words_of_the_scene_are_not_rewritten() -> None:
    assert canonical("take the flower", stated(SYNONYMS), ("red flower",)) == "take the flower"


def test_synonym_lines_are_no_examples_and_stand_above_them() -> None:
    text = GARDEN.replace("plants = [", SYNONYMS + "\nplants = [", 1) + "\n#: oak = elm\n"
    assert stated(text) == stated(SYNONYMS)
    found = [(entry.instruction, entry.context) for entry in split_examples(text)]
    assert found == [(entry.instruction, entry.context) for entry in split_examples(GARDEN)]


def test_a_prompt_is_answered_in_its_stated_synonyms() -> None:
    text = GARDEN.replace("plants = [", "#: prune = cut back, clip\n\nplants = [", 1)
    assert same(answer("would you clip the young birch, please?", text), "prune('young birch')")
    with pytest.raises(NoMatch, match="'clip'"):
        answer("clip the young birch")


@pytest.mark.parametrize("mode", ["chat", "completion"])
def test_a_language_model_is_not_sent_synonyms(mode: Any) -> None:
    prompt = "from robot import say\n\n#: greet = welcome\n\n# greet.\nsay('#: hi')\n\n# greet.\n"
    with FakeServer(lambda prompt, body: "say('x')") as server:
        settings = ModelSettings(base_url=server.url, mode=mode)
        model = OpenAIModel("vllm/fake", settings, Client(settings, None, {}, {}))
        model.complete(Request(prompt))
        (seen,) = server.posts
        model.close()
    sent = seen.body["messages"][-1]["content"] if mode == "chat" else seen.body["prompt"]
    assert sent == without_synonyms(prompt)
    assert "greet = welcome" not in sent
    assert "say('#: hi')" in sent
