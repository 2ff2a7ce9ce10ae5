"""What is imported when: physics engines are optional and heavy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_instant_mode_imports_no_engine() -> None:
    code = """
import sys
from robots.ravens import create
robot = create(mode="instant")
robot.put_first_on_second("red block", "blue bowl")
robot.render(32, 32)
print("pybullet" in sys.modules or "mujoco" in sys.modules)
"""
    assert run(code) == "False"


def test_physics_without_an_engine_names_the_remedy() -> None:
    code = """
import sys
sys.modules["pybullet"] = sys.modules["mujoco"] = None
from cap.errors import MissingExtra
from robots.ravens import create
try:
    create()
except MissingExtra as error:
    print(error)
"""
    text = run(code)
    assert "[sim]" in text
    assert "--mode instant" in text


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pybullet has no wheel for this Python")
def test_a_pybullet_that_does_not_load_is_a_missing_extra(tmp_path: Path) -> None:
    (tmp_path / "pybullet.py").write_text('raise ImportError("libGL is missing")\n')
    code = (
        "import sys\nsys.path.insert(0, sys.argv[1])\nfrom cap.cli.main import run\n"
        "sys.exit(run(['run', 'stack all the blocks', '--mode', 'physics']))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    env = {**os.environ, "CAP_PHYSICS": "pybullet"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "does not load (libGL is missing)" in done.stderr
    assert "Traceback" not in done.stderr


def test_pictures_without_mujoco_name_the_remedy() -> None:
    pytest.importorskip("pybullet")
    code = """
import sys
sys.modules["mujoco"] = None
from cap.errors import MissingExtra
from robots.ravens import create
robot = create(engine="pybullet")
robot.put_first_on_second("red block", "blue bowl")
try:
    robot.render(32, 32)
except MissingExtra as error:
    print(error)
"""
    assert "pictures need MuJoCo" in run(code)
