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
from benchmarks.reasoning.question import ReasoningQuestion

KNOWN = ["blue block", "red bowl", "gray block"]


def question(kind: Any, ordered: bool = False) -> ReasoningQuestion:
    return ReasoningQuestion("q", kind, "?", lambda scene: [], "", ordered)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("blue block", ["blue block"]),
        ("answer = 'blue block'", ["blue block"]),
        ("**Answer:** the blue block.", ["blue block"]),
        ("The answer is the Blue Block and the red bowl.", ["blue block", "red bowl"]),
        ("['red bowl', 'blue block']", ["red bowl", "blue block"]),
        ("- blue block\n- red bowl", None),
        ("answer = ['grey block']", ["gray block"]),
        ("```\nanswer = 'red bowl'\n```", ["red bowl"]),
        ("<think>the gray block? no</think>red bowl", ["red bowl"]),
        ("thoughts = 'It is the blue block.'\nanswer = 'red bowl'", ["red bowl"]),
        ("It is the blue block.\n\nThe red bowl.\n", ["red bowl"]),
        ("Answer:\n\nthe red bowl\n\nIts x is the largest of all.", ["red bowl"]),
        ("none", []),
        ("answer = 'none'", []),
        ("red bowl, red bowl", ["red bowl", "red bowl"]),
    ],
)
def test_names_in_many_forms(text: str, names: list[str] | None) -> None:
    if names is None:  # the last line alone would be half an answer
        with pytest.raises(Malformed):
            read_names(text, KNOWN)
        return
    assert read_names(text, KNOWN) == names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "the",
        "green block",
        "the blue block or the red bowl",
        "not the blue block",
        "blueblock",
        "blue blocks",
        "the blue block, I think",
        "<think>the blue block",
        "none of them but the red bowl",
        "answer = names[0]",
    ],
)
def test_texts_that_name_no_objects(text: str) -> None:
    with pytest.raises(Malformed):
        read_names(text, KNOWN)


@pytest.mark.parametrize(
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
    ],
)
def test_points_in_many_forms(text: str, points: list[tuple[float, float]]) -> None:
    assert read_points(text).tolist() == [list(point) for point in points]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0.1",
        "0.1, -0.4",
        "(0.1, -0.4, 0.0)",
        "(10 cm, -40 cm)",
        "(0.1 + 0.05, -0.4)",
        "(nan, 0.1)",
        "(inf, 0.1)",
        "(1e999, 0.1)",
        "about (0.1, -0.4)",
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
