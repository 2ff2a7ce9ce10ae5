"""Fixtures of several packages."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from cap.cli.main import run
from cap.session.session import Session
from tests.fakes.scripted import table_session

Open = Callable[..., Session]
Cap = Callable[..., Any]
pytest.register_assert_rewrite("tests.cap.turns")


@pytest.fixture
def open_session() -> Iterator[Open]:
    """Open sessions as `table_session` does, and close them after the test."""
    with contextlib.ExitStack() as opened:

        def open_one(answers: Any = None, **options: Any) -> Session:
            return opened.enter_context(table_session(answers or {}, **options))

        yield open_one


@pytest.fixture
def cap(capsys: pytest.CaptureFixture[str]) -> Cap:
    """Run `cap` with some words, check its exit code, and return what was printed."""

    def command(words: Sequence[str], code: int = 0) -> Any:
        assert run(list(words)) == code
        return capsys.readouterr()

    return command


def python(code: str, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own; return its exit code and what it printed."""
    command = [sys.executable, "-W", "ignore", "-c", code, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)
