"""The command line: `cap COMMAND`; one module per command, loaded when it is used.

Exit codes: 0 done, 1 program or task failed, 2 usage, 3 check refused, 4 model, 5 robot,
130 interrupted, 143 ended (SIGTERM).
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import shutil
import sys
from collections.abc import Iterable
from typing import Any

import click

from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, UsageError

SECTIONS = {
    "Move a robot": {
        "run": "Follow instructions in one session.",
        "repl": "Give the robot instructions interactively.",
        "serve": "Watch and control the robot in a browser.",
        "plan": "Follow an instruction step by step with a planner.",
        "batch": "Run sessions from a file and check their effects.",
        "mcp": "Let an agent control the robot (Model Context Protocol).",
    },
    "Programs, prompts, robots, models": {
        "exec": "Run your own program in the sandbox, after checking it.",
        "check": "Check a program without running it.",
        "prompts": "List, show and check prompt files.",
        "skills": "List, show, check and remove saved functions.",
        "robots": "List, show, create and check robots.",
        "models": "List models and check their endpoints.",
    },
    "Results": {
        "trace": "List, show and export past runs.",
        "bench": "Run benchmarks and compare models.",
    },
    "About cap": {
        "info": "Show versions, settings and sandbox details for bug reports.",
        "completion": "Print the completion script for bash, zsh or fish.",
        "help": "Show help for a command.",
    },
}
"""Every command, as the help lists them; its module has its name."""
COMMANDS = [name for names in SECTIONS.values() for name in names]
_ELSEWHERE = {
    "repl": "repl.repl",
    "bench": "bench.group",
    "serve": "page.page",
    "exec": "run:exec_command",
    "help": "main",
}
"""Commands whose module has another name; behind a colon, that of the command in it."""
WIDEST = 200
"""Columns of the help in a terminal that has as many; else it is as wide as the terminal."""
_LEAST = 20
"""Columns below which nothing more is wrapped."""


class HelpFormatter(click.HelpFormatter):
    """Click's, also for a terminal under 52 columns."""

    def __init__(self, width: int | None = None, max_width: int | None = None) -> None:
        """Take the terminal's width, unless one is given."""
        columns = min(shutil.get_terminal_size().columns, max_width or 80)
        super().__init__(width=width or max(columns, _LEAST) - 2)

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names and what each is: in a narrow terminal most names have their own line."""
        super().write_dl(rows, min(col_max, self.width // 3), col_spacing)


click.Context.formatter_class = HelpFormatter  # of every command, and of usage in errors


class _Lazy(click.Group):
    """A group whose commands are imported when called, so that `--help` stays fast."""

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, own = _ELSEWHERE.get(name, name).partition(":")
        found: click.Command = getattr(
            importlib.import_module(f"cap.cli.{module}"), own or "command"
        )
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), about) for name, about in names.items()])


@click.group(
    cls=_Lazy,
    commands=dict.fromkeys(COMMANDS),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": WIDEST},
)
@click.version_option(package_name="code-as-policies", prog_name="cap")
def cli() -> None:
    """Turn a sentence into a checked robot program and run it safely.

    \b
    cap run "put the red block in the blue bowl"
    cap repl -r kitchen
    """  # noqa: D301  (the backspace is click's mark for lines to leave alone)


@click.command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
def command(words: tuple[str, ...]) -> None:
    """Show help for a command.

    \b
    cap help run
    cap help bench run
    """  # noqa: D301
    cli.main([*words, "--help"], prog_name="cap", standalone_mode=False)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit code; no traceback for errors made on purpose."""
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115  (it was closed)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # an ASCII terminal shows what it can
            stream.reconfigure(errors="replace")
    words = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in words[: words.index("--") if "--" in words else len(words)]

    def fail(error: Exception, message: str, code: int, folder: str | None = None) -> int:
        """Report an error, as one JSON object as well where JSON was asked for."""
        if as_json and not getattr(error, "reported", False):
            from cap.cli.output import print_json_error

            print_json_error(error, message, folder, of_a_run=words[0] in ("run", "exec"))
        if isinstance(error, click.ClickException):
            error.show()
        else:
            click.echo(f"error: {message}", err=True)
        if folder is not None:
            click.echo(f"run: {folder}", err=True)
        return code

    try:
        with contextlib.ExitStack() as stack:
            if as_json:
                from cap.cli.output import json_alone

                stack.enter_context(json_alone())
            said = tuple(words)
            code: Any = cli.main(args=words, prog_name="cap", standalone_mode=False, obj=said)
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        stop_signals.taken()
        click.echo("interrupted", err=True)
        return 130
    except click.ClickException as error:
        moved = _moved(error)
        return fail(UsageError(moved) if moved else error, moved or error.format_message(), 2)
    except CapError as error:
        return fail(error, str(error), error.exit_code, error.run)
    except ImportError as error:  # a person's own folder may bear the name of a package of ours
        from cap.robot.registry import shadowed

        package = (error.name or "").split(".")[0]
        if (hidden := shadowed(package)) is None:
            raise
        return fail(error, f"package '{package}' is hidden by {hidden}; rename it or move away", 2)
    except BrokenPipeError:
        # The reader of our output went away (`cap ... | head`); nothing is left to say to it.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 0
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return fail(error, f"{error.strerror or error}{where}", 1)


def _moved(error: click.ClickException) -> str:
    """Return the new form of an option that is a setting now; "" if it is none."""
    from cap.cli.options import MOVED

    if not isinstance(error, click.NoSuchOption) or error.option_name not in MOVED:
        return ""
    if error.ctx is None or not any("--set" in each.opts for each in error.ctx.command.params):
        return ""
    new = MOVED[error.option_name]
    key = new.removeprefix("--set ").partition("=")[0]
    return f"{error.option_name} is a setting now: {new}, or {key} in your config.toml"
