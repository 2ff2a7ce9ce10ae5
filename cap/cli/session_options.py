"""What a person says on the command line about one session: its robot, model and approval."""

from __future__ import annotations

import ast
import contextlib
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cap.cli.options import ModelOptions, Named, finite, group, option
from cap.errors import UsageError
from cap.result import EFFECTS

expect_option = click.option(
    "--expect",
    type=click.Choice(EFFECTS),
    multiple=True,
    help="Fail (1) unless each turn has this effect; may be repeated.",
)
if TYPE_CHECKING:
    from cap.engine.answer import Approve, Decision

APPROVALS = ("each-program", "each-call", "none")

LONGEST_S = 86400.0
"""Longest time a program may be given: a day, seconds."""


@dataclass(frozen=True)
class SessionOptions:
    """What a person said on the command line about one session."""

    robot: str | None = option("-r", "--robot", metavar="NAME", help="Robot (default: ravens).")
    """Registered robot; None takes the configured one."""
    model: str | None = option("-m", "--model", metavar="MODEL", help="Model (default: nearest).")
    """Model; None takes the configured one."""
    model_options: ModelOptions = group(ModelOptions)
    """How the model is asked."""
    seed: int = option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
    """Of the scene and of random numbers in programs."""
    mode: str | None = option(
        "--mode", type=click.Choice(["physics", "instant"]), help="Kind of world."
    )
    """`physics` or `instant`."""
    objects: str | None = option(
        "--objects", metavar="NAMES", help='Such as "red block, blue bowl".'
    )
    """Comma-separated names."""
    prompts: Path | None = option(
        "--prompts",
        type=Named(path_type=Path),
        metavar="DIR",
        help="Prompt files to use instead of the shipped ones.",
    )
    """A folder of prompt files instead of the shipped ones."""
    out: Path | None = option(
        "--out", type=Named(path_type=Path), metavar="DIR", help="Folder of this run: a new one."
    )
    """The run folder itself; by default a new one under the configured `runs`."""
    time_limit: float = option(
        "--time-limit",
        type=click.FloatRange(min=0.01, max=LONGEST_S),
        callback=finite,
        default=10.0,
        show_default=True,
        metavar="S",
        help="Seconds a program itself may run.",
    )
    """Seconds a program itself may run; robot and model calls do not count."""
    calls_time: float = option(
        "--calls-time",
        type=click.FloatRange(min=0.01, max=LONGEST_S),
        callback=finite,
        default=600.0,
        show_default=True,
        metavar="S",
        help="Seconds its calls of robot and model may take in all.",
    )
    """Seconds its robot and model calls may take together."""
    skills: Path | None = option(
        "--skills",
        type=Named(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder of kept functions.",
    )
    """Folder of kept functions; None takes the configured one."""
    repairs: int | None = option(
        "--repairs",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often a program is written again before it runs (default: 2).",
    )
    """How often a program may be written again before it runs."""
    runtime_repairs: int | None = option(
        "--runtime-repairs",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often after it failed while it ran (default: 2; 0 on hardware).",
    )
    """How often after it failed while it ran."""
    undo_failed: bool = option(
        "--undo-failed", is_flag=True, help="Take back what a failed turn did, in simulation."
    )
    """Take back what the last failed program did; in simulation alone that can be done."""
    max_functions: int | None = option(
        "--max-functions",
        type=click.IntRange(min=0),
        metavar="N",
        help="How many functions a program may have generated (default: 16).",
    )
    """How many functions may be generated for one program."""
    look: bool = option(
        "--look", is_flag=True, help="Send a picture of the scene with each instruction."
    )
    """Send the robot's picture with each instruction, to models that see."""
    dry_run: bool = option(
        "--dry-run", is_flag=True, help="Preview in the instant world; nothing moves."
    )
    """Run in the instant world; nothing physical moves."""
    robot_options: tuple[str, ...] = option(
        "-R",
        "--robot-option",
        multiple=True,
        metavar="KEY=VALUE",
        help="An option of the robot, such as host=192.168.0.10.",
    )
    """`key=value`, for the robot."""
    approve: str | None = option(
        "--approve",
        type=click.Choice(APPROVALS),
        help="When to ask you (default: none; each-program on hardware).",
    )
    """When a person is asked: `each-program`, `each-call` or `none`."""
    rehearse: bool | None = option(
        "--rehearse/--no-rehearse",
        default=None,
        help="Run each program in the robot's twin first (default: on hardware).",
    )
    """Whether programs run in a twin first; None for the robot's usual."""
    min_level: str | None = option(
        "--min-level",
        metavar="LEVEL",
        help="The weakest sandbox to accept, see cap info (on hardware: kernel-seccomp).",
    )
    """The weakest sandbox to accept; None for the robot's usual."""
    yes: bool = option(
        "--yes", is_flag=True, help="With --approve none: nobody is asked before hardware moves."
    )
    """Do not ask before programs move real hardware: only with `approve` none."""
    ask: bool = option("--ask", is_flag=True, help="As --approve each-program.")
    """Ask before every program, in simulation too."""
    verbose: bool = option(
        "-v", "--verbose", is_flag=True, help="Show the programs of nested LMPs."
    )
    """Show the programs of nested LMPs as well."""
    as_json: bool = option("--json", is_flag=True, help="Print one JSON object.")
    """One JSON object on standard output, nothing else."""


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
        try:
            values[key] = value if "\n" in value else tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            values[key] = value
    return values


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


def approver(asks: str, simulated: bool) -> Approve | None:
    """Return what decides whether a program may run; None where nothing needs to.

    Args:
        asks: One of `APPROVALS`.
        simulated: Whether the robot is; hardware always needs somebody's word.
    """
    if asks != "none":
        return ask_for_program
    return None if simulated else (lambda source: True)


def ask_for_program(source: str) -> Decision:
    """Ask the person whether a program that was shown may run: yes, no and why, or edited."""
    from cap.engine.answer import Decision

    if not _somebody_to_ask():
        return Decision(False)
    choice = click.Choice(["y", "yes", "n", "no", "e", "edit"], case_sensitive=False)
    text = source
    try:
        while True:
            said = click.prompt(
                "Run this program? y(es), n(o), e(dit)", type=choice, show_choices=False, err=True
            )
            if said in ("y", "yes"):
                return Decision(True)
            if said in ("n", "no"):
                reason = click.prompt(
                    "Why not? The model is told (Enter: no reason)",
                    default="",
                    show_default=False,
                    err=True,
                )
                return Decision(False, reason=" ".join(reason.split()))
            text, wrong = _edited(text)
            if wrong:
                click.echo(wrong, err=True)
            elif text.strip() in ("", source.strip()):
                click.echo("nothing was changed", err=True)
                text = source
            else:
                return Decision(False, edited=text)
    except click.Abort as abort:
        return Decision(_no_answer(abort))


def _edited(text: str) -> tuple[str, str]:
    """Have the person change a program in their editor; return it, and what is wrong with it."""
    try:
        text = click.edit(text, extension=".py") or text
        ast.parse(text)
    except click.ClickException as error:
        return text, f"{error.message.rstrip('.')}; set EDITOR to one that works"
    except SyntaxError as error:
        return text, f"line {error.lineno}: {error.msg}; edit it again, or say yes to the one shown"
    except ValueError as error:  # a null character
        return text, f"{error}; edit it again, or say yes to the one shown"
    return text, ""


def _no_answer(abort: click.Abort) -> bool:
    """Return the answer of who ended the input (Ctrl-D): no. Ctrl-C ends more than a question.

    Raises:
        KeyboardInterrupt: It was Ctrl-C.
    """
    if not isinstance(abort.__context__, EOFError):
        click.echo(err=True)  # what is said next begins a line
        raise KeyboardInterrupt from None
    click.echo("\nno answer: taken as no", err=True)
    return False


def _somebody_to_ask() -> bool:
    if not sys.stdin.isatty():
        click.echo("nobody to ask: standard input is no terminal; run it in one", err=True)
        return False
    _forget_typed()
    return True


def _forget_typed() -> None:
    """Drop what was typed before a question: it was meant for something else."""
    try:
        import termios
    except ImportError:  # Windows
        return
    with contextlib.suppress(termios.error, OSError):  # no terminal after all
        termios.tcflush(sys.stdin, termios.TCIFLUSH)


def ask_person(question: str) -> bool:
    """Ask the person; where there is nobody to ask, the answer is no."""
    if not _somebody_to_ask():
        return False
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort as abort:
        return _no_answer(abort)
