"""The command, run in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run

Cap = Callable[..., Any]


@pytest.fixture
def cap(capsys: pytest.CaptureFixture[str]) -> Cap:
    """Run `cap` with some words, check its exit code, and return what was printed."""

    def command(words: Sequence[str], code: int = 0) -> Any:
        assert run(list(words)) == code
        return capsys.readouterr()

    return command


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
