"""The command line: `cap COMMAND`; one module per command, loaded when it is used.

Exit codes: 0 done, 1 program or task failed, 2 usage, 3 check refused, 4 model, 5 robot,
130 interrupted, 143 told to end (SIGTERM).
"""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import itertools
import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click

from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, did_you_mean

COMMANDS = {
    "run": ("cap.cli.run", "Carry out instructions, one session."),
    "repl": ("cap.cli.repl.command", "Talk to the robot, one instruction at a time."),
    "serve": ("cap.cli.serve", "Watch and steer the robot in a browser."),
    "plan": ("cap.cli.plan", "Carry out an instruction with a planner, step by step."),
    "batch": ("cap.cli.batch", "Carry out many sessions from a file, each with its expectation."),
    "mcp": ("cap.cli.mcp", "Let an agent move the robot (Model Context Protocol)."),
    "exec": ("cap.cli.exec", "Run a program you wrote, checked and sandboxed."),
    "check": ("cap.cli.check", "Check a program without running it."),
    "prompts": ("cap.cli.prompts", "List, show and check prompt files."),
    "skills": ("cap.cli.skills", "List, show, check and remove functions that sessions kept."),
    "robots": ("cap.cli.robots", "List robots and what they can do."),
    "models": ("cap.cli.models", "List the models and endpoints you can name."),
    "trace": ("cap.cli.trace", "List, show and export earlier runs."),
    "bench": ("cap.cli.bench.group", "Run benchmarks, compare models, measure speed."),
    "info": ("cap.cli.info", "Versions, settings, sandbox: what to paste in an issue."),
    "completion": ("cap.cli.completion", "Have Tab complete words: bash, zsh or fish."),
    "help": ("cap.cli.main", "Show the help of a command."),
}
SECTIONS = {
    "Move a robot": ("run", "repl", "serve", "plan", "batch", "mcp"),
    "Programs, prompts, robots, models": (
        "exec",
        "check",
        "prompts",
        "skills",
        "robots",
        "models",
    ),
    "Afterwards": ("trace", "bench"),
    "About cap": ("info", "completion", "help"),
}
"""How the help lists the commands."""


WIDEST = 200
"""Columns of the help in a terminal that has as many; else it is as wide as the terminal."""
_LEAST = 20
"""Columns below which nothing more is wrapped."""


class HelpFormatter(click.HelpFormatter):
    """Click's, also for a terminal under 52 columns."""

    def __init__(
        self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None
    ) -> None:
        """Take the terminal's width, unless one is given."""
        columns = min(shutil.get_terminal_size().columns, max_width or 80)
        super().__init__(indent_increment, width or max(columns, _LEAST) - 2, max_width)

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names and what each is: in a narrow terminal most names have their own line."""
        super().write_dl(rows, min(col_max, self.width // 3), col_spacing)


click.Context.formatter_class = HelpFormatter  # of every command, and of usage in errors


class _Lazy(click.Group):
    """A group whose commands are imported when called, so that `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS)
            raise click.UsageError(f"no command '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), COMMANDS[name][1]) for name in names])


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)
@click.version_option(package_name="code-as-policies", prog_name="cap")
def cli() -> None:
    """Turn a sentence into a checked robot program, and run it safely.

    \b
    cap run "put the red block in the blue bowl"
    cap repl -r kitchen
    """  # noqa: D301  (the backspace is click's mark for lines to leave alone)


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
def command(words: tuple[str, ...]) -> None:
    """Show the help of a command.

    \b
    cap help run
    cap help bench run
    """  # noqa: D301
    cli.main([*words, "--help"], prog_name="cap", standalone_mode=False)


def main() -> int:
    """Run the command line of this process; return its exit code."""
    try:
        return run()
    finally:
        if "cap.trace.trace" in sys.modules:
            from cap.trace.trace import end_all

            end_all()


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code; no traceback for errors made on purpose."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII terminal shows what it can
            stream.reconfigure(errors="replace")
    said = sys.argv[1:] if arguments is None else arguments
    try:
        with contextlib.ExitStack() as stack:
            if _command_of_json(said) is not None:
                from cap.cli.json_output import json_alone

                stack.enter_context(json_alone())
            code: Any = cli.main(args=said, prog_name="cap", standalone_mode=False, obj=tuple(said))
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        stop_signals.taken()
        click.echo("interrupted", err=True)
        return 130
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and (new := _new_form(error)):
            _tell_as_json(said, "MovedOption", new)
            click.echo(f"error: {new}", err=True)
            return 2
        _tell_as_json(said, type(error).__name__, error.format_message())
        error.show()
        return 2
    except CapError as error:
        if not error.told:
            _tell_as_json(said, type(error).__name__, str(error), error.run)
        click.echo(f"error: {error}", err=True)
        if error.run is not None:
            click.echo(f"run: {error.run}", err=True)
        return error.exit_code
    except ImportError as error:  # a person's own folder may bear the name of a package of ours
        from cap.robot.registry import shadowed

        package = (error.name or "").split(".")[0]
        if (hidden := shadowed(package)) is None:
            raise
        message = f"package '{package}' is hidden by {hidden}; rename it or move away"
        _tell_as_json(said, type(error).__name__, message)
        click.echo(f"error: {message}", err=True)
        return 2
    except BrokenPipeError:
        # The reader of our output went away (`cap ... | head`); nothing is left to say to it.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 0
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "; make room there, or choose another folder (--out, --gif)" if full else ""
        message = f"{error.strerror or error}{where}{remedy}"
        _tell_as_json(said, type(error).__name__, message)
        click.echo(f"error: {message}", err=True)
        return 1


def _new_form(error: click.NoSuchOption) -> str:
    """Return what to type for an option that a command takes as a setting now; "" if none."""
    from cap.cli.options import MOVED

    takes = error.ctx is not None and any("--set" in each.opts for each in error.ctx.command.params)
    if not takes or error.option_name not in MOVED:
        return ""
    new = MOVED[error.option_name]
    in_file = new.removeprefix("--set ").partition("=")[0]
    return f"{error.option_name} is a setting now: {new}, or {in_file} in cap.toml"


def _command_of_json(said: Sequence[str]) -> click.Command | None:
    """Return the command that was told to answer as JSON, if it can; else None."""
    if "--json" not in itertools.takewhile(lambda word: word != "--", said):
        return None
    command: click.Command = cli
    for word in said:
        if isinstance(command, click.Group):
            with contextlib.suppress(ImportError, click.UsageError):
                group = click.Context(command, resilient_parsing=True)
                command = command.resolve_command(group, [word])[1] or command
    declared = [param for param in command.params if "--json" in param.opts]
    shown = any(not getattr(one, "hidden", 0) for one in declared)
    return command if isinstance(command, click.Group) or shown else None


def _tell_as_json(said: Sequence[str], error: str, message: str, run: str | None = None) -> None:
    """Print an error as one JSON object, where a command that can was told to answer so."""
    if (command := _command_of_json(said)) is None:
        return
    from cap.cli.json_output import print_json

    told: dict[str, Any] = {"error": error, "message": message}
    if command.name in ("run", "exec"):  # with what these say of every run
        told = {"status": "error", "run": run, "turns": [], **told}
    with contextlib.suppress(OSError):  # a full disk, or a reader that went away
        print_json(told)
