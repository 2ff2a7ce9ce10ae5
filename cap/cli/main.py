"""The command line: `cap COMMAND`; one module per command, loaded when it is used.

Exit codes: 0 done, 1 program or task failed, 2 usage, 3 check refused, 4 model, 5 robot,
130 interrupted, 143 told to end (SIGTERM).
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import sys
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
    "exec": ("cap.cli.exec", "Run a program you wrote, checked and sandboxed."),
    "check": ("cap.cli.check", "Check a program without running it."),
    "prompts": ("cap.cli.prompts", "List, show and check prompt files."),
    "skills": ("cap.cli.skills", "List, show and remove functions that sessions kept."),
    "robots": ("cap.cli.robots", "List robots and what they can do."),
    "models": ("cap.cli.models", "List the models and endpoints you can name."),
    "trace": ("cap.cli.trace", "List and show earlier runs."),
    "bench": ("cap.cli.bench.group", "Measure speed and understanding."),
    "info": ("cap.cli.info", "Versions, settings, sandbox: what to paste in an issue."),
}


class _Lazy(click.Group):
    """A group whose commands are imported when called, so that `--help` stays fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, help_text = COMMANDS[name]
        if ctx.info_name != name and ctx.resilient_parsing:
            return click.Command(name, help=help_text)
        command: click.Command = importlib.import_module(module).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            hint = did_you_mean(args[0], COMMANDS)
            raise click.UsageError(f"no command '{args[0]}'.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, help_text) for name, (_, help_text) in COMMANDS.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="code-as-policies", prog_name="cap")
def cli() -> None:
    """Turn a sentence into a checked robot program, and run it safely.

    Try: cap run "put the red block in the blue bowl"
    """


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
    try:
        said = sys.argv[1:] if arguments is None else arguments
        code: Any = cli.main(args=said, prog_name="cap", standalone_mode=False, obj=tuple(said))
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except (click.Abort, KeyboardInterrupt):
        stop_signals.taken()
        click.echo("interrupted", err=True)
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except CapError as error:
        click.echo(f"error: {error}", err=True)
        if error.run is not None:
            click.echo(f"run: {error.run}", err=True)
        return error.exit_code
    except ImportError as error:  # a person's own folder may bear the name of a package of ours
        from cap.robot.registry import shadowed

        package = (error.name or "").split(".")[0]
        if (hidden := shadowed(package)) is None:
            raise
        click.echo(
            f"error: package '{package}' is hidden by {hidden}; rename it or move away", err=True
        )
        return 2
    except BrokenPipeError:
        # The reader of our output went away (`cap ... | head`); nothing is left to say to it.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
        return 0
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "; make room there, or choose another folder (--out, --gif)" if full else ""
        click.echo(f"error: {error.strerror or error}{where}{remedy}", err=True)
        return 1
