from typing import Any

import numpy as np
import pytest

from cap.engine.return_kinds import kind_error
from cap.prompt.prompt import KINDS
from tests.rows import rows

NAN, INF = float("nan"), float("inf")
HUGE = 10**5000  # more digits than Python shows
FITS: dict[str, list[Any]] = {
    "name": ["red block", ""],
    "text": ["yes"],
    "names": [[], ["a", "b"], ("a",)],
    "point": [[0.1, 0.2], (1, 2, 3), np.array([1.0, 2.0]), np.array([1, 2, 3])],
    "points": [[[0, 1], [2, 3]], np.zeros((4, 3)), [np.zeros(2), np.ones(2)], [(0.0, 1)]],
    "number": [1, 1.5, np.float64(2), np.int32(3), -0.0, HUGE],
    "boolean": [True, False, np.bool_(True)],
    "any": [None, object(), [1]],
}
FITS_NOT: dict[str, list[Any]] = {
    "name": [None, 1, ["a"], b"a"],
    "text": [None, 1.0],
    "names": ["red block", [1], ["a", None], {"a"}, np.array(["a"]), None],
    "point": [
        [1],
        [1, 2, 3, 4],
        [[1, 2]],
        [1, NAN],
        [INF, 0],
        ["1", "2"],
        "12",
        [True, False],
        [1, None],
        [HUGE, 1],
        [1j, 2],
        [1, [2]],
        np.zeros(0),
        {0: 1, 1: 2},
        None,
    ],
    "points": [[1, 2], [[1, 2], [3]], [[NAN, 0]], [["1", "2"]], np.zeros((2, 2, 2)), None],
    "number": [True, np.bool_(False), "1", NAN, INF, np.float64(NAN), 1j, [1], None],
    "boolean": [0, 1, "True", None, []],
}


@rows(
    ("kind", "value"),
    [(kind, value) for kind, values in FITS.items() for value in values],
    ids=type,
)
def test_a_value_of_the_kind_is_accepted(kind: str, value: Any) -> None:
    assert kind_error(value, [kind]) is None


@rows(
    ("kind", "value"),
    [(kind, value) for kind, values in FITS_NOT.items() for value in values],
    ids=type,
)
def test_any_other_value_is_refused(kind: str, value: Any) -> None:
    message = kind_error(value, [kind])
    assert message is not None
    assert message.startswith(f"expected {kind}, got ")


def test_every_kind_of_a_header_has_its_test() -> None:
    assert set(FITS) == set(KINDS)


def test_one_of_several_kinds_is_enough() -> None:
    assert kind_error(["a"], ["name", "names"]) is None
    assert kind_error(3, ["name", "names"]) == "expected name or names, got 3"


@pytest.mark.parametrize("value", ["x" * 1000, list(range(1000)), HUGE, [HUGE]], ids=type)
def test_the_message_is_short_whatever_the_value(value: Any) -> None:
    message = kind_error(value, ["boolean"])
    assert message is not None
    assert len(message) < 120
