"""Where no engine is installed, commands say so and use the instant world by default."""

from __future__ import annotations

import sys

import pytest

from tests.cap.conftest import Cap


@pytest.mark.parametrize(
    "command",
    [
        ["run", "put the red block in the blue bowl"],
        ["bench", "run", "drawing", "-m", "oracle", "-n", "1", "--tasks", "circle"],
    ],
)
@pytest.mark.usefixtures("trials_here")
def test_without_physics_the_instant_world_stands_in(
    command: list[str], cap: Cap, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pybullet", "mujoco"):
        monkeypatch.setitem(sys.modules, name, None)
    shown = cap(command).err.splitlines()
    (note,) = [line for line in shown if line.startswith("note: physics needs")]
    assert note.endswith("using the instant world (no physics)")
    assert "MuJoCo, which is not installed: " in note
    assert "--mode instant" in cap([*command, "--mode", "physics"], 2).err
