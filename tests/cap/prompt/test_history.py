"""History within a token budget."""

from __future__ import annotations

import pytest

from cap.prompt.prompt import PastTurn, parse, turn_tokens, within

CODE = "put_first_on_second('red block', 'blue bowl')\n" * 4


def turns(count: int, note: str = "") -> list[PastTurn]:
    return [PastTurn(f"instruction {n}", CODE, "objects = ['a']", note) for n in range(count)]


def total(history: tuple[PastTurn, ...]) -> int:
    return sum(map(turn_tokens, history))


def test_what_fits_is_left_alone() -> None:
    given = turns(5)
    assert within(given, total(tuple(given))) == tuple(given)


def test_the_oldest_leave_whole_and_one_line_says_how_many() -> None:
    given = turns(10)
    budget = total(tuple(given)) - 1
    first, *kept = within(given, budget)
    assert kept == given[first.left_out :]
    assert first.note == f"{first.left_out} earlier instructions are left out here"
    assert 0.5 * budget < total(tuple(kept)) <= 0.75 * budget
    text = parse("from robot import say\n", "ui").render("x", "", [first, *kept])
    assert f"\n\n#! {first.note}\n\nobjects = ['a']\n# instruction {first.left_out}.\n" in text


@pytest.mark.parametrize("budget", [0, 1, 10, 100])
def test_the_last_turns_keep_their_programs_whatever_their_length(budget: int) -> None:
    assert within(turns(8), budget)[1:] == tuple(turns(8)[-3:])
    long = [PastTurn("a", CODE * 100), PastTurn("b", CODE)]
    assert within(long, budget) == tuple(long)


def test_one_pasted_page_pushes_nothing_out() -> None:
    given = [*turns(5), PastTurn("w " * 8_000, CODE), *turns(2)]
    kept = within(given, 1200)
    assert len(kept) == 8
    assert kept[5].instruction.endswith(" ... (cut here)")
    assert len(kept[5].instruction) < 1_100


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
