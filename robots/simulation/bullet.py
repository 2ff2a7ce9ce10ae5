"""PyBullet, imported once: with a clear error where it is missing, and without its greeting."""

from __future__ import annotations

import contextlib
import importlib
import os
from collections.abc import Iterator
from typing import Any

from cap.errors import MissingSimulator, install_extra


@contextlib.contextmanager
def _silent_stderr() -> Iterator[None]:
    """Send what native code writes to standard error nowhere."""
    try:
        kept = os.dup(2)
    except OSError:  # There is no standard error to keep clean.
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(nowhere)
        os.close(kept)


def _import() -> Any:
    try:
        with _silent_stderr():
            return importlib.import_module("pybullet")
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "pybullet"
        why = "is not installed" if missing else f"does not load ({error})"
        raise MissingSimulator(
            f"physics needs PyBullet, which {why}: {install_extra('sim')} "
            "(Python 3.11, Linux x86-64), or use --mode instant"
        ) from None


p = _import()
"""The module `pybullet`."""
