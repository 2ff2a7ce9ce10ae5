"""Rounds: a program, what came of it, and the model goes on or says that all is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from cap.engine.settings import Repairs
from cap.errors import UsageError
from cap.session.session import Session
from cap.trace.trace import Event
from tests.fakes.scripted import Scripted, listened, table_session

RED = """count = 1
def both(name):
    put_first_on_second(name, 'blue bowl')

both('red block')
"""
BLUE = "count = count + 1\nboth('blue block')\nprint('that is all')\n"
WORDS = "put the blocks in the blue bowl"


def session_of(answers: Sequence[str], rounds: int = 5, **options: Any) -> tuple[Session, Scripted]:
    model = Scripted(*answers)
    return table_session(model, rounds=rounds, repairs=Repairs(0, 0), **options), model


def reason(events: list[Event]) -> str:
    (event,) = (event for event in events if event.kind == "rounds_ended")
    return str(event.data["reason"])


def test_the_history_of_a_person_has_one_turn_and_one_undo() -> None:
    session, model = session_of([RED, BLUE, "pass\n", "say('hello')\n", "pass\n"])
    with session:
        before = session.robot.positions()
        session.run(WORDS)
        session.run("greet me")
        assert len(session.turns) == len(session.state.history) == 2
        assert model.requests[3].prompt.count(f"# {WORDS}.") == 1
        assert "moved red block" in model.requests[3].prompt
        session.undo(2)
        assert session.robot.positions() == before
        assert not session.state.history


LOOKS = "spot = get_obj_pos('red block')\n"


@pytest.mark.parametrize(
    ("answers", "rounds", "why"),
    [
        ([LOOKS, f"again = 1\n{LOOKS}", LOOKS], 5, "two rounds had no effect"),
        ([RED], 5, "the same program was written twice"),
        ([RED, BLUE], 2, "the limit was reached"),
    ],
)
def test_what_ends_it_without_the_models_word(answers: list[str], rounds: int, why: str) -> None:
    session, model = session_of(answers, rounds)
    with session:
        events = listened(session)
        assert session.run(WORDS).ok
    assert (reason(events), len(model.requests)) == (why, 2)


def test_a_number_of_rounds_that_cannot_be_is_refused() -> None:
    for number in (0, 21):
        with pytest.raises(UsageError, match="ask for 1 to 20"):
            session_of([RED], rounds=number)


def test_a_run_with_rounds_is_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from cap.cli.main import run

    (tmp_path / "model.py").write_text(
        "from cap.models.base import Completion\n"
        "class Two:\n"
        "    name = 'two'\n"
        "    def complete(self, request):\n"
        "        done = 'write only: pass' in request.prompt\n"
        "        text = \"pass\" if done else \"put_first_on_second('red block', 'blue bowl')\"\n"
        "        return Completion(text, self.name)\n"
        "def create():\n"
        "    return Two()\n",
        encoding="utf-8",
    )
    scene = ["--mode", "instant", "--objects", "red block, blue bowl"]
    asked = ["--rounds", "3", "-m", str(tmp_path / "model.py"), "--out", str(tmp_path / "run")]
    assert run(["run", "put the red block in the blue bowl", *scene, *asked]) == 0
    shown = capsys.readouterr().out
    assert "moved red block to blue bowl; round 2:" in shown
    assert "1 round: the model says it is done" in shown
    assert run(["run", "--replay", str(tmp_path / "run"), "--out", str(tmp_path / "again")]) == 0
