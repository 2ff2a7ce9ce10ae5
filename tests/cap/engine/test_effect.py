"""A turn's effect is the world's difference, whatever the program says of itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cap.cli.main import run
from cap.engine.effect import Effect
from cap.errors import NotConnected, RobotError, UsageError
from cap.result import Call, Result
from cap.robot.observation import Observation
from cap.session.session import Session
from cap.session.turn import unmet

OBJECTS = ["red block", "green block", "blue bowl"]
PUT = "put_first_on_second('red block', 'blue bowl')"


@pytest.fixture(scope="module")
def table() -> Iterator[Session]:
    with Session.open("ravens", "nearest", mode="instant", objects=OBJECTS) as opened:
        yield opened


def effect(session: Session, source: str, expect: Sequence[str] = ()) -> Effect:
    turn = session.execute(source, expect=expect)
    assert turn.failure is None or expect, turn.failure
    return turn.effect


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (PUT, ("moved",)),
        ("pass", ("nothing",)),
        ("x = get_obj_names()", ("nothing",)),
        ("say('done')", ("said",)),
        (f"{PUT}\nsay('done')", ("moved", "said")),
        ("print(len(get_obj_names()))", ("answered",)),
        ("def put_away(name):\n    return name\nput_away('red block')", ("nothing",)),
        ("point_gripper_to('top left corner')", ("moved",)),
        ("follow_traj([[0, -0.5], [0.1, -0.5], [0, -0.5]])", ("moved",)),
        ("put_first_on_second('red block', get_obj_pos('red block'))", ("nothing",)),
    ],
)
def test_the_words_are_the_worlds(table: Session, source: str, words: tuple[str, ...]) -> None:
    assert effect(table, source).words == words
    table.undo()


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (PUT, ""),
        ("say('done')", "nothing moved"),
        (
            "put_first_on_second('red block', get_obj_pos('red block'))",
            "nothing moved: everything is where it was",
        ),
    ],
)
def test_stillness_is_told(table: Session, source: str, told: str) -> None:
    assert effect(table, source).stillness == told
    table.undo()


def test_what_is_drawn_and_wiped_is_ink() -> None:
    with Session.open("drawing", "nearest", mode="instant") as session:
        line = "[[-0.1, -0.5], [0.1, -0.5]]"
        before, after = effect(session, f"draw({line})").changed["ink"]
        assert (before, after.partition(",")[0]) == ("none", "1 stroke (0.2000 m")
        other = "[[-0.1, -0.6], [0.1, -0.6]]"
        assert effect(session, f"erase({line})\ndraw({other})").words == ("drew",)
        assert effect(session, f"erase({other})").words == ("drew",)
        assert effect(session, f"draw({line})\nerase({line})").words == ("nothing",)


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("goto_loc('top drawer')\nopen_drawer('top drawer')", ["top drawer"]),
        ("goto_loc('countertop')", ["robot"]),
    ],
)
def test_a_kitchen_tells_of_drawers_and_of_itself(source: str, changed: list[str]) -> None:
    with Session.open("kitchen", "nearest", mode="instant") as session:
        done = effect(session, source)
        assert done.words == ("moved",)
        assert list(done.changes) == changed


@pytest.mark.parametrize(
    ("robot", "source", "line"),
    [
        (
            "kitchen",
            "goto_loc('top drawer')\nopen_drawer('top drawer')",
            "top drawer is 32 cm open",
        ),
        ("kitchen", "goto_loc('countertop')", "drove"),
        ("drawing", "draw([[-0.1, -0.5], [0.1, -0.5]])\nsay('so')", "drew; said 'so'"),
        ("drawing", "x = 1", "nothing moved"),
    ],
)
def test_an_effect_is_one_line_of_a_prompt(robot: str, source: str, line: str) -> None:
    with Session.open(robot, "nearest", mode="instant") as session:
        assert effect(session, source).line == line


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (PUT, "moved red block to blue bowl"),
        (
            f"put_first_on_second('green block', 'top side')\n{PUT}\n"
            "put_first_on_second('green block', 'red block')",
            "moved red block to blue bowl; moved green block to red block",
        ),
        (
            "stack_objects_in_order(['top side', 'red block', 'green block'])\n"
            "put_first_on_second('red block', 'left side') if False else None",
            "moved red block; moved green block to red block",
        ),
        (
            f"{PUT}\nput_first_on_second('blue bowl', 'left side')",
            "moved red block to blue bowl; moved blue bowl",
        ),
    ],
)
def test_what_moved_is_told_in_its_order_with_what_it_is_in_or_on(
    table: Session, source: str, line: str
) -> None:
    assert effect(table, source).line == line
    assert effect(table, "x = 1").line == "nothing moved"
    table.undo(2)


def test_what_moved_is_told_with_what_it_was_in(table: Session) -> None:
    effect(table, PUT)
    out = "put_first_on_second('red block', 'green block')"
    assert effect(table, out).line == "moved red block from blue bowl to green block"
    together = "put_first_on_second('red block', 'left side')\n" + (
        "put_first_on_second('green block', 'right side')"
    )
    assert effect(table, together).line == "moved red block from green block; moved green block"
    table.undo(3)


def test_a_kitchen_tells_from_where_to_where() -> None:
    objects = ["apple @ countertop", "lime @ countertop", "bowl @ table", "cup @ desk"]
    source = (
        "for name, place in [('apple', 'countertop'), ('lime', 'countertop'), ('cup', 'desk')]:\n"
        "    goto_loc(place)\n    pick_obj(name)\n    goto_loc('table')\n"
        "    place_at_obj('bowl') if name != 'cup' else place_at_obj('table')"
    )
    with Session.open("kitchen", "nearest", mode="instant", objects=objects) as session:
        assert effect(session, source).line == (
            "moved apple, lime from countertop to bowl; moved cup from desk to table"
        )
        assert effect(session, "pick_obj('lime')").line == "moved lime from bowl; holds lime"


def test_whereabouts_that_are_no_words_are_the_robots_fault() -> None:
    class Odd:
        name = "odd"

        def context(self) -> dict[str, Any]:
            return {}

        def positions(self) -> dict[str, Any]:
            return {}

        def whereabouts(self) -> dict[str, Any]:
            return {"cup": 3}

    with pytest.raises(RobotError, match=r"whereabouts\(\) failed: TypeError: 'cup': 3 is no name"):
        Observation.of(Odd())


def test_where_the_robot_is_is_told_only_where_nothing_else_changed() -> None:
    with Session.open("kitchen", "nearest", mode="instant", objects=["apple @ desk"]) as session:
        done = effect(session, "goto_loc('desk')\npick_obj('apple')")
        assert "robot" in done.changed
        assert "robot" not in done.changes
        assert done.changes["held"] == ("nothing", "apple")


# --- what was left over

HERE = Observation({}, facts={"objects": ["a"]})


def call(name: str, word: str, result: Any, kind: str, error: str | None = None) -> Call:
    return Call(name, (word,), {}, 0.0, 0.0, result, error, kind)


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        (call("parse_obj_name", "the drinks", [], "lmp"), ("the drinks: none here", "here are: a")),
        (call("parse_obj_name", "a drink", None, "lmp"), ("a drink: none here", "here are: a")),
        (call("parse_question", "is it red", False, "lmp"), ()),
        (call("parse_obj_name", "the drinks", ["cola"], "lmp"), ()),
        (
            call("is_obj_visible", "cola", False, "perception"),
            ("is_obj_visible('cola') is False", "here are: a"),
        ),
        (
            call("pick_obj", "cola", None, "action", "NotFound: no cola"),
            ("pick_obj failed and the program went on: NotFound: no cola",),
        ),
    ],
)
def test_what_was_not_found_is_told(made: Call, lines: tuple[str, ...]) -> None:
    assert Effect.of(HERE, HERE, Result(calls=(made, made))).left_over[:2] in (
        lines,
        lines * 2,
    )


def test_what_is_not_seen_matters_only_where_nothing_was_done() -> None:
    after = Observation({}, {"held": "cup"})
    unseen = call("is_obj_visible", "cola", False, "perception")
    assert Effect.of(HERE, after, Result(calls=(unseen,))).left_over == ()


def test_a_first_attempts_failures_are_not_left_over() -> None:
    failed = call("pick_obj", "cola", None, "action", "NotFound: no cola")
    assert Effect.of(HERE, HERE, Result(calls=(failed,)), earlier_calls=1).left_over == ()


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"pose": np.array([1.0, 2.0])}, {"pose": np.array([1.0, 2.001])}, ("nothing",)),
        ({"pose": np.array([1.0, 2.0])}, {"pose": np.array([1.0, 2.1])}, ("moved",)),
        ({"pose": {"x": [1.0]}}, {"pose": {"x": [1.0 + 1e-9]}}, ("nothing",)),
        ({"lamp": "on"}, {"lamp": "off"}, ("moved",)),
        ({"lamp": True}, {}, ("moved",)),
        ({"ink": "none"}, {"ink": "1 stroke"}, ("drew",)),
    ],
)
def test_conditions_are_compared_as_plain_data(
    before: dict[str, Any], after: dict[str, Any], words: tuple[str, ...]
) -> None:
    class Lamp:
        def __init__(self, condition: dict[str, Any]) -> None:
            self.state = condition

        def context(self) -> dict[str, Any]:
            return {}

        def positions(self) -> dict[str, Any]:
            return {}

        def condition(self) -> dict[str, Any]:
            return self.state

    views = [Observation.of(Lamp(entry)) for entry in (before, after)]
    assert Effect.of(*views, Result()).words == words


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


def test_a_velocity_is_told_and_is_no_motion_before_it_drives() -> None:
    with Session.open("kitchen", "nearest", mode="instant") as session:
        done = effect(session, "set_velocity(0.1, 0)")
        assert (list(done.changes), done.words) == (["velocity"], ("nothing",))
        assert "moved" in effect(session, "for i in range(5): is_obj_visible('apple')").words


def test_nothing_said_is_nothing(table: Session) -> None:
    assert effect(table, "say('')").words == ("nothing",)
    table.undo()


# --- what was expected


def test_a_turn_without_the_expected_effect_fails_and_keeps_nothing(table: Session) -> None:
    turn = table.execute("y = 3", expect=["moved"])
    assert turn.failure is not None
    assert (turn.failure.kind, turn.failure.exit_code, turn.ok) == ("effect", 1, False)
    assert "expected: moved" in turn.failure.message
    assert "y" not in table.state.variables
    assert table.execute(PUT, expect=["moved"]).ok
    table.undo(2)


def test_an_unknown_effect_is_named(table: Session) -> None:
    with pytest.raises(UsageError, match="no effect 'flew'; there are moved, drew"):
        table.run("put it there", ["flew"])


def test_a_world_that_cannot_be_seen_afterwards_is_a_failure(
    table: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = [dict(table.robot.positions())]

    def positions() -> Mapping[str, tuple[float, float, float]]:
        if not seen:
            raise NotConnected("the cable is out")
        return seen.pop()

    monkeypatch.setattr(table.robot, "positions", positions)
    turn = table.execute(PUT)
    monkeypatch.undo()
    assert turn.failure is not None
    assert turn.failure.error == "NotConnected"
    assert "its effect cannot be seen: the cable is out" in turn.failure.message
    assert table.turns[-1] is turn
    assert table.undo()
    assert table.robot.positions()["red block"][2] == pytest.approx(0.02)


def test_an_exception_from_a_model_leaves_turns_and_undo_together(table: Session) -> None:
    class Broken:
        name = "broken"

        def complete(self, _: Any) -> Any:
            raise RuntimeError("a bug")

    table.execute("x = 1")
    table.execute("x = 2")
    model, table.engine.author.model = table.engine.author.model, Broken()
    failure = table.run("put it there").failure
    assert failure is not None
    assert re.search(r"the model of Broken failed, line \d+: RuntimeError: a bug", failure.message)
    table.engine.author.model = model
    assert len(table.turns) == 3, "the turn happened, and may have moved something"
    table.undo()
    assert table.state.variables["x"] == 2
    table.undo()
    assert table.state.variables["x"] == 1


# --- the commands


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = run([*words])
    return code, capsys.readouterr().out


def program(text: str) -> list[str]:
    Path("program.py").write_text(text)
    return ["exec", "program.py", "--mode", "instant"]


def test_nothing_is_said_in_plain_sight_and_is_no_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, text = ran(capsys, *program("x = 1\n"))
    assert code == 0
    assert "\n  nothing moved\n" in text


def test_exec_fails_without_the_expected_effect(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = ran(capsys, *program("x = 1\n"), "--expect", "moved")
    assert code == 1
    assert "failed: Unexpected: expected: moved; the effect was: nothing" in text


def test_run_fails_at_the_first_turn_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    again = "put the red block in the blue bowl"
    given = ["run", again, again, "--expect", "moved", "--json", "--mode", "instant"]
    code, text = ran(capsys, *given)
    assert code == 1
    turns = json.loads(text)["turns"]
    assert [turn["effect"] for turn in turns] == [["moved"], ["nothing"]]
    assert turns[1]["failure"]["kind"] == "effect"


def test_json_and_trace_hold_the_effect(capsys: pytest.CaptureFixture[str]) -> None:
    code, text = ran(capsys, *program("say('so')\nprint(3)\n"), "--json", "--out", "run")
    assert code == 0
    (turn,) = json.loads(text)["turns"]
    assert (turn["effect"], turn["said"], turn["moved"]) == (["said", "answered"], ["so"], {})
    events = [json.loads(line) for line in Path("run/events.jsonl").read_text().splitlines()]
    (kept,) = [event["data"] for event in events if event["kind"] == "effect"]
    assert kept == {
        "words": ["said", "answered"],
        "changed": {},
        "no_longer_seen": [],
        "newly_seen": [],
        "left_over": [],
        "undone": "",
        "still": "nothing moved",
    }


BATCH = """
[defaults]
mode = "instant"
objects = ["red block", "blue bowl"]
[[sessions]]
name = "moves"
instructions = ["put the red block in the blue bowl"]
expect = { effect = "moved" }
[[sessions]]
name = "asks"
instructions = [{ text = "how many blocks are there", expect = { effect = ["moved"] } }]
"""


@pytest.mark.usefixtures("trials_here")
def test_a_batch_tells_effects_and_may_expect_them(capsys: pytest.CaptureFixture[str]) -> None:
    Path("batch.toml").write_text(BATCH)
    code, text = ran(capsys, "batch", "batch.toml", "--json", "--jobs", "1")
    rows = json.loads(text)
    assert code == 1
    assert [(row["effect"], row["result"]) for row in rows] == [
        ("moved", "ok"),
        ("said", "failed (task)"),
    ]
    assert "effect: said; expected: moved" in rows[1]["why"]
