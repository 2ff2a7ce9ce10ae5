"""One endpoint over the official SDK: a request out, a decoded answer back, in time.

The SDK has the connections, the timeouts and the events of a stream. Ours are: the end of an answer
at its deadline, its length, what a failure means, and when the same is sent again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cap.config import is_loopback, shown_url
from cap.errors import (
    EndpointFailed,
    ModelError,
    ModelUnreachable,
    PromptCutOff,
    UsageError,
    install_extra,
)
from cap.files import parsed_json
from cap.models.base import Completion, Mode, ModelSettings, Usage
from cap.models.openai.redaction import Pieces, Redaction
from cap.models.openai.replies import folded

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

CONNECT_S = 10.0
"""Longest wait for a connection, in seconds."""
TIMEOUT_S = 120.0
"""Longest wait for one answer where nothing else is said, in seconds."""
TRIES = 4
"""How often a busy or broken endpoint is asked."""
FIRST_WAIT_S = 0.5
"""Wait before the second try, in seconds; it doubles each time."""
LONGEST_SHOWN = 300
"""Of what an endpoint says of an error, in characters."""
MAX_ANSWER_BYTES = 16_000_000
"""An answer longer than this is no completion."""
_AGAIN = (408, 409, 429)
"""Statuses below 500 that may differ next time."""
_DONE = b"[DONE]"
_END_BYTES = 32
"""Where the end of a stream is looked for: some servers send no reason to finish."""
_BROKEN = ": the connection broke in the middle of the answer"
_NO_KEY = "none"  # The SDK insists on some text; servers without keys ignore it.
_PATHS: Mapping[Mode, str] = {"chat": "/chat/completions", "completion": "/completions"}
_PICTURES = re.compile(
    r"image|vision|multi-?modal|content\b.*\b(string|str|list|array)|mmproj", re.IGNORECASE
)
"""What endpoints speak of where they cannot take a picture."""


_TOO_LONG = re.compile(
    r"context_length_exceeded|context (size|length|window)|maximum context|too many tokens"
    r"|prompt is too long|exceeds? the (available|maximum)",
    re.IGNORECASE,
)
"""How endpoints say that a prompt does not fit."""


class Exchange:
    """One question, all the requests it takes, and the time for them."""

    def __init__(self, prompt: str, timeout_s: float, clock: Callable[[], float]) -> None:
        """Start now.

        Args:
            prompt: What is asked, for estimates.
            timeout_s: When it must be answered, in seconds from now.
            clock: Monotonic time, in seconds.
        """
        self.prompt, self.timeout_s = prompt, timeout_s
        self._clock, self._end_s = clock, clock() + timeout_s
        self.sent = 0
        """Requests so far."""
        self.lost = Usage()
        """What tries took that broke off, by estimate."""
        self.came: int | None = None
        """Bytes of an answer that may have to be paid; None where none has come."""
        self.last = b""
        """The last of them."""

    def left_s(self) -> float:
        """Return the seconds left; 0 or less once they have passed."""
        return self._end_s - self._clock()

    def put_off(self, seconds: float) -> None:
        """End later: for waits that are our own, not the endpoint's."""
        self._end_s += seconds

    def failed(self, error: ModelError, paid: Completion | None = None) -> ModelError:
        """Return the error that ends it, with how many requests it took, and what was answered."""
        error.requests = self.sent
        if paid is not None:
            error.took = vars(Usage.of(paid))
        elif self.lost != Usage():
            error.took = {**vars(self.lost), "requests": self.sent}
        return error


@dataclass(eq=False)
class RequestFailed(Exception):
    """A request without an answer; it passes between modules and is never shown."""

    message: str
    """What happened; the model's name and address are before it."""
    kind: type[ModelError] = EndpointFailed
    """The error it ends as."""
    again: bool = False
    """Whether another try may succeed."""
    after_s: float = 0.0
    """Seconds the endpoint asks to wait."""
    status: int = 0
    """HTTP status, of an endpoint that does not take the request as it is; else 0."""
    parameter: str = ""
    """The parameter it is about; "" if it names none."""
    words: str = ""
    """Its code and message in one line, without secrets; "" if it has none."""

    @property
    def of_pictures(self) -> bool:
        """True if it is about the pictures that were sent along."""
        return self.status in (400, 404, 415, 422, 500) and bool(_PICTURES.search(self.words))


def retried(
    once: Callable[[], T], exchange: Exchange, tries: int, sleep: Callable[[float], None]
) -> T:
    """Return the first success. The SDK's own retries know neither deadline nor budget.

    A failure that may be over next time is tried again after 0.5 s, 1 s, 2 s, or as long as the
    endpoint asks for, if that is before the deadline.

    Raises:
        RequestFailed: The last one; its message says how many tries there were, or why no more.
    """
    attempt, wait_s = 1, FIRST_WAIT_S
    while True:
        try:
            return once()
        except RequestFailed as failure:
            if not failure.again:
                raise
            if attempt == tries:
                failure.message += f" ({tries} tries)"
                raise
            pause_s = max(wait_s, failure.after_s)
            if pause_s >= exchange.left_s():
                past = f"past the limit of {exchange.timeout_s:g} s"
                failure.message += f" (try {attempt}; the next, in {pause_s:g} s, would be {past})"
                raise
        sleep(pause_s)
        attempt, wait_s = attempt + 1, 2 * wait_s


class Client:
    """The connections to one endpoint; safe to use from several threads."""

    def __init__(
        self,
        settings: ModelSettings,
        key: str | None,
        headers: Mapping[str, str],
        query: Mapping[str, str],
        secrets: Sequence[str] = (),
        remedy_window: str = "give it a larger one, or a shorter history",
    ) -> None:
        """Describe the endpoint; nothing is opened yet.

        Args:
            settings: Its address, and where its key is from.
            key: Its key, or None for a server that needs none.
            headers: Sent with each request: those of the settings, with their variables' values.
            query: Added to each address; likewise.
            secrets: What is secret in these.
            remedy_window: What to do where its context window is too small.
        """
        self._base_url = settings.base_url or ""
        self._key, self._key_env = key, settings.key_env
        self.remedy_window = remedy_window
        self._headers, self._query = headers, query
        self.redaction = Redaction(self._base_url, [key or "", *secrets], query)
        """Takes keys out of what the endpoint says."""
        self._lock = threading.Lock()
        self._waiting = threading.local()
        """The exchange that a thread waits for."""
        self._sdk: openai.OpenAI | None = None

    def open(self) -> openai.OpenAI:
        """Return the SDK's client, made on first use: importing the SDK is slow.

        Raises:
            UsageError: The proxy or the certificates that are set cannot be used.
        """
        with self._lock:
            if self._sdk is None:
                self._sdk = self._made()
            return self._sdk

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            client, self._sdk = self._sdk, None
        if client is not None:
            client.close()

    def send(
        self,
        mode: Mode,
        parameters: Mapping[str, Any],
        exchange: Exchange,
        pieces: Pieces | None = None,
    ) -> Any:
        """Send one request and return the decoded answer, which may repeat secrets.

        Args:
            mode: `chat` or `completion`.
            parameters: What is sent.
            exchange: What it is for; its end ends the waiting.
            pieces: Where the text of a streamed answer goes; None where none was asked for.

        Raises:
            RequestFailed: There is none.
        """
        import openai

        post: Any = self.open().post
        left_s = max(exchange.left_s(), 0.001)
        options = {"timeout": openai.Timeout(left_s, connect=min(CONNECT_S, left_s))}
        self._waiting.exchange = exchange
        exchange.came, exchange.last = None, b""
        if pieces is not None:
            pieces.begin()
        try:
            with post(
                _PATHS[mode],
                body=dict(parameters),
                options=options,
                cast_to=object,
                stream=True,
                stream_cls=openai.Stream[object],
            ) as stream:
                kind = stream.response.headers.get("content-type", "")
                if pieces is None or "json" in kind or "html" in kind:  # asked to stream, or not
                    return _decoded(stream.response.read())
                body = folded(stream, pieces)
                if not body["choices"][0]["finish_reason"] and _DONE not in exchange.last:
                    raise RequestFailed(_BROKEN, again=True)
                pieces.end()
                return body
        except Exception as error:  # the SDK, and its HTTP library, have many
            if (failed := self._failure(error, exchange)) is None:
                raise
            if exchange.came is None and exchange.left_s() <= 0:
                exchange.came = 0  # it may have been read
            raise failed from None

    def _made(self) -> openai.OpenAI:
        import openai

        settings: dict[str, Any] = {
            # A proxy meant for the internet cannot reach this machine's own servers.
            "trust_env": not is_loopback(self._base_url),
            # Where an answer leads elsewhere, neither prompt nor key follows it.
            "follow_redirects": False,
            "event_hooks": {"response": [self._bound]},
        }
        if os.environ.get("SSL_CERT_FILE"):
            settings["verify"] = ssl.create_default_context()  # it reads the file
        try:
            http = openai.DefaultHttpxClient(**settings)
        except Exception:  # its HTTP library has errors of its own here
            raise UsageError(
                f"{_proxies()} cannot be used; write it like http://proxy:3128, unset it, or, for "
                f"a SOCKS proxy: {install_extra('socks')}"
            ) from None
        return openai.OpenAI(
            api_key=self._key or _NO_KEY,
            base_url=self._base_url,
            max_retries=0,
            http_client=http,
            default_headers={"Accept-Encoding": "identity", **self._headers},
            default_query=self._query,
        )

    def _bound(self, response: Any) -> None:
        """Bound an answer in time and length; called before its body is read.

        The HTTP library waits so long for each piece, not for all of them: an answer that drips
        would hold us for ever. One that stops in the middle ends within twice the limit.
        """
        whole, exchange = response.iter_raw, self._waiting.exchange
        response.headers.pop("content-encoding", None)  # what is packed, unasked, is not unpacked
        answered = response.status_code < 300
        exchange.came = 0 if answered else None

        def bounded(*args: Any, **options: Any) -> Iterator[bytes]:
            size = 0
            for piece in whole(*args, **options):
                size += len(piece)
                exchange.last = (exchange.last + piece)[-_END_BYTES:]
                exchange.came = size if answered else None
                if size > MAX_ANSWER_BYTES:
                    raise RequestFailed(f": the answer is longer than {MAX_ANSWER_BYTES} bytes")
                if exchange.left_s() <= 0:
                    raise RequestFailed(": late", again=True)
                yield piece

        response.iter_raw = bounded

    def _failure(self, error: Exception, exchange: Exchange) -> RequestFailed | None:
        """Return what an error means; None of one that is not the SDK's."""
        import openai

        if isinstance(error, openai.APIStatusError):
            return self._of_status(error)
        # Some releases wrap what a hook raises, and do not wrap what their HTTP library does.
        causes = (error, error.__cause__)
        own = next((found for found in causes if isinstance(found, RequestFailed)), None)
        if own is not None and not own.again:
            return own
        http = type(error).__module__.startswith("http")
        if not (own or http or isinstance(error, openai.APIError | ValueError)):
            return None
        if exchange.left_s() <= 0:
            return RequestFailed(
                f": no whole answer within {exchange.timeout_s:g} s; try again once the model is "
                "loaded, or use a smaller one",
                ModelUnreachable,
            )
        if own is not None:
            return own
        if isinstance(error, openai.APIError) and not isinstance(error, openai.APIConnectionError):
            words = error.body if isinstance(error.body, str) else error.message
            shown = self.redaction.line(words)[:LONGEST_SHOWN]
            return RequestFailed(f": answers with an error in the middle: {shown}", again=True)
        if exchange.came is not None:
            return RequestFailed(_BROKEN, again=True)
        return self._of_connection(error)

    def _of_status(self, error: openai.APIStatusError) -> RequestFailed:
        """Return what an endpoint means that answers with an error."""
        body: Mapping[str, Any] = error.body if isinstance(error.body, dict) else {}
        said = body.get("message") or body.get("error") or body.get("detail") or ""
        words = self.redaction.line(said if isinstance(said, str) else json.dumps(said))
        status, headers = error.status_code, error.response.headers
        code = f"{error.code} {error.type}"
        shown = f"{status}: {words.rstrip('.')[:LONGEST_SHOWN]}" if words else str(status)
        kind: type[ModelError] = EndpointFailed
        if status == 402 or "insufficient_quota" in code:
            return RequestFailed(f": answers {shown}; the account's quota is used up")
        if 300 <= status < 400:
            location = shown_url(headers.get("location", "another address"))
            what = (
                f" answers {status}: it leads to {location}, and neither prompt nor key is sent "
                "on; set the address that answers itself (--base-url)"
            )
        elif status in (401, 403):
            what = "does not accept the key" if self._key else "asks for a key"
            remedy = f"set {self._key_env} to a key for that address, or use `-m nearest`"
            what = f" {what} ({shown}); {remedy}"
        elif status == 404 or "model_not_found" in code:
            what = (
                f": not found ({shown}); check --base-url (it usually ends in /v1), the model's "
                "name, and whether it takes the other mode (--set model_mode=chat or completion)"
            )
        elif _TOO_LONG.search(f"{code} {words}"):
            kind = PromptCutOff
            what = f" has too small a context window ({shown}); {self.remedy_window}"
        else:
            kind, what = ModelError, f" refuses the request ({shown})"
        parameter = str(error.param or "")
        refused = RequestFailed(what, kind, False, 0.0, status, parameter, f"{code} {words}")
        if refused.of_pictures or not (status in _AGAIN or status >= 500):
            return refused
        return RequestFailed(f": answers {shown}", again=True, after_s=retry_after_s(headers))

    def _of_connection(self, error: Exception) -> RequestFailed:
        """Say why no answer came; an address that refuses or is unknown stays so."""
        proxies = "" if is_loopback(self._base_url) else _proxies()
        by = f" by the proxy of {proxies}" if proxies else ""
        kinds, again = _kinds(error), False
        if (certificate := kinds.get("SSLCertVerificationError")) is not None:
            words = getattr(certificate, "verify_message", "").rstrip(".")
            what = f"its certificate is not trusted ({words}); check --base-url, or, if the server "
            what += "is your own, name the PEM file of its authority in SSL_CERT_FILE"
        elif getattr(kinds.get("SSLError"), "reason", "") == "WRONG_VERSION_NUMBER":
            what = "nobody speaks TLS there; write http:// in its address"
        elif "ProxyError" in kinds:
            what = f"the proxy of {proxies} refuses ({kinds['ProxyError']})"
        elif "ConnectionRefusedError" in kinds:
            what = f"nothing answers there{by}; start the server or set --base-url"
        elif "gaierror" in kinds:
            what = f"no such host{by}; check --base-url and the network"
        else:
            again = True
            what = "the connection broke before an answer came"
            if "ConnectTimeout" in kinds:
                what = f"no connection within {CONNECT_S:g} s"
            what += f"{by}; check the server and --base-url"
        return RequestFailed(f": {what}", ModelUnreachable, again)


def _decoded(content: bytes) -> Any:
    """Return what JSON says.

    Raises:
        RequestFailed: It is not JSON.
    """
    try:
        return parsed_json(content)
    except ValueError:
        again = not content.lstrip().startswith(b"<")  # a web page will be one next time too
        raise RequestFailed(
            ": the answer is not JSON; check that the address is an OpenAI-compatible endpoint "
            "(it usually ends in /v1)",
            again=again,
        ) from None


def _proxies() -> str:
    """Return the variables that name proxies."""
    names = ("all_proxy", "https_proxy", "http_proxy")
    return " and ".join(name for name in os.environ if name.lower() in names)


def _kinds(error: BaseException | None) -> dict[str, BaseException]:
    """Return an error and what led to it, by the names of their classes."""
    found: dict[str, BaseException] = {}
    while error is not None:
        found.setdefault(type(error).__name__, error)
        error = error.__cause__ or error.__context__
    return found


def retry_after_s(headers: Mapping[str, str]) -> float:
    """Return the seconds a server asks to wait, 0 if it does not; a date is not read."""
    with contextlib.suppress(ValueError):
        return float(headers.get("retry-after", ""))
    return 0.0
