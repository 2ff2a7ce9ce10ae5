"""What was said is taken for what it claims: doubt claims nothing, a no is its clause's alone."""

from typing import Any, cast

import pytest

from benchmarks.embodiments.judge import misanswered, missaid
from benchmarks.kitchen.judge import told
from robots.kitchen import KitchenRobot
from tests.rows import rows

BLOCKS = ["red block", "green block", "blue block"]


class Speaker:
    """What a kitchen's robot said, and what there is."""

    def __init__(self, *spoken: str) -> None:
        self.spoken = spoken

    def positions(self) -> dict[str, tuple[float, float, float]]:
        """Return two things."""
        return {"cracker box": (0, 0, 0), "sponge": (1, 0, 0)}

    def get_loc_names(self) -> list[str]:
        """Return the places."""
        return ["desk", "table", "cart"]


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("the cracker box is at the desk", True),
        ("Found it on the desk", True),
        ("Cracker box: desk", True),
        ("It is not on the floor: the cracker box is on the desk.", True),
        ("I found the cracker box! It was not hard: it is at the desk.", True),
        ("the cracker box, next to other things, is on the desk, no doubt", True),
        ("I am at the desk, and the cracker box is here", True),
        ("Maybe it is on the table. I look. The cracker box is on the desk", True),
        ("the cracker box is not on the table but on the desk", True),
        ("the cracker box may be at the desk or elsewhere", False),
        ("The cracker box could be anywhere; I am at the desk", False),
        ("the cracker box is at the desk. Maybe.", False),
        ("Is the cracker box at the desk?", False),
        ("the cracker box is at the desk, I guess", False),
        ("the cracker box is either at the desk: or at the table", False),
        ("the cracker box is not at the desk", False),
        ("the cracker box was not found. I am at the desk.", False),
        ("the cracker box is on the desk. the cracker box is on the table.", False),
        ("desk", False),
    ],
)
def test_a_place_is_told_without_doubt(said: str, right: bool) -> None:
    judge = told("cracker box", "desk")
    robot = cast(KitchenRobot, cast(Any, Speaker(said)))
    assert (judge(robot) is None) is right


@rows(
    ("said", "answer"),
    [
        ("yes", True),
        ("Yes, I see the red block.", True),
        ("Yes, not far from the middle.", True),
        ("Yes! Not far away.", True),
        ("Sure, it stands on the table", True),
        ("Of course I do.", True),
        ("I do.", True),
        ("I can see it", True),
        ("There is one.", True),
        ("I see a red block near the bowl.", True),
        ("There is a red block.", True),
        ("no", False),
        ("No, there is none.", False),
        ("Nothing of the kind.", False),
        ("Unfortunately not.", False),
        ("I cannot see one", False),
        ("I see no red block.", False),
        ("There isn't any.", False),
        ("I see a lot of things", None),
        ("I see a problem here", None),
        ("It is what it is", None),
        ("There is a problem", None),
        ("I see a green block", None),
        ("I am looking for a red block I can see", None),
        ("yes. no.", None),
        ("yes or no", None),
        ("Maybe.", None),
        ("Yes? No?", None),
        ("", None),
    ],
)
def test_yes_and_no_are_about_what_was_asked(said: str, answer: bool | None) -> None:
    for wanted in (True, False):
        assert (misanswered(wanted, [said], "red block") is None) is (answer is wanted)


@pytest.mark.parametrize(
    ("said", "right"),
    [
        ("red block, green block, blue block", True),
        ("I see a red, a green and a blue block.", True),
        ("three blocks: red, green and blue", True),
        ("I see three blocks: a red one, a green one and a blue one, and a bowl", True),
        ("The red block, the green block and the blue block. Nothing else.", True),
        ("I see nothing but a red block, a green block and a blue block", True),
        ("a red block, a green block and a blue block, but no yellow block", True),
        ("It is not much: red block, green block and blue block", True),
        ("red block, green block and blue block are hidden from me", False),
        ("I am looking for a red block, a green block and a blue block", False),
        ("There are no red block, green block, blue block", False),
        ("There may be a red block, a green block and a blue block", False),
        ("red block, green block or blue block", False),
        ("red block, green block, blue block, yellow block", False),
        ("three blocks: red and green", False),
    ],
)
def test_what_is_seen_is_named_as_seen(said: str, right: bool) -> None:
    assert (missaid(BLOCKS, [said], [*BLOCKS, "cyan bowl"]) is None) is right
