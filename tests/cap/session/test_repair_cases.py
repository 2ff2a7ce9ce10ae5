"""Every way a program goes wrong and is mended or not: what is left of it.

After each the world, the variables, what the next prompt tells and the next undo are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from cap.engine.settings import Repairs
from cap.errors import ModelUnreachable
from cap.models.base import Completion, Ended, Request
from cap.prompt.prompt import parse
from cap.sandbox.limits import Limits
from cap.session.session import Session
from cap.session.settings import SessionSettings
from robots.ravens import create

UI = """# /// cap
# context = ["objects"]
# session = true
# actions = true
# ///
import numpy as np
from robot import put_first_on_second, get_obj_pos, is_obj_visible, say
from lmps import parse_position, parse_obj_name
"""
PLACE = """# /// cap
# returns = "ret_val"
# kind = ["point"]
# context = ["objects"]
# ///
from robot import get_obj_pos
"""
NAME = PLACE.replace("point", "name")
RED = "put_first_on_second('red block', 'blue bowl')\n"
BLUE = "put_first_on_second('blue block', 'top left corner')\n"
BEGIN = "x = 0\nput_first_on_second('blue block', 'bottom side')\n"
CUT = object()
"""In a list of answers: the next one is cut off by the server."""


@dataclass(frozen=True)
class Case:
    """One turn that does not go well at once."""

    go: Sequence[Any]
    """What the model writes for it, one after the other, the last one for ever."""
    more: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """What it writes for what is asked on the way, by the words."""
    error: str = ""
    """How the turn fails; "" if it does not."""
    stays: str = ""
    """A program that does in the world what the turn is to leave there."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """Variables of the next turn, besides those from before."""
    told: Sequence[str] = ()
    """What the next prompt tells of failures: patterns."""
    asked: Sequence[str] = ()
    """What is asked for while it lasts, by the last words of each request."""
    why: str = ""
    """A part of the last reason that the model is told during the turn."""
    repairs: Repairs | None = None
    limits: Limits = field(default_factory=lambda: Limits(program_s=2, calls=40))
    simulated: bool = True


STAYS = r"failed after put_first_on_second, which stays done: "
CASES = {
    "invalid Python": Case(
        ["a = (\n", f"b = 1\n{RED}"], stays=RED, sets={"b": 1}, asked=["go", "go"], why="line 1: "
    ),
    "prose": Case(
        ["I would move the red block.", RED],
        stays=RED,
        asked=["go", "go"],
        why="this is no program; write one, and to say something to the person call say",
    ),
    "prose for ever": Case(
        ["I cannot do that."], error="AnsweredInWords", told=["failed before anything was done: "]
    ),
    "cut off": Case([CUT, "put_first_on", RED], stays=RED, why="was cut off", asked=["go", "go"]),
    "a refused import": Case(
        ["import os\nos.remove('a')\n", RED], stays=RED, why="import os", asked=["go", "go"]
    ),
    "a near miss": Case(
        ["a = get_obj_position('red block')\n", RED],
        stays=RED,
        why=r"there is no 'get_obj_position'; there is get_obj_pos\(name\)",
        asked=["go", "go"],
    ),
    "an attribute of robot": Case(
        ["robot.pick('red block')\n", RED], stays=RED, why="there is no|pick", asked=["go", "go"]
    ),
    "wrong keywords": Case(
        ["put_first_on_second('red block', onto='blue bowl')\n", RED],
        stays=RED,
        why="missing a required argument",
    ),
    "a function that cannot be written": Case(
        ["place_it('red block')\n", f"b = 1\n{RED}"],
        {"define function: place_it('red block')": ["def other():\n    return 1\n"]},
        stays=RED,
        sets={"b": 1},
        why="the answer for function 'place_it'",
        asked=["go", "place_it('red block')", "place_it('red block')", "go"],
    ),
    "it fails before it acts": Case(
        ["a = 1\nget_obj_pos('green block')\n", RED], stays=RED, why="NotFound", asked=["go", "go"]
    ),
    "it fails after it acted": Case(
        [f"a = 1\n{RED}1 / 0\n", f"b = 2\n{BLUE}"],
        stays=BLUE,
        sets={"b": 2},
        why="the world is again as it was before this program; write the whole program again",
    ),
    "it only failed to act": Case(
        ["put_first_on_second('green block', 'blue bowl')\n", RED],
        stays=RED,
        why=r"failed: NotFound: [^;]*(; [^;]*)*; write the whole program again, corrected$",
    ),
    "it fails thrice": Case(
        [f"{RED}1 / 0\n", f"{BLUE}1 / 0\n", f"{BLUE}{RED}a = 3\n1 / 0\n", "say('never')\n"],
        error="ZeroDivisionError",
        stays=f"{BLUE}{RED}",
        told=["failed after put_first_on_second x 2, which stays done"],
        asked=["go", "go", "go"],
    ),
    "it fails thrice and is taken back": Case(
        [f"{RED}1 / 0\n", f"{BLUE}1 / 0\n", f"{BLUE}{RED}1 / 0\n"],
        error="ZeroDivisionError",
        told=["failed, and what it did was undone: ZeroDivisionError"],
        repairs=Repairs(undo=True),
    ),
    "its repairs are no programs": Case(
        [f"a = 1\n{RED}1 / 0\n", "b = (\n", "c = (\n", "d = (\n"],
        error="ProgramSyntaxError",
        stays=RED,
        told=[STAYS + "ZeroDivisionError", "failed before anything was done: ProgramSyntaxError"],
    ),
    "the same program again": Case(
        [f"a = 1\n{RED}1 / 0\n"], error="ZeroDivisionError", stays=RED, told=[STAYS]
    ),
    "no answer to the repair": Case(
        [f"{RED}1 / 0\n", ModelUnreachable("nobody answers")],
        error="ZeroDivisionError",
        stays=RED,
        told=[STAYS + ".*a repair was asked for, but ModelUnreachable: nobody answers"],
    ),
    "no answer at all": Case(
        [ModelUnreachable("nobody answers")],
        error="ModelUnreachable",
        told=["failed before anything was done: ModelUnreachable"],
    ),
    "no end": Case(
        [f"{RED}while True:\n    pass\n", BLUE],
        stays=BLUE,
        why="the program ran longer than 1 s",
        limits=Limits(program_s=1),
    ),
    "too many calls": Case(
        [f"{RED}while True:\n    get_obj_pos('red block')\n", BLUE],
        stays=BLUE,
        why="get_obj_pos",
        limits=Limits(program_s=5, calls=40),
    ),
    "there is none": Case(
        [f"{RED}put_first_on_second(parse_obj_name('the mug'), 'blue bowl')\n"],
        {"the mug": ["ret_val = None\n"]},
        error="NotFound",
        stays=RED,
        told=[STAYS],
        repairs=Repairs(runtime=0),
        asked=["go", "the mug"],
    ),
    "there is none, and the program knows what to do": Case(
        ["try:\n    parse_obj_name('the mug')\nexcept NotFound:\n    say('I see no mug')\n"],
        {"the mug": ["ret_val = None\n"]},
        asked=["go", "the mug"],
    ),
    "an LMP's value is of the wrong kind": Case(
        ["put_first_on_second(parse_obj_name('it'), 'blue bowl')\n"],
        {"it": ["ret_val = 3\n", "ret_val = 'red block'\n"]},
        stays=RED,
        asked=["go", "it", "it"],
        why="expected name, got 3",
    ),
    "an LMP's points cannot be reached": Case(
        ["put_first_on_second('red block', parse_position('there'))\n"],
        {"there": ["ret_val = [0.9, -0.5]\n", "ret_val = get_obj_pos('blue bowl')\n"]},
        stays=RED,
        asked=["go", "there", "there"],
        why="answer again with what the words leave open",
    ),
    "what it did cannot go back": Case(
        [f"a = 1\nspot = [0.1, -0.3]\n{RED}1 / 0\n", "put_first_on_second('blue block', spot)\n"],
        stays=f"{RED}put_first_on_second('blue block', [0.1, -0.3])\n",
        sets={"a": 1, "spot": [0.1, -0.3]},
        told=[STAYS + "ZeroDivisionError"],
        why="stays done, and x, a, spot are still set; write a program for what is left to do$",
        repairs=Repairs(runtime=1),
        simulated=False,
    ),
    "on hardware nothing runs a second time": Case(
        [f"a = 1\n{RED}1 / 0\n", BLUE],
        error="ZeroDivisionError",
        stays=RED,
        told=[STAYS],
        asked=["go"],
        simulated=False,
    ),
}


class Scripted:
    """Gives the answers to each instruction one after the other, the last one for ever."""

    name = "scripted"

    def __init__(self, answers: Mapping[str, Sequence[Any]]) -> None:
        self.answers = {words: list(given) for words, given in answers.items()}
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        given = self.answers[self.asked()[-1]]
        ended: Ended = "whole"
        if given[0] is CUT:
            given.pop(0)
            ended = "cut"
        answer = given.pop(0) if len(given) > 1 else given[0]
        if isinstance(answer, Exception):
            raise answer
        return Completion(answer, self.name, ended=ended)

    def asked(self, since: int = 0) -> list[str]:
        """Return the words of each request."""
        last = [text.rstrip().rpartition("\n# ")[2] for text in self.prompts[since:]]
        return [words.removesuffix(".") for words in last]

    def notes(self) -> list[str]:
        """Return what the last request tells of failures."""
        return [line[3:] for line in self.prompts[-1].splitlines() if line.startswith("#! ")]


def opened(case: Case) -> tuple[Session, Scripted, Any]:
    """Return a session with a turn behind it, its model and its robot."""
    robot: Any = create(mode="instant", objects=["red block", "blue block", "blue bowl"], seed=4)
    robot.simulated = case.simulated
    answers = {"begin": [BEGIN], "next": ["say('hi')\n"], "go": case.go, **case.more}
    model = Scripted(answers)
    prompts = {"ui": UI, "parse_position": PLACE, "parse_obj_name": NAME}
    settings = SessionSettings(
        prompts={name: parse(text, name) for name, text in prompts.items()},
        limits=case.limits,
        repairs=case.repairs,
        approve=None if case.simulated else (lambda source: True),
        min_level=None if case.simulated else "process",
    )
    session = Session(robot, model, settings)
    assert session.run("begin").ok
    return session, model, robot


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.sweep(share=0.3)
def test_what_is_left_of_a_turn_that_went_wrong(case: Case) -> None:
    like, _, other = opened(case)
    with like:
        if case.stays:
            assert like.execute(case.stays).ok
        left = other.positions()
    session, model, robot = opened(case)
    with session:
        kept, state, begun = robot.snapshot(), session.state, len(model.prompts)

        turn = session.run("go")
        assert (turn.failure.error if turn.failure else "") == case.error
        assert robot.positions() == left
        if case.asked:
            shown = [words.removeprefix("define function: ") for words in model.asked(begun)]
            assert shown == list(case.asked)
        if case.why:
            reasons = [text for text in model.prompts[begun:] if "\n#! " in text]
            assert re.search(case.why, reasons[-1].rpartition("\n#! ")[2].split("\n")[0])

        assert session.state.variables == {**state.variables, **case.sets}
        for name in sorted({"a", "b", "spot"} - set(case.sets)):
            assert name not in session.state.variables

        assert session.run("next").ok
        notes = model.notes()
        assert len(notes) == len(case.told)
        for note, pattern in zip(notes, case.told, strict=True):
            assert re.match(pattern, note)
        assert "# go.\n" in model.prompts[-1]

        assert session.undo(2) is True
        assert session.state == state
        assert robot.snapshot() == kept
        session.run("next")
        assert model.notes() == []
        assert "# go.\n" not in model.prompts[-1]
