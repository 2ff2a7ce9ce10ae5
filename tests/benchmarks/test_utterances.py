"""What is said is read in the form that was asked for: the last words, whole, and nothing else."""

from typing import Any, cast

import pytest

from benchmarks.embodiments.judge import misanswered, missaid
from benchmarks.kitchen.judge import said_where
from robots.kitchen import KitchenRobot
from tests.rows import table

BLOCKS = ["red block", "green block", "blue block"]


class Speaker:
    """What a kitchen's robot said, and the places there are."""

    def __init__(self, *spoken: str) -> None:
        self.spoken = spoken

    def get_loc_names(self) -> list[str]:
        """Return the places."""
        return ["table", "cart", "top drawer"]


@pytest.mark.parametrize("said", ["table", "Table.", "the table", "on the table", "AT  THE TABLE!"])
def test_a_place_is_told_alone(said: str) -> None:
    for spoken in ([said], ["I look at the cart.", "not at the cart", said]):
        robot = cast(KitchenRobot, cast(Any, Speaker(*spoken)))
        assert said_where(robot, "apple", "table") is None


@pytest.mark.parametrize(
    "said",
    [
        "The apple is at the table, not on the cart.",
        "The apple is likely at the table",
        "The apple should be on the table",
        "The apple seems to be on the table",
        "The apple is missing from the table",
        "The apple is gone from the table",
        "The apple used to be on the table",
        "Unable to find the apple at the table",
        "the pineapple is on the tablecloth",
        "tablecloth",
        "the table or the cart",
        "table, cart",
        "not at the table",
        "at the table?",
        "near the table",
        "apple: table",
        "",
    ],
)
def test_a_place_among_other_words_is_none(said: str) -> None:
    robot = cast(KitchenRobot, cast(Any, Speaker("the table", said)))
    missed = f"it said {said!r}, not one of: table, cart, top drawer"
    assert said_where(robot, "apple", "table") == missed


def test_another_place_than_its_own_is_wrong() -> None:
    robot = cast(KitchenRobot, cast(Any, Speaker("table", "in the top drawer")))
    wrong = "it said 'top drawer', but the apple is at the table"
    assert said_where(robot, "apple", "table") == wrong
    silent = cast(KitchenRobot, cast(Any, Speaker()))
    assert str(said_where(silent, "apple", "table")).startswith("it said nothing, not one of: ")


@pytest.mark.parametrize(
    ("said", "answer"),
    table(__file__, "utterances: a_yes_or_a_no_is_said_alone").values(),
)
def test_a_yes_or_a_no_is_said_alone(said: str, answer: bool | None) -> None:
    for wanted in (True, False):
        assert (misanswered(wanted, ["no", "yes", said]) is None) is (answer is wanted)
    if answer is None:
        assert misanswered(True, [said]) == f"it said {said!r}, not one of: yes, no"


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("red block, green block, blue block", True),
        ("The blue block,the green block , a red block.", True),
        ("The blocks are red, blue and green.", False),
        ("red block, green block, blue block, and a cat", False),
        ("likely see red block, green block, blue block", False),
        ("red block, green block, blue block, yellow block", False),
        ("red block, green block, blue block, blue block", False),
        ("no red block, green block, blue block", False),
        ("red block, green block", False),
        ("", False),
    ],
)
def test_what_is_seen_is_a_list_and_no_more(said: str, right: bool) -> None:
    assert (missaid(BLOCKS, ["red block", said]) is None) is right
    assert missaid(BLOCKS, []) == "it said nothing"
    assert missaid([], [said]) is None
