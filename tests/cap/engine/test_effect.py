"""A turn's effect is the world's difference, whatever the program says of itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from cap.engine.effect import Effect
from cap.errors import NotConnected, RobotError
from cap.result import Call, Result
from cap.robot.observation import Observation
from cap.session.session import Session
from cap.session.turn import unmet
from tests.rows import table

OBJECTS = ["red block", "green block", "blue bowl"]
PUT = "put_first_on_second('red block', 'blue bowl')"


@pytest.fixture(scope="module")
def opened() -> Iterator[Session]:
    with Session.open("ravens", "nearest", mode="instant", objects=OBJECTS) as opened:
        yield opened


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


def test_a_turn_without_the_expected_effect_fails_and_keeps_nothing(opened: Session) -> None:
    turn = opened.execute("y = 3", expect=["moved"])
    assert turn.failure is not None
    assert (turn.failure.kind, turn.failure.exit_code, turn.ok) == ("effect", 1, False)
    assert "expected: moved" in turn.failure.message
    assert "y" not in opened.state.variables
    assert opened.execute(PUT, expect=["moved"]).ok
    opened.undo(2)


def test_a_world_that_cannot_be_seen_afterwards_is_a_failure(
    opened: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [dict(opened.robot.positions())]

    def positions() -> Mapping[str, tuple[float, float, float]]:
        if not seen:
            raise NotConnected("the cable is out")
        return seen.pop()

    monkeypatch.setattr(opened.robot, "positions", positions)
    turn = opened.execute(PUT)
    monkeypatch.undo()
    assert turn.failure is not None
    assert turn.failure.error == "NotConnected"
    assert "its effect cannot be seen: the cable is out" in turn.failure.message
    assert opened.turns[-1] is turn
    assert opened.undo()
    assert opened.robot.positions()["red block"][2] == pytest.approx(0.02)


# --- the commands
