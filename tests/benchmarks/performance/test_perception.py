"""What the camera's figures count, and that a long run is measured as one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.performance import growth, perception
from benchmarks.performance.measurement import Measurement
from benchmarks.performance.perception import CameraFigures
from cap.cli.main import run
from cap.errors import MissingExtra
from robots.ravens.observation import CameraEyes
from robots.ravens.scene import Body, Scene


@pytest.mark.inside
def test_a_name_missed_and_one_invented_both_count(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    see = CameraEyes.see

    def wrong(self: Any, state: Any) -> Scene:
        bodies = see(self, state).bodies
        missing = next(n for n in perception.ALL_NAMES if n not in {b.name for b in bodies})
        return Scene((*bodies[1:], Body(missing, (0.0, -0.5, 0.02), (0.0, 0.0, 0.0, 1.0))))

    monkeypatch.setattr(CameraEyes, "see", wrong)
    perfect, *_ = perception.measure(1)
    assert (perfect.right, perfect.n, perfect.ok) == (7, 9, False)


def test_nothing_seen_is_no_success() -> None:
    assert CameraFigures("perfect", 1, 0, 8, ()).median_m == math.inf
    assert not CameraFigures("perfect", 1, 0, 8, ()).ok


def test_the_command_says_both_cameras(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    assert run(["bench", "perception", "-n", "1"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("8/8") == 4


@pytest.mark.inside
@pytest.mark.soak
def test_a_run_is_measured_in_tenths(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "_EXTRA", 5)
    cost, pace, memory = growth.measure(100, jobs=1)
    assert cost.runs == 100
    assert 0 < cost.low <= cost.median <= cost.high
    assert pace.median > 0
    assert 0.5 < memory.median < 2


def _lacking(*given: Any) -> Iterator[Measurement]:
    yield Measurement("cap --help", "CPU-s", 0.1, 0.1, 0.1, 3, 0.3)
    raise MissingExtra("physics needs PyBullet: pip install it, or use --mode instant")


@pytest.mark.inside
def test_without_physics_the_rows_left_out_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.performance.speed.measure", _lacking)
    monkeypatch.setattr("benchmarks.performance.perception.measure", _lacking)
    assert run(["bench", "speed"]) == 0
    screen = capsys.readouterr()
    assert "cap --help" in screen.out
    assert "left out: physics needs PyBullet: pip install it\n" in screen.err
    assert run(["bench", "perception"]) == 2
    assert capsys.readouterr().err == "error: physics needs PyBullet: pip install it\n"


@pytest.mark.inside
@pytest.mark.parametrize(("load", "told"), [(1e6, True), (0.0, False)])
def test_a_limit_passed_on_a_busy_machine_says_so(
    load: float, told: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = Measurement("cap --help", "CPU-s", 9.0, 9.0, 9.0, 3, 0.3)
    monkeypatch.setattr("benchmarks.performance.speed.measure", lambda runs: [slow])
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    assert run(["bench", "speed"]) == 1
    assert ("the machine is busy" in capsys.readouterr().err) == told
