"""`--json`: JSON alone is on standard output; whatever else is printed goes to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

import click

_output: TextIO | None = None
"""Where JSON goes; standard output as it is if None."""


@contextmanager
def json_alone() -> Iterator[None]:
    """Send to standard error what a person's own robot, model or suite prints meanwhile."""
    global _output
    _output, sys.stdout = sys.stdout, sys.stderr
    try:
        yield
    finally:
        _output, sys.stdout = None, _output


def print_json(value: Any) -> None:
    """Print a value as one line of JSON."""
    click.echo(json.dumps(value, ensure_ascii=False), file=_output)
