"""Can and Pay from trajectories: names that stand for any other, and bad training sets."""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import pairwise

import pytest

from cap.errors import MissingExtra
from cap.planners.saycanpay import (
    LabelledStep,
    PlanContext,
    features,
    renamer,
    train,
)

COLORS = ("red", "blue", "green", "pink")
CONTEXT = PlanContext("take the blue cup", "there are red and blue cups", (), COLORS)


def rows(count: int, *, alike: bool = False) -> list[LabelledStep]:
    """Cups to take: the one that is asked for pays, and one that was taken cannot be."""
    found = []
    for number in range(count):
        first, second = COLORS[number % 4], COLORS[(number + 1) % 4]
        begin = PlanContext(f"take the {first} cup", f"there are {second} and {first} cups", (),
                            COLORS)  # fmt: skip
        then = replace(begin, steps=(f"take the {first} cup",))
        for context in (begin, then):
            for color in (first, second):
                can = alike or f"take the {color} cup" not in context.steps
                pay = 0.6 if color == first and not context.steps else 0.0
                found.append(LabelledStep(context, f"take the {color} cup", can, pay, number))
    return found


def test_names_are_told_by_where_goal_and_opening_name_them() -> None:
    assert renamer(CONTEXT)("Take the blue cup") == "take the <g1 o2> cup"
    other = PlanContext("take the pink cup", "there are green and pink cups", (), COLORS)
    assert renamer(other)("take the pink cup") == renamer(CONTEXT)("take the blue cup")
    assert renamer(CONTEXT)("take the green cup") == "take the green cup"  # told of nowhere
    assert renamer(CONTEXT)("take the redwood cup") == "take the redwood cup"


def test_features_are_the_same_whatever_the_names_are() -> None:
    other = PlanContext("take the pink cup", "there are green and pink cups", (), COLORS)
    assert features(CONTEXT, ["take the red cup"]) == features(other, ["take the green cup"])


def tower(*disks: str) -> PlanContext:
    """All disks on the first rod, the smallest first, the last to be moved."""
    over = ", ".join(f"the {a} disk is on top of the {b} disk" for a, b in pairwise(disks))
    opening = f"{over}; all are on rod 1. There are rod 1 and rod 2 and rod 3."
    names = (*disks, "rod 1", "rod 2", "rod 3")
    return PlanContext(f"move the {disks[-1]} disk to rod 2", opening, (), names)


def test_one_disk_more_changes_no_rod_and_what_lies_on_a_disk_is_told() -> None:
    three, four = tower("red", "blue", "green"), tower("red", "blue", "green", "pink")
    for rod in ("rod 1", "rod 2", "rod 3"):
        assert renamer(three)(rod) == renamer(four)(rod)
    moves = ["move the red disk to rod 2", "move the {} disk to rod 2"]
    (top, last), (top_of_four, last_of_four) = (
        features(tower_, [moves[0], moves[1].format(name)])
        for tower_, name in ((three, "green"), (four, "pink"))
    )

    def free(words: list[str]) -> set[str]:
        return {word for word in words if word.startswith("free ")}

    assert free(top) == free(top_of_four)
    assert free(last) == free(last_of_four)
    assert free(top) != free(last)


def test_what_is_behind_a_shut_door_and_which_key_is_held_is_told() -> None:
    opening = "Room 1 has red key. Room 2 has blue ball. The red door is locked."
    begin = PlanContext("pick up the blue ball", opening, (), ("red", "blue"))
    taken = replace(begin, steps=("pick up the red key",))
    opened = replace(taken, steps=(*taken.steps, "toggle the red door"))
    step = ["pick up the blue ball", "toggle the red door"]

    def means(context: PlanContext) -> list[str]:
        return [next(w for w in words if w.startswith("means ")) for words in
                features(context, step)]  # fmt: skip

    (shut, no_key), (_, key), (reached, _) = means(begin), means(taken), means(opened)
    assert shut.startswith("means True")
    assert reached.startswith("means False")
    assert "locked|False|False" in no_key
    assert "locked|True|True" in key
    dropped = replace(taken, steps=(*taken.steps, "drop the red key"))
    assert "locked|False|False" in means(dropped)[1]
    (words,) = features(begin, ["pick up the blue ball"])
    assert not any(word.startswith(("free ", "aim ")) for word in words)
    (words,) = features(tower("red", "blue"), ["move the red disk to rod 2"])
    assert not any(word.startswith(("means ", "locked ")) for word in words)


@pytest.mark.soak
def test_what_was_learned_holds_for_names_never_seen() -> None:
    learned = train(rows(20))
    unseen = PlanContext("take the mauve cup", "there are teal and mauve cups", (),
                         ("mauve", "teal"))  # fmt: skip
    texts = ["take the mauve cup", "take the teal cup"]
    right, wrong = learned.pay(unseen, texts)
    assert right > 0.4 > wrong + 0.2
    taken = replace(unseen, steps=("take the mauve cup",))
    can_again, can_other = learned.can(taken, texts)
    assert can_again < 0.2 < 0.8 < can_other
    again = train(rows(20))
    assert again.can(taken, texts) == [can_again, can_other]
    assert again.pay(unseen, texts) == [right, wrong]


def test_a_step_that_was_never_seen_has_numbers_between_0_and_1() -> None:
    learned = train(rows(8))
    for scores in (learned.can, learned.pay):
        assert all(0 < value <= 1 for value in scores(CONTEXT, ["", "flÿ to the möon"]))
        assert all(0 < value <= 1 for value in scores(PlanContext("", "", ()), ["x"]))


def test_without_the_library_the_remedy_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"scikit-learn.*\[planning\]"):
        train(rows(5))
