"""`cap serve`: the robot in a browser, to watch and to steer."""

from __future__ import annotations

import math
from pathlib import Path

import click

from cap.cli.options import SectionedCommand, SessionOptions, with_options
from cap.cli.page import server as page_server
from cap.cli.page.access import Access
from cap.cli.page.page import LivePage
from cap.cli.resume import as_saved, go_on, resume_option, saved_at
from cap.cli.session import open_session, say_commands, say_usage, watch
from cap.errors import UsageError
from cap.sandbox.client import shared_template

PORT = 8093


@click.command("serve", cls=SectionedCommand)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: any."
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0.0, max=1000.0),
    default=2.0,
    show_default=True,
    help="Simulated seconds a second, at most; 0: no limit.",
)
@resume_option
@with_options(SessionOptions, "options", hidden=("as_json",))
def command(options: SessionOptions, port: int, speed: float, resume: Path | None) -> int:
    """Watch and steer the robot in a browser on this machine.

    \b
    cap serve
    cap serve -r kitchen --port 0 --speed 1

    The link that is printed has a token: without it nobody sees or steers anything. Ctrl-C stops a
    program; when none runs, it ends the server.
    """  # noqa: D301
    if options.as_json:
        raise UsageError("the page is for people; for JSON use: cap run --json")
    if math.isnan(speed):
        raise UsageError("--speed is not a number; give one from 0 to 1000")
    page_server.require_viser()
    shared_template().start()  # it loads while viser does
    access = Access()
    with page_server.open_socket(port) as listening:
        number = listening.getsockname()[1]
        server = page_server.start(listening, access, "cap")
        try:
            page = LivePage(server, speed)
            kept = saved_at(resume)
            options = as_saved(options, kept) if kept else options
            with open_session(options, ["serve"], page) as session:
                if kept and resume:
                    go_on(session, kept, resume)
                watch(session, options)
                click.echo(f"open http://{page_server.HOST}:{number}/?token={access.token}")
                page.run(session)
                session.report_held()
                say_commands(session, options)
                say_usage(session)
                click.echo(f"run: {session.trace.folder}")
        finally:
            page_server.stop(server)
    return 0
