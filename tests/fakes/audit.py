"""Python's own audit events, for as long as one listens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

Listener = Callable[[str, tuple[Any, ...]], None]

_listener: Listener | None = None


def _hear(event: str, args: tuple[Any, ...]) -> None:
    if _listener is not None:
        _listener(event, args)


@cache
def _begin() -> None:
    """Hook in: late, since a hook cannot be taken out again and slows whatever runs after it."""
    sys.addaudithook(_hear)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have each event told."""
    global _listener
    _begin()
    _listener = listener
    try:
        yield
    finally:
        _listener = None
