"""The judge: every word of an expectation accepts what it should and rejects what it should not."""

import math
from typing import Any

import pytest

from benchmarks.tabletop.judge import PLACES, Positions, judge
from tests.rows import rows, table

SCENE: Positions = {
    "red block": (-0.2, -0.4, 0.02),
    "blue block": (0.1, -0.6, 0.02),
    "green block": (0.0, -0.3, 0.02),
    "red bowl": (0.2, -0.35, 0.01),
    "blue bowl": (-0.1, -0.65, 0.01),
}
BLOCKS = ["red block", "blue block", "green block"]


def world(**moved: tuple[float, float, float]) -> Positions:
    """Return the scene with objects moved; `red_block=(x, y, z)`."""
    return {**SCENE, **{name.replace("_", " "): where for name, where in moved.items()}}


def ring(radius: float, centre: tuple[float, float], *degrees: float) -> Positions:
    """Return the scene with the blocks at these angles of a circle."""
    points = [
        (
            centre[0] + radius * math.cos(math.radians(angle)),
            centre[1] + radius * math.sin(math.radians(angle)),
            0.02,
        )
        for angle in degrees
    ]
    return {**SCENE, **dict(zip(BLOCKS, points, strict=True))}


def at(place: str, z: float = 0.02) -> tuple[float, float, float]:
    return (*PLACES[place], z)


CORNERS = world(
    red_block=at("top left corner"),
    blue_block=at("bottom left corner"),
    green_block=at("top right corner"),
)
PLACE = {"place": [["red block", "top side"]]}
ROW = {"line": {"names": BLOCKS, "axis": "x"}}
MOVED_ONLY = {"moved_only": ["red block"]}

ACCEPTED = list(table(__file__, "judge: accepted").values())
REJECTED = list(table(__file__, "judge: rejected").values())


@pytest.mark.parametrize(("expect", "after"), ACCEPTED)
def test_accepts(expect: dict[str, Any], after: Positions) -> None:
    assert judge(expect, SCENE, after, ()) is None


@rows(("expect", "after"), REJECTED)
def test_rejects(expect: dict[str, Any], after: Positions) -> None:
    assert judge(expect, SCENE, after, ())


@pytest.mark.parametrize(
    ("selector", "chosen"),
    table(__file__, "judge: a_selector_means_one_block").values(),
)
def test_a_selector_means_one_block(selector: dict[str, Any], chosen: str) -> None:
    for name in BLOCKS:
        after = {**SCENE, name: (0.25, -0.75, 0.02)}
        reason = judge({"place": [[selector, "bottom right corner"]]}, SCENE, after, ())
        assert (reason is None) == (name == chosen)


@pytest.mark.parametrize("axis", ["any", "diagonal", "x"])
@pytest.mark.parametrize("size", [0.05, 0.057, 0.1])
def test_a_corner_is_no_line_however_small(axis: str, size: float) -> None:
    spots = {"blue": (0, 0), "green": (size, 0), "red": (size, size)}
    after = world(**{f"{name}_block": (x, y - 0.5, 0.02) for name, (x, y) in spots.items()})
    assert judge({"line": {"names": BLOCKS, "axis": axis}}, SCENE, after, ())


@pytest.mark.parametrize("off", [-0.005, 0.0, 0.005])
def test_a_short_line_may_be_off_by_what_an_arm_is_off(off: float) -> None:
    after = world(
        red_block=(0.0, -0.5, 0.02), blue_block=(0.05, -0.5 + off, 0.02), green_block=(0.1, -0.5, 0)
    )
    assert judge(ROW, SCENE, after, ()) is None


def test_a_selector_is_resolved_before_anything_moves() -> None:
    after = world(red_block=(0.25, -0.75, 0.02))
    leftmost = {"ordinal": ["block", "left", 1]}
    assert judge({"place": [[leftmost, "bottom right corner"]]}, SCENE, after, ()) is None


@pytest.mark.parametrize(
    ("selector", "corner"),
    [
        ({"closest": ["corner", "red bowl"]}, "top right corner"),
        ({"farthest": ["corner", "red bowl"]}, "bottom left corner"),
        ({"closest": ["side", "red block"]}, "left side"),
    ],
)
def test_a_selector_means_one_place(selector: dict[str, Any], corner: str) -> None:
    for place in PLACES:
        after = world(green_block=at(place))
        reason = judge({"place": [["green block", selector]]}, SCENE, after, ())
        assert (reason is None) == (place == corner)


FOUR = {"said": r"\b(4|four)\b"}
NEAREST = {"said": {"closest": ["block", "blue bowl"]}}
SECOND = {"said": {"ordinal": ["block", "left", 2]}}
IS_LEFT = {"answer": ["red block", "left", "blue block"]}
IS_RIGHT = {"answer": ["red block", "right", "blue block"]}


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        (FOUR, "There are FOUR blocks."),
        (NEAREST, "the blue block"),
        (NEAREST, "Blue"),
        (SECOND, "It is the green one."),
        ({"answer": True}, "Yes, there is."),
        ({"answer": True}, "True"),
        ({"answer": True}, "there is a red bowl"),
        ({"answer": False}, "No."),
        ({"answer": False}, "there isn't any"),
        ({"answer": False}, "I don’t see one"),
        ({"answer": False}, "False"),
        (IS_LEFT, "yes"),
        (IS_RIGHT, "no, it is not"),
        ({"refused": True}, "Sorry, that is beyond me."),
        ({"refused": True}, "I can't do that"),
    ],
)
def test_accepts_what_was_said(expect: dict[str, Any], said: str) -> None:
    assert judge(expect, SCENE, SCENE, ("something else", said)) is None


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        (FOUR, "14"),
        (NEAREST, "the red block"),
        (NEAREST, "the blue block and the red block"),
        (SECOND, "a block"),
        ({"answer": False}, "yes. no."),
        ({"answer": True}, "yes. no."),
        ({"answer": True}, "No"),
        ({"answer": True}, "hello"),
        ({"answer": False}, "hello"),
        ({"answer": False}, "yes"),
        (IS_LEFT, "no"),
        (IS_RIGHT, "yes"),
        ({"refused": True}, "done"),
    ],
)
def test_rejects_what_was_said(expect: dict[str, Any], said: str) -> None:
    assert judge(expect, SCENE, SCENE, ("no, 4 green, yes, sorry", said))


@pytest.mark.parametrize(
    "expect", [FOUR, NEAREST, {"answer": True}, {"answer": False}, {"refused": True}]
)
def test_silence_answers_nothing(expect: dict[str, Any]) -> None:
    assert judge(expect, SCENE, SCENE, ())


def test_a_refusal_after_moving_is_none() -> None:
    assert judge({"refused": True}, SCENE, world(red_block=(0, -0.5, 0.02)), ("I cannot",))


def test_an_answer_is_about_the_world_when_it_was_asked() -> None:
    assert judge(IS_LEFT, SCENE, world(red_block=(0.25, -0.4, 0.02)), ("yes",)) is None


def test_gray_may_be_spelt_grey() -> None:
    before = {"gray block": (0.0, -0.5, 0.02)}
    expect = {"said": {"ordinal": ["block", "left", 1]}}
    assert judge(expect, before, before, ("the grey one",)) is None


def test_the_colour_of_the_reference_may_be_told() -> None:
    expect = {"said": {"farthest": ["block", "red bowl"]}}
    expect_other = {"said": {"closest": ["block", "red bowl"]}}
    said = ("Seen from the red bowl, it is the green block.",)
    assert judge(expect_other, SCENE, SCENE, said) is None
    assert judge(expect, SCENE, SCENE, said)


MIDDLE = world(red_block=(0.0, -0.5, 0.02))


def test_restored_accepts_the_world_before_the_setup() -> None:
    back = world(red_block=(-0.19, -0.4, 0.02))
    assert judge({"restored": True}, MIDDLE, back, (), undone=SCENE) is None


@pytest.mark.parametrize("after", [MIDDLE, world(red_block=(-0.17, -0.4, 0.02))])
def test_restored_rejects_another_world(after: Positions) -> None:
    reason = judge({"restored": True}, MIDDLE, after, (), undone=SCENE)
    assert reason == "red block is not back"


def test_restored_rejects_a_setup_that_did_nothing() -> None:
    reason = judge({"restored": True}, SCENE, SCENE, (), undone=SCENE)
    assert reason == "nothing to restore: the setup moved nothing"


def test_all_words_must_hold_and_each_gives_its_reason() -> None:
    after = world(red_block=(0.0, -0.25, 0.02), blue_block=(0.0, -0.5, 0.02))
    reason = judge({**PLACE, **MOVED_ONLY, **FOUR}, SCENE, after, ("three",))
    assert reason == r"blue block moved; said 'three', not \b(4|four)\b"


@pytest.mark.parametrize(
    "expect",
    [
        {"floats": True},
        {"on": [["red block", "pink block"]]},
        {"place": [["red block", "blue bowl"]]},
        {"direction": [["red block", "north", "blue bowl", 0, 1]]},
        {"place": [[{"ordinal": ["block", "left", 4]}, "middle"]]},
        {"place": [[{"ordinal": ["block", "left", 0]}, "middle"]]},
        {"place": [[{"biggest": ["block", "red bowl"]}, "middle"]]},
        {"line": {"names": BLOCKS, "axis": "z"}},
        {"restored": True},
        {"stacked": []},
    ],
)
def test_a_malformed_expectation_is_an_error(expect: dict[str, Any]) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        judge(expect, SCENE, SCENE, ())
