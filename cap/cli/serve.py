"""`cap serve`: the robot in a browser, to watch and to steer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from cap.cli.options import Command, SessionOptions, with_options
from cap.cli.page.page import opened
from cap.cli.session import resumed, say_end, watch
from cap.sandbox.client import shared_template

PORT = 8093


@dataclass(frozen=True)
class ServeOptions(SessionOptions):
    """Those of a session, and of the page."""

    port: int = PORT
    speed: float = 2.0
    resume: Path | None = None


@click.command("serve", cls=Command)
@with_options(ServeOptions, hidden=("as_json",))
def command(options: ServeOptions) -> int:
    """Watch and control the robot in a browser on this machine.

    \b
    cap serve
    cap serve -r kitchen --port 0 --speed 1

    The printed link contains a token that is required to watch or control the robot. Ctrl-C
    stops the running program; if no program is running, it stops the server.
    """  # noqa: D301
    shared_template().start()  # it loads while viser does
    with (
        opened(options.port, options.speed) as (page, link),
        resumed(options, options.resume, ["serve"], page) as (session, now),
    ):
        watch(session, now)
        click.echo(f"open {link}")
        page.run(session, now)
        say_end(session, now)
    return 0
