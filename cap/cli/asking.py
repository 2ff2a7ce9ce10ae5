"""What a person says of the robot and of approval on the command line."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable, Sequence
from typing import Any

import click

from cap.errors import UsageError

APPROVALS = ("each-program", "each-call", "none")


def robot_values(given: Sequence[str]) -> dict[str, Any]:
    """Read `key=value`: numbers, true, false and lists as in TOML, anything else as text.

    Raises:
        UsageError: It is not of that form, or a key is given twice.
    """
    values: dict[str, Any] = {}
    for text in given:
        key, mark, value = text.partition("=")
        if not (mark and key.isidentifier()):
            raise UsageError(f"-R {text!r} is not KEY=VALUE; write it like host=192.168.0.10")
        if key in values:
            raise UsageError(f"-R {key} is given twice")
        values[key] = _toml_value(value)
    return values


def _toml_value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except tomllib.TOMLDecodeError:
        return text


def approval(approve: str | None, ask: bool, yes: bool, simulated: bool) -> str:
    """Return when a person is asked: one of `APPROVALS`.

    Args:
        approve: What `--approve` says, if anything.
        ask: Whether `--ask` was given.
        yes: Whether `--yes` was given.
        simulated: Whether the robot is.

    Raises:
        UsageError: The options contradict each other, or would move hardware unasked by one slip.
    """
    asked = approve or ("each-program" if ask else None)
    if ask and asked == "none":
        raise UsageError("--ask and --approve none contradict each other; give one of them")
    if simulated:
        return asked or "none"
    if (asked == "none") != yes:
        raise UsageError(
            "real hardware moves unasked only with both --approve none and --yes; leave both out "
            "to be asked before each program"
        )
    return asked or "each-program"


def ask_person(question: str) -> bool:
    """Ask the person; where there is nobody to ask, the answer is no."""
    if not sys.stdin.isatty():
        click.echo("nobody to ask: standard input is no terminal", err=True)
        return False
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort:
        raise KeyboardInterrupt from None


def approver(asks: str, simulated: bool) -> Callable[[str], bool] | None:
    """Return what decides whether a program may run; None where nothing needs to.

    Args:
        asks: One of `APPROVALS`.
        simulated: Whether the robot is; hardware always needs somebody's word.
    """
    if asks == "each-program":
        return lambda source: ask_person("Run this program?")
    return None if simulated else (lambda source: True)
