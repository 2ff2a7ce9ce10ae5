"""`cap run INSTRUCTION...` and `cap exec FILE.py`: a model's programs, or your own, in one session.

Your own program takes the same way: it is checked, and runs in the sandbox.
"""

from __future__ import annotations

import errno
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cap.cli.film import Pictures
from cap.cli.options import PATH, Command, SessionOptions, json_option, with_options
from cap.cli.output import is_json
from cap.cli.session import differing, open_session, replayed, report, resumed, watch
from cap.errors import CheckFailed, UsageError
from cap.files import read_bytes
from cap.program.program import MAX_SOURCE_CHARS

_MOST_BYTES = 4 * MAX_SOURCE_CHARS + 4
"""More than any program takes, a byte order mark included."""


@dataclass(frozen=True)
class RunOptions(SessionOptions):
    """Those of a session, what each turn must do, and what is kept of it."""

    expect: tuple[str, ...] = ()
    resume: Path | None = None
    replay: Path | None = None
    gif: Path | None = None
    pictures: bool = False


EXAMPLES = """
\b
More examples:
  cap run "stack all the blocks" "undo that" --seed 3
  cap run "..." -m ollama/qwen2.5-coder  (on a local server)
  cap run --resume runs/... "undo that"  (continue an earlier session)
  cap run --replay runs/...              (repeat a run without a model)
"""


_ARTICLES = {"the", "a", "an"}
"""No instruction of their own: the quotes around a sentence were forgotten."""


@click.command("run", cls=Command, epilog=EXAMPLES)
@click.argument("instructions", nargs=-1, metavar="INSTRUCTION...")
@with_options(RunOptions)
@json_option
def command(options: RunOptions, instructions: tuple[str, ...]) -> int:
    """Follow instructions in one session, stopping at the first failure.

    To read instructions from standard input, one per line, pass -.

    \b
    cap run "put the red block in the blue bowl"
    cap run "..." -m openai/gpt-4.1        (needs OPENAI_API_KEY)
    """  # noqa: D301  (the backspace is click's mark for lines to leave alone)
    gif = options.gif
    if gif is not None and gif.suffix.lower() != ".gif":
        raise UsageError(f"--gif writes GIF only, such as film.gif, not {gif}")
    if instructions == ("-",):
        read = sys.stdin.buffer.read().decode("utf-8-sig", "replace")
        instructions = tuple(line for line in read.splitlines() if line.strip())
    if options.replay is not None:
        if instructions or options.resume or options.model or options.expect:
            raise UsageError("--replay has the run's own instructions and answers; give it alone")
        return _replay(options, options.replay)
    if not instructions:
        raise UsageError('say what the robot should do: cap run "stack all the blocks"')
    if _ARTICLES & {*instructions}:
        raise UsageError(f'put each instruction in quotes: cap run "{" ".join(instructions)}"')
    with resumed(options, options.resume, instructions) as (session, now):
        watch(session, now)
        film = _pictures(session, gif, options.pictures)
        for words in instructions:
            turn = session.run(words, options.expect)
            if film is not None:
                film.turn()
            if turn.failure is not None:
                break
        paths = film.finish() if film else ()
        return report(session, paths, left=instructions[len(session.turns) :])


def _pictures(session: Any, gif: Path | None, pictures: bool) -> Pictures | None:
    """Begin the pictures of a session, if any were asked for."""
    return Pictures(session, gif) if gif is not None or pictures else None


def _replay(options: RunOptions, folder: Path) -> int:
    """Repeat a run with no model; exit code 1 if anything came out differently."""
    with replayed(options, folder) as (session, steps):
        watch(session, options)
        film = _pictures(session, options.gif, options.pictures)
        differs = differing(steps, film)
        return report(session, film.finish() if film else (), differs=differs)


@dataclass(frozen=True)
class ExecOptions(SessionOptions):
    """Those of a session, and what the program must do."""

    expect: tuple[str, ...] = ()


@click.command("exec", cls=Command)
@click.argument("file", type=PATH)
@with_options(ExecOptions)
@json_option
def exec_command(options: ExecOptions, file: Path) -> int:
    """Run a program from a file or standard input (-), with every primitive and LMP available.

    \b
    cap exec program.py --mode instant
    cap exec program.py -r kitchen --expect moved
    """  # noqa: D301
    source, name = read_source(file), "standard input" if str(file) == "-" else file.name
    with open_session(options, [name]) as session:
        watch(session, options)
        turn = session.execute(source, name, options.expect)
        line = failed_line(turn)
        if line and not is_json():
            click.echo(f"  {line}")
        return report(session)


def failed_line(turn: Any) -> str:
    """Return the line of its program at which a turn failed, with its number; "" if none did."""
    number = turn.failure.line if turn.failure else None
    lines = turn.written.splitlines()  # none where it is not valid Python
    return f"line {number}: {lines[number - 1].strip()}" if number and number <= len(lines) else ""


def read_source(file: Path) -> str:
    """Read a program file, or standard input for `-`; no more of it than a program may be long.

    Raises:
        UsageError: It is missing, unreadable, no plain file, or not text.
        CheckFailed: It is too long.
    """
    too_long = f"{file} is too long: the limit is {MAX_SOURCE_CHARS} characters"
    try:
        if str(file) == "-":
            source = sys.stdin.buffer.read(_MOST_BYTES).decode("utf-8-sig", "replace")
        else:
            source = read_bytes(file, _MOST_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"no file {file}") from None
    except UnicodeDecodeError as error:
        where = f"{error.reason} at {error.start}"
        raise UsageError(f"{file} is not UTF-8 text: {where}") from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise CheckFailed(too_long) from None
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from None
    if len(source) > MAX_SOURCE_CHARS:
        raise CheckFailed(too_long)
    return source
