"""What an instruction asks for in every reading, and the world does not show."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cap.engine.settings import Repairs
from cap.session.session import Session
from tests.fakes.scripted import Scripted

PAIRS = [
    json.loads(line)
    for line in Path(__file__).with_name("doubts.jsonl").read_text(encoding="utf-8").splitlines()
]
"""Sentences with programs: with `doubt` they are wrong, else right, or the words are open."""
TABLE = "red block, green block, blue block, red bowl"


def opened(model: Scripted, robot: str = "ravens", **options: Any) -> Session:
    return Session.open(robot, model, mode="instant", **{"seed": 4, "objects": TABLE, **options})


Scene = Callable[..., Session]


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    """Open a scene, once for all its sentences; that of no named robot has a block moved."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def enter(robot: str, objects: str | None, seed: int) -> Session:
            options: dict[str, Any] = {"objects": objects, "seed": seed, "repairs": Repairs(0, 0)}
            session = stack.enter_context(opened(Scripted(""), robot or "ravens", **options))
            begin = "x = 1" if robot else "put_first_on_second('red block', 'middle')"
            assert session.execute(begin).ok
            return session

        yield enter


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['words']}: {pair.get('doubt')}")
def test_a_wrong_program_is_doubted_and_no_other(scene: Scene, pair: dict[str, Any]) -> None:
    robot = pair.get("robot", "")
    objects = pair.get("objects", TABLE if robot in ("", "ravens") else None) or None
    session = scene(robot, objects, pair.get("seed", 4))
    session.use_model(Scripted(pair["program"]))
    if "before" in pair:
        assert session.execute(pair["before"]).ok
    turn = session.run(pair["words"])
    assert turn.ok
    if "doubt" in pair:
        assert pair["doubt"] in " ".join(turn.effect.doubts)
        assert turn.as_json()["doubts"] == list(turn.effect.doubts)
    else:
        assert turn.effect.doubts == ()
    session.undo(len(session.turns) - 1)


ONE = "put_first_on_second('red block', 'red bowl')\n"
ALL = "for name in parse_all:\n    put_first_on_second(name, 'red bowl')\n".replace(
    "parse_all", "['red block', 'green block', 'blue block']"
)


def test_a_doubt_is_asked_about_once_from_the_world_as_it_was() -> None:
    model = Scripted(ONE, ALL)
    with opened(model) as session:
        turn = session.run("put all the blocks in the red bowl")
    assert (turn.ok, turn.effect.doubts, len(model.prompts)) == (True, (), 2)
    assert sorted(turn.moved) == ["blue block", "green block", "red block"]
    assert "'green block', 'blue block' were not moved; it did this: moved red" in model.prompts[1]


@pytest.mark.parametrize("again", [ONE, f"{ONE}# again\n"], ids=["the same", "nearly the same"])
def test_who_insists_is_done_but(again: str) -> None:
    model = Scripted(ONE, again)
    with opened(model) as session:
        turn = session.run("put all the blocks in the red bowl")
        assert session.robot.positions()["red block"] == pytest.approx(turn.moved["red block"][1])
    assert turn.ok
    assert turn.effect.doubts == ("'green block', 'blue block' were not moved",)
    assert len(model.prompts) == 2
