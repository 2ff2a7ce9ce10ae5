"""`cap mcp`: the robot for agents that speak the Model Context Protocol."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import click

from cap.cli.options import SectionedCommand, SessionOptions, with_options
from cap.errors import UsageError, pip_install
from cap.sandbox.limits import weakest_level


@click.command("mcp", cls=SectionedCommand)
@click.option(
    "--http",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Streamable HTTP on this machine, with a token (0: any port), in place of standard input.",
)
@click.option(
    "--page",
    "page_port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Show the session in a browser on this machine, where people watch and stop (0: any).",
)
@with_options(SessionOptions, "options", hidden=("as_json",))
def command(options: SessionOptions, http: int | None, page_port: int | None) -> int:
    """Let an agent move the robot: a server of the Model Context Protocol.

    \b
    cap mcp -r ravens
    cap mcp -r kitchen --mode instant --http 8765 --page 0

    An agent's configuration names the command `cap` with the arguments `mcp -r ravens`. Standard
    output carries the protocol alone; what is for people goes to standard error.
    """  # noqa: D301
    if options.as_json:
        raise UsageError("an agent reads JSON from each tool; leave out --json")
    if options.approve == "each-call":
        raise UsageError("an agent is asked for whole programs; leave out --approve each-call")
    try:
        from cap.cli.mcp_server import serve
    except ImportError:
        raise UsageError(
            f"the Model Context Protocol's package is not installed: {pip_install('mcp')}"
        ) from None
    # An agent is a language model, also where the session's own model is none.
    level = options.min_level or weakest_level("agent")
    options = replace(options, min_level=level)
    if page_port is None:
        asyncio.run(serve(options, http))
        return 0
    from cap.cli.page.page import shown

    with shown(page_port) as page:
        asyncio.run(serve(options, http, page))
    return 0
