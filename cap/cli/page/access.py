"""Who may open the live page: the server is viser's, on this machine alone, behind our checks.

viser checks neither token nor origin, and looks for another port if one is taken. So its server is
started on a socket of ours, and each handshake passes `Access` first.

A web page elsewhere may send requests to this machine and may have its own name point here (DNS
rebinding). So the host must be one of this machine's own names, the origin the page itself, and the
token of the link must be known, or the cookie that the link leaves: which has a separate secret.
"""

from __future__ import annotations

import contextlib
import hmac
import io
import logging
import re
import secrets
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cap.errors import MissingExtra, UsageError, install_extra

HOST = "127.0.0.1"
_HOST = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::(\d+))?", re.IGNORECASE | re.ASCII)
"""The names under which a browser on this machine, or at the end of a tunnel, reaches it."""
_SECURED = {
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""What every answer says: no page may hold this one in a frame."""
_ENTRY = b"""<!doctype html><title>cap</title>
<script>
location.replace(matchMedia("(prefers-color-scheme: dark)").matches ? "/?darkMode" : "/")
</script>
<a href="/">cap</a>
"""
"""Where the link leads: on to the page, without the token, as dark as the browser's other pages."""


class Access:
    """Lets requests through, or answers them itself."""

    def __init__(self) -> None:
        """Make the link's token, and what the cookie holds."""
        self.token, self.secret = secrets.token_urlsafe(24), secrets.token_urlsafe(24)

    def _cookie(self, host: str) -> str:
        """Return the cookie, by the port: browsers keep one jar for all ports of a host."""
        return f"cap-{_HOST.findall(host)[0] or 80}={self.secret}"

    def refusal(self, request: Any) -> str:
        """Return why a request is refused; "" if it may pass.

        Args:
            request: Has `path`, and `headers` with `get_all`.
        """
        hosts = request.headers.get_all("Host")
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            return "this page is available only at 127.0.0.1, localhost and [::1]"
        if any(origin != f"http://{hosts[0]}" for origin in request.headers.get_all("Origin")):
            return "another page may not talk to this one"
        cookies = ";".join(request.headers.get_all("Cookie")).split(";")
        known = self._cookie(hosts[0])
        if self.has_link(request) or any(_same(cookie.strip(), known) for cookie in cookies):
            return ""
        return "open the link that `cap serve` printed: it has the token"

    def has_link(self, request: Any) -> bool:
        """Tell whether a request comes by the link."""
        given = parse_qs(urlsplit(request.path).query).get("token", [])
        return len(given) == 1 and _same(given[0], self.token)

    def respond(self, request: Any, usual: Any) -> Any:
        """Answer a request, or have it answered as usual.

        Args:
            request: What a browser asks.
            usual: Answers a request that may pass: a response, or None for a websocket.
        """
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        upgrade = "websocket" in request.headers.get("Upgrade", "").lower()
        if why := self.refusal(request):
            kind = {"Content-Type": "text/plain; charset=utf-8"}
            response = Response(403, "Forbidden", Headers(kind), f"{why}\n".encode())
        elif not upgrade and self.has_link(request):
            kept = f"{self._cookie(request.headers['Host'])}; HttpOnly; SameSite=Lax; Path=/"
            kind = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"}
            response = Response(200, "OK", Headers({**kind, "Set-Cookie": kept}), _ENTRY)
        elif (response := usual()) is None:
            return None
        for name, value in _SECURED.items():
            response.headers[name] = value
        if "Content-Length" not in response.headers:
            response.headers["Content-Length"] = str(len(response.body or b""))
        return response


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(errors="surrogateescape"), known.encode())


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


def start(listening: socket.socket, access: Access, label: str) -> Any:
    """Start the server.

    Raises:
        MissingExtra: viser is not installed.
        UsageError: This version of viser starts its server in another way, past our checks.
    """
    try:
        import viser
        from viser import _messages
    except ImportError:
        raise MissingExtra(f"the page needs viser: {install_extra('web')}") from None

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
