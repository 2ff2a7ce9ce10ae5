"""`cap run INSTRUCTION...`: several instructions are one session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from cap.cli.options import Named
from cap.cli.resume import as_saved, go_on, replay_run, resume_option, saved_at
from cap.cli.session_options import Options, open_session, session_options
from cap.errors import CapError, UsageError


@click.command("run")
@click.argument("instructions", nargs=-1, metavar="INSTRUCTION...")
@click.option("--gif", type=Named(path_type=Path), metavar="FILE", help="Film it.")
@click.option("--pictures", is_flag=True, help="Keep before.png and after.png in the run folder.")
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Carry out a run again, with no model.",
)
@resume_option
@session_options
def command(
    options: Options,
    instructions: tuple[str, ...],
    gif: Path | None,
    pictures: bool,
    replay: Path | None,
    resume: Path | None,
) -> int:
    """Carry out instructions; several are one session, stopped by the first failure.

    \b
    cap run "put the red block in the blue bowl"
    cap run "stack all the blocks" "undo that" --seed 3
    cap run "..." -m openai/gpt-4.1        (OPENAI_API_KEY)
    cap run "..." -m ollama/qwen2.5-coder  (a local server)
    cap run --resume runs/... "undo that"  (go on with an earlier session)
    cap run --replay runs/...              (the same run again, with no model)
    """  # noqa: D301  (the backspace is click's mark for lines to leave alone)
    if replay is not None:
        return reported(options, lambda: _replay(options, instructions, replay, resume))
    return reported(options, lambda: _run(options, instructions, gif, pictures, resume))


def reported(options: Options, work: Any) -> int:
    """Do a command's work; with `--json`, an error is one JSON object as well."""
    try:
        code: int = work()
    except CapError as error:
        if options.as_json:
            described = {"error": type(error).__name__, "message": str(error)}
            shown: dict[str, Any] = {"status": "error", "run": error.run, "turns": [], **described}
            click.echo(json.dumps(shown, ensure_ascii=False))
            return error.exit_code
        raise
    return code


def _replay(
    options: Options, instructions: tuple[str, ...], folder: Path, resume: Path | None
) -> int:
    if instructions or resume or options.model:
        raise UsageError("--replay has the run's own instructions and answers; give it alone")
    return replay_run(options, folder)


def _run(
    options: Options,
    instructions: tuple[str, ...],
    gif: Path | None,
    pictures: bool,
    resume: Path | None,
) -> int:
    if not instructions:
        raise UsageError('say what the robot should do: cap run "stack all the blocks"')
    if gif is not None and gif.suffix.lower() != ".gif":
        named = gif.with_suffix(".gif") if gif.name else "film.gif"
        raise UsageError(f"--gif writes GIF only: name the file {named}")
    kept = saved_at(resume)
    options = as_saved(options, kept) if kept else options
    with open_session(options, instructions) as session:
        if kept and resume:
            go_on(session, kept, resume)
        watch(session, options)
        film = _film(session, gif, pictures)
        for words in instructions:
            if not session.run(words).ok:
                break
        paths = film.finish() if film else []
        return report(session, options, paths, left=instructions[len(session.turns) :])


def watch(session: Any, options: Options, echo: bool = True) -> None:
    """Show the session in the terminal as it happens, unless JSON was asked for."""
    if options.as_json:
        return
    from rich.console import Console

    from cap.trace.terminal import Live

    console = Console(highlight=False)
    session.trace.listeners.append(Live(console, options.verbose, echo))
    if options.dry_run:
        sends = hasattr(session.robot, "commands")
        where = "nothing is sent" if sends else "in the instant world"
        console.print(f"dry run: {where}; nothing physical moves", style="dim")
    if session.model.name == "nearest":
        about = "model: nearest (no language model: the closest example, rebound)"
        console.print(about, style="dim")


def _film(session: Any, gif: Path | None, pictures: bool) -> Any:
    if gif is None and not pictures:
        return None
    from cap.cli.pictures import Pictures

    return Pictures(session.robot, session.trace.folder, gif)


def report(session: Any, options: Options, paths: list[Path], left: tuple[str, ...] = ()) -> int:
    """Say where the run is kept and return the exit code."""
    failure = session.turns[-1].failure if session.turns else None
    status = "done" if failure is None else "failed"
    if options.as_json:
        turns = [turn.as_json() for turn in session.turns]
        shown = {
            "status": status,
            "run": str(session.trace.folder),
            "turns": turns,
            "usage": vars(session.usage),
        }
        if options.dry_run and hasattr(session.robot, "commands"):
            shown["commands"] = session.robot.commands
        if paths:
            shown["pictures"] = [str(path) for path in paths]
        click.echo(json.dumps(shown, ensure_ascii=False))
    else:
        for words in left:
            click.echo(f"not run after the failure: {words}")
        for path in paths:
            click.echo(f"picture: {path}")
        say_commands(session, options)
        say_usage(session)
        click.echo(f"run: {session.trace.folder}")
    return failure.exit_code if failure else 0


def say_commands(session: Any, options: Options) -> None:
    """Print what a dry run would have sent to the robot's controller, if it has one."""
    commands = getattr(session.robot, "commands", None)
    if options.dry_run and commands:
        click.echo("commands that would be sent:")
        for line in commands:
            click.echo(f"  {line}")


def say_usage(session: Any) -> None:
    """Say what the model took in all, if it is a real one and was asked more than one turn."""
    from cap.trace.terminal import is_real, usage_line

    if len(session.turns) > 1 and is_real(session.model.name):
        click.echo(f"in all: {usage_line(session.usage)}")
