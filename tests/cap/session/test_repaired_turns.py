"""Turns whose programs failed while they ran: the world, variables, history and the next undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cap.engine.settings import Repairs
from cap.models.base import Completion, Request
from cap.prompt.prompt import parse
from cap.session.session import Session
from cap.session.settings import SessionSettings
from robots.ravens import create

UI = """# /// cap
# context = ["objects"]
# session = true
# actions = true
# ///
import numpy as np
from robot import put_first_on_second, get_obj_pos, say
from lmps import parse_position
"""
PLACE = """# /// cap
# returns = "ret_val"
# kind = ["point"]
# context = ["objects"]
# ///
from robot import get_obj_pos
"""
RED = "put_first_on_second('red block', 'blue bowl')\n"
BLUE = "put_first_on_second('blue block', 'top left corner')\n"
WORDS = "go"


class Scripted:
    """Gives the answers to each instruction one after the other, the last one for ever."""

    name = "scripted"

    def __init__(self, **answers: list[str]) -> None:
        self.answers = {words: list(given) for words, given in answers.items()}
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        asked = request.prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")
        given = self.answers[asked]
        answer = given.pop(0) if len(given) > 1 else given[0]
        return Completion(answer, self.name)

    @property
    def notes(self) -> list[str]:
        """What the last request tells of failures."""
        return [line[3:] for line in self.prompts[-1].splitlines() if line.startswith("#! ")]


Open = Callable[..., Session]


@pytest.fixture(params=["instant", "physics"])
def open_session(request: pytest.FixtureRequest) -> Iterator[Open]:
    made: list[Session] = []

    def open_one(simulated: bool = True, **options: Any) -> Session:
        answers = options.pop("answers")
        robot: Any = create(
            mode=request.param, objects=["red block", "blue block", "blue bowl"], seed=4
        )
        robot.simulated = simulated
        if not simulated:
            options |= {"approve": lambda source: True, "min_level": "process"}
        prompts = {"ui": parse(UI, "ui"), "parse_position": parse(PLACE, "parse_position")}
        made.append(
            Session(robot, Scripted(**answers), SessionSettings(prompts=prompts, seed=9, **options))
        )
        return made[-1]

    yield open_one
    for session in made:
        session.close()


def world(session: Session) -> Any:
    robot: Any = session.robot
    return robot.snapshot()


def model(session: Session) -> Any:
    return session.engine.author.model


def test_the_world_goes_back_before_the_whole_program_is_written_again(open_session: Open) -> None:
    answers = {"go": [f"a = 1\n{RED}1 / 0\n", f"b = 2\n{BLUE}"], "next": ["say('hi')"]}
    session = open_session(answers=answers)
    start = world(session)
    turn = session.run("go")
    assert (turn.ok, turn.attempts, sorted(turn.moved)) == (True, 2, ["blue block"])
    (note,) = model(session).notes
    assert note.startswith("line 3: ZeroDivisionError: division by zero (in `1 / 0`); calls: put_")
    assert "as it was before this program; write the whole program again, corrected" in note
    assert (session.state.variables.get("a"), session.state.variables["b"]) == (None, 2)
    session.run("next")
    assert model(session).notes == []
    assert f"# go.\nb = 2\n{BLUE}" in model(session).prompts[-1]
    session.undo(2)
    assert world(session) == start


def test_a_failed_turn_stays_as_its_last_program_that_ran_left_it(open_session: Open) -> None:
    answers = {"go": [f"{RED}1 / 0\n", "x = (\n", "y = (\n", "z = (\n"], "next": ["say('hi')"]}
    session = open_session(answers=answers)
    start = world(session)
    turn = session.run("go")
    assert (turn.ok, sorted(turn.moved)) == (False, ["red block"])
    session.run("next")
    first, last = model(session).notes
    assert first.startswith("failed after put_first_on_second, which stays done: ZeroDivisionError")
    assert last.startswith("failed before anything was done: ProgramSyntaxError")
    assert f"# go.\n{RED}1 / 0\n#! failed after" in model(session).prompts[-1]
    session.undo(2)
    assert world(session) == start


def test_where_the_same_program_comes_again_what_it_did_stays(open_session: Open) -> None:
    session = open_session(answers={"go": [f"{RED}1 / 0\n"]})
    start = world(session)
    told: list[str] = []
    session.trace.listeners.append(lambda event: told.append(event.kind))
    turn = session.run("go")
    assert (turn.ok, turn.attempts, sorted(turn.moved)) == (False, 2, ["red block"])
    assert told.count("repeated_program") == 1
    assert "put_first_on_second, which stays done" in turn.note
    session.undo()
    assert world(session) == start


@pytest.mark.parametrize("last", [f"{BLUE}2 / 0\n", f"{RED}1 / 0\n", "x = (\n"])
def test_what_the_last_program_did_is_taken_back_if_that_is_wanted(
    open_session: Open, last: str
) -> None:
    repairs = Repairs(static=1, runtime=1, undo=True)
    session = open_session(answers={"go": [f"{RED}1 / 0\n", last]}, repairs=repairs)
    start = world(session)
    turn = session.run("go")
    assert (turn.ok, turn.moved) == (False, {})
    assert "and what it did was undone" in turn.note
    assert world(session) == start


def test_no_repair_is_no_rewinding(open_session: Open) -> None:
    session = open_session(answers={"go": [f"{RED}1 / 0\n"]}, repairs=Repairs(0, 0))
    assert sorted(session.run("go").moved) == ["red block"]


def test_each_attempt_is_told_with_its_own_calls(open_session: Open) -> None:
    answers = [f"{RED}1 / 0\n", f"{BLUE}2 / 0\n", "say('done')\n"]
    session = open_session(answers={"go": answers})
    assert session.run("go").ok
    first, second = model(session).notes
    assert ("'red block'" in first, "'blue block'" in first) == (True, False)
    assert ("'red block'" in second, "'blue block'" in second) == (False, True)


def test_where_the_world_stays_so_do_variables_and_generated_functions(open_session: Open) -> None:
    wrong = f"spot = get_spot(2)\n{RED}put_first_on_second('green block', spot)\n"
    answers = {
        "go": [wrong, "put_first_on_second('blue block', spot)\nsay(str(get_spot(1)))\n"],
        "define function: spot = get_spot(2)": ["def get_spot(n):\n    return [0.1 * n, -0.3]\n"],
        "next": ["say(str(spot) + str(get_spot(3)))"],
    }
    session = open_session(False, answers=answers, repairs=Repairs(runtime=1))
    turn = session.run("go")
    assert (turn.ok, sorted(turn.moved)) == (True, ["blue block", "red block"])
    (note,) = model(session).notes
    assert "what it did stays done, and spot are still set; write a program for what is" in note
    assert "# Generated function.\ndef get_spot(n):" in model(session).prompts[-1]
    assert len([text for text in model(session).prompts if "define function" in text[-60:]]) == 1
    assert session.run("next").ok
    (told,) = model(session).notes
    assert told.startswith("failed after put_first_on_second, which stays done: NotFound")


def test_points_that_cannot_be_used_go_back_to_the_lmp_that_gave_them(open_session: Open) -> None:
    program = "put_first_on_second('red block', parse_position('a good spot'))\n"
    answers = {
        "go": [program],
        "a good spot": ["ret_val = [0.9, -0.5]\n", "ret_val = [0.1, -0.3]\n"],
    }
    session = open_session(answers=answers)
    turn = session.run("go")
    assert (turn.ok, sorted(turn.moved)) == (True, ["red block"])
    one, spot, again = model(session).prompts
    assert one.endswith("# go.\n")
    assert again.startswith(spot.rsplit("objects =", 1)[0])
    (note,) = model(session).notes
    assert note.startswith("put_first_on_second('red block', [0.9, -0.5]) failed: Unreachable: ")
    assert note.endswith("nothing that can be done fits the words: ret_val = None")


@pytest.mark.parametrize(
    ("second", "ok", "said"),
    [
        ("None", False, "nothing that can be done fits these words: draw"),
        ("[[0.0, -0.4], [0.1, -0.4]]", True, ""),  # the same line elsewhere
        ("[[0.0, -0.4], [0.05, -0.4]]", True, "5.0 cm long, 2 points, where the first answer was"),
    ],
    ids=["none", "elsewhere", "shorter"],
)
def test_a_second_answer_does_not_change_what_was_asked_for_unseen(
    second: str, ok: bool, said: str
) -> None:
    answers = {
        "draw a line": ["draw(parse_shape_pts('a 10 cm line'))\n"],
        "a 10 cm line": ["shape_pts = [[0.28, -0.4], [0.38, -0.4]]\n", f"shape_pts = {second}\n"],
    }
    with Session.open("drawing", Scripted(**answers), mode="instant") as session:
        turn = session.run("draw a line")
    assert turn.ok is ok
    assert said in (turn.failure.message if turn.failure else " ".join(turn.effect.left_over))
    assert bool(turn.effect.left_over) is (ok and bool(said))


def test_what_else_was_asked_for_is_not_asked_again(open_session: Open) -> None:
    program = (
        "parse_position('the start')\nput_first_on_second('red block', parse_position('it'))\n"
    )
    answers = {
        "go": [program],
        "the start": ["ret_val = [0.0, -0.3]\n"],
        "it": ["ret_val = [0.9, -0.5]\n", "ret_val = [0.1, -0.3]\n"],
    }
    session = open_session(answers=answers)
    assert session.run("go").ok
    asked = [text.rstrip().rpartition("\n# ")[2] for text in model(session).prompts]
    assert asked == ["go.", "the start.", "it.", "it."]


def test_where_the_lmp_has_no_better_points_the_program_is_written_again(
    open_session: Open,
) -> None:
    program = "put_first_on_second('red block', parse_position('a good spot'))\n"
    answers = {"go": [program, f"{RED}"], "a good spot": ["ret_val = [0.9, -0.5]\n"]}
    session = open_session(answers=answers)
    turn = session.run("go")
    assert (turn.ok, turn.attempts) == (True, 3)


def test_a_turn_that_an_exception_ends_is_one_that_undo_takes_back(open_session: Open) -> None:
    class Broken(Scripted):
        def complete(self, request: Request) -> Completion:
            if request.prompt.endswith("# a good spot.\n"):
                raise RuntimeError("a bug")
            return super().complete(request)

    session = open_session(answers={"go": [f"x = 1\n{RED}"]})
    session.run("go")
    kept = world(session)
    session.engine.author.model = Broken(go=[f"{BLUE}parse_position('a good spot')\n"])
    session.engine.repairs = Repairs(0, 0)
    turns = len(session.turns)
    try:
        session.run("go")
    except RuntimeError:
        assert world(session) != kept
    assert len(session.turns) == turns + 1
    session.undo()
    assert world(session) == kept
    assert session.state.variables["x"] == 1
