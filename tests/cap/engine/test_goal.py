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
STAYS = (
    "apart = np.linalg.norm(get_obj_pos('blue block') - np.array(before['blue block'][:2]))\n"
    "ret_val = bool(apart < 0.01)\n"
)
NOT_SO = "a check written from these words alone finds that what they ask for is not so"


def opened(model: Scripted, samples: int = 1, **options: Any) -> Session:
    sampling = {"verify": "goal", "samples": samples}
    given = {"mode": "instant", "seed": 1, "objects": TABLE, "sampling": sampling, **options}
    return Session.open("ravens", model, **given)


@pytest.mark.parametrize(
    ("goal", "programs", "requests", "doubts"),
    [
        (IN_BOWL, [RIGHT], 2, ()),
        (IN_BOWL, [WRONG, RIGHT], 3, ()),
        (IN_BOWL, [WRONG, f"{WRONG}# as I said\n"], 3, (NOT_SO,)),
        (STAYS, [RIGHT], 2, ()),
        (STAYS, [f"{RIGHT}{BLUE}", RIGHT], 3, ()),
        ("ret_val = None\n", [WRONG], 2, ()),
        ("ret_val = 1 / 0\n", [WRONG], 2, ()),
        ("ret_val = get_obj_pos('green block')\n", [WRONG], 2, ()),
    ],
    ids=["right", "mended", "insists", "kept", "veto", "cannot tell", "fails", "not there"],
)
def test_a_turn_is_held_against_its_goal_check(
    goal: str, programs: list[str], requests: int, doubts: tuple[str, ...]
) -> None:
    model = Scripted(*programs, goal=goal)
    with opened(model) as session:
        turn = session.run(WORDS)
    assert turn.ok
    assert len(model.prompts) == requests
    assert turn.effect.doubts == doubts
    if requests == 3:
        assert NOT_SO in model.prompts[-1]


def test_a_question_has_a_check_too() -> None:
    model = Scripted(f"{BLUE}say('2')\n", "say('2')\n", goal=STAYS)
    with opened(model) as session:
        turn = session.run("how many blocks are there")
    assert (turn.moved, turn.effect.said) == ({}, ("2", "2"))


def test_rounds_end_where_the_check_accepts_and_are_doubted_where_it_does_not() -> None:
    model = Scripted(WRONG, RIGHT, RIGHT, goal=IN_BOWL)
    with opened(model, rounds=4) as session:
        assert session.run(WORDS).effect.doubts == ()
    assert len(model.answers) == 1  # nobody asked a third time
    with opened(Scripted(WRONG, "pass\n", goal=IN_BOWL), rounds=4) as session:
        assert session.run(WORDS).effect.doubts == (NOT_SO,)


def test_among_ties_the_check_and_then_the_named_things_decide() -> None:
    """Each program does something else; without a check the words alone decide."""
    with opened(Scripted(WRONG, RIGHT, goal=IN_BOWL), samples=2) as session:
        assert session.run(WORDS).effect.doubts == ()
    with opened(Scripted(BLUE, WRONG, goal="ret_val = None\n"), samples=2) as session:
        assert list(session.run("move the red block somewhere").moved) == ["red block"]


def test_only_words_goal_and_off_are_taken() -> None:
    with pytest.raises(UsageError, match="verify"):
        opened(Scripted(""), samples=1, sampling={"verify": "all"})
    with pytest.raises(UsageError, match="verify"):
        Session.open("ravens", "nearest", mode="instant", sampling=Sampling(verify="all"))  # type: ignore[arg-type]


def test_off_doubts_nothing() -> None:
    model = Scripted(RIGHT)
    with opened(model, sampling={"verify": "off"}) as session:
        turn = session.run("put all the blocks in the red bowl")
    assert (turn.ok, turn.effect.doubts, len(model.prompts)) == (True, (), 1)
