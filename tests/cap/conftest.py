"""Fixtures of several packages."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cap.session.session import Session
from tests.fakes.scripted import table_session

Open = Callable[..., Session]
pytest.register_assert_rewrite("tests.cap.turns")


@pytest.fixture
def open_session() -> Iterator[Open]:
    """Open sessions as `table_session` does, and close them after the test."""
    with contextlib.ExitStack() as opened:

        def open_one(answers: Any = None, **options: Any) -> Session:
            return opened.enter_context(table_session(answers or {}, **options))

        yield open_one
