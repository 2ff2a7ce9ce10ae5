"""Where no engine is installed, commands say so and use the instant world by default."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
sys.modules["pybullet"] = sys.modules["mujoco"] = None
from cap.cli.main import run
sys.exit(run({command}))
"""
COMMANDS = {
    "run": ["run", "put the red block in the blue bowl"],
    "bench run": ["bench", "run", "drawing", "-m", "oracle", "-n", "1", "--tasks", "circle"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_without_physics_the_instant_world_stands_in(command: list[str]) -> None:
    code = CODE.format(command=command)
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    (note,) = [line for line in ran.stderr.splitlines() if line.startswith("note: physics needs")]
    assert note.endswith("using the instant world (no physics)")
    assert "MuJoCo, which is not installed: " in note
    asked = CODE.format(command=[*command, "--mode", "physics"])
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "use --mode instant" in ran.stderr or "or --mode instant" in ran.stderr


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_where_pybullet_is_asked_for_the_remedy_is_its_own(machine: str) -> None:
    code = (
        "import platform, sys\nsys.modules['pybullet'] = None\n"
        f"platform.machine = lambda: {machine!r}\nfrom cap.cli.main import run\n"
        "sys.exit(run(['run', 'stack the blocks', '-R', 'engine=pybullet', '--mode', 'physics']))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    installable = machine == "x86_64" and sys.version_info[:2] == (3, 11)
    expected = "is not installed: " if installable else "has no wheel for Python 3"
    assert f"physics needs PyBullet, which {expected}" in ran.stderr
