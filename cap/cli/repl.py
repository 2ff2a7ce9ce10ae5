"""`cap repl`: an instruction in, its program and its effect out."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import click

from cap.cli.options import SessionOptions, with_options
from cap.cli.resume import as_saved, go_on, resume_option, saved_at
from cap.cli.session import open_session, say_usage, watch
from cap.engine.stop_signals import stop_signals
from cap.errors import CapError, UsageError
from cap.robot.robot_facts import places
from cap.trace.terminal import printable

HELP = """\
Type what the robot should do. Ctrl-C stops a program and keeps the session.
/undo      go back to before the last turn, the world too (in simulation)
/objects   what is on the table, and where
/program   the last program again
/skills    functions of this session, and those kept from earlier ones
/save NAME [NEW_NAME]   keep a function for later sessions
/help      this
/quit      leave (or Ctrl-D)"""


@click.command("repl")
@resume_option
@with_options(SessionOptions, "options")
def command(options: SessionOptions, resume: Path | None) -> int:
    """Talk to the robot, one instruction at a time."""
    if options.as_json:
        raise UsageError("the REPL speaks to people; for JSON use: cap run --json")
    kept = saved_at(resume)
    options = as_saved(options, kept) if kept else options
    with open_session(options, ["repl"]) as session:
        if kept and resume:
            go_on(session, kept, resume)
        watch(session, options, echo=not sys.stdin.isatty())
        click.echo(f"robot {session.robot.name}, model {session.model.name}. /help, /quit")
        read = _reader()
        while (line := read()) is not None:
            try:
                if not _obey(session, line.strip()):
                    break
            except CapError as error:
                click.echo(f"error: {error}", err=True)
        session.tell_held()
        say_usage(session)
        click.echo(f"run: {session.trace.folder}")
    return 0


def _obey(session: Any, line: str) -> bool:
    """Carry out one line; False ends the session."""
    if line in ("/quit", "/exit", "/q", "quit", "exit"):
        return False
    if line in ("/help", "help", "?"):
        click.echo(HELP)
    elif line == "/undo":
        rewound = session.undo()
        world = "the world" if rewound else "variables only: the real world stays as it is"
        click.echo(f"back to before the last turn ({world})")
    elif line == "/skills":
        _skills(session)
    elif line == "/save" or line.startswith("/save "):
        _save(session, line.split()[1:])
    elif line == "/objects":
        for name, (x, y, z) in places(session.robot).items():
            click.echo(f"  {name}: ({x:.3f}, {y:.3f}, {z:.3f})")
    elif line == "/program":
        click.echo(session.turns[-1].program if session.turns else "no program yet")
    elif line.startswith("/"):
        click.echo(f"no command {printable(line.split()[0])}; /help lists them")
    elif line:
        session.run(line)
    return True


def _skills(session: Any) -> None:
    """List the functions programs of this session may call, skills first."""
    definitions = session.state.definitions
    if not definitions:
        click.echo("no functions yet")
    for kept in sorted(definitions, key=lambda entry: entry.origin != "skill"):
        click.echo(f"  {kept.name} ({kept.origin})")


def _save(session: Any, names: list[str]) -> None:
    if len(names) not in (1, 2):
        click.echo("say which function: /save NAME, or /save NAME NEW_NAME; /skills lists them")
        return
    click.echo(f"kept as {session.save_skill(*names)}")


def _reader() -> Any:
    """Return a function that reads a line, or None at the end of input."""
    if not sys.stdin.isatty():
        if isinstance(sys.stdin, io.TextIOWrapper):  # a pipe may hold anything
            sys.stdin.reconfigure(errors="replace")
        return lambda: sys.stdin.readline() or None
    from prompt_toolkit import PromptSession
    from prompt_toolkit.history import InMemoryHistory

    prompt: PromptSession[str] = PromptSession(history=InMemoryHistory())

    def read() -> str | None:
        try:
            return prompt.prompt("cap> ")
        except KeyboardInterrupt:
            return ""
        except EOFError:
            return None
        finally:
            stop_signals.listen()

    return read
