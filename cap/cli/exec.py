"""`cap exec FILE.py`: a program you wrote, through the same check and sandbox."""

from __future__ import annotations

from pathlib import Path

import click

from cap.cli.options import with_options
from cap.cli.session import errors_as_json, open_session, report, watch
from cap.cli.session_options import SessionOptions, expect_option
from cap.errors import UsageError


@click.command("exec")
@click.argument("file", type=click.Path(path_type=Path))
@expect_option
@with_options(SessionOptions, "options")
def command(options: SessionOptions, file: Path, expect: tuple[str, ...]) -> int:
    """Run a program from a file; it may use every primitive and LMP of the robot."""
    source = read_source(file)
    with errors_as_json(options), open_session(options, [file.name]) as session:
        watch(session, options)
        session.execute(source, file.name, expect)
        return report(session, options, [])


def read_source(file: Path) -> str:
    """Read a program file.

    Raises:
        UsageError: It is missing, unreadable, or not text.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise UsageError(f"no file {file}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 text: {error.reason} at {error.start}") from None
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror or error}") from None
