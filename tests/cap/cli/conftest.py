"""The command, run in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
