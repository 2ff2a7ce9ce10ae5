"""One endpoint over the official SDK: a request out, a decoded answer back, in time."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import ssl
import threading
import weakref
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cap.config import is_loopback
from cap.errors import MissingExtra, UsageError, install_extra
from cap.models.base import Mode
from cap.models.openai.errors import Transient, sdk
from cap.models.openai.redaction import Redaction
from cap.models.openai.replies import decoded, pieces_of
from cap.models.openai.retry import (
    Deadline,
    broken_off,
    connection_fault,
    reached,
    too_slow,
    transient_status,
)
from cap.models.openai.stream import Teller, read_stream

if TYPE_CHECKING:
    import openai

CONNECT_S = 10.0
"""Longest wait for a connection, in seconds."""

_NO_KEY = "none"  # The SDK insists on some text; servers without keys ignore it.


class Transport:
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
        self._base_url = base_url
        self._key = key
        self._redaction = redaction
        self._headers, self._query = headers, query
        self._lock = threading.Lock()
        self._local = threading.local()
        self._client: openai.OpenAI | None = None

    def open(self) -> Any:
        """Make the client, and return the SDK: to load it takes time that is not the endpoint's.

        Raises:
            MissingExtra: It is not there, or does not load.
            UsageError: The proxy or the certificates that are set cannot be used.
        """
        openai = sdk()
        client = self._connect()
        _ = client.chat.completions, client.completions  # loads what it needs for a first request
        return openai

    def send(
        self,
        mode: Mode,
        parameters: Mapping[str, Any],
        deadline: Deadline,
        teller: Teller | None = None,
    ) -> Any:
        """Send one request and return the decoded answer.

        Args:
            mode: `chat` or `completion`.
            parameters: What is sent.
            deadline: Ends the waiting.
            teller: Told the pieces of a streamed answer's text; None where none was asked for.

        Raises:
            Transient: The request is not to blame.
            openai.APIStatusError: The endpoint refuses the request.
        """
        import openai

        left_s = max(deadline.left_s(), 0.001)
        connect_s = min(CONNECT_S, left_s)
        client = self._connect()
        endpoint: Any = client.chat.completions if mode == "chat" else client.completions
        timeout = openai.Timeout(left_s, connect=connect_s)
        answered, body = False, bytearray()
        try:
            with contextlib.ExitStack() as stack:
                stack.enter_context(self._ending(left_s))
                asked = endpoint.with_streaming_response.create(timeout=timeout, **parameters)
                answer = stack.enter_context(_whole(asked, deadline))
                answered = True
                if teller is None:
                    for piece in pieces_of(answer, deadline):
                        body += piece
                    return decoded(bytes(body), self._redaction)
                teller.begin()
                return read_stream(answer, deadline, teller, self._redaction)
        except Transient as failure:
            if answered:
                failure.came = len(body) if teller is None else teller.came
            raise
        except openai.APIStatusError as error:
            if busy := transient_status(error, self._redaction):
                raise busy from None
            raise
        except openai.APIConnectionError as error:
            if deadline.left_s() <= 0:
                late = too_slow(deadline)
                late.came = 0 if reached(error) else None
                raise late from None
            proxies = "" if is_loopback(self._base_url) else _proxies()
            raise connection_fault(error, connect_s, proxies) from None

    def models(self) -> tuple[str, ...] | None:
        """Return the names of the models there, sorted; None where the endpoint does not tell."""
        openai = sdk()

        try:
            with self._ending(CONNECT_S):
                listed = self._connect().models.list(timeout=CONNECT_S)
            return tuple(sorted(str(entry.id) for entry in listed.data))
        except (openai.OpenAIError, ValueError, AttributeError, TypeError):
            return None

    def post_beside(self, name: str, body: Mapping[str, Any]) -> Any:
        """Send something to an address beside `/v1`, which is no question to the model.

        Returns:
            The decoded answer; None where there is none.
        """
        openai = sdk()

        try:
            with self._ending(CONNECT_S):
                url = f"{self._base_url.removesuffix('/v1')}/{name}"
                client = self._connect()
                return client.post(url, cast_to=object, body=body, options={"timeout": CONNECT_S})
        except (openai.OpenAIError, ValueError, TypeError):
            return None

    def close(self) -> None:
        """Close the connections; a later request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connect(self) -> openai.OpenAI:
        """Return the SDK's client, made on first use: importing the SDK is slow."""
        with self._lock:
            if self._client is None:
                import openai

                # A proxy meant for the internet cannot reach this machine's own servers.
                settings: dict[str, Any] = {
                    "trust_env": not is_loopback(self._base_url),
                    # Where an answer leads elsewhere, neither prompt nor key follows it.
                    "follow_redirects": False,
                    "event_hooks": {"response": [functools.partial(_answering, self._local)]},
                }
                try:
                    if (context := own_authorities()) is not None:
                        settings["verify"] = context
                    http = openai.DefaultHttpxClient(**settings)
                except UsageError:
                    raise
                except Exception as error:  # its HTTP library has errors of its own here
                    raise _no_proxy(error) from None
                weakref.finalize(self, http.close)
                self._client = openai.OpenAI(
                    api_key=self._key or _NO_KEY,
                    base_url=self._base_url,
                    max_retries=0,  # it keeps to no deadline, and asks nobody before it sends
                    http_client=http,
                    # An answer is not unpacked beyond what it may hold.
                    default_headers={"Accept-Encoding": "identity", **self._headers},
                    default_query=self._query,
                )
            return self._client

    @contextlib.contextmanager
    def _ending(self, seconds: float) -> Iterator[None]:
        """End the reading of an answer after some time.

        The HTTP library waits so long for each piece, not for all of them: an answer that stops in
        the middle, or drips, would hold us far longer.
        """
        watch = _Watch()
        self._local.watch = watch
        timer = threading.Timer(seconds, watch.end)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


@functools.cache
def _authorities(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Return what holds by these; read once, since every client asks and it takes a while."""
    return ssl.create_default_context(cafile=file or None, capath=folder or None)


def own_authorities() -> ssl.SSLContext | None:
    """Return what holds for certificates where the person names their own authorities.

    Raises:
        UsageError: What they name is not there, or holds none.
    """
    file, folder = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if not (file or folder):
        return None
    try:
        return _authorities(file, folder)
    except OSError as error:
        name = "SSL_CERT_FILE" if file else "SSL_CERT_DIR"
        raise UsageError(
            f"{name}={file or folder} holds no certificates ({error.strerror or error}); name a "
            "PEM file of authorities, or unset it"
        ) from None


def _proxies() -> str:
    """Return the variables that name proxies."""
    names = ("all_proxy", "https_proxy", "http_proxy")
    return " and ".join(name for name in os.environ if name.lower() in names)


def _no_proxy(error: Exception) -> UsageError:
    """Return the error of a proxy that cannot be used, as the environment names it."""
    told = _proxies() or "the environment"
    if isinstance(error, ImportError):
        return MissingExtra(
            f"{told}: a SOCKS proxy needs the package socksio: "
            f"{install_extra('socks')}; or unset it"
        )
    return UsageError(
        f"{told} is no address of a proxy; write it like http://proxy:3128, or unset it"
    )


@contextlib.contextmanager
def _whole(asked: Any, deadline: Deadline) -> Iterator[Any]:
    """Open an answer; an error's text may break off while the SDK reads it, unwrapped."""
    try:
        answer = asked.__enter__()
    except Exception as error:  # all but its own goes on
        if type(error).__module__.startswith("http"):  # its HTTP library, of whichever name
            raise broken_off(deadline) from None
        raise
    try:
        yield answer
    finally:
        asked.__exit__(None, None, None)


class _Watch:
    """Ends one answer."""

    def __init__(self) -> None:
        self._connection: socket.socket | None = None
        self._over = False

    def begin(self, connection: socket.socket) -> None:
        """Note what the answer comes on; it may be too late already."""
        self._connection = connection
        if self._over:
            self.end()

    def end(self) -> None:
        """Wake whoever reads: closing the connection would not."""
        self._over = True
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)


def _answering(local: threading.local, response: Any) -> None:
    """Note which connection an answer comes on; called before its body is read."""
    if response.status_code >= 300:  # the SDK would unpack the text of an error, however long
        response.headers.pop("content-encoding", None)
    stream = response.extensions.get("network_stream")
    watch = getattr(local, "watch", None)
    if stream is not None and watch is not None:
        watch.begin(stream.get_extra_info("socket"))
