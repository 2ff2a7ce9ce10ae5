"""Reading answers out of text: fair to form, strict in content."""

from typing import Any

import numpy as np
import pytest

from benchmarks.reasoning.answers import (
    TOLERANCE_M,
    Malformed,
    as_text,
    read_names,
    read_points,
    wrong,
)
from benchmarks.reasoning.questions import ReasoningQuestion
from tests.rows import rows

KNOWN = ["blue block", "red bowl", "gray block"]
ASKED = "the block that is closest to the red bowl"


def question(kind: Any, ordered: bool = False) -> ReasoningQuestion:
    return ReasoningQuestion("q", kind, "?", "", ordered)


@rows(
    ("text", "names"),
    [
        ("blue block", ["blue block"]),
        ("answer = 'blue block'", ["blue block"]),
        ("**Answer:** the blue block.", ["blue block"]),
        ("The answer is the Blue Block and the red bowl.", ["blue block", "red bowl"]),
        ("['red bowl', 'blue block']", ["red bowl", "blue block"]),
        ("- blue block\n- red bowl", ["blue block", "red bowl"]),
        ("In order:\n1. blue block\n2. red bowl\n", ["blue block", "red bowl"]),
        ("Answer:\n(1) blue block,\n(2) red bowl", ["blue block", "red bowl"]),
        ("The red block was here.\n\u2022 blue block\n\u2022 red bowl", ["blue block", "red bowl"]),
        ("Answer \u2013 the red bowl", ["red bowl"]),
        ("answer - red bowl", ["red bowl"]),
        ("So the two objects are the blue block and the red bowl!", ["blue block", "red bowl"]),
        ("The block nearest to the red bowl is the blue block.", ["blue block"]),
        ("The blue block is nearest to the red bowl.", ["blue block"]),
        ("Answer: the blue block. It has the largest x of all.", ["blue block"]),
        ("Answer: the blue block. It is closest to the red bowl.", ["blue block"]),
        ("the blue block, I think", ["blue block"]),
        ("$\\boxed{\\text{blue block}}$", ["blue block"]),
        (
            "We get \\boxed{red bowl}.\n\nThat is \\boxed{\\text{the red bowl}}, not far.",
            ["red bowl"],
        ),
        ("The answer is the blue block, so:\nanswer = 'blue block'", ["blue block"]),
        ("The answer is what lies right.\nanswer = 'blue block'", ["blue block"]),
        ("answer = ['grey block']", ["gray block"]),
        ("```\nanswer = 'red bowl'\n```", ["red bowl"]),
        ("<think>the gray block? no</think>red bowl", ["red bowl"]),
        ("thoughts = 'It is the blue block.'\nanswer = 'red bowl'", ["red bowl"]),
        ("It is the blue block.\n\nThe red bowl.\n", ["red bowl"]),
        ("Answer:\n\nthe red bowl\n\nIts x is the largest of all.", ["red bowl"]),
        ("none", []),
        ("answer = 'none'", []),
        ("blue", ["blue block"]),
        ("The blue one.", ["blue block"]),
        ("The closest block is blue.", ["blue block"]),
        ("none of them", []),
        ("There are none.", []),
        ("The blue block, because it is closest to the red bowl.", ["blue block"]),
        ("It is the blue block since that is not far from the red bowl.", ["blue block"]),
        ("Which is closest? The blue block.", ["blue block"]),
        ("red bowl, red bowl", ["red bowl", "red bowl"]),
    ],
)
def test_names_in_many_forms(text: str, names: list[str]) -> None:
    assert read_names(text, KNOWN, ASKED) == names


@rows(
    "text",
    [
        "",
        "the",
        "green block",
        "the blue block or the red bowl",
        "not the blue block",
        "blueblock",
        "blue blocks",
        "I cannot say: is it blue block?",
        "I cannot say: blue block",
        "I can\u2019t say; the blue block?",
        "Is it the blue block?",
        "answer: blue block? No.",
        "blue block. No.",
        "blue block is wrong",
        "The blue block is not right.",
        "blue. Or gray.",
        "blue or gray",
        "red",
        "The blue block, because the gray block is farther.",
        "Answer: is it the blue block?",
        "answer = 'blue block'\nanswer = 'red bowl'",
        "Answer: the blue block. No, the gray block.",
        "Answer: blue block\n\nWait, it must be the gray block.",
        "The answer is the blue block. The answer is the gray block.",
        "The blue block is rightmost. The gray block is rightmost.",
        "\\boxed{blue block} or rather \\boxed{gray block}",
        "The gray block is left of the blue block.",
        "The rightmost block is not the blue block.",
        "The rightmost block is either the blue block or the gray block.",
        "The rightmost block isn't the blue block.",
        "It is neither the blue block nor the gray block.",
        "Every block except the blue block.",
        "<think>the blue block",
        "none of them but the red bowl",
        "answer = names[0]",
    ],
)
def test_texts_that_name_no_objects(text: str) -> None:
    with pytest.raises(Malformed):
        read_names(text, KNOWN, ASKED)


@rows(
    ("text", "points"),
    [
        ("(0.1, -0.4)", [(0.1, -0.4)]),
        ("answer = '(0.100, -0.400)'", [(0.1, -0.4)]),
        ("The answer is [0.1, -.4].", [(0.1, -0.4)]),
        ("np.array([0.1, -0.4])", [(0.1, -0.4)]),
        ("x = 0.1, y = -0.4", [(0.1, -0.4)]),
        ("x: 0.1 m and y: \u22120.4 m", [(0.1, -0.4)]),
        ("(1e-1 m, -4e-1 m)", [(0.1, -0.4)]),
        ("[(0, 1), (2, 3)]", [(0, 1), (2, 3)]),
        ("(0, 1) and then (2, 3).", [(0, 1), (2, 3)]),
        ("From (9, 9) we go on.\nanswer = (0, 1)", [(0, 1)]),
        ("0.1, -0.4", [(0.1, -0.4)]),
        ("answer = 0.1 -0.4", [(0.1, -0.4)]),
        ("x=0.1 y=-0.4", [(0.1, -0.4)]),
        ("x = 0.1; y = -0.4", [(0.1, -0.4)]),
        ("(10 cm, -40 cm)", [(0.1, -0.4)]),
        ("(10, -40) cm", [(0.1, -0.4)]),
        ("(10, -40 centimetres)", [(0.1, -0.4)]),
        ("x = 10 cm, y = -0.4 m", [(0.1, -0.4)]),
        ("(100 mm, -400 mm)", [(0.1, -0.4)]),
        ("(0.1 meters, -0.4 meters)", [(0.1, -0.4)]),
        ("Answer: (0.1, -0.4) in meters", [(0.1, -0.4)]),
        ("(10, -40) in centimetres", [(0.1, -0.4)]),
        ("(0.1, -0.4) [m]", [(0.1, -0.4)]),
        ("[0.1 -0.4]", [(0.1, -0.4)]),
        ("[[0. 0. ]\n [0.2 0. ]]", [(0, 0), (0.2, 0)]),
        ('{"x": 0.1, "y": -0.4}', [(0.1, -0.4)]),
        ("x is 0.1 and y is -0.4", [(0.1, -0.4)]),
        ("about (0.1, -0.4)", [(0.1, -0.4)]),
        ("\\boxed{(0.1, -0.4)}", [(0.1, -0.4)]),
        ("$$\\boxed{\\left(0.1,\\, -0.4\\right)}$$", [(0.1, -0.4)]),
        ("The middle of the two is (0.1, -0.4).", [(0.1, -0.4)]),
        ("(0.1, -0.4) is the middle of the two.", [(0.1, -0.4)]),
        ("The middle of (0, 0) and the block is (0.1, -0.4).", [(0.1, -0.4)]),
        ("1. (0.1, \u20130.4)\n2. (0, 1)", [(0.1, -0.4), (0, 1)]),
        ("- x = 0.1, y = -0.4\n- x = 0, y = 1", [(0.1, -0.4), (0, 1)]),
    ],
)
def test_points_in_many_forms(text: str, points: list[tuple[float, float]]) -> None:
    assert read_points(text, "the middle of (0, 0) and the block") == pytest.approx(
        np.array(points)
    )


@rows(
    "text",
    [
        "",
        "0.1",
        "0.1, -0.4, 0.2",
        "0.1, -0.4, 0.2, 0.3",
        "(0.1, -0.4, 0.0)",
        "(10 cm, -0.4)",
        "(10 feet, -40 feet)",
        "(0.090, -0.430) is wrong",
        "I cannot say: (0.1, -0.4)",
        "Is it (0.1, -0.4)?",
        "(0.1, -0.4)? No.",
        "(0.1 -0.05, -0.4)",
        "(10%, -40%)",
        "answer = (0.1, -0.4)\nanswer = (0.2, -0.4)",
        "Answer: (0.1, -0.4). Or (0.2, -0.4).",
        "Answer: (0.1, -0.4)\n\nNo: (0.2, -0.4)",
        "\\boxed{(0.1, -0.4)} and \\boxed{(0.2, -0.4)}",
        "It is not (0.1, -0.4).",
        "(0.1 + 0.05, -0.4)",
        "(nan, 0.1)",
        "(inf, 0.1)",
        "(1e999, 0.1)",
        "(0.1, -0.4) or (0.2, -0.4)",
        "answer = get_obj_pos('red bowl')",
        "(0.1, -0.4" + " " * 20,
        "__import__('os')",
        "(" * 5000,
        "(" + "1" * 4000,
    ],
)
def test_texts_that_hold_no_points(text: str) -> None:
    with pytest.raises(Malformed):
        read_points(text)


SCENE = ["red block", "blue block", "green block", "red bowl", "blue bowl", "gray bowl"]
WHICH = "Which block is closest to the blue bowl?"
WHERE = "Where is the point 5 cm to the right of the red block?"
TWO = "Where are the two ends of the line?"
RIGHTMOST, LEFT_OF = "the rightmost block", "the blocks left of the red block"
FARTHEST, TOPMOST = "the block farthest from the red block", "the two topmost bowls"
RED, NONE, POINT, ENDS = ["red block"], [], [(0.1, -0.4)], [(0, 0), (0.2, 0)]
BOWLS = ["red bowl", "blue bowl"]
GIVEN: list[tuple[str, str, Any]] = [
    (RIGHTMOST, "The rightmost block is the red block.", RED),
    (RIGHTMOST, "The red block is the rightmost one.", RED),
    (RIGHTMOST, "The red block is furthest to the right.", RED),
    (RIGHTMOST, "The block on the far right is the red block.", RED),
    (RIGHTMOST, "red block has the highest x-coordinate (0.23).", RED),
    (RIGHTMOST, "Red block, as its x is the largest.", RED),
    (RIGHTMOST, "**Answer:** the red block, which has the largest x-coordinate.", RED),
    (RIGHTMOST, "Among the blocks, the red block is the rightmost.", RED),
    (RIGHTMOST, "The red block (at x = 0.2, versus 0.1 for the blue block)", RED),
    (RIGHTMOST, "It is the red block, not the blue block.", RED),
    (RIGHTMOST, "I would pick the red block.", RED),
    (LEFT_OF, "The red block is the leftmost, so none.", NONE),
    (LEFT_OF, "There aren't any.", NONE),
    (LEFT_OF, "zero objects", NONE),
    (TOPMOST, "red bowl & blue bowl", BOWLS),
    (TOPMOST, "red bowl plus blue bowl", BOWLS),
    (TOPMOST, "The red and blue bowls.", BOWLS),
    (TOPMOST, "red bowl, followed by blue bowl", BOWLS),
    (TOPMOST, "- red bowl: y = -0.3\n- blue bowl: y = -0.4", BOWLS),
    (WHERE, "(y, x) = (-0.4, 0.1)", POINT),
    (WHERE, "Answer: y, x = -0.4, 0.1", POINT),
    (WHERE, "Not in the order (y, x) = (row, column).\n(0.1, -0.4)", POINT),
    (WHERE, "x = 0.1, y = -0.4, so the point is (0.1, -0.4).", POINT),
    (WHERE, "x: 0.1\ny: -0.4", POINT),
    (WHERE, "**x**: 0.1\n**y**: -0.4", POINT),
    (WHERE, "(1/10, -2/5)", POINT),
    (WHERE, "(0.1, -0.4), i.e. 10 cm right and 40 cm down", POINT),
    (WHICH, "red_block", RED),
    (WHICH, "red-block", RED),
    (WHICH, "__red block__", RED),
    (WHICH, "**Red block.**", RED),
    (WHICH, "**Final answer:** red block", RED),
    (WHICH, "Final Answer: **the red block**.", RED),
    (WHICH, "### Final answer\n\n**red block**", RED),
    (WHICH, "<answer>red block</answer>", RED),
    (WHICH, "I compare the distances.\n<answer>\nThe red block.\n</answer>", RED),
    (WHICH, "<Final_Answer>red block</Final_Answer>\nThe blue block is farther.", RED),
    (WHICH, "the red block (distance 0.12 m)", RED),
    (WHICH, "Answer: red block (0.10, -0.20)", RED),
    (WHICH, "red block (12 cm away)", RED),
    (WHICH, "The closest is the red block, at a distance of 12 cm.", RED),
    (WHICH, "The block closest to the blue bowl is the red block with a distance of 0.1.", RED),
    (WHICH, "Final answer: red block\n\nThe blue block is 20 cm away, the red one 10 cm.", RED),
    (WHICH, "So, I'd say the red block.", RED),
    (WHICH, "I would say it\u2019s the red block.", RED),
    (WHICH, "The answer must be the red block.", RED),
    (WHICH, "It has to be the red block.", RED),
    (WHICH, "It must be the red block!", RED),
    (WHICH, "My answer is \u201cred block\u201d.", RED),
    (WHICH, "I believe it is the red one.", RED),
    (WHICH, "Clearly, the red block.", RED),
    (WHICH, "red block \u2713", RED),
    (WHICH, "~~blue block~~ red block", RED),
    (WHICH, '{"result": "red block"}', RED),
    (WHICH, "Name: red block", RED),
    (WHICH, "A: red block", RED),
    (WHICH, "First: red block\nSecond: blue block", ["red block", "blue block"]),
    (WHICH, "1: red block, 2: blue block", ["red block", "blue block"]),
    (WHICH, "[]", NONE),
    (WHICH, "answer = []", NONE),
    (WHICH, "`[]`", NONE),
    (WHICH, "{}", NONE),
    (WHICH, "nothing", NONE),
    (WHICH, "Nothing.", NONE),
    (WHICH, "None of them.", NONE),
    (WHICH, "none of the blocks", NONE),
    (WHICH, "Answer: none of the objects", NONE),
    (WHICH, "No objects.", NONE),
    (WHICH, "no blocks", NONE),
    (WHICH, "There is no such object.", NONE),
    (WHICH, "There are no blocks there.", NONE),
    (WHICH, "There is no block close to the blue bowl.", NONE),
    (WHICH, "The answer is an empty list.", NONE),
    (WHERE, "P1 = (0.1, -0.4)", POINT),
    (WHERE, "<answer>(0.1, -0.4)</answer>", POINT),
    (WHERE, "**Final answer:** (0.1, -0.4)", POINT),
    (WHERE, "\u2248 (0.1, -0.4)", POINT),
    (WHERE, "(0.1, -0.4) (rounded)", POINT),
    (WHERE, "x\u22480.1, y\u2248-0.4", POINT),
    (WHERE, "It is at x 0.1, y -0.4", POINT),
    (WHERE, "(0.1; -0.4)", POINT),
    (WHERE, "<0.1, -0.4>", POINT),
    (WHERE, "(0.1, -0.4) = (10 cm, -40 cm)", POINT),
    (WHERE, "The point must be (0.1, -0.4), in metres.", POINT),
    (WHERE, "Final answer: (0.1, -0.4)\n\nThe red block is at (0.05, -0.4).", POINT),
    (TWO, "Point 1: (0, 0)\nPoint 2: (0.2, 0)", ENDS),
    (TWO, "P1 = (0, 0), P2 = (0.2, 0)", ENDS),
    (TWO, "Bottom left: (0, 0)\nBottom right: (0.2, 0)", ENDS),
    (TWO, "The ends are:\n- **left**: (0, 0)\n- **right**: (0.2, 0)", ENDS),
    (TWO, "First: (0,0); second: (0.2,0)", ENDS),
    (TWO, "A(0, 0), B(0.2, 0)", ENDS),
    (TWO, "1: (0,0), 2: (0.2,0)", ENDS),
    (TWO, "top left (0, 0), top right (0.2, 0)", ENDS),
]
"""Answers as models give them."""
NOT_GIVEN: list[tuple[str, str]] = [
    (WHICH, "Is it the red block?"),
    (RIGHTMOST, "The red block is the leftmost block."),
    (RIGHTMOST, "The red block has the smallest x."),
    (RIGHTMOST, "The red block, because it is the leftmost."),
    (RIGHTMOST, "The red block is the topmost."),
    (RIGHTMOST, "The red block is rightmost, excluding the blue block."),
    (RIGHTMOST, "Not the red block."),
    (RIGHTMOST, "The red block is at 0.2 and the blue block at 0.1, so the green block."),
    (FARTHEST, "the blue block is closest to the red block"),
    (LEFT_OF, "There are no blocks right of the red block."),
    (TOPMOST, "The red and pink bowls."),
    (WHERE, "(1/0, -2/5)"),
    (WHERE, "The point, by (y, x) in that order, is (-0.4, 0.1)."),
    (WHICH, "Would you like me to move the red block?"),
    (WHICH, "Which one do you mean, the red block?"),
    (WHICH, "<answer>red block?</answer>"),
    (WHICH, "<answer>red block</answer> or <answer>blue block</answer>"),
    (WHICH, "<answer></answer>"),
    (WHICH, "Final answer: red block. No, the blue block."),
    (WHICH, "Final answer: red block\n\nWait, the blue block is closer."),
    (WHICH, "Final answer: red block\n\nIt should be the blue block."),
    (WHICH, "Final answer: red block\n\nFinal answer: blue block"),
    (WHICH, "Final answer: red block or blue block"),
    (WHICH, "answer: red block\n\nThe blue block is 20 cm away."),
    (WHICH, "The red block is closer than the blue block."),
    (WHICH, "The red bowl is the blue block."),
    (WHICH, "It cannot be the red block."),
    (WHICH, "It must not be the red block."),
    (WHICH, "I'd say it isn't the red block."),
    (WHICH, "~~red block~~"),
    (WHICH, "red block \u274c"),
    (WHICH, "red block (or the blue block)"),
    (WHICH, "red block (green bowl 1)"),
    (WHICH, "red block (maybe 10 %)"),
    (WHICH, "objects[0]"),
    (WHICH, "No."),
    (WHICH, "No idea."),
    (WHICH, "There is no block but the red block."),
    (WHICH, "There is no block close to the red bowl."),
    (WHICH, "no"),
    (WHICH, "Nothing but the red block."),
    (WHICH, "[0]"),
    (WHICH, "Option 1: red block\nOption 2: blue block"),
    (WHERE, "(0.1, -0.4) = (0.2, -0.4)"),
    (WHERE, "Is it P1 = (0.1, -0.4)?"),
    (WHERE, "The red block is at (0.05, -0.4). 5 cm to the right of it is (0.1, -0.4)."),
    (WHERE, "Final answer: (0.1, -0.4)\n\nActually (0.15, -0.4)."),
    (WHERE, "\\boxed{(0.1, -0.4)}, \\boxed{(0.2, -0.4)}"),
    (WHERE, "P1 = 0.1"),
    (WHERE, "(0,1; -0,4)"),
    (WHERE, "(3.94 in, -15.7 in)"),
    (WHERE, "0.1 metres to the right, -0.4 metres"),
    (TWO, "Point 1: (0, 0)\nPoint 2: not known"),
    (TWO, "Option 1: (0, 0)\nOption 2: (0.2, 0)\nWhich do you want?"),
]
"""Texts that are no answer: questions, two answers, what is taken back, other things."""


@rows(("asked", "text", "right"), GIVEN)
def test_what_a_model_would_answer_is_read(asked: str, text: str, right: Any) -> None:
    if asked not in (WHERE, TWO):
        assert read_names(text, SCENE, asked) == right
    else:
        assert read_points(text, asked) == pytest.approx(np.array(right))


@rows(("asked", "text"), NOT_GIVEN)
def test_what_is_no_answer_is_not_read(asked: str, text: str) -> None:
    with pytest.raises(Malformed):
        read_points(text, asked) if asked in (WHERE, TWO) else read_names(text, SCENE, asked)


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("a", True),
        (["a"], True),
        (("a",), True),
        (["a", "a"], False),
        (["a", "b"], False),
        ([], False),
        ("b", False),
    ],
)
def test_one_name(given: Any, right: bool) -> None:
    assert (wrong(question("object"), ["a"], given) is None) is right


@pytest.mark.parametrize(("ordered", "right"), [(False, True), (True, False)])
def test_order_counts_only_where_it_is_asked_for(ordered: bool, right: bool) -> None:
    assert (wrong(question("object", ordered), ["a", "b"], ["b", "a"]) is None) is right
    points = np.array([(0.0, 0.0), (1.0, 1.0)])
    assert (wrong(question("position", ordered), points, points[::-1]) is None) is right


@pytest.mark.parametrize(
    ("off", "right"), [(0.9 * TOLERANCE_M, True), (-0.9 * TOLERANCE_M, True), (0.011, False)]
)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("ordered", [False, True])
def test_every_coordinate_has_its_tolerance(
    off: float, right: bool, axis: int, ordered: bool
) -> None:
    points = np.array([(0.0, 0.1), (0.2, 0.3), (0.4, 0.5)])
    given = points.copy()
    given[2, axis] += off
    assert (wrong(question("position", ordered), points, given) is None) is right


@pytest.mark.parametrize(
    "given",
    [
        [(0.0, 0.0)],
        [(0.0, 0.0), (0.0, 0.0)],
        [(0.0, 0.0), (1.0, 1.0), (1.0, 1.0)],
        [(0.0, 0.0, 0.0), (1.0, 1.0, 0.0)],
        [(0.0, 0.0), (1.0, float("nan"))],
        [(0.0, 0.0), (1.0, float("inf"))],
        (0.0, 0.0),
        [],
    ],
)
def test_right_points_are_each_met_by_one_of_their_own(given: Any) -> None:
    right = np.array([(0.0, 0.0), (1.0, 1.0)])
    for ordered in (False, True):
        assert wrong(question("position", ordered), right, given) is not None


def test_a_right_answer_put_in_words_is_read_back() -> None:
    names = ["red bowl", "blue block"]
    assert read_names(as_text(question("object"), names), KNOWN) == names
    points = np.array([(0.12, -0.3), (-0.05, 0.0)])
    assert read_points(as_text(question("position"), points)).tolist() == points.tolist()
