"""`cap run INSTRUCTION...`: several instructions are one session."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from cap.cli.approval import ask_person
from cap.cli.options import Named, SectionedCommand, SessionOptions, expect_option, with_options
from cap.cli.pictures import wanted
from cap.cli.resume import as_saved, go_on, replay_run, resume_option, saved_at
from cap.cli.session import open_session, report, watch
from cap.errors import UsageError


@click.command("run", cls=SectionedCommand)
@click.argument("instructions", nargs=-1, metavar="INSTRUCTION...")
@click.option("--gif", type=Named(path_type=Path), metavar="FILE", help="Film it.")
@click.option(
    "--pictures",
    is_flag=True,
    help="Keep pictures: before, after each turn, after all.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Carry out a run again, with no model.",
)
@resume_option
@expect_option
@with_options(SessionOptions, "options")
def command(
    options: SessionOptions,
    instructions: tuple[str, ...],
    gif: Path | None,
    pictures: bool,
    replay: Path | None,
    resume: Path | None,
    expect: tuple[str, ...],
) -> int:
    """Carry out instructions; several are one session, stopped by the first failure.

    A lone - reads them from standard input, a line each.

    \b
    cap run "put the red block in the blue bowl"
    cap run "..." -m openai/gpt-4.1        (OPENAI_API_KEY)
    cap run "stack all the blocks" "undo that" --seed 3
    cap run "..." -m ollama/qwen2.5-coder  (a local server)
    cap run --resume runs/... "undo that"  (go on with an earlier session)
    cap run --replay runs/...              (the same run again, with no model)
    """  # noqa: D301  (the backspace is click's mark for lines to leave alone)
    if gif is not None and gif.suffix.lower() != ".gif":
        named = gif.with_suffix(".gif") if gif.name else "film.gif"
        raise UsageError(f"--gif writes GIF only: name the file {named}")
    if instructions == ("-",):
        read = sys.stdin.buffer.read().decode("utf-8-sig", "replace")
        instructions = tuple(line for line in read.splitlines() if line.strip())
    if replay is None:
        return _run(options, instructions, gif, pictures, resume, expect)
    if instructions or resume or options.model or expect:
        raise UsageError("--replay has the run's own instructions and answers; give it alone")
    return replay_run(options, replay, gif, pictures)


def _run(
    options: SessionOptions,
    instructions: tuple[str, ...],
    gif: Path | None,
    pictures: bool,
    resume: Path | None,
    expect: tuple[str, ...],
) -> int:
    if not instructions:
        raise UsageError('say what the robot should do: cap run "stack all the blocks"')
    kept = saved_at(resume)
    options = as_saved(options, kept) if kept else options
    with open_session(options, instructions) as session:
        if kept and resume:
            go_on(session, kept, resume)
        watch(session, options)
        film = wanted(session, gif, pictures)
        for number, words in enumerate(instructions, start=1):
            failure = session.run(words, expect).failure
            if film is not None:
                film.turn()
            left = instructions[number:]
            if failure is None:
                continue
            # A person who refuses one program may want what they asked for after it all the same.
            if failure.kind != "refused" or not left or not ask_person(f"Go on with: {left[0]}"):
                break
        paths = film.finish() if film else []
        return report(session, options, paths, left=instructions[len(session.turns) :])
