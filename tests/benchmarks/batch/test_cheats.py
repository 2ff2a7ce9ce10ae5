"""Programs that seem to do what a session asks for; what is expected of it is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.batch import suite as batch_suite
from benchmarks.batch.batch_file import read
from benchmarks.batch.effects import View, judge
from benchmarks.batch.suite import BatchSuite
from benchmarks.suite import Outcome, Settings
from tests.benchmarks.cheating import Cheater
from tests.rows import table

TABLE = {"robot": "ravens", "objects": ["red block", "blue block", "green block", "blue bowl"]}
KITCHEN = {"robot": "kitchen", "objects": ["apple", "orange", "bowl", "coke can @ desk"]}
PUT = "put_first_on_second({!r}, {!r})\n"
CHEATS = table(__file__, "cheats: cheats")


def carried_out(
    scene: dict[str, object],
    expect: dict[str, object],
    programs: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> Outcome:
    steps = [{"text": f"step {number}"} for number in range(max(1, len(programs)))]
    session = {"name": "one", **scene, "mode": "instant", "instructions": steps}
    if "fails" in expect:
        session["instructions"] = [{"text": "step 0", "expect": expect}]
    else:
        session["expect"] = expect
    Path("batch.jsonl").write_text(json.dumps(session) + "\n")
    batch = read(Path("batch.jsonl"), {"robot": "ravens", "mode": "instant", "model": "nearest"})
    monkeypatch.setattr(batch_suite, "model_for", lambda *_: Cheater(programs))
    settings = Settings("batch", "cheater", options={"sessions": dict(batch.sessions)})
    suite = BatchSuite(batch)
    return suite.run(suite.trials()[0], settings)


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("name", CHEATS)
def test_it_is_not_taken_for_what_was_expected(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = carried_out(*CHEATS[name], monkeypatch)
    assert not outcome.success
    failed = any(word in "".join(CHEATS[name][2]) for word in ("raise", "1 / 0"))
    helper = "undefined_thing" in "".join(CHEATS[name][2])
    cause = "program" if failed else "model" if helper else "task"
    assert outcome.cause == cause, outcome.failure


@pytest.mark.parametrize(
    ("scene", "inside", "program"),
    [
        (
            TABLE,
            [["red block", "blue bowl"], ["green block", "blue bowl"]],
            PUT.format("red block", "blue bowl") + PUT.format("green block", "red block"),
        ),
        (KITCHEN, ["apple", "bowl"], "goto_loc('table')\npick_obj('apple')\nplace_at_obj('bowl')"),
        (
            KITCHEN,
            ["apple", "top drawer"],
            "goto_loc('top drawer')\nopen_drawer('top drawer')\ngoto_loc('table')\n"
            "pick_obj('apple')\ngoto_loc('top drawer')\nplace_at_obj('top drawer')",
        ),
        (
            KITCHEN,
            ["apple", "compost bin"],
            "goto_loc('table')\npick_obj('apple')\n"
            "goto_loc('compost bin')\nplace_at_obj('compost bin')",
        ),
    ],
    ids=["on a block in a bowl", "bowl", "drawer", "bin"],
)
def test_every_vessel_is_one(
    scene: dict[str, object],
    inside: object,
    program: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcome = carried_out(scene, {"inside": inside}, (program,), monkeypatch)
    assert outcome.success, outcome.failure


HONEST = table(__file__, "cheats: honest")


@pytest.mark.parametrize("name", HONEST)
def test_what_was_expected_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = carried_out(*HONEST[name], monkeypatch)
    assert outcome.success, outcome.failure


def view_of(**after: tuple[float, float, float]) -> View:
    """Return what a robot that says nothing of what is in or on what shows."""
    return View(after, after)


def test_a_robot_that_does_not_say_is_judged_by_the_places_alone() -> None:
    low, high = (0.0, 0.0, 0.02), (0.01, 0.0, 0.06)
    assert judge({"on": ["a", "b"]}, view_of(a=high, b=low)) is None
    for beside in ((0.035, 0.0, 0.0201), (0.05, 0.0, 0.06), (0.0, 0.0, 0.025)):
        assert "not on b" in (judge({"on": ["a", "b"]}, view_of(a=beside, b=low)) or "")
    pile = view_of(a=(0.0, 0.0, 0.1), b=low, c=high)
    assert "c is between" in (judge({"on": ["a", "b"]}, pile) or "")
    assert "c is between" in (judge({"stacked": ["b", "a"]}, pile) or "")
    assert judge({"stacked": ["b", "c", "a"]}, pile) is None


def test_what_fell_in_its_place_was_moved_as_well() -> None:
    places = {"a": (0.0, 0.0, 0.02), "b": (0.2, 0.0, 0.05)}
    moved = {**places, "a": (0.1, 0.0, 0.02)}
    for rested, right in (("tray", True), ("", False)):
        view = View(places, moved, resting={"a": "", "b": "tray"}, rested={"a": "x", "b": rested})
        assert (judge({"only_moved": ["a"]}, view) is None) == right
