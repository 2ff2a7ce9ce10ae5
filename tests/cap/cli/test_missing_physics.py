"""Where PyBullet has no wheel, commands say so and use the instant world by default."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import platform, sys
sys.modules["pybullet"] = None
if {other}: platform.machine = lambda: "aarch64"
from cap.cli.main import run
sys.exit(run({command}))
"""
COMMANDS = {
    "run": ["run", "put the red block in the blue bowl"],
    "bench run": ["bench", "run", "drawing", "-m", "oracle", "-n", "1", "--tasks", "circle"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("other", [False, True])
def test_without_physics_the_instant_world_stands_in(command: list[str], other: bool) -> None:
    code = CODE.format(other=other, command=command)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    (note,) = [line for line in ran.stderr.splitlines() if line.startswith("note: physics needs")]
    assert note.endswith("using the instant world (no physics)")
    expected = "has no wheel for Python 3" if other else "is not installed"
    if sys.version_info[:2] == (3, 11):
        assert expected in note
    asked = CODE.format(other=other, command=[*command, "--mode", "physics"])
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "use --mode instant" in ran.stderr or "or --mode instant" in ran.stderr
