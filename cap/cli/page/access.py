"""Who may talk to the page: people with the link, from the page itself, and no one else.

A web page elsewhere may send requests to this machine and may have its own name point here (DNS
rebinding). So the host must be one of this machine's own names, the origin the page itself, and the
token of the link must be known, or the cookie that the link leaves: a secret of its own.
"""

from __future__ import annotations

import hmac
import re
import secrets
from typing import Any
from urllib.parse import parse_qs, urlsplit

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

    def __init__(self, token: str = "", secret: str = "") -> None:
        """Make a token, and what the cookie holds, unless they are given."""
        self.token = token or secrets.token_urlsafe(24)
        self.secret = secret or secrets.token_urlsafe(24)

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
