"""The measuring scripts measure what they say, whatever the machine's speed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.measure import attempts, speed
from benchmarks.measure.measurement import Measurement, run
from cap.errors import MissingExtra


@pytest.mark.parametrize(
    ("limit", "at_least", "code"), [(3.0, False, 0), (1.9, False, 1), (1.9, True, 1), (1, True, 0)]
)
def test_a_passed_limit_is_the_exit_code_and_what_an_extra_lacks_is_noted(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    limit: float,
    at_least: bool,
    code: int,
) -> None:
    def measure(runs: int) -> Iterator[Measurement]:
        yield replace(Measurement("a", "ms", [1.0, 2.0, 9.0], limit), at_least=at_least)
        raise MissingExtra("physics needs something")

    monkeypatch.setattr(sys, "argv", ["speed", "--json", "-n", "7"])
    with pytest.raises(SystemExit) as ended:
        run(measure, 3, "What it is for.")
    assert ended.value.code == code
    screen = capsys.readouterr()
    assert json.loads(screen.out)[0]["median"] == 2.0
    assert ("over the limit: a" in screen.err) is bool(code)
    assert "left out: physics needs something" in screen.err


def test_a_tree_takes_at_least_a_latency_for_each_of_its_levels() -> None:
    assert min(speed.tree(1, latency_s=0.02).values) >= 3.0


@pytest.mark.usefixtures("trials_here")
def test_attempts_are_measured_once_and_have_a_rate_and_a_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "SUITES", {"tabletop": "SA-SI"})
    monkeypatch.setattr(attempts, "CHANCES", (1.0,))
    monkeypatch.setattr(attempts, "ARMS", {"repair": attempts.ARMS["repair"]})
    (row,) = attempts.measured(tmp_path, 1)
    assert (row["arm"], row["n"], row["success"]) == ("repair", 8, 1.0)
    assert row["low"] < 1.0 == row["high"]
    assert row["tokens per success"] > 0
    monkeypatch.setattr(attempts, "run", lambda results, trials, settings, jobs: None)
    assert list(attempts.measured(tmp_path, 1)) == [row]
