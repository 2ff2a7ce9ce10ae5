"""The server of the live page: viser's, on this machine alone, behind our own checks.

viser checks neither token nor origin, and looks for another port if one is taken. So its server is
started on a socket of ours, and each handshake passes `Access` first.
"""

from __future__ import annotations

import contextlib
import io
import logging
import socket
from collections.abc import Iterator
from typing import Any

from cap.cli.page.access import Access
from cap.errors import MissingExtra, UsageError, install_extra

HOST = "127.0.0.1"


def open_socket(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone.

    Args:
        port: 0 for any that is free.

    Raises:
        UsageError: The port is taken, or may not be used.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
        listening.listen()
    except OSError as error:
        listening.close()
        raise UsageError(
            f"cannot listen on port {port}: {error.strerror or error}; "
            "choose another, or 0 for any that is free"
        ) from None
    return listening


def require_viser() -> None:
    """Make sure that the page can be made.

    Raises:
        MissingExtra: viser is not installed.
    """
    try:
        import viser  # noqa: F401
    except ImportError:
        raise MissingExtra(f"the page needs viser: {install_extra('web')}") from None


def start(listening: socket.socket, access: Access, label: str) -> Any:
    """Start the server.

    Raises:
        UsageError: This version of viser starts its server in another way, past our checks.
    """
    import viser
    from viser import _messages

    with _guarded(listening, access) as used, contextlib.redirect_stdout(io.StringIO()):
        server: Any = viser.ViserServer(host=HOST, port=0, label=label, verbose=False)
        if not used:
            server.stop()
            raise UsageError(
                f"viser {viser.__version__} starts its server in a way that cannot be guarded; "
                f"install one that was tested: {install_extra('web')}"
            )
    # A visitor may ask viser for a public address of the page; nobody gets one.
    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        server._websock_server.unregister_handler(message)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    return server


def stop(server: Any) -> None:
    """End the server."""
    with contextlib.redirect_stdout(io.StringIO()):  # it would say so
        server.stop()


@contextlib.contextmanager
def _guarded(listening: socket.socket, access: Access) -> Iterator[list[bool]]:
    """Inside, a server that is started listens on a socket of ours and checks each handshake."""
    import websockets.asyncio.server

    websockets_server: Any = websockets.asyncio.server
    usual = websockets_server.serve
    log = logging.getLogger("cap.page")
    log.setLevel(logging.CRITICAL)  # visitors who speak no HTTP that it knows are no news
    used: list[bool] = []

    def serve(handler: Any, host: Any, port: Any, *, process_request: Any, **options: Any) -> Any:
        def checked(connection: Any, request: Any) -> Any:
            return access.respond(request, lambda: process_request(connection, request))

        used.append(True)
        options |= {"sock": listening, "process_request": checked, "logger": log}
        return usual(handler, **options)

    websockets_server.serve = serve
    try:
        yield used
    finally:
        websockets_server.serve = usual
