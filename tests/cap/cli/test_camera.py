"""`cap robots camera`: files that are right, wrong, worn out, and made from pairs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from cap.cli.main import run
from robots.arm import rotations
from robots.perception.hand_eye import Pair, Pairs, load, pairs_text
from tests.rows import cases

TRUTH = rotations.pose_of((0.05, -0.03, -0.09), rotations.rotation_of((0.1, 0.2, 1.5)))


def write_pairs(noise_m: float = 0.001, tilt_rad: float = 0.6, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    pairs = []
    for _ in range(20):
        axis = rng.normal(size=3)
        turn = rotations.rotation_of((math.pi, 0, 0)) @ rotations.rotation_of(
            axis / np.linalg.norm(axis) * rng.uniform(0, tilt_rad)
        )
        seen = np.array([*rng.uniform(-0.12, 0.12, 2), rng.uniform(0.35, 0.6)])
        camera = rotations.pose_of(np.array([0.0, -0.5, 0.0]) - turn @ seen, turn)
        pairs.append(Pair(camera @ np.linalg.inv(TRUTH), seen + rng.normal(0, noise_m, 3)))
    Path("pairs.toml").write_text(pairs_text(Pairs("hand", tuple(pairs))))


def told(capsys: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


SOLVE = ["robots", "camera", "camera.toml", "--pairs", "pairs.toml", "--solve"]
CHECK = ["robots", "camera", "camera.toml", "--pairs", "pairs.toml"]


def test_a_file_made_from_pairs_stands_the_check_with_others(capsys: Any) -> None:
    write_pairs(seed=1)
    assert run([*SOLVE, "--name", "RealSense D435", "--serial", "123"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("ok")
    found = load("camera.toml")
    assert (found.camera, found.serial, found.pairs) == ("RealSense D435", "123", 20)
    assert np.allclose(found.pose, TRUTH, atol=0.01)
    write_pairs(seed=2)
    assert run([*CHECK, "--json"]) == 0
    facts = told(capsys)
    assert facts["ok"] is True
    assert facts["pairs"] == 20
    assert 0.5 < facts["median_mm"] < 3.0
    assert facts["off_mm"] < 6.0


def test_a_camera_that_was_moved_since_is_refused(capsys: Any) -> None:
    write_pairs()
    run(SOLVE)
    text = Path("camera.toml").read_text()
    assert run(CHECK) == 0
    line = next(line for line in text.splitlines() if line.startswith("position_m"))
    moved = (TRUTH[:3, 3] + (0.0, 0.0, 0.015)).tolist()
    Path("camera.toml").write_text(text.replace(line, f"position_m = {moved}"))
    capsys.readouterr()
    assert run(CHECK) == 1
    shown = capsys.readouterr().out
    assert "refused: median_mm may be 3, max_mm 9 and off_mm 6" in shown


@cases(("arguments", "says"))
def test_what_cannot_be_is_a_usage_error(arguments: list[str], says: str, capsys: Any) -> None:
    write_pairs()
    assert run(["robots", "camera", *arguments]) == 2
    assert says in capsys.readouterr().err
