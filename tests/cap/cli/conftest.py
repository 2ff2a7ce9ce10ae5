"""Robots of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cap.cli.main import run


@pytest.fixture
def robot() -> Path:
    """The file of a new robot."""
    assert run(["robots", "new", "my_arm"]) == 0
    return Path("my_arm/robot.py")


@pytest.fixture
def real(robot: Path) -> Path:
    """The file of a robot that is real in every mode, and writes down each motion."""
    text = robot.read_text().replace("simulated = True", "simulated = False")
    first = "        known = self._known(name)\n"
    assert first in text
    note = '        with open("motions", "a") as file:\n            file.write(name)\n'
    robot.write_text(text.replace(first, note + first))
    return robot
