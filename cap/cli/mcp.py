"""`cap mcp`: the robot for agents that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import click

from cap.cli.options import Command, SessionOptions, with_options
from cap.errors import UsageError, pip_install
from cap.sandbox.limits import weakest_level


@dataclass(frozen=True)
class ServerOptions(SessionOptions):
    """Those of a session, and where it is served."""

    http: int | None = None
    page: int | None = None


@click.command("mcp", cls=Command)
@with_options(ServerOptions)
def command(options: ServerOptions) -> int:
    """Let an agent control the robot through the Model Context Protocol.

    \b
    cap mcp -r ravens
    cap mcp -r kitchen --mode instant --http 8765 --page 0

    In the agent's configuration, set the command to cap and the arguments to mcp -r ravens.
    Standard output carries only protocol messages; everything else goes to standard error.
    """  # noqa: D301
    if options.approve == "each-call":
        raise UsageError(
            "agents need approval for whole programs only; leave out --approve each-call"
        )
    try:
        from cap.cli.mcp_server import serve
    except ImportError:
        raise UsageError(
            f"the package for the Model Context Protocol is not installed: {pip_install('mcp')}"
        ) from None
    # An agent is a language model, also where the session's own model is none.
    options = replace(options, min_level=options.min_level or weakest_level("agent"))
    if options.page is None:
        asyncio.run(serve(options, options.http))
        return 0
    from cap.cli.page.page import opened

    with opened(options.page, 0.0, watching=True) as (page, link):
        click.echo(f"open {link}", err=True)
        asyncio.run(serve(options, options.http, page))
    return 0
