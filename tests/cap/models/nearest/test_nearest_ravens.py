"""The ravens prompts with the offline model, in a small world of exact placements."""

import ast
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from cap.errors import NoMatch
from cap.models.base import Request
from cap.models.nearest import Nearest
from cap.models.nearest.slots import names_in, template
from cap.models.nearest.synonyms import canonical, stated
from cap.prompt.examples import RECALLED, Example
from cap.prompt.prompt import Prompt, kind_error
from cap.robot.registry import robot_prompts
from cap.session.session import Session
from tests.cap.models.nearest.nearest_world import Player, World, defined, play_example, prompt
from tests.cap.models.nearest.sentences import SCENES, Sentence, sentences

NESTED = (
    "parse_obj_name",
    "parse_position",
    "parse_question",
    "parse_traj",
    "transform_shape_pts",
    "transform_traj",
)
COLORS = "blue red green orange yellow purple pink cyan brown gray".split()  # noqa: SIM905


@cache
def outcome(sentence: Sentence) -> str:
    """Return `right`, `wrong` or `declined`.

    Where no program serves, one that fails before anything moves is as good as a refusal.
    """
    world = World(SCENES[sentence.scene])
    player = Player(world)
    before = {name: tuple(xy) for name, xy in world.xy.items()}
    try:
        for turn in sentence.turns:
            before = {name: tuple(xy) for name, xy in world.xy.items()}
            player.tell(turn)
    except (NoMatch, AssertionError, IndexError, NameError) as error:
        if before != {name: tuple(xy) for name, xy in world.xy.items()}:
            return "wrong"
        if sentence.holds is None:
            return "right"
        return "declined" if isinstance(error, NoMatch) else "wrong"
    return "right" if sentence.holds is not None and sentence.right(world) else "wrong"


def words_of(sentence: Sentence) -> str:
    return " / ".join(sentence.turns)


@pytest.mark.sweep(share=0.08)
@pytest.mark.parametrize(
    "sentence", sentences("first", "second", "third", "fourth", "development"), ids=words_of
)
def test_a_sentence_is_right_or_declined(sentence: Sentence) -> None:
    assert outcome(sentence) != "wrong"


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize(
    ("name", "least"),
    [("first", 49), ("second", 63), ("third", 88), ("fourth", 76), ("development", 320)],
)
def test_most_sentences_are_served(name: str, least: int) -> None:
    assert [outcome(sentence) for sentence in sentences(name)].count("right") >= least


@pytest.mark.sweep(share=0.5)
@pytest.mark.parametrize("sentence", sentences("once wrong", "paths"), ids=words_of)
def test_what_once_went_wrong_and_every_path_is_right(sentence: Sentence) -> None:
    assert outcome(sentence) == "right"


def test_a_closed_shape_turns_about_its_middle() -> None:
    scope: dict[str, object] = {"np": np}
    exec(defined("turned = rotate_pts(pts, angle_deg=180)"), scope)
    triangle = np.array([[0, 0], [0.2, 0], [0.1, 0.3], [0, 0]])
    turned = scope["rotate_pts"](triangle, 180)  # type: ignore[operator]
    assert turned == pytest.approx(np.array([0.2, 0.3]) - triangle)


@pytest.mark.parametrize("name", NESTED)
def test_examples_return_what_their_header_says(name: str) -> None:
    used = prompt(name)
    for example in used.examples:
        scope = play_example(used, example, {})
        value = scope[used.header.returns or ""]
        assert value is None or kind_error(value, used.header.kind) is None, example


def usable(prompt: Prompt) -> list[Example]:
    """Return the examples that ask for nothing which only earlier turns tell."""
    return [entry for entry in prompt.examples if RECALLED not in entry.effects]


@pytest.mark.parametrize("robot", ["ravens", "kitchen"])
def test_what_only_earlier_turns_tell_is_not_guessed(robot: str) -> None:
    used = robot_prompts(robot)["ui"]
    (example,) = set(used.examples) - set(usable(used))
    asked = Request(used.render(example.instruction, example.context))
    with pytest.raises(NoMatch):
        Nearest().complete(asked)


@pytest.mark.parametrize("name", [*NESTED, "ui"])
def test_every_example_answers_its_own_instruction(name: str) -> None:
    used = prompt(name)
    for example in usable(used):
        request = used.render(example.instruction, example.context)
        text = Nearest().complete(Request(request)).text
        assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(example.code)), example


@pytest.mark.parametrize("name", [*NESTED, "ui"])
def test_stated_synonyms_leave_the_examples_their_slots(name: str) -> None:
    used = prompt(name)
    for example in usable(used):
        words = canonical(example.instruction, stated(used.text), names_in(example.context))[0]
        before, after = template(example), template(replace(example, instruction=words))
        assert before is not None
        assert after is not None
        assert [s.kind for s in after.slots] == [s.kind for s in before.slots], example


def test_a_chain_is_declined_whole_and_the_part_that_does_not_fit_is_named() -> None:
    world = World(SCENES["usual"])
    with pytest.raises(NoMatch, match="cannot match 'sing', 'song' in 'sing a song'"):
        Player(world).tell("put the red block in the blue bowl, then sing a song")
    assert world.below["red block"] is None


@pytest.mark.parametrize("color", COLORS)
def test_every_colour_moves(color: str) -> None:
    world = World({f"{color} block": (0.1, -0.4), f"{color} bowl": (-0.1, -0.6)})
    Player(world).tell(f"put the {color} block in the {color} bowl")
    assert world.below[f"{color} block"] == f"{color} bowl"


@pytest.mark.parametrize(
    ("words", "dx", "dy"),
    [
        ("to the left of", -1, 0),
        ("to the right of", 1, 0),
        ("above", 0, 1),
        ("below", 0, -1),
        ("behind", 0, 1),
        ("in front of", 0, -1),
        ("a bit to the left of", -1, 0),
        ("a bit to the right of", 1, 0),
        ("a bit above", 0, 1),
        ("a bit below", 0, -1),
        ("a little to the right of", 1, 0),
        ("far to the left of", -1, 0),
        ("far below", 0, -1),
        ("8 cm to the right of", 1, 0),
        ("8 cm above", 0, 1),
    ],
)
def test_every_direction(words: str, dx: int, dy: int) -> None:
    world = World({"red block": (0.2, -0.3), "blue bowl": (0.0, -0.5), "green block": (-0.2, -0.3)})
    Player(world).tell(f"put the red block {words} the blue bowl")
    x, y = world.xy["red block"] - world.xy["blue bowl"]
    along, across = x * dx + y * dy, x * dy - y * dx
    assert 0.07 < along < 0.26
    assert abs(across) < 1e-9


@pytest.mark.parametrize(
    ("which", "index"),
    [
        ("leftmost", 0),
        ("rightmost", -1),
        ("first {} from the left", 0),
        ("third {} from the left", 2),
        ("second {} from the right", -2),
        ("third {} from the right", -3),
    ],
)
@pytest.mark.parametrize("kind", ["block", "bowl"])
def test_every_ordinal(which: str, index: int, kind: str) -> None:
    names = [f"{color} {kind}" for color in ("pink", "cyan", "gray", "brown")]
    world = World({name: (-0.2 + 0.12 * i, -0.3 - 0.1 * i) for i, name in enumerate(names)})
    words = f"the {which.format(kind)}" if "{" in which else f"the {which} {kind}"
    assert Player(world).nested("parse_obj_name", words) == names[index]


def test_undo_of_a_stack_puts_every_block_back() -> None:
    start = {"red block": (0.1, -0.4), "pink block": (-0.1, -0.6), "gray block": (0.2, -0.7)}
    player = Player(World(start))
    player.tell("stack all the blocks")
    assert player.world.below["gray block"] == "pink block"
    player.tell("undo that")
    assert {name: tuple(xy) for name, xy in player.world.xy.items()} == start


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(("count", "degrees"), [(4, 90), (5, 72), (6, 60)])
def test_a_set_can_take_its_own_members_places(count: int, degrees: int) -> None:
    names = [f"{color} block" for color in ("red", "green", "blue", "yellow", "purple", "orange")]
    with Session.open("ravens", mode="instant", seed=0, objects=names[:count]) as session:
        assert session.run("put the blocks in a circle").ok
        before = session.robot.positions()
        turn = session.run(f"rotate the circle by {degrees} degrees")
        assert turn.failure is None
        after = session.robot.positions()
    assert sorted(turn.moved) == sorted(names[:count])
    for place in after.values():
        assert min(math.dist(place, other) for other in before.values()) < 0.01


def test_a_swap_can_be_undone() -> None:
    with Session.open("ravens", mode="instant", seed=0) as session:
        begin = session.robot.positions()
        assert session.run("swap the red block and the blue block").ok
        assert session.run("undo that").ok
        now = session.robot.positions()
    assert all(math.dist(now[name], begin[name]) < 0.005 for name in begin)
