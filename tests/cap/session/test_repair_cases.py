"""Every way a program goes wrong and is repaired or not: what is left of it.

A row of `tables.jsonl` is one turn, `go`, with the answers for it and for what is asked on the way
(`more`). It says how the turn fails (`error`), a program that does in the world what the turn
leaves there (`stays`), what it `sets`, patterns of what the next prompt is `told` of failures, what
was `asked` and `why` the last time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from cap.engine.settings import Repairs
from cap.errors import ModelUnreachable
from cap.models.base import Completion
from cap.sandbox.limits import Limits
from cap.session.session import Session
from robots.ravens import create
from tests.cap.conftest import Open
from tests.fakes.scripted import OBJECTS, listened, model_of, snapshot
from tests.rows import table

CASES = table(__file__, "repairs")
BEGIN = "x = 0\nput_first_on_second('blue block', 'bottom side')\n"
PHYSICS = ("it fails after it acted", "its repairs are no programs", "the same program again")


def answer(written: str | Mapping[str, str]) -> Any:
    if isinstance(written, str):
        return written
    if "unreachable" in written:
        return ModelUnreachable(written["unreachable"])
    return Completion(written["cut"], "scripted", ended="cut")


def begun(open_session: Open, case: Mapping[str, Any], mode: str = "instant") -> Session:
    """Return a session with a turn behind it."""
    answers = {"begin": BEGIN, "next": "say('hi')\n", **case.get("more", {})}
    answers["go"] = [answer(written) for written in case["go"]]
    robot: Any = create(mode=mode, objects=OBJECTS, seed=4)
    robot.simulated = "hardware" not in case
    session = open_session(
        answers,
        robot=robot,
        limits=Limits(program_s=case.get("program_s", 30), calls=40),
        repairs=Repairs(**case["repairs"]) if "repairs" in case else None,
        approve=lambda source: True,
        min_level="process",
    )
    assert session.run("begin").ok
    return session


@pytest.mark.parametrize(
    ("name", "mode"), [*((name, "instant") for name in CASES), *((n, "physics") for n in PHYSICS)]
)
def test_what_is_left_of_a_turn_that_went_wrong(open_session: Open, name: str, mode: str) -> None:
    case = CASES[name]
    like, session = (begun(open_session, case, mode) for _ in range(2))
    if case.get("stays"):
        assert like.execute(case["stays"]).ok
    model, kept, state = model_of(session), snapshot(session), session.state
    first, events = len(model.requests), listened(session)

    turn = session.run("go")
    assert (turn.failure.error if turn.failure else "") == case.get("error", "")
    if mode == "instant":
        assert session.robot.positions() == like.robot.positions()
    if "asked" in case:
        shown = [words.removeprefix("define function: ") for words in model.asked[first:]]
        assert shown == case["asked"]
    if "why" in case:
        reasons = [text for text in model.prompts[first:] if "\n#! " in text]
        assert re.search(case["why"], reasons[-1].rpartition("\n#! ")[2].split("\n")[0])
    assert session.state.variables == {**state.variables, **case.get("sets", {})}
    if name == "the same program again":
        assert [event.kind for event in events].count("repeated_program") == 1

    assert session.run("next").ok
    told = case.get("told", [])
    assert len(model.notes) == len(told)
    for note, pattern in zip(model.notes, told, strict=True):
        assert re.match(pattern, note)
    assert "# go.\n" in model.prompts[-1]

    assert session.undo(2) is True
    assert session.state == state
    assert snapshot(session) == kept
    session.run("next")
    assert model.notes == []
    assert "# go.\n" not in model.prompts[-1]


def test_where_the_world_stays_so_do_generated_functions(open_session: Open) -> None:
    define = "define function: spot = get_spot(2)"
    case = {
        "go": [
            "spot = get_spot(2)\nput_first_on_second('red block', 'blue bowl')\n1 / 0\n",
            "put_first_on_second('blue block', spot)\nsay(str(get_spot(1)))\n",
        ],
        "more": {define: "def get_spot(n):\n    return [0.1 * n, -0.3]\n"},
        "repairs": {"runtime": 1},
        "hardware": True,
    }
    session = begun(open_session, case)
    assert sorted(session.run("go").moved) == ["blue block", "red block"]
    assert "# Generated function.\ndef get_spot(n):" in model_of(session).prompts[-1]
    assert model_of(session).asked.count(define) == 1
