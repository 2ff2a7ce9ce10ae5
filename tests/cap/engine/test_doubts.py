"""What an instruction asks for in every reading, and the world does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cap.engine.settings import Repairs
from cap.models.base import Completion, Request
from cap.session.session import Session

PAIRS = [
    json.loads(line)
    for line in Path(__file__).with_name("doubts.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Sentences with programs: with `doubt` they are wrong, else right, or the words are open."""
TABLE = ["red block", "green block", "blue block", "red bowl"]


class Script:
    """Gives answers one after the other, the last one for ever."""

    name = "script"

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []

    def complete(self, request: Request) -> Completion:
        self.prompts.append(request.prompt)
        return Completion(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0], "m")


def opened(model: Script, robot: str = "ravens", **options: Any) -> Session:
    objects = options.pop("objects", TABLE if robot == "ravens" else None)
    seed = options.pop("seed", 4)
    return Session.open(robot, model, mode="instant", seed=seed, objects=objects, **options)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['words']}: {pair.get('doubt')}")
def test_a_wrong_program_is_doubted_and_no_other(pair: dict[str, Any]) -> None:
    model = Script(pair["program"])
    scene: dict[str, Any] = {"objects": pair["objects"] or None} if "objects" in pair else {}
    scene |= {"seed": pair["seed"]} if "seed" in pair else {}
    with opened(model, pair.get("robot", "ravens"), repairs=Repairs(0, 0), **scene) as session:
        if "robot" not in pair:
            assert session.execute("put_first_on_second('red block', 'middle')").ok
        assert session.execute(pair.get("before", "x = 1")).ok
        turn = session.run(pair["words"])
    assert turn.ok
    if "doubt" in pair:
        assert pair["doubt"] in " ".join(turn.effect.doubts)
        assert turn.as_json()["doubts"] == list(turn.effect.doubts)
    else:
        assert turn.effect.doubts == ()


ONE = "put_first_on_second('red block', 'red bowl')\n"
ALL = "for name in parse_all:\n    put_first_on_second(name, 'red bowl')\n".replace(
    "parse_all", "['red block', 'green block', 'blue block']"
)


def test_a_doubt_is_asked_about_once_from_the_world_as_it_was() -> None:
    model = Script(ONE, ALL)
    with opened(model) as session:
        turn = session.run("put all the blocks in the red bowl")
    assert (turn.ok, turn.effect.doubts, len(model.prompts)) == (True, (), 2)
    assert sorted(turn.moved) == ["blue block", "green block", "red block"]
    assert "'green block', 'blue block' were not moved; it did this: moved red" in model.prompts[1]


@pytest.mark.parametrize("again", [ONE, f"{ONE}# again\n"], ids=["the same", "nearly the same"])
def test_who_insists_is_done_but(again: str, capsys: pytest.CaptureFixture[str]) -> None:
    model = Script(ONE, again)
    with opened(model) as session:
        turn = session.run("put all the blocks in the red bowl")
        assert session.robot.positions()["red block"] == pytest.approx(turn.moved["red block"][1])
    assert turn.ok
    assert turn.effect.doubts == ("'green block', 'blue block' were not moved",)
    assert len(model.prompts) == 2
