"""When a person is asked before a program runs, and how."""

from __future__ import annotations

import ast
import contextlib
import sys
from typing import Any

import click

from cap.cli.output import remark
from cap.engine.settings import Approve, Decision
from cap.engine.stop_signals import stop_signals
from cap.errors import UsageError
from cap.messages import printable


def approval(approve: str | None, ask: bool, yes: bool, simulated: bool) -> str:
    """Return when a person is asked: one of `options.APPROVALS`.

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
            "real hardware moves without asking only with both --approve none and --yes; leave "
            "both out to be asked before each program"
        )
    return asked or "each-program"


def approver(asks: str, simulated: bool, ask: Approve | None = None) -> Approve | None:
    """Return what decides whether a program may run; None where nothing needs to.

    Args:
        asks: One of `options.APPROVALS`.
        simulated: Whether the robot is; hardware always needs an approval.
        ask: Asks the person; in the terminal if None.
    """
    if asks != "none":
        return ask or ask_for_program
    return None if simulated else (lambda source: True)


def ask_for_program(source: str) -> Decision:
    """Ask the person whether a program that was shown may run: yes, no and why, or edited."""
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
                    "Why not? The model reads your answer (Enter: no reason)",
                    default="",
                    show_default=False,
                    err=True,
                )
                return Decision(False, reason=" ".join(reason.split()))
            text, wrong = edited(text)
            if wrong:
                remark(f"{wrong}; edit it again, or accept the program shown")
            elif text.strip() in ("", source.strip()):
                remark("nothing was changed")
                text = source
            else:
                return Decision(False, edited=text)
    except click.Abort as abort:
        return Decision(_no_answer(abort))


def edited(text: str) -> tuple[str, str]:
    """Have the person change a program in their editor; return it, and what is wrong with it.

    The editor has the terminal, and Ctrl-C in it is its own.
    """
    try:
        with stop_signals.idle():
            saved = click.edit(text, extension=".py")
        text = text if saved is None else saved
        ast.parse(text)
    except click.ClickException as error:
        reason = error.message.rstrip(".")
        return text, f"{reason}; unless you pressed Ctrl-C, set EDITOR to an editor that works"
    except SyntaxError as error:
        return text, f"line {error.lineno}: {error.msg}"
    return text, ""


def _no_answer(abort: click.Abort) -> bool:
    """Return the answer of who ended the input (Ctrl-D): no. Ctrl-C ends more than a question.

    Raises:
        KeyboardInterrupt: It was Ctrl-C.
    """
    if not isinstance(abort.__context__, EOFError):
        click.echo(err=True)  # what is said next begins a line
        raise KeyboardInterrupt from None
    remark("\nno answer; assuming no")
    return False


def _somebody_to_ask() -> bool:
    if not sys.stdin.isatty():
        remark("cannot ask: standard input is not a terminal; run cap in a terminal")
        return False
    try:
        import termios
    except ImportError:  # Windows
        return True
    with contextlib.suppress(termios.error, OSError):  # no terminal after all
        # What was typed before the question was meant for something else.
        termios.tcflush(sys.stdin, termios.TCIFLUSH)
    return True


def ask_person(question: str) -> bool:
    """Ask the person; where there is nobody to ask, the answer is no."""
    if not _somebody_to_ask():
        return False
    try:
        return click.confirm(question, default=False, err=True)
    except click.Abort as abort:
        return _no_answer(abort)


def keep_skill(offered: Any) -> bool:
    """Ask the person whether an `OfferedSkill` is kept; without a terminal, it is."""
    if not sys.stdin.isatty():
        return True
    name = printable(offered.definition.name)
    did = printable(offered.did)
    return ask_person(f"Save {name} as a skill? Its example had the same effect again: {did}.")
