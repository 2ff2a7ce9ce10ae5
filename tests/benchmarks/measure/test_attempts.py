"""What attempts are worth: closed forms, the simulation beside agreement, table and chart."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.measure.attempts import ARMS, agreement, read, report, rows, run


def _line(
    chance: float,
    arm: str,
    *,
    success: bool,
    instructions: int = 1,
    requests: int = 1,
    task: str = "circle",
) -> str:
    line = {
        "key": ["drawing", task, 0, chance, arm],
        "success": success,
        "cause": "" if success else "program",
        "failure": "",
        "instructions": instructions,
        "requests": requests,
        "tokens": 100,
        "cpu_s": 0.1,
    }
    return json.dumps(line)


def test_agreement_is_simulated_as_counted_by_hand() -> None:
    assert agreement(1, 0.3, 0.0) == pytest.approx(0.3, abs=0.01)
    # Of two, right are both, or the first alone; the second alone if the first one failed.
    assert agreement(2, 0.5, 0.0) == pytest.approx(0.5, abs=0.01)
    assert agreement(2, 0.5, 0.5) == pytest.approx(0.75, abs=0.01)


@pytest.mark.soak
def test_rates_stand_beside_their_closed_forms(tmp_path: Path) -> None:
    (tmp_path / "trials.jsonl").write_text(
        "\n".join(
            [
                *[_line(0.0, "single", success=number < 1) for number in range(4)],
                *[_line(0.0, "mended", success=number < 2) for number in range(4)],
                *[
                    _line(0.0, "wrong rounds", success=False, requests=3 - (number < 1))
                    for number in range(20)
                ],
                *[_line(0.5, "rounds of 3", success=number < 7) for number in range(10)],
                *[_line(0.5, "perfect judge, 4", success=number < 9) for number in range(10)],
                *[
                    _line(0.5, "perfect judge, 2", success=True, instructions=2)
                    for number in range(10)
                ],
                _line(0.5, "repair", success=True),
            ]
        )
    )
    by_arm = {row["arm"]: row for row in rows(read(tmp_path))}
    four = by_arm["perfect judge, 4"]
    p = 0.5 + 0.5 * 0.25
    assert four["expected"] == pytest.approx(1 - (1 - p) ** 4)
    assert four["within"] is True
    assert four["tokens per success"] == pytest.approx(1000 / 9, abs=0.001)
    assert by_arm["repair"]["expected"] is None
    first, both = 1 / 3, 1 / 9 - 1 / 20  # of three that were not lucky one, less what ended
    assert by_arm["rounds of 3"]["expected"] == pytest.approx(
        p * (1 + (1 - p) * first + (1 - p) ** 2 * both)
    )
    assert by_arm["perfect judge, 2"]["expected"] == pytest.approx((1 - (1 - p) ** 2) ** 2)
    pytest.importorskip("matplotlib")
    assert report(tmp_path).read_text().count("\n") == 8
    assert b"drawing, P = 0.5" in (tmp_path / "attempts.svg").read_bytes()


def test_a_closed_form_knows_in_which_tasks_mutants_are_lucky(tmp_path: Path) -> None:
    lines = [
        *[_line(0.0, "single", success=lucky, task=task) for task, lucky in _LUCKY.items()],
        *[_line(0.5, "perfect judge, 2", success=True, task=task) for task in _LUCKY],
        _line(0.5, "perfect judge, 2", success=True, task="several", instructions=2),
    ]
    (tmp_path / "trials.jsonl").write_text("\n".join(lines))
    (row,) = rows(read(tmp_path))
    whole = 1 - 0.25**2  # half of all mutants are lucky, where nothing is known of the task
    assert row["expected"] == pytest.approx((1 + (1 - 0.5**2) + whole**2) / 3)


_LUCKY = {"circle": True, "square": False}


def test_a_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    run(tmp_path, 1, 0.0, ["drawing"])
    assert read(tmp_path) == []
    assert len({arm.name for arm in ARMS}) == len(ARMS)
