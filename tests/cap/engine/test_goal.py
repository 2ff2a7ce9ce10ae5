"""The goal check of a single turn: `--verify goal`."""

from __future__ import annotations

from typing import Any

import pytest

from cap.engine.settings import Sampling
from cap.errors import UsageError
from cap.session.session import Session
from tests.fakes.scripted import Scripted

TABLE = ["red block", "blue block", "red bowl"]
WORDS = "tidy the red block away"
RIGHT = "put_first_on_second('red block', 'red bowl')\n"
BLUE = "put_first_on_second('blue block', 'middle')\n"
WRONG = "put_first_on_second('red block', 'middle')\n"
IN_BOWL = (
    "apart = np.linalg.norm(get_obj_pos('red block') - get_obj_pos('red bowl'))\n"
    "ret_val = bool(apart < 0.05)\n"
)


def opened(model: Scripted, samples: int = 1, **options: Any) -> Session:
    sampling = {"verify": "goal", "samples": samples}
    given = {"mode": "instant", "seed": 1, "objects": TABLE, "sampling": sampling, **options}
    return Session.open("ravens", model, **given)


def test_among_ties_the_check_and_then_the_named_things_decide() -> None:
    """Each program does something else; without a check the words alone decide."""
    with opened(Scripted(WRONG, RIGHT, goal=IN_BOWL), samples=2) as session:
        assert session.run(WORDS).effect.doubts == ()
    with opened(Scripted(BLUE, WRONG, goal="ret_val = None\n"), samples=2) as session:
        assert list(session.run("move the red block somewhere").moved) == ["red block"]


def test_only_words_goal_and_off_are_taken() -> None:
    with pytest.raises(UsageError, match="verify"):
        Session.open("ravens", "nearest", mode="instant", sampling=Sampling(verify="all"))  # type: ignore[arg-type]
