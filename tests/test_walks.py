"""The walks in docs/walks, as a student, an evaluator and a researcher go them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WALKS = Path(__file__).resolve().parents[1] / "docs" / "walks"


def walk(name: str) -> str:
    """Return what a walk prints; it must end well and say nothing of a failure."""
    bin_ = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", str(WALKS / f"{name}.sh")],
        env={**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Traceback" not in done.stdout
    return done.stdout


def test_a_student_needs_five_commands() -> None:
    lines = (WALKS / "student.sh").read_text().splitlines()
    assert sum(line.startswith("cap ") for line in lines) == 5
    told = walk("student")
    assert "put_first_on_second(first:" in told
    assert (
        told.count("moved red block to blue bowl: (0.174, -0.480, 0.020) to (0.150, -0.302, 0.024)")
        == 2
    )
    assert "moved green block: (-0.096, -0.537, 0.020) to (-0.250, -0.250, 0.020)" in told


@pytest.mark.soak
def test_an_evaluator_runs_is_killed_resumes_and_compares() -> None:
    told = walk("evaluator")
    assert "killed" in told
    assert "success 100.0 % (95 %: 75.8 to 100.0 %), 12 of 12 trials" in told
    for folder in ("nearest", "other"):
        trials = Path(folder, "trials.jsonl").read_text().splitlines()
        assert len(trials) == len(set(trials)) == 12
    assert "1st: tabletop 4: nearest (nearest)" in told
    assert "2nd: tabletop 4: noisy-oracle:0.5 (other)" in told
    assert "all                       12  100.0  75.0   -25.0 (-50.7 to +7.8)" in told


@pytest.mark.soak
def test_a_researcher_adds_a_primitive_an_example_a_task_and_its_oracle_in_sixty_lines() -> None:
    assert len((WALKS / "researcher.sh").read_text().splitlines()) <= 60
    told = walk("researcher")
    assert "get_color: no prompt imports it" in told
    rates = [line.split()[1] for line in told.splitlines() if line.startswith("swap ")]
    assert rates == ["100.0", "0.0", "100.0"]
