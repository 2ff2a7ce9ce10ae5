"""What is typed on the page: carried out whole or not at all, and nothing typed on is lost."""

from __future__ import annotations

from cap.cli.page.instruction_field import SETTLE_S, InstructionField
from tests.rows import cases


def read(*texts: str) -> list[str]:
    """Return what is carried out of texts that a field held one after the other."""
    field = InstructionField()
    return [words for text in texts if (words := field.typed(text, 0.0))]


@cases(("texts", "taken"))
def test_only_what_is_whole_is_carried_out(texts: list[str], taken: list[str]) -> None:
    assert read(*texts) == taken


def test_what_was_taken_leaves_the_field_and_what_is_typed_on_stays() -> None:
    field = InstructionField()
    field.typed("go home\n", 0.0)
    field.typed("go home\nthen ", 0.1)
    assert field.settled(0.1 + SETTLE_S) == "then "
    assert field.typed("then stop\n", 2.0) == "then stop"
    assert field.settled(3.0) == ""


def test_several_lines_at_once_wait_for_a_second_look() -> None:
    field = InstructionField()
    assert field.typed("put the red block\nin the blue bowl\n", 0.0) == ""
    assert field.settled(1.0) == "put the red block in the blue bowl"
    again = "put the red block in the blue bowl\n"
    assert field.typed(again, 2.0) == again.strip()


def test_a_letter_on_its_way_while_the_field_is_emptied_runs_nothing_twice() -> None:
    field = InstructionField()
    assert field.typed("go home\n", 0.0) == "go home"
    assert field.settled(0.5) == ""
    assert field.typed("go home\nt", 0.51) == ""
    assert field.settled(1.1) == "t"
    assert field.typed("turn\n", 2.0) == "turn"
    assert field.settled(3.0) == ""
    assert field.typed("turn\n", 9.0) == "turn"  # pasted: asked for again
