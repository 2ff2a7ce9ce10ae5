"""Reading answers out of text: fair to form, strict in content."""

import contextlib
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
from tests.rows import rows, table

KNOWN = ["blue block", "red bowl", "gray block"]


def question(kind: Any, ordered: bool = False) -> ReasoningQuestion:
    return ReasoningQuestion("q", kind, "?", "", ordered)


TABLE = table(__file__, "answers")


@rows("row", TABLE.values(), ids=TABLE)
def test_what_a_text_answers(row: dict[str, Any]) -> None:
    """Of the names of a scene, or of points; `right` is null where it is no answer."""
    text, asked, right = row["text"], row["asked"], row["right"]
    with pytest.raises(Malformed) if right is None else contextlib.nullcontext():
        if "known" in row:
            assert read_names(text, row["known"], asked) == right
        else:
            assert read_points(text, asked) == pytest.approx(np.array(right))


@pytest.mark.parametrize("text", ["(" * 5000, "(" + "1" * 4000])
def test_a_long_text_is_read_soon(text: str) -> None:
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
