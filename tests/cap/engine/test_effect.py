"""A turn's effect is the world's difference, held against the words of the instruction."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.engine.effect import Effect
from cap.engine.settings import Repairs
from cap.errors import NotConnected, RobotError
from cap.result import Call, Result
from cap.robot.observation import Observation
from cap.session.session import Session
from cap.session.turn import unmet
from tests.fakes.scripted import Scripted
from tests.rows import table

OBJECTS = ["red block", "green block", "blue bowl"]
PUT = "put_first_on_second('red block', 'blue bowl')"


@pytest.fixture(scope="module")
def here() -> Iterator[Session]:
    with Session.open("ravens", "nearest", mode="instant", objects=OBJECTS) as here:
        yield here


def effect(session: Session, source: str, expect: Sequence[str] = ()) -> Effect:
    turn = session.execute(source, expect=expect)
    assert turn.failure is None or expect, turn.failure
    return turn.effect


EFFECTS = table(__file__, "effects")


@pytest.mark.parametrize("case", EFFECTS.values(), ids=EFFECTS)
def test_the_effect_is_the_difference_of_the_world(case: Mapping[str, Any]) -> None:
    with Session.open(
        case["robot"], "nearest", mode="instant", objects=case.get("objects")
    ) as session:
        *_, done = (effect(session, source) for source in case["programs"])
    if "words" in case:
        assert done.words == tuple(case["words"])
    if "still" in case:
        assert done.stillness == case["still"]
    if "line" in case:
        assert done.line == case["line"]
    if "changed" in case:
        assert list(done.changes) == case["changed"]
    for name, (before, after) in case.get("changes", {}).items():
        assert (done.changes[name][0], done.changes[name][1].split(",")[0]) == (before, after)


class Seen:
    """A robot of which only some facts are known."""

    name = "odd"

    def __init__(self, condition: Mapping[str, Any], whereabouts: Mapping[str, Any] = {}) -> None:
        self.condition = lambda: condition
        self.whereabouts = lambda: whereabouts

    def context(self) -> dict[str, Any]:
        return {}

    def positions(self) -> dict[str, Any]:
        return {}


def test_whereabouts_that_are_no_words_are_the_robots_fault() -> None:
    with pytest.raises(RobotError, match=r"whereabouts\(\) failed: .*Expected `str`, got `int`"):
        Observation.of(Seen({}, {"cup": 3}))


# --- what was left over

HERE = Observation({}, facts={"objects": ["a"]})


def call(name: str, word: str, result: Any, kind: str, error: str | None = None) -> Call:
    return Call(name, (word,), {}, 0.0, 0.0, result, error, kind)


LEFT_OVER = table(__file__, "left over")
"""A call (its name, its argument, its result, its kind, its error), and what is said of it."""


@pytest.mark.parametrize(("given", "lines"), LEFT_OVER.values(), ids=LEFT_OVER)
def test_what_was_not_found_is_told(given: list[Any], lines: list[str]) -> None:
    made = call(*given)
    found = Effect.of(HERE, HERE, Result(calls=(made, made))).left_over
    assert list(found) in (lines, lines * 2)


def test_what_is_not_seen_matters_only_where_nothing_was_done() -> None:
    after = Observation({}, {"held": "cup"})
    unseen = call("is_obj_visible", "cola", False, "perception")
    assert Effect.of(HERE, after, Result(calls=(unseen,))).left_over == ()


CONDITIONS = table(__file__, "conditions")


@pytest.mark.parametrize(("before", "after", "words"), CONDITIONS.values(), ids=CONDITIONS)
def test_conditions_are_compared_as_plain_data(
    before: dict[str, Any], after: dict[str, Any], words: list[str]
) -> None:
    arrays = {n: np.array(v) if isinstance(v, list) else v for n, v in after.items()}
    views = [Observation.of(Seen(entry)) for entry in (before, arrays)]
    assert Effect.of(*views, Result()).words == tuple(words)


def test_what_a_camera_loses_is_no_longer_seen_and_nobody_knows_that_it_moved() -> None:
    here, gone = Observation({"cup": (0.0, 0.0, 0.1)}), Observation({})
    lost, found = Effect.of(here, gone, Result()), Effect.of(gone, here, Result())
    assert (lost.no_longer_seen, lost.newly_seen) == (("cup",), ())
    assert (found.no_longer_seen, found.newly_seen) == ((), ("cup",))
    for effect in (lost, found):
        assert effect.changed == {}
        assert effect.words == ()
        assert effect.stillness == ""
    for words in ("moved", "nothing"):
        failure = unmet(lost, [words])
        assert failure is not None
        assert failure.message == f"expected: {words}; the effect was: cup is no longer seen"


# --- what was expected


def test_a_turn_without_the_expected_effect_fails_and_keeps_nothing(here: Session) -> None:
    turn = here.execute("y = 3", expect=["moved"])
    assert turn.failure is not None
    assert (turn.failure.kind, turn.failure.exit_code, turn.ok) == ("effect", 1, False)
    assert "expected: moved" in turn.failure.message
    assert "y" not in here.state.variables
    assert here.execute(PUT, expect=["moved"]).ok
    here.undo(2)


def test_a_world_that_cannot_be_seen_afterwards_is_a_failure(
    here: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [dict(here.robot.positions())]

    def positions() -> Mapping[str, tuple[float, float, float]]:
        if not seen:
            raise NotConnected("the cable is out")
        return seen.pop()

    monkeypatch.setattr(here.robot, "positions", positions)
    turn = here.execute(PUT)
    monkeypatch.undo()
    assert turn.failure is not None
    assert turn.failure.error == "NotConnected"
    assert "its effect cannot be seen: the cable is out" in turn.failure.message
    assert here.turns[-1] is turn
    assert here.undo()
    assert here.robot.positions()["red block"][2] == pytest.approx(0.02)


# --- what an instruction asks for in every reading, and the world does not show

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
