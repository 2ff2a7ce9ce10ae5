"""`--samples N`: what was tried stands on the screen and in JSON; runs are replayed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cap.conftest import Cap

Capture = pytest.CaptureFixture[str]

MODEL = """
from cap.models.base import Completion

ANSWERS = [
    "put_first_on_second('blue block', 'blue bowl')",
    "put_first_on_second('red block', 'blue bowl')",
    "put_first_on_second('red blok', 'blue bowl')",
    "block = 'red block'\\nput_first_on_second(block, 'blue bowl')",
]


class Four:
    name = "four"

    def complete(self, request):
        if "#< before: " in request.prompt:
            return Completion("ret_val = False", self.name)
        return Completion(ANSWERS[request.seed or 0], self.name, 100, 20)


def create():
    return Four()
"""
WORDS = "put the red block in the blue bowl"
SCENE = ("--mode", "instant", "--objects", "red block, blue block, blue bowl, green bowl")


def test_what_was_tried_is_shown_and_the_run_can_be_replayed(tmp_path: Path, cap: Cap) -> None:
    model, out = tmp_path / "four.py", tmp_path / "run"
    model.write_text(MODEL, encoding="utf-8")
    asked = ["--samples", "4", "-m", str(model), "--pictures", "--out", str(out)]
    lines = [line.strip() for line in cap(["run", WORDS, *asked, *SCENE]).out.splitlines()]
    assert "1  moved blue block to blue bowl  goal: no" in lines
    assert "▶ 2  moved red block to blue bowl  goal: no" in lines
    assert any(line.startswith("3  failed: NotFound") for line in lines)
    assert "chosen: 2, 2 of 4 did this; the goal check accepts none" in lines
    assert (out / "turn-1.png").exists()
    (turn,) = json.loads(
        cap(["run", "--replay", str(out), "--out", str(tmp_path / "again"), "--json"]).out
    )["turns"]
    assert (turn["tried"], list(turn["moved"])) == (4, ["red block"])
