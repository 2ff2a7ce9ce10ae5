"""What is imported when: physics engines are optional and heavy."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cap.errors import MissingExtra
from robots.ravens import create


def test_only_physics_needs_an_engine_and_without_one_the_remedy_is_named() -> None:
    code = """
import sys
sys.modules["pybullet"] = sys.modules["mujoco"] = None
from cap.errors import MissingExtra
from robots import drawing, kitchen, ravens
kitchen.create(mode="instant", objects=["apple"]).pick_obj("apple")
drawing.create(mode="instant", objects=[]).draw([[0, -0.5], [0.1, -0.5]])
robot = ravens.create(mode="instant")
robot.put_first_on_second("red block", "blue bowl")
robot.render(32, 32)
try:
    ravens.create()
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "[sim]" in done.stdout
    assert "--mode instant" in done.stdout


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


def test_pictures_without_mujoco_name_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pybullet")
    robot = create(engine="pybullet")
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match="pictures need MuJoCo"):
        robot.render(32, 32)
    robot.close()
