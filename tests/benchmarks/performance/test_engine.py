"""`cap bench engine`: what it measures, and that a broken limit is told."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from benchmarks.performance import engine
from benchmarks.performance.engine import measure, shared
from benchmarks.performance.engine_server import TREE, VALUE, answer, serving
from benchmarks.performance.measurement import Measurement
from cap.cli.bench.group import command
from cap.models.providers import make_model
from cap.prompt.prompt import parse

ROW = Measurement("a", "ms", 2.0, 1.0, 9.0, 3, 3.0)


@pytest.fixture(scope="module")
def rows() -> list[Measurement]:
    return list(measure(1, latency_s=0.02))


@pytest.mark.inside
def test_each_measurement_has_its_row(rows: list[Measurement]) -> None:
    assert [row.what for row in rows] == [
        "one LMP call, no model",
        "8 functions over 3 levels",
        "prefix as in the turn before",
    ]
    assert [row.runs for row in rows] == [10, 1, len(engine._TURNS)]
    assert all(row.low <= row.median <= row.high for row in rows)


def test_the_prefix_stays_through_turns_and_a_repair(rows: list[Measurement]) -> None:
    assert rows[-1].low == 1.0


def test_a_tree_takes_at_least_a_latency_for_each_of_its_levels(rows: list[Measurement]) -> None:
    assert rows[1].low >= 3.0


def test_the_tree_is_what_its_name_says() -> None:
    levels, level = [], ["a", "b"]
    while level:
        levels.append(level)
        level = [name for parent in level for name in TREE[parent]]
    assert len(levels) == 3
    assert sorted(itertools.chain(*levels)) == sorted(TREE)
    assert len(TREE) == 8


def test_the_endpoint_writes_the_function_it_is_asked_for() -> None:
    assert answer("x\n# define function: a_left(n).\n") == "def a_left(n):\n    return a_leaf(n)\n"
    assert answer("x\n# define function: a_leaf(n).\n") == "def a_leaf(n):\n    return 1\n"


@pytest.mark.inside
def test_every_function_is_asked_for_once() -> None:
    with serving(0.0) as url:
        made = make_model("openai/x", base_url=url, mode="completion", environ={})
        model = engine._Watched(made.complete, made.name)
        work, _ = engine._engine(model)
        result = work.run(parse(engine._SUM, "sum"), "the sum").result
    assert result.value == VALUE
    assert len(model.prompts) == 1 + len(TREE)


@pytest.mark.parametrize(
    ("row", "ok"),
    [
        (ROW, True),
        (replace(ROW, median=3.1), False),
        (replace(ROW, at_least=True, low=3.0), True),
        (replace(ROW, at_least=True, low=2.9, median=3.5), False),
    ],
)
def test_a_limit_holds_or_does_not(row: Measurement, ok: bool) -> None:
    assert row.ok is ok


def test_how_much_is_shared() -> None:
    assert shared("abcdefgh\n\n# one.\n", "abcdefgh\n\n# two.\n") == 1.0
    assert shared("abcdefgh\n\n# one.\n", "abcdXfgh\n\n# two.\n") == 0.5


@pytest.mark.inside
@pytest.mark.parametrize(("median", "code"), [(2.0, 0), (4.0, 1)])
def test_a_broken_limit_is_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, median: float, code: int
) -> None:
    monkeypatch.setattr(engine, "measure", lambda runs: iter([replace(ROW, median=median)]))
    ended = CliRunner().invoke(command, ["engine", "--json"], standalone_mode=False)
    (row,) = json.loads(ended.stdout)
    assert row["ok"] is (code == 0)
    assert ended.return_value == code
    assert ("limit broken: a" in ended.stderr) is bool(code)
