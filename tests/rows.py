"""A table of quick cases as one test: each failing row is named, and none hides another."""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest


def table(test_file: str, name: str) -> dict[str, Any]:
    """Return a table of `tables.jsonl` beside a test: its rows by their names."""
    lines = Path(test_file).with_name("tables.jsonl").read_text(encoding="utf-8").splitlines()
    found = (json.loads(line) for line in lines)
    return {entry["name"]: entry["row"] for entry in found if entry["table"] == name}


def rows(
    names: str | Sequence[str],
    table: Iterable[Any],
    ids: Iterable[str] | Callable[[Any], str] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Like `pytest.mark.parametrize`, for pure functions: its cases are no tests of their own."""
    single = isinstance(names, str)
    columns = [names] if isinstance(names, str) else list(names)
    cases = list(table)
    if callable(ids):
        titles = [ids(case) for case in cases]
    else:
        titles = [repr(case) for case in cases] if ids is None else list(map(str, ids))
    assert cases
    assert len(cases) == len(titles)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def whole(**fixtures: Any) -> None:
            failures = []
            for title, case in zip(titles, cases, strict=True):
                values = [case] if single else case
                try:
                    test(**dict(zip(columns, values, strict=True)), **fixtures)
                except (Exception, pytest.fail.Exception) as failure:
                    failure.add_note(f"in the row {title}")
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(cases)} rows", failures)

        left = [value for name, value in signature.parameters.items() if name not in columns]
        whole.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return whole

    return decorate


def cases(names: str | Sequence[str]) -> Callable[[Any], Any]:
    """Like `pytest.mark.parametrize`, with the table that `tables.jsonl` has of a test's name."""

    def decorate(test: Any) -> Any:
        found = table(inspect.getfile(test), test.__name__.removeprefix("test_"))
        return pytest.mark.parametrize(names, found.values(), ids=found)(test)

    return decorate
