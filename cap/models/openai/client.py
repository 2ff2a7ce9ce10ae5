"""One endpoint over the official SDK: a request out, a decoded answer back, in time.

The SDK has the connections, the timeouts and the events of a stream. Ours are: the end of an answer
at its deadline, its length, what a failure means, and when the same is sent again.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from cap.config import is_loopback
from cap.errors import (
    EndpointFailed,
    ModelError,
    ModelUnreachable,
    UsageError,
    install_extra,
)
from cap.models.base import Mode
from cap.models.openai.redaction import Pieces, Redaction
from cap.models.openai.replies import folded

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

CONNECT_S = 10.0
"""Longest wait for a connection, in seconds."""
FIRST_WAIT_S = 0.5
"""Wait before the second try, in seconds; it doubles each time."""
MAX_ANSWER_BYTES = 16_000_000
"""An answer longer than this is no completion."""
_AGAIN = (408, 409, 429)
"""Statuses below 500 that may differ next time."""
_DONE = b"[DONE]"
_END_BYTES = 32
"""Where the end of a stream is looked for: some servers send no reason to finish."""
_BROKEN = "the connection broke in the middle of the answer"
_NO_KEY = "none"  # The SDK insists on some text; servers without keys ignore it.
_PATHS: Mapping[Mode, str] = {"chat": "/chat/completions", "completion": "/completions"}
_PICTURES = re.compile(
    r"image|vision|multi-?modal|content\b.*\b(string|str|list|array)|mmproj", re.IGNORECASE
)
"""What endpoints speak of where they cannot take a picture."""


class Deadline:
    """A point in monotonic time."""

    def __init__(self, length_s: float, clock: Callable[[], float]) -> None:
        """Start now and end after `length_s` seconds of `clock`."""
        self.length_s = length_s
        self._clock = clock
        self._end_s = clock() + length_s

    def left_s(self) -> float:
        """Return the seconds left; 0 or less once it has passed."""
        return self._end_s - self._clock()

    def put_off(self, seconds: float) -> None:
        """End later: for waits that are our own, not the endpoint's."""
        self._end_s += seconds


@dataclass(eq=False)
class RequestFailed(Exception):
    """A request without an answer; it passes between modules and is never shown."""

    message: str
    """What happened, without a subject."""
    kind: type[ModelError] = EndpointFailed
    """The error it ends as."""
    again: bool = False
    """Whether another try may succeed."""
    after_s: float | None = None
    """Seconds the endpoint asks to wait, if it says."""
    status: int = 0
    """HTTP status, of an endpoint that does not take the request as it is; else 0."""
    code: str = ""
    """Its word for the kind of error; "" if it has none."""
    parameter: str = ""
    """The parameter it is about; "" if it names none."""
    words: str = ""
    """Its message in one line, without secrets; "" if it has none."""
    location: str = ""
    """Where it leads to, of a redirect."""
    came: int | None = None
    """Characters that had come of an answer that may have to be paid; None where none has."""

    @property
    def of_pictures(self) -> bool:
        """True if it is about the pictures that were sent along."""
        return self.status in (400, 404, 415, 422, 500) and bool(_PICTURES.search(self.words))


def retried(
    once: Callable[[], T], deadline: Deadline, tries: int, sleep: Callable[[float], None]
) -> T:
    """Return the first success. The SDK's own retries know neither deadline nor budget.

    A failure that may be over next time is tried again after 0.5 s, 1 s, 2 s, or as long as the
    endpoint asks for, if that is before the deadline.

    Raises:
        RequestFailed: The last one; its message says how many tries there were, or why no more.
    """
    wait_s = FIRST_WAIT_S
    for attempt in range(1, tries + 1):
        try:
            return once()
        except RequestFailed as failure:
            if not failure.again:
                raise
            if attempt == tries:
                failure.message += f" ({tries} tries)"
                raise
            pause_s = max(wait_s, failure.after_s or 0.0)
            if pause_s >= deadline.left_s():
                tried = "1 try" if attempt == 1 else f"{attempt} tries"
                past = f"past the limit of {deadline.length_s:g} s"
                failure.message += f" ({tried}; the next one, in {pause_s:g} s, would be {past})"
                raise
        sleep(pause_s)
        wait_s *= 2
    raise AssertionError("the last try returns or raises")


class Client:
    """The connections to one endpoint; safe to use from several threads."""

    def __init__(
        self,
        base_url: str,
        key: str | None,
        redaction: Redaction,
        headers: Mapping[str, str],
        query: Mapping[str, str],
    ) -> None:
        """Describe the endpoint; nothing is opened yet.

        Args:
            base_url: Its address, up to and with `/v1`.
            key: Its key, or None.
            redaction: Takes keys out of what the endpoint says.
            headers: Sent with each request.
            query: Added to each address.
        """
        self._base_url, self._key, self._redaction = base_url, key, redaction
        self._headers, self._query = headers, query
        self._lock = threading.Lock()
        self._answer = threading.local()
        """What is known of the answer that a thread waits for."""
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
        deadline: Deadline,
        pieces: Pieces | None = None,
    ) -> Any:
        """Send one request and return the decoded answer, without secrets.

        Args:
            mode: `chat` or `completion`.
            parameters: What is sent.
            deadline: Ends the waiting.
            pieces: Where the text of a streamed answer goes; None where none was asked for.

        Raises:
            RequestFailed: There is none.
        """
        import openai

        client, answer, left_s = self.open(), self._answer, max(deadline.left_s(), 0.001)
        answer.deadline, answer.size, answer.end = deadline, None, b""
        options: Any = {"timeout": openai.Timeout(left_s, connect=min(CONNECT_S, left_s))}
        post: Any = functools.partial(
            client.post, _PATHS[mode], body=dict(parameters), options=options
        )
        try:
            if pieces is None:
                return self._redaction.body(_decoded(post(cast_to=bytes)))
            pieces.begin()
            with post(cast_to=object, stream=True, stream_cls=openai.Stream[object]) as stream:
                kind = stream.response.headers.get("content-type", "")
                if "json" in kind or "html" in kind:  # some answer in one all the same
                    return self._redaction.body(_decoded(stream.response.read()))
                body = folded(stream, pieces)
                if not body["choices"][0]["finish_reason"] and _DONE not in answer.end:
                    raise RequestFailed(_BROKEN, again=True)
                pieces.end()
                return self._redaction.body(body)
        except Exception as error:  # the SDK, and its HTTP library, have many
            if (failed := self._failure(error, deadline)) is None:
                raise
            failed.came = answer.size
            if failed.came is not None and pieces is not None:
                failed.came = pieces.came
            connected = not {"ConnectTimeout", "ConnectError"}.intersection(_kinds(error))
            if failed.came is None and deadline.left_s() <= 0 and connected:
                failed.came = 0  # it may have been read
            raise failed from None

    def _made(self) -> openai.OpenAI:
        import openai

        settings: dict[str, Any] = {
            # A proxy meant for the internet cannot reach this machine's own servers.
            "trust_env": not is_loopback(self._base_url),
            # Where an answer leads elsewhere, neither prompt nor key follows it.
            "follow_redirects": False,
            "event_hooks": {"response": [functools.partial(_bound, self._answer)]},
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

    def _failure(self, error: Exception, deadline: Deadline) -> RequestFailed | None:
        """Return what an error means; None of one that is not the SDK's."""
        import openai

        late = deadline.left_s() <= 0
        for found in (error, error.__cause__):  # some releases wrap what a hook raises
            if isinstance(found, RequestFailed) and not (found.again and late):
                return found
        if isinstance(error, openai.APIStatusError):
            return self._of_status(error)
        # Some releases do not wrap what their HTTP library raises in a stream.
        broken = isinstance(error, openai.APIConnectionError) or _of_http(error)
        undecoded = isinstance(error, ValueError | RecursionError)
        if not (undecoded or broken or isinstance(error, RequestFailed | openai.APIError)):
            return None
        if late:
            return RequestFailed(
                f"no whole answer within {deadline.length_s:g} s; try again once the model is "
                "loaded, or use a smaller one",
                ModelUnreachable,
            )
        if undecoded:
            return RequestFailed("a piece of the answer is not JSON", again=True)
        if isinstance(error, openai.APIError) and not broken:
            words = error.body if isinstance(error.body, str) else error.message
            message = cut(self._redaction.line(words))
            return RequestFailed(f"answers with an error in the middle: {message}", again=True)
        if self._answer.size is not None:
            return RequestFailed(_BROKEN, again=True)
        return self._of_connection(error)

    def _of_status(self, error: openai.APIStatusError) -> RequestFailed:
        """Return what an endpoint means that answers with an error."""
        body: Mapping[str, Any] = error.body if isinstance(error.body, dict) else {}
        said = body.get("message") or body.get("error") or body.get("detail") or ""
        words = self._redaction.line(said if isinstance(said, str) else json.dumps(said))
        status, headers = error.status_code, error.response.headers
        codes = (body.get("code"), body.get("type"))
        code = next((code for code in codes if code and isinstance(code, str)), "")
        shown = f"{status}: {cut(words.rstrip('.'))}" if words else str(status)
        refused = RequestFailed(
            shown,
            ModelError,
            status=status,
            code=code,
            parameter=str(body.get("param") or ""),
            words=words,
            location=headers.get("location", "another address"),
        )
        if refused.of_pictures or not (status in _AGAIN or status >= 500):
            return refused
        if code == "insufficient_quota":
            return RequestFailed(f"answers {shown}; the account's quota is used up")
        return RequestFailed(f"answers {shown}", again=True, after_s=retry_after_s(headers))

    def _of_connection(self, error: Exception) -> RequestFailed:
        """Say why no answer came; an address that refuses or is unknown stays so."""
        proxies = "" if is_loopback(self._base_url) else _proxies()
        by = f" by the proxy of {proxies}" if proxies else ""
        kinds = _kinds(error)
        certificate = kinds.get("SSLCertVerificationError")
        if isinstance(certificate, ssl.SSLCertVerificationError):
            words = certificate.verify_message.rstrip(".")
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
            what = f"the connection broke before an answer came{by}"
            if "ConnectTimeout" in kinds:
                what = f"no connection within {CONNECT_S:g} s{by}"
            return RequestFailed(
                f"{what}; check the server and --base-url", ModelUnreachable, again=True
            )
        return RequestFailed(what, ModelUnreachable)


def _bound(answer: Any, response: Any) -> None:
    """Bound an answer in time and length; called before its body is read.

    Args:
        answer: What the thread that waits for it knows of it.
        response: The HTTP library's.

    The HTTP library waits so long for each piece, not for all of them: an answer that drips would
    hold us for ever. One that stops in the middle ends within twice the limit.
    """
    whole = response.iter_raw
    response.headers.pop("content-encoding", None)  # what is packed, unasked, is not unpacked
    if response.status_code < 300:
        answer.size = 0

    def bounded(*args: Any, **options: Any) -> Iterator[bytes]:
        size = 0
        for piece in whole(*args, **options):
            size += len(piece)
            answer.end = (answer.end + piece)[-_END_BYTES:]
            if answer.size is not None:
                answer.size = size
            if size > MAX_ANSWER_BYTES:
                raise RequestFailed(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
            if answer.deadline.left_s() <= 0:
                raise RequestFailed("late", again=True)
            yield piece

    response.iter_raw = bounded
    if response.status_code >= 300:
        response.read()


def _decoded(content: bytes) -> Any:
    """Return what JSON says.

    Raises:
        RequestFailed: It is not JSON.
    """
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        again = not content.lstrip().startswith(b"<")  # a web page will be one next time too
        raise RequestFailed(
            "the answer is not JSON; check that the address is an OpenAI-compatible endpoint "
            "(it usually ends in /v1)",
            again=again,
        ) from None


def _of_http(error: Exception) -> bool:
    """Tell whether an error is of the SDK's HTTP library, whose name differs between releases."""
    return type(error).__module__.startswith("http")


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


def cut(words: str) -> str:
    """Return words cut to fit a line."""
    return words if len(words) <= 300 else words[:300] + "..."


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait, or None; a date is not read."""
    with contextlib.suppress(ValueError):
        seconds = float(headers.get("retry-after", ""))
        if 0.0 <= seconds < float("inf"):
            return seconds
    return None
