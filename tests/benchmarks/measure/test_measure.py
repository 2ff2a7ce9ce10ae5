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


def test_the_prefix_stays_through_turns_and_a_repair() -> None:
    assert speed.prefix().ok
    assert speed.shared("abcdefgh\n\n# one.\n", "abcdXfgh\n\n# two.\n") == 0.5


def test_a_tree_takes_at_least_a_latency_for_each_of_its_levels() -> None:
    assert min(speed.tree(1, latency_s=0.02).values) >= 3.0


# --- attempts


def test_agreement_is_simulated_as_counted_by_hand() -> None:
    # Of two, right are both, or the first alone; the second alone if the first one failed.
    assert attempts.agreement(2, 0.5, 0.0) == pytest.approx(0.5, abs=0.01)
    assert attempts.agreement(2, 0.5, 0.5) == pytest.approx(0.75, abs=0.01)


def test_rates_stand_beside_their_closed_forms(tmp_path: Path) -> None:
    def lines(arm: str, chance: float, won: int, n: int, requests: int = 1) -> list[str]:
        line = {"key": ["drawing", "circle", 0, chance, arm], "cause": "program", "tokens": 100}
        line |= {"instructions": 2 if arm == "perfect judge, 2" else 1, "requests": requests}
        return [json.dumps({**line, "success": number < won}) for number in range(n)]

    text = [
        *(lines("single", 0.0, 1, 4) + lines("mended", 0.0, 2, 4)),
        *(lines("wrong rounds", 0.0, 0, 1, 2) + lines("wrong rounds", 0.0, 0, 19, 3)),
        *(lines("rounds of 3", 0.5, 7, 10) + lines("perfect judge, 4", 0.5, 9, 10)),
        *(lines("perfect judge, 2", 0.5, 10, 10) + lines("repair", 0.5, 1, 1)),
    ]
    (tmp_path / "trials.jsonl").write_text("\n".join(text))
    by_arm = {row["arm"]: row for row in attempts.rows(attempts.read(tmp_path))}
    p = 0.5 + 0.5 * 0.25
    first, both = 1 / 3, 1 / 9 - 1 / 20  # of three that were not lucky one, less what ended
    rounds = p * (1 + (1 - p) * first + (1 - p) ** 2 * both)
    assert by_arm["perfect judge, 4"]["expected"] == pytest.approx(1 - (1 - p) ** 4)
    assert by_arm["perfect judge, 2"]["expected"] == pytest.approx((1 - (1 - p) ** 2) ** 2)
    assert by_arm["rounds of 3"]["expected"] == pytest.approx(rounds)
    assert by_arm["repair"]["expected"] is None
    assert by_arm["perfect judge, 4"]["within"] is True
    assert by_arm["perfect judge, 4"]["tokens per success"] == pytest.approx(1000 / 9)


def test_a_study_goes_on_where_it_ended(tmp_path: Path) -> None:
    attempts.run(tmp_path, 1, 0.0)
    assert attempts.read(tmp_path) == []
