"""`cap repl`: an instruction in, its program and its effect out."""

from __future__ import annotations

import sys
from typing import Any

import click

from cap.cli.options import Options, open_session, session_options
from cap.cli.run import watch
from cap.errors import CapError, UsageError

HELP = """\
Type what the robot should do. Ctrl-C stops a program and keeps the session.
/undo      go back to before the last turn, the world too (in simulation)
/objects   what is on the table, and where
/program   the last program again
/help      this
/quit      leave (or Ctrl-D)"""


@click.command("repl")
@session_options
def command(options: Options) -> int:
    """Talk to the robot, one instruction at a time."""
    if options.as_json:
        raise UsageError("the REPL speaks to people; for JSON use: cap run --json")
    with open_session(options, ["repl"]) as session:
        watch(session, options, echo=not sys.stdin.isatty())
        click.echo(f"robot {session.robot.name}, model {session.model.name}. /help, /quit")
        read = _reader()
        while (line := read()) is not None:
            if not _obey(session, line.strip()):
                break
        click.echo(f"run: {session.trace.folder}")
    return 0


def _obey(session: Any, line: str) -> bool:
    """Carry out one line; False ends the session."""
    if line in ("/quit", "/exit", "/q", "quit", "exit"):
        return False
    if line in ("/help", "help", "?"):
        click.echo(HELP)
    elif line == "/undo":
        _undo(session)
    elif line == "/objects":
        for name, (x, y, z) in session.robot.positions().items():
            click.echo(f"  {name}: ({x:.3f}, {y:.3f}, {z:.3f})")
    elif line == "/program":
        click.echo(session.turns[-1].program if session.turns else "no program yet")
    elif line.startswith("/"):
        click.echo(f"no command {line.split()[0]}; /help lists them")
    elif line:
        try:
            session.run(line)
        except CapError as error:
            click.echo(f"error: {error}", err=True)
    return True


def _undo(session: Any) -> None:
    try:
        rewound = session.undo()
    except CapError as error:
        click.echo(f"error: {error}", err=True)
        return
    world = "the world" if rewound else "variables only: the real world stays as it is"
    click.echo(f"back to before the last turn ({world})")


def _reader() -> Any:
    """Return a function that reads a line, or None at the end of input."""
    if not sys.stdin.isatty():
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

    return read
