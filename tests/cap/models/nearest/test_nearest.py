import ast
import contextlib
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cap.errors import NoMatch
from cap.models.base import Request
from cap.models.nearest import Nearest
from cap.models.nearest.synonyms import canonical, stated
from cap.models.nearest.words import in_digits, plain, singular, stem, tokenise
from cap.prompt.prompt import PastTurn, parse, split_examples

GARDEN = """
from garden import water, plant, heights

plants = ['tall rose', 'small fern', 'old oak']
# water the tall rose.
water(find('the tall rose'), seconds=5)

# water the small fern for 10 seconds.
water(find('the small fern'), seconds=10)

# sprinkle the old oak for 20 seconds.
water(find('the old oak'), seconds=20)

# prune the old oak.
prune('old oak')

# plant three ferns 25 cm apart.
plant(count=3, kind='fern', gap_m=0.25)

# trim everything.
for name in plants:
    trim(name)

# turn the small fern to the north.
turn('small fern', direction=[0, 1])

# turn the old oak to the south.
turn('old oak', direction=[0, -1])

# lean the tall rose slightly to the north.
lean('tall rose', 0.1, direction=[0, 1])

# the second plant from the gate.
ret_val = sorted(plants, key=distance)[1]

# the second plant from the fence.
ret_val = sorted(plants, key=distance)[-2]

# mow the lawn.
mow()
"""
PLANTS = "plants = ['white lily', 'red tulip', 'young birch', 'old oak']"


def answer(instruction: str, text: str = GARDEN, context: str = PLANTS, **rest: object) -> str:
    rendered = parse(text, name="garden").render(instruction, context, **rest)  # type: ignore[arg-type]
    return Nearest().complete(Request(rendered)).text


def same(first: str, second: str) -> bool:
    return ast.dump(ast.parse(first)) == ast.dump(ast.parse(second))


@pytest.mark.parametrize(
    ("instruction", "code"),
    [
        ("mow the lawn", "mow()"),
        ("please mow the lawn", "mow()"),
        ("water the white lily", "water(find('the white lily'), seconds=5)"),
        ("water the red tulip for 30 seconds", "water(find('the red tulip'), seconds=30)"),
        ("prune the young birch", "prune('young birch')"),
        ("prune the birch", "prune('young birch')"),
        ("plant five tulips 40 cm apart", "plant(count=5, kind='tulip', gap_m=0.4)"),
        ("plant 5 lilies 4 mm apart", "plant(count=5, kind='lily', gap_m=0.004)"),
        ("plant two ferns 1.5 m apart", None),
        ("the third plant from the gate", "ret_val = sorted(plants, key=distance)[2]"),
        ("the third plant from the fence", "ret_val = sorted(plants, key=distance)[-3]"),
        ("the 4th plant from the gate", "ret_val = sorted(plants, key=distance)[3]"),
    ],
)
def test_rebinds_what_differs(instruction: str, code: str | None) -> None:
    if code is None:  # no fern grows here
        with pytest.raises(NoMatch):
            answer(instruction)
    else:
        assert same(answer(instruction), code)


def test_exact_example_keeps_its_own_text() -> None:
    assert answer("trim everything") == "for name in plants:\n    trim(name)"


def test_a_direction_is_a_slot() -> None:
    text = """
plants = ['oak', 'rose']
# plant an ivy 5 cm to the left of the oak.
plant('ivy', get_pos('oak') + 0.05 * np.array([-1, 0]))
"""
    for words, vector in (("to the right of", [1, 0]), ("below", [0, -1]), ("behind", [0, 1])):
        code = answer(f"plant an ivy 8 cm {words} the rose", text, "plants = ['oak', 'rose']")
        assert same(code, f"plant('ivy', get_pos('rose') + 0.08 * np.array({vector}))")


@pytest.mark.parametrize(
    "instruction",
    [
        "burn the old oak",
        "sing a song",
        "do not water the white lily",
        "never prune the old oak",
        "turn the old oak to the east",
        "prune the cactus",
        "water it",
        "water the white lily for 10 seconds if it is dry",
        "water",
        "!!!",
    ],
)
def test_declines_what_no_example_shows(instruction: str) -> None:
    with pytest.raises(NoMatch):
        answer(instruction)


def test_a_refusal_names_the_word_and_three_sentences_it_follows_in_this_scene() -> None:
    with pytest.raises(NoMatch, match=r"cannot match 'burn' in 'burn the old oak'; .* -m") as info:
        answer("burn the old oak")
    offers = re.findall(r"'([^']*)'", str(info.value))[2:]
    assert len(offers) == 3
    for offer in offers:
        ast.parse(answer(offer))
        assert not {"rose", "fern"} & set(offer.split())  # which do not grow here


def test_name_that_could_mean_two_things_is_declined() -> None:
    with pytest.raises(NoMatch):
        answer("prune the oak", context="plants = ['old oak', 'young oak']")


def test_scene_decides_which_names_exist() -> None:
    assert same(answer("prune the elm", context="plants = ['elm', 'ivy']"), "prune('elm')")
    with pytest.raises(NoMatch):
        answer("prune the elm")


def test_earlier_turns_do_not_change_the_answer() -> None:
    turns = [
        PastTurn("prune the red tulip", "prune('red tulip')", PLANTS),
        PastTurn("water the lily", "", PLANTS, note="failed: NoMatch"),
        PastTurn("what happened", "this is not python", PLANTS),
    ]
    assert same(answer("prune the young birch", history=turns), "prune('young birch')")


def test_an_instruction_cannot_break_out_of_its_string() -> None:
    code = answer("water the white lily'); prune('")
    assert [node.func.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)] == [  # type: ignore[attr-defined]
        "water",
        "find",
    ]


def test_same_prompt_same_answer_in_another_process() -> None:
    script = (
        "from tests.cap.models.nearest import test_nearest as t;"
        "print(t.answer('turn the red tulip to the south'))"
    )
    root = __file__.rsplit("/tests/", 1)[0]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=root,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {answer("turn the red tulip to the south") + "\n"}


def test_a_very_long_instruction_is_declined_at_once() -> None:
    with pytest.raises(NoMatch, match="60 words"):
        answer("water the white lily " * 200)


def test_no_example_is_spliced_with_another() -> None:
    """'erase both' to 'erase it' is not all that 'make both bigger' to 'make it bigger' is."""
    drawing = """
# make both bigger.
shapes = shapes[:-2] + [grown('make it bigger', pts) for pts in shapes[-2:]]

# erase both.
shapes = shapes[:-2]

# erase it.
shapes = shapes[:-1]

# make it bigger.
shapes = shapes[:-1] + [grown('make it bigger', shapes[-1])]
"""
    wanted = "shapes = shapes[:-1] + [grown('make it bigger', shapes[-1])]"
    assert same(answer("make it bigger", drawing, ""), wanted)


@settings(derandomize=True, max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from([*GARDEN.split(), *PLANTS.split(), "\\", "{0}", "é", "#", '"']), max_size=9
    )
)
def test_any_words_give_python_or_a_refusal(words: list[str]) -> None:
    with contextlib.suppress(NoMatch):
        ast.parse(answer(" ".join(words)))


def test_prompt_without_examples_is_declined() -> None:
    with pytest.raises(NoMatch, match="no examples"):
        Nearest().complete(Request("import numpy as np\n\n# move.\n"))


DEFINE = """
# define function: total = get_total(xs=numbers).
def get_total(xs):
    return sum(xs)

# define function: y = eval_line(x, slope=2, offset=1).
def eval_line(x, slope, offset=0.0):
    return slope * x + offset
"""


def define(call: str) -> str:
    return Nearest().complete(Request(DEFINE + f"\n# define function: {call}.\n")).text


@pytest.mark.parametrize(
    ("call", "arguments", "value"),
    [
        ("total = get_total(xs=numbers)", {"xs": [1, 2]}, 3),
        ("t = compute_total(values=[4, 5])", {"values": [4, 5]}, 9),
        ("y = eval_line(x=1, slope=3)", {"x": 1, "slope": 3}, 3),
        ("y = eval_line(x=1, gradient=3, offset=2)", {"x": 1, "gradient": 3, "offset": 2}, 5),
    ],
)
def test_definition_takes_the_names_of_the_call(
    call: str, arguments: dict[str, object], value: float
) -> None:
    scope: dict[str, object] = {}
    exec(define(call), scope)
    function = scope[call.split(" = ")[1].split("(")[0]]
    assert function(**arguments) == value  # type: ignore[operator]


@pytest.mark.parametrize(
    "call", ["x = get_average(xs=a)", "y = eval_line(x)", "get_total(a, b)", "y = get_total(*xs)"]
)
def test_definition_that_does_not_fit_is_declined(call: str) -> None:
    with pytest.raises(NoMatch):
        define(call)


@pytest.mark.parametrize(
    ("instruction", "code"),
    [
        ("prune the white lily and the old oak", "prune('white lily')\nprune('old oak')"),
        ("prune the oak, then mow the lawn", "prune('old oak')\nmow()"),
        ("First mow the lawn. After that, prune the oak!", "mow()\nprune('old oak')"),
        (
            "mow the lawn; trim everything and mow the lawn",
            "mow()\nfor name in plants:\n    trim(name)\nmow()",
        ),
        (
            "prune the white lily, then the red tulip",
            "prune('white lily')\nprune('red tulip')",
        ),
        (
            "turn the lily to the north and the tulip to the south",
            "turn('white lily', direction=[0, 1])\nturn('red tulip', direction=[0, -1])",
        ),
    ],
)
def test_a_chain_is_answered_part_by_part(instruction: str, code: str) -> None:
    assert same(answer(instruction), code)


@pytest.mark.parametrize(
    "instruction",
    [
        "mow the lawn and burn the old oak",
        "burn the old oak and mow the lawn",
        "mow the lawn, then do not prune the old oak",
        "prune the old oak, then water the cactus",
    ],
)
def test_a_chain_with_a_part_that_does_not_fit_is_declined(instruction: str) -> None:
    with pytest.raises(NoMatch):
        answer(instruction)


def test_a_prompt_that_returns_a_value_is_answered_once() -> None:
    text = """
plants = ['oak', 'rose']
# the oak.
found = 'oak'

# the oak and the rose.
found = ['oak', 'rose']
"""
    context = "plants = ['elm', 'ivy']"
    assert same(answer("the elm and the ivy", text, context), "found = ['elm', 'ivy']")
    with pytest.raises(NoMatch):
        answer("the elm, then the ivy", text, context)


def test_an_index_inside_a_key_is_no_ordinal() -> None:
    text = """
plants = ['oak', 'rose']
# the second plant from the top.
ret_val = sorted(plants, key=lambda name: get_pos(name)[1])[1]
"""
    code = "ret_val = sorted(plants, key=lambda name: get_pos(name)[1])[3]"
    assert same(answer("the fourth plant from the top", text), code)


def test_words_that_change_the_code_are_no_synonyms() -> None:
    text = """
plants = ['oak', 'rose']
# put the oak on the rose.
put('oak', 'rose')

# stack the oak on the rose.
put('oak', 'rose')

# stack the oak.
stack('oak')

# put the oak.
plant('oak')
"""
    context = "plants = ['elm', 'ivy']"
    assert same(answer("put the elm", text, context), "plant('elm')")
    assert same(answer("stack the elm", text, context), "stack('elm')")


def test_a_count_below_zero_is_declined() -> None:
    with pytest.raises(NoMatch):
        answer("plant -3 tulips 25 cm apart")


def test_it_is_never_asked_to_repair() -> None:
    assert Nearest.repairs is False


@pytest.mark.parametrize(
    ("said", "digits"),
    [
        ("-5 cm", "-5 cm"),
        ("minus five cm", "-5 cm"),
        ("− 5 cm or −5cm", "− 5 cm or -5 cm"),
        ("+3 cm", "3 cm"),
        ("half a meter", "0.5 meter"),
        ("a quarter of a metre", "0.25 metre"),
        ("two and a half inches", "2.5 inches"),
        ("an inch", "1 inch"),
        ("twenty-five mm", "25 mm"),
        ("forty degrees", "40 degrees"),
        ("a hundred blocks", "100 blocks"),
        ("a couple of blocks", "2 blocks"),
        ("one block", "one block"),
        ("a block", "a block"),
        ("45deg", "45 deg"),
    ],
)
def test_numbers_in_words_become_digits(said: str, digits: str) -> None:
    assert in_digits(said) == digits


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("-5 cm", [-0.05]),
        (".5 m", [0.5]),
        ("5-10", [5.0, 10.0]),
        ("30 mm, 2 inches", [0.03, 0.0508]),
        ("nineteen", [19.0]),
        ("-45 degrees", [-45.0]),
    ],
)
def test_signs_and_decimals_stay_with_their_number(said: str, values: list[float]) -> None:
    found = [token.value for token in tokenise(said)]
    assert found == pytest.approx(values)


def test_numbers_keep_their_unit() -> None:
    kinds = [
        (t.kind, t.value) for t in tokenise("second, 3rd 5cm 2 inches 90 degrees twelve 0.5 m")
    ]
    assert kinds == [
        ("ordinal", 2),
        ("ordinal", 3),
        ("length", 0.05),
        ("length", 0.0508),
        ("angle", 90),
        ("cardinal", 12),
        ("length", 0.5),
    ]


@pytest.mark.parametrize(
    ("plural", "one"),
    [("blocks", "block"), ("boxes", "box"), ("berries", "berry"), ("glass", "glass"), ("is", "is")],
)
def test_singular(plural: str, one: str) -> None:
    assert singular(plural) == one


def test_spelling_variants_have_one_stem() -> None:
    assert stem("colours") == stem("color")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Hey robot, could you please mow the lawn, thanks!", "mow the lawn"),
        ("I'd like you to mow the lawn for me.", "mow the lawn"),
        ("would you mind mowing the lawn?", "mow the lawn"),
        ("would you mind pruning the oak?", "prune the oak"),
        ("how about cutting the oak", "cut the oak"),
        ("ok now just mow the top-left lawn", "mow the top left lawn"),
        ("can you tell me where the oak is", "where the oak is ?"),
        ("what's old", "what is old ?"),
        ("plant it half a cm or 5cm deep", "plant it 0.5 cm or 5 cm deep"),
        ("the red rose or the white one", "the red rose or the white rose"),
        ("take the red rose and that one", "take the red rose and that one"),
        ("don't mow the lawn", "do not mow the lawn"),
        ("please", "please"),
        ("gently mow the lawn one by one", "mow the lawn"),
        ("I changed my mind, mow the lawn", "mow the lawn"),
        ("use the arm to mow the lawn", "mow the lawn"),
        ("water the red one by -5 cm", "water the red one by -5 cm"),
        ("water the old one", "water the old rose"),
    ],
)
def test_politeness_and_spelling_are_taken_off(said: str, words: str) -> None:
    assert plain(said, vocabulary={"mow", "prune", "cut"}, names={"old rose"}) == words


SYNONYMS = """
#: rose = flower, blossom
#: the left side = the left, the far left
#: take = grab, pick up
#: water X = give water to X, X needs water
#: move X N up. = move X up by N
#: undo that. = go back
"""


@pytest.mark.parametrize(
    ("said", "words", "rewritten"),
    [
        ("water the flowers", "water the roses", 1),
        ("the left side", "the left side", 0),
        ("to the far left", "to the left side", 1),
        ("pick up the blossom", "take the rose", 2),
        ("give water to the oak", "water the oak", 1),
        ("the oak needs water", "water the oak", 1),
        ("which oak needs water", "which oak needs water ?", 0),
        ("move it up by 5 cm", "move it 5 cm up", 1),
        ("move it up by five feet", "move it up by five feet", 0),
        ("go back", "undo that", 1),
        ("go back to the oak", "go back to the oak", 0),
    ],
)
def test_stated_synonyms_become_the_words_of_the_examples(
    said: str, words: str, rewritten: int
) -> None:
    found = canonical(said, stated(SYNONYMS), ())
    assert found == (words, rewritten)


def test_words_of_the_scene_are_not_rewritten() -> None:
    assert canonical("take the flower", stated(SYNONYMS), ("red flower",))[0] == "take the flower"


def test_synonym_lines_are_no_examples_and_stand_above_them() -> None:
    text = GARDEN.replace("plants = [", SYNONYMS + "\nplants = [", 1) + "\n#: oak = elm\n"
    assert stated(text) == stated(SYNONYMS)
    told = [(entry.instruction, entry.context) for entry in split_examples(text)]
    assert told == [(entry.instruction, entry.context) for entry in split_examples(GARDEN)]


def test_a_prompt_is_answered_in_its_stated_synonyms() -> None:
    text = GARDEN.replace("plants = [", "#: prune = cut back, clip\n\nplants = [", 1)
    assert same(answer("would you clip the young birch, please?", text), "prune('young birch')")
    with pytest.raises(NoMatch, match="'clip'"):
        answer("clip the young birch")


def test_an_absent_thing_is_asked_for_by_a_word_some_example_knows() -> None:
    text = """
plants = ['red rose', 'white lily']
# is there a white lily?
ret_val = any('white' in name and 'lily' in name for name in plants)

# is there a blue lily?
ret_val = any('blue' in name and 'lily' in name for name in plants)

plants = ['pink lily']
# mow.
mow()
"""
    code = "ret_val = any('pink' in name and 'lily' in name for name in plants)"
    assert same(answer("is there a pink lily", text), code)
    with pytest.raises(NoMatch):
        answer("is there a big lily", text)
