"""Points in a line, a column or a circle are chosen where bowls leave room for blocks."""

from __future__ import annotations

import pytest

from cap.session.session import Session


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (0, "put all the blocks in a line"),
        (7, "put the blocks in a vertical line"),
        (1, "put all the blocks in a circle"),
    ],
)
def test_shapes_of_blocks_keep_clear_of_bowls(seed: int, words: str) -> None:
    with Session.open("ravens", model="nearest", mode="instant", seed=seed) as session:
        turn = session.run(words)
        assert turn.ok, turn.failure
        assert len(turn.moved) == 4
