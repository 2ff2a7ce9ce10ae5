"""What is imported when: PyBullet is optional and heavy."""

import subprocess
import sys


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_instant_mode_never_imports_pybullet() -> None:
    code = """
import sys
from robots.ravens import create
robot = create(mode="instant")
robot.put_first_on_second("red block", "blue bowl")
robot.render(32, 32)
print("pybullet" in sys.modules)
"""
    assert run(code) == "False"


def test_physics_without_pybullet_names_the_remedy() -> None:
    code = """
import sys
sys.modules["pybullet"] = None
from cap.errors import MissingExtra
from robots.ravens import create
try:
    create()
except MissingExtra as error:
    print(error)
"""
    text = run(code)
    assert "code-as-policies[sim]" in text
    assert "--mode instant" in text
