"""Turns of a session, a row of `tables.jsonl` each: see `tests.cap.turns`."""

import pytest

from tests.cap.conftest import Open
from tests.cap.turns import play
from tests.rows import table

TURNS = table(__file__, "turns")


@pytest.mark.parametrize("name", TURNS)
def test_what_a_turn_does(open_session: Open, name: str) -> None:
    play(open_session, TURNS[name])
