"""Whatever an endpoint does, there is the right program or one clear failure.

`faults.jsonl` has what it does, and what comes of it: the program is `right` all the same, the
request `failed`, or the completion is `empty`; `match` is found in what is said. `{KEY}` stands for
the key that was sent. Certificates, proxies and redirects follow.
"""

import contextlib
import gzip
import json
import re
import socket
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cap.errors import CapError, EndpointFailed, ModelError, ModelUnreachable, UsageError
from cap.models.base import Completion, Request
from cap.program.extraction import program_in
from tests.cap.models.conftest import KEY
from tests.fakes.openai_server import CERTIFICATE, HANG, FakeServer, Fault, delta, fault, stream

REQUEST = Request("from env import say\n\n# greet.\n", stop=("\n# ", "\nobjects = ["))
SOURCE = "say('hello')"
LINES = Path(__file__).with_name("faults.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = [json.loads(line.replace("{KEY}", KEY)) for line in LINES]
CASES = [
    pytest.param(row, how, id=f"{row['name']}, {how}")
    for row in ROWS
    for how in ("at once", "streamed")
    if row.get("how", how) == how
]
HOW = pytest.mark.parametrize("how", ["at once", "streamed"])


def says(prompt: str, body: Any) -> str:
    return SOURCE


def ask(model: Any, how: str) -> Completion:
    if how == "at once":
        return model.complete(REQUEST)  # type: ignore[no-any-return]
    pieces: list[str] = []
    completion: Completion = model.stream(REQUEST, pieces.append)
    last = len(pieces) - pieces[::-1].index("") if "" in pieces else 0
    assert "".join(pieces[last:]) in ("", completion.text)  # some answer in one
    return completion


@pytest.mark.sweep(share=0.25)
@pytest.mark.parametrize(("row", "how"), CASES)
def test_there_is_the_right_program_or_one_clear_failure(
    connect: Any, sleeps: Any, row: dict[str, Any], how: str
) -> None:
    faults = [fault(entry) for entry in row["faults"]] * row.get("times", 1)
    with FakeServer(says, faults) as server:
        try:
            completion = ask(connect(server.url, **row.get("settings", {})), how)
            outcome, words = "right", completion.why_empty
            if completion.empty:
                outcome = "empty"
        except ModelError as error:
            outcome, words = "failed", str(error)
    assert outcome == row["outcome"]
    assert len(server.posts) <= row.get("posts", 4)
    assert sleeps.waits == row.get("waits", sleeps.waits)
    if outcome == "right":
        said: list[str] = []
        exec(program_in(completion.text, REQUEST.stop).source, {"say": said.append})
        assert said == ["hello"]
        return
    assert re.search(row["match"], words), words
    assert server.url in words
    for unwanted in ("\n", KEY, KEY[-4:]):
        assert unwanted not in words


@HOW
@pytest.mark.parametrize("then", ["hang", "drip", "stall", "repeat"])
def test_what_never_ends_ends_with_the_deadline(connect: Any, how: str, then: Any) -> None:
    endless = {"hang": HANG, "drip": fault({"drip": True})}.get(then)
    if endless is None:
        endless = stream(delta("say( "), then="hang" if then == "stall" else then)
    begun = time.monotonic()
    with FakeServer(says, [endless]) as server:
        model = connect(server.url, timeout_s=0.2, clock=time.monotonic)
        with pytest.raises(ModelError, match=r"no whole answer within 0\.2 s|longer than"):
            ask(model, how)
    assert time.monotonic() - begun < 20.0  # the server itself would hold us for 30 s


@pytest.mark.inside
@HOW
def test_an_endless_answer_is_not_kept(
    connect: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("cap.models.openai.client.MAX_ANSWER_BYTES", 10_000)
    huge = stream(delta("x" * 1000), then="repeat")
    with FakeServer(says, [huge]) as server, pytest.raises(ModelError, match="longer than 10000"):
        ask(connect(server.url), how)


# --- certificates, proxies, redirects, packed answers: each is one line in the person's words


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@HOW
def test_a_certificate_nobody_vouches_for_is_named_as_such(
    connect: Any, sleeps: Any, how: str
) -> None:
    with FakeServer(says, tls=True) as server, pytest.raises(ModelUnreachable) as raised:
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
    with FakeServer(says, tls=True) as server:
        assert ask(connect(server.url), how).text == "say('hello')"


def test_https_where_there_is_none_says_which_scheme_to_write(connect: Any) -> None:
    with FakeServer(says) as server:
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
    with FakeServer(says) as other:
        leads = Fault(status, b"", {"Location": f"{other.url}/chat/completions?key={KEY}"})
        with FakeServer(says, [leads] * 9) as server, pytest.raises(EndpointFailed) as raised:
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
    with FakeServer(says, [packed] * 4) as server:
        with pytest.raises(CapError, match=match) as raised:
            ask(connect(server.url), how)
        assert server.posts[0].headers["accept-encoding"] == "identity"
    assert len(str(raised.value)) < 500


def test_a_proxy_that_is_not_there_is_named(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(says) as server:
        gone = server.url.removesuffix("/v1")
    monkeypatch.setenv("HTTP_PROXY", gone)
    with pytest.raises(ModelUnreachable, match="nothing answers there by the proxy of HTTP_PROXY"):
        connect("http://gpu.invalid/v1").complete(REQUEST)
