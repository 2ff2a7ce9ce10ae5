"""Who may talk to the page: people with the link, from the page itself, and no one else.

A web page elsewhere may send requests to this machine and may have its own name point here (DNS
rebinding). So the host must be one of this machine's own names, the origin the page itself, and the
token of the link must be known, or the cookie that the link leaves: a secret of its own.
"""

from __future__ import annotations

import hmac
import secrets
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOSTS = ("127.0.0.1", "localhost", "[::1]")
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

    def __init__(self, token: str = "", secret: str = "") -> None:
        """Make a token, and what the cookie holds, unless they are given."""
        self.token = token or secrets.token_urlsafe(24)
        self.secret = secret or secrets.token_urlsafe(24)

    def cookie(self, host: str) -> str:
        """Return the cookie's name: browsers keep one jar for all ports of a host."""
        return f"cap-{urlsplit(f'//{host}').port or 80}"

    def refusal(self, request: Any) -> tuple[HTTPStatus, str] | None:
        """Return why a request is refused; None if it may pass.

        Args:
            request: Has `path`, and `headers` with `get_all`.
        """
        hosts = request.headers.get_all("Host")
        if len(hosts) != 1 or _name(hosts[0]) not in HOSTS:
            return HTTPStatus.FORBIDDEN, f"this page is at {' and '.join(HOSTS)} only"
        origins = request.headers.get_all("Origin")
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return HTTPStatus.FORBIDDEN, "another page may not talk to this one"
        if not (self.has_link(request) or self._has_cookie(request, hosts[0])):
            return HTTPStatus.FORBIDDEN, "open the link that `cap serve` printed: it has the token"
        return None

    def has_link(self, request: Any) -> bool:
        """Tell whether a request comes by the link."""
        given = parse_qs(urlsplit(request.path).query).get("token", [])
        return len(given) == 1 and _same(given[0], self.token)

    def _has_cookie(self, request: Any, host: str) -> bool:
        for line in request.headers.get_all("Cookie"):
            try:
                found = SimpleCookie(line).get(self.cookie(host))
            except CookieError:
                continue
            if found is not None and _same(found.value, self.secret):
                return True
        return False

    def respond(self, request: Any, usual: Any) -> Any:
        """Answer a request, or have it answered as usual.

        Args:
            request: What a browser asks.
            usual: Answers a request that may pass: a response, or None for a websocket.
        """
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        upgrade = "websocket" in request.headers.get("Upgrade", "").lower()
        if (refused := self.refusal(request)) is not None:
            status, why = refused
            body = f"{why}\n".encode()
            kind = {"Content-Type": "text/plain; charset=utf-8"}
            response = Response(status, status.phrase, Headers(kind), body)
        elif not upgrade and self.has_link(request):
            host = request.headers["Host"]
            kept = f"{self.cookie(host)}={self.secret}; HttpOnly; SameSite=Lax; Path=/"
            kind = {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store"}
            response = Response(HTTPStatus.OK, "OK", Headers({**kind, "Set-Cookie": kept}), _ENTRY)
        elif (response := usual()) is None:
            return None
        for name, value in _SECURED.items():
            response.headers[name] = value
        if "Content-Length" not in response.headers:
            response.headers["Content-Length"] = str(len(response.body or b""))
        return response


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(errors="surrogateescape"), known.encode())


def _name(host: str) -> str:
    """Return a host without its port."""
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018  (it raises for what is no port)
    except ValueError:
        return ""
    found = host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and ":" in host else host
    return found.lower()
