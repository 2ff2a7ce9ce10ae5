"""Certificates, proxies, redirects, packed answers: each is one line in the person's words."""

import contextlib
import gzip
import re
import socket
import sys
from typing import Any

import pytest

from cap.errors import CapError, EndpointFailed, ModelUnreachable, UsageError
from cap.models.base import Request
from tests.cap.models.conftest import KEY
from tests.fakes.openai_server import CERTIFICATE, FakeServer, Fault

REQUEST = Request("# greet.\n")
HOW = pytest.mark.parametrize("how", ["at once", "streamed"])


def answer(prompt: str, body: Any) -> str:
    return "say('hello')"


def ask(model: Any, how: str = "at once") -> Any:
    return model.complete(REQUEST) if how == "at once" else model.stream(REQUEST, lambda text: None)


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@HOW
def test_a_certificate_nobody_vouches_for_is_named_as_such(
    connect: Any, sleeps: Any, how: str
) -> None:
    with FakeServer(answer, tls=True) as server, pytest.raises(ModelUnreachable) as raised:
        ask(connect(server.url), how)
    told = str(raised.value)
    assert "its certificate is not trusted (self-signed certificate)" in told
    assert "SSL_CERT_FILE" in told
    assert "\n" not in told
    assert sleeps.waits == []


@HOW
def test_an_authority_of_ones_own_holds_on_this_machine_too(
    connect: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with FakeServer(answer, tls=True) as server:
        assert ask(connect(server.url), how).text == "say('hello')"


def test_https_where_there_is_none_says_which_scheme_to_write(connect: Any) -> None:
    with FakeServer(answer) as server:
        url = server.url.replace("http:", "https:")
        with pytest.raises(ModelUnreachable, match="nobody speaks TLS there; write http://"):
            connect(url).complete(REQUEST)


@pytest.mark.parametrize("proxy", ["gopher://127.0.0.1:9", "http://127.0.0.1:port", "socks5://x:9"])
def test_what_is_no_proxy_is_named(
    connect: Any, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    monkeypatch.setitem(sys.modules, "socksio", None)
    with pytest.raises(UsageError, match=r"HTTP_PROXY cannot be used; .*\[socks\]"):
        connect("http://gpu.invalid/v1").complete(REQUEST)


def test_a_host_that_does_not_accept_in_time_is_asked_again_and_named(
    connect: Any, monkeypatch: pytest.MonkeyPatch, sleeps: Any
) -> None:
    monkeypatch.setattr("cap.models.openai.client.CONNECT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as held:
        for _ in range(4):  # connections that nobody accepts: the kernel drops the next ones
            client = held.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(full.getsockname())
        with pytest.raises(
            ModelUnreachable, match=r"no connection within 0\.1 s; check the server"
        ):
            connect(f"http://127.0.0.1:{full.getsockname()[1]}/v1").complete(REQUEST)
    assert sleeps.waits


def test_a_host_that_nobody_knows_is_named_as_such(connect: Any, sleeps: Any) -> None:
    with pytest.raises(ModelUnreachable, match="no such host; check --base-url and the network"):
        connect("http://gpu.invalid/v1").complete(REQUEST)
    assert sleeps.waits == []


@HOW
@pytest.mark.parametrize("status", [302, 308])
def test_what_leads_elsewhere_is_not_followed(connect: Any, status: int, how: str) -> None:
    with FakeServer(answer) as other:
        leads = Fault(status, b"", {"Location": f"{other.url}/chat/completions?key={KEY}"})
        with FakeServer(answer, [leads] * 9) as server, pytest.raises(EndpointFailed) as raised:
            ask(connect(server.url), how)
        assert (len(server.posts), other.seen) == (1, [])
    told = str(raised.value)
    assert re.search(
        rf"answers {status}: it leads to {re.escape(other.url)}/chat/completions", told
    )
    assert KEY not in told


@HOW
@pytest.mark.parametrize(
    ("status", "match"), [(200, "is not JSON|middle of the answer"), (400, "refuses")]
)
def test_what_is_packed_is_not_unpacked(connect: Any, status: int, match: str, how: str) -> None:
    packed = Fault(status, gzip.compress(bytes(20_000_000)), {"Content-Encoding": "gzip"})
    with FakeServer(answer, [packed] * 4) as server:
        with pytest.raises(CapError, match=match) as raised:
            ask(connect(server.url), how)
        assert server.posts[0].headers["accept-encoding"] == "identity"
    assert len(str(raised.value)) < 500


def test_a_proxy_that_is_not_there_is_named(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(answer) as server:
        gone = server.url.removesuffix("/v1")
    monkeypatch.setenv("HTTP_PROXY", gone)
    with pytest.raises(ModelUnreachable, match="nothing answers there by the proxy of HTTP_PROXY"):
        connect("http://gpu.invalid/v1").complete(REQUEST)
