"""`cap exec FILE.py`: a program you wrote, through the same check and sandbox."""

from __future__ import annotations

import errno
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from cap.cli.options import PATH, Command, SessionOptions, with_options
from cap.cli.session import open_session, report, watch
from cap.errors import CheckFailed, UsageError
from cap.files import read_bytes
from cap.program.program import MAX_SOURCE_CHARS

_MOST_BYTES = 4 * MAX_SOURCE_CHARS + 4
"""More than any program takes, a byte order mark included."""


@dataclass(frozen=True)
class ExecOptions(SessionOptions):
    """Those of a session, and what the program must do."""

    expect: tuple[str, ...] = ()


@click.command("exec", cls=Command)
@click.argument("file", type=PATH)
@with_options(ExecOptions)
def command(options: ExecOptions, file: Path) -> int:
    """Run a program from a file or standard input (-), with every primitive and LMP available.

    \b
    cap exec program.py --mode instant
    cap exec program.py -r kitchen --expect moved
    """  # noqa: D301
    source, name = read_source(file), "standard input" if str(file) == "-" else file.name
    with open_session(options, [name]) as session:
        watch(session, options)
        session.execute(source, name, options.expect)
        return report(session, options, [])


def read_source(file: Path) -> str:
    """Read a program file, or standard input for `-`; no more of it than a program may be long.

    Raises:
        UsageError: It is missing, unreadable, no plain file, or not text.
        CheckFailed: It is too long.
    """
    too_long = f"{file} is too long: the limit is {MAX_SOURCE_CHARS} characters"
    try:
        piped = str(file) == "-"
        data = sys.stdin.buffer.read(_MOST_BYTES) if piped else read_bytes(file, _MOST_BYTES)
        source = data.decode("utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"no file {file}") from None
    except UnicodeDecodeError as error:
        if len(data) == _MOST_BYTES:  # it may be cut inside a character
            raise CheckFailed(too_long) from None
        where = f"{error.reason} at {error.start}"
        raise UsageError(f"{file} is not UTF-8 text: {where}") from None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise CheckFailed(too_long) from None
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from None
    if len(source) > MAX_SOURCE_CHARS:
        raise CheckFailed(too_long)
    return source
