"""What the camera's figures count, and that a long run is measured as one."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks import flat, perception
from benchmarks.perception import Seen
from cap.cli import run
from robots.ravens.eyes import CameraEyes
from robots.ravens.scene import Body, Scene


def test_a_name_missed_and_one_invented_both_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pybullet")
    see = CameraEyes.see

    def wrong(self: Any, state: Any) -> Scene:
        bodies = see(self, state).bodies
        missing = next(n for n in perception.ALL_NAMES if n not in {b.name for b in bodies})
        return Scene((*bodies[1:], Body(missing, (0.0, -0.5, 0.02), (0.0, 0.0, 0.0, 1.0))))

    monkeypatch.setattr(CameraEyes, "see", wrong)
    (perfect, _) = perception.measure(1)
    assert (perfect.right, perfect.n, perfect.ok) == (7, 9, False)


def test_nothing_seen_is_no_success() -> None:
    assert Seen("perfect", 1, 0, 8, ()).median_m == math.inf
    assert not Seen("perfect", 1, 0, 8, ()).ok


def test_the_command_says_both_cameras(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pybullet")
    assert run(["bench", "perception", "-n", "2"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("16/16") == 2


def test_a_run_is_measured_in_tenths() -> None:
    cost, pace, memory = flat.measure(100, jobs=1)
    assert cost.runs == 100
    assert 0 < cost.low <= cost.median <= cost.high
    assert pace.median > 0
    assert 0.5 < memory.median < 2
