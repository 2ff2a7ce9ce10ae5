"""What measuring commands share: whose benchmarks run, rows as they come, and limits passed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

import click

from cap.errors import MissingExtra, UsageError


class Measured(Protocol):
    """One row of a measurement."""

    @property
    def what(self) -> str:
        """What was measured."""

    @property
    def ok(self) -> bool:
        """Whether it keeps its limit."""


M = TypeVar("M", bound=Measured)


def require_own_benchmarks() -> None:
    """Refuse to measure with somebody else's package of the same name.

    Raises:
        UsageError: Another one hides it.
    """
    from cap.robot.registry import shadowed

    if (hidden := shadowed("benchmarks")) is not None:
        raise UsageError(f"package 'benchmarks' is hidden by {hidden}; rename it or move away")
    sys.modules.setdefault("benchmarks", __import__("benchmarks"))


def as_they_come(rows: Iterable[M], quiet: bool = False) -> Iterator[M]:
    """Yield the rows of a measurement, and tell a person at a terminal of each."""
    for row in rows:
        yield row
        if not quiet and sys.stderr.isatty():
            click.echo(f"measured: {row.what}", err=True)


def figures(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return what was measured for JSON: numbers as numbers, and whether each limit holds."""
    from cap.result import plain

    return [{**plain(vars(row)), "ok": row.ok} for row in rows]


def judged(rows: Iterable[Measured], told: str = "over the limit") -> int:
    """Say which rows do not keep their limit; return the exit code."""
    over = [row.what for row in rows if not row.ok]
    if not over:
        return 0
    note = ""
    if hasattr(os, "getloadavg"):
        load, cores = os.getloadavg()[0], os.cpu_count() or 1
        if load > cores:
            busy = f"the machine is busy (load {load:.1f} on {cores} cores)"
            note = f"; {busy}: measure when it is idle"
    click.echo(f"{told}: {', '.join(over)}{note}", err=True)
    return 1


def only_physics(missing: MissingExtra) -> str:
    """Return what is missing, without the advice to do without physics."""
    return str(missing).partition(", or use --mode")[0]
