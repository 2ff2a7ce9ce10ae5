"""History within a token budget."""

from __future__ import annotations

import pytest

from cap.prompt.history import LEFT_OUT, tokens, within
from cap.prompt.prompt import PastTurn, parse

CODE = "put_first_on_second('red block', 'blue bowl')\n" * 4


def turns(count: int, note: str = "") -> list[PastTurn]:
    return [PastTurn(f"instruction {n}", CODE, "objects = ['a']", note) for n in range(count)]


def total(history: tuple[PastTurn, ...]) -> int:
    return sum(map(tokens, history))


def test_what_fits_is_left_alone() -> None:
    given = turns(5)
    assert within(given, total(tuple(given))) == tuple(given)


def test_the_oldest_lose_their_code_first_and_no_more_than_need_be() -> None:
    given = turns(10)
    budget = total(tuple(given)) - 1
    kept = within(given, budget)
    bare = [turn.code == "" for turn in kept]
    assert bare == sorted(bare, reverse=True)
    assert 0 < sum(bare) < 9
    assert 0.5 * budget < total(kept) <= 0.75 * budget
    assert all(turn.note == LEFT_OUT and turn.context == "" for turn in kept[: sum(bare)])
    assert kept[sum(bare) :] == tuple(given[sum(bare) :])


def test_notes_go_after_all_code_but_the_newest_turns() -> None:
    given = turns(6, note="failed before anything was done: " + "x" * 100)
    kept = within(given, 150)
    assert [turn.code for turn in kept[:-1]] == [""] * 5
    assert kept[0].note == ""
    assert kept[-1] == given[-1]


@pytest.mark.parametrize("budget", [0, 1, 10, 100, 1000])
def test_the_instruction_is_never_dropped(budget: int) -> None:
    kept = within(turns(50, "a note"), budget)
    assert [turn.instruction for turn in kept] == [turn.instruction for turn in turns(50)]


def test_the_newest_turn_keeps_its_code_unless_it_alone_is_too_much() -> None:
    assert within(turns(8), 100)[-1].code == CODE
    assert within(turns(1), 20)[-1].code == ""


def test_the_prompt_up_to_the_newest_turn_changes_only_when_something_is_dropped() -> None:
    prompt = parse("from robot import say\n", "ui")
    history: tuple[PastTurn, ...] = ()
    before, changes = prompt.render("x", "", history).removesuffix("# x.\n"), 0
    for turn in turns(60):
        history = within((*history, turn), 1200)
        now = prompt.render("x", "", history).removesuffix("# x.\n")
        changes += not now.startswith(before)
        before = now
    assert 1 <= changes <= 15
