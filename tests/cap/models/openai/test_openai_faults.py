"""Whatever an endpoint does, there is the right program or one clear failure."""

import json
import sys
import time
from typing import Any

import pytest

from cap.errors import CapError, MissingExtra, ModelError
from cap.models.base import Completion, Request
from cap.models.openai.model import OpenAIModel
from cap.models.openai.retry import retry_after_s
from cap.models.settings import ModelSettings
from cap.program.extraction import program_in
from tests.fakes.openai_server import (
    DONE,
    DROP,
    HANG,
    KEEP_ALIVE,
    FakeServer,
    Fault,
    delta,
    error,
    reply,
    stream,
)

REQUEST = Request("from env import say\n\n# greet.\n", stop=("\n# ", "\nobjects = ["))
SOURCE = "say('hello')"
EARLIER = "Wed, 21 Oct 2015 07:28:00 GMT"
LATER = "Fri, 21 Nov 2031 00:00:00 GMT"
HTML = Fault(502, b"<html><body>Bad gateway</body></html>", {"Content-Type": "text/html"})


def whole(text: str | None, **more: Any) -> Fault:
    """Return an answer in one."""
    return reply({"choices": [{"message": {"content": text, **more}, "finish_reason": "stop"}]})


def call(arguments: Any, name: str = "python") -> dict[str, Any]:
    """Return a message's tool calls."""
    return {
        "tool_calls": [{"type": "function", "function": {"name": name, "arguments": arguments}}]
    }


MENDED = {
    "busy": [error(429, "slow down", headers={"Retry-After": "2"})],
    "busy until a date": [error(429, "slow down", headers={"Retry-After": EARLIER})],
    "busy until nonsense": [error(429, "slow down", headers={"Retry-After": "soon"})],
    "broken": [error(500, "oops"), error(503, "oops")],
    "a gateway's page": [HTML],
    "no connection": [DROP],
    "half of an answer": [Fault(body=b'{"choices": [', headers={"Content-Length": "900"})],
    "half of an error": [Fault(500, b'{"error"', headers={"Content-Length": "900"})],
    "half of a stream": [stream(delta("say('"), then="drop")],
    "malformed JSON": [Fault(body=b'{"choices": [{]}')],
    "slow first token": [stream(KEEP_ALIVE, KEEP_ALIVE, delta(SOURCE), DONE, wait_s=0.05)],
    "stop refused": [error(400, "Unsupported parameter: 'stop' is not supported", param="stop")],
    "temperature refused": [
        error(400, "Unsupported value: 'temperature' does not support 0", param="temperature")
    ],
    "reasoning": [whole(f"<think>\nsay('no')\n```python\nsay('no')\n```\n</think>\n{SOURCE}")],
    "reasoning apart": [whole(SOURCE, reasoning_content="say('no')")],
    "two fences": [whole("First:\n```python\nx = 'hello'\n```\nThen:\n```python\nsay(x)\n```")],
    "prose around": [whole(f"Sure! Here it is:\n\n```python\n{SOURCE}\n```\nEnjoy.")],
    "a tool call": [whole(None, **call(json.dumps({"code": SOURCE})))],
    "a tool call of another form": [whole(None, **call({"python": SOURCE}))],
    "bare code as arguments": [whole(None, **call(SOURCE))],
    "text in parts": [whole([{"type": "text", "text": SOURCE}])],  # type: ignore[arg-type]
    "chunked": [Fault(chunks=[whole(SOURCE).body[:20], whole(SOURCE).body[20:]])],
    "a wrong content type": [Fault(200, whole(SOURCE).body, {"Content-Type": "text/plain"})],
}
FAILS = {
    "busy for ever": ([error(429, "slow down")] * 9, r"429: slow down \(4 tries\)"),
    "broken for ever": ([error(500, "oops")] * 9, r"500: oops \(4 tries\)"),
    "no connection for ever": ([DROP] * 9, r"the connection broke .*\(4 tries\)"),
    "a web page": ([Fault(200, b"<html>", {"Content-Type": "text/html"})], "is not JSON"),
    "malformed for ever": ([Fault(body=b"{")] * 9, r"is not JSON.*\(4 tries\)"),
    "everything refused": ([error(400, "invalid request")], "refuses the request"),
}


def ask(model: Any, how: str) -> Completion:
    if how == "at once":
        return model.complete(REQUEST)  # type: ignore[no-any-return]
    return model.stream(REQUEST, lambda piece: None)  # type: ignore[no-any-return]


EMPTY = {
    "empty choices": (reply({"choices": []}), "without any choices"),
    "no text": (whole(None), "no text"),
    "a tool call without code": (whole(None, **call('{"city": "Paris"}')), "no text"),
    "a tool call of nonsense": (whole(None, tool_calls="none"), "no text"),
    "reasoning only": (whole(None, reasoning_content="hm"), "no text"),
}
ONLY_STREAMED = ("half of a stream", "slow first token")


@pytest.mark.parametrize(
    ("fault", "how"),
    [(fault, "streamed") for fault in MENDED]
    + [(fault, "at once") for fault in MENDED if fault not in ONLY_STREAMED],
)
@pytest.mark.sweep(share=0.25)
def test_the_program_is_right_all_the_same(connect: Any, fault: str, how: str) -> None:
    mode = "completion" if fault == "stop refused" else "chat"
    with FakeServer(lambda prompt, body: SOURCE, MENDED[fault]) as server:
        completion = ask(connect(server.url, mode=mode), how)
        assert len(server.posts) <= 4
    said: list[str] = []
    exec(program_in(completion.text, REQUEST.stop).source, {"say": said.append})
    assert said == ["hello"]


@pytest.mark.parametrize("how", ["at once", "streamed"])
@pytest.mark.parametrize("fault", FAILS)
def test_there_is_one_clear_failure(connect: Any, fault: str, how: str) -> None:
    faults, told = FAILS[fault]
    with FakeServer(lambda prompt, body: SOURCE, faults) as server:
        with pytest.raises(ModelError, match=told) as raised:
            ask(connect(server.url), how)
        assert len(server.posts) <= 4
    assert "\n" not in str(raised.value)
    assert server.url in str(raised.value)


@pytest.mark.parametrize("how", ["at once", "streamed"])
@pytest.mark.parametrize(("fault", "told"), EMPTY.values(), ids=EMPTY)
def test_an_empty_answer_says_why(connect: Any, fault: Fault, told: str, how: str) -> None:
    with FakeServer(lambda prompt, body: SOURCE, [fault]) as server:
        completion = ask(connect(server.url), how)
        assert len(server.posts) == 1
    assert completion.empty
    assert told in completion.why_empty
    assert server.url in completion.why_empty
    assert "\n" not in completion.why_empty


@pytest.mark.parametrize("how", ["at once", "streamed"])
def test_silence_ends_with_the_deadline(connect: Any, how: str) -> None:
    with FakeServer(lambda prompt, body: SOURCE, [HANG]) as server:
        model = connect(server.url, timeout_s=0.1, clock=time.monotonic)
        with pytest.raises(ModelError, match=r"no whole answer within 0\.1 s"):
            ask(model, how)


@pytest.mark.inside
@pytest.mark.parametrize("how", ["at once", "streamed"])
def test_a_huge_answer_is_given_up(connect: Any, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr("cap.models.openai.replies.MAX_ANSWER_BYTES", 10_000)
    huge = stream(delta("x" * 1000), then="repeat")
    with (
        FakeServer(lambda prompt, body: SOURCE, [huge]) as server,
        pytest.raises(ModelError, match="longer than 10000 bytes"),
    ):
        ask(connect(server.url), how)


@pytest.mark.parametrize("after", ["9", LATER])
def test_too_long_a_wait_is_given_up_at_once(connect: Any, sleeps: Any, after: str) -> None:
    busy = error(429, "slow down", headers={"Retry-After": after})
    with FakeServer(lambda prompt, body: SOURCE, [busy]) as server:
        model = connect(server.url, timeout_s=5.0)
        with pytest.raises(CapError, match="asks to wait"):
            model.complete(REQUEST)
    assert sleeps.waits == []


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2.5"}, 2.5),
        ({"retry-after": EARLIER, "date": "Wed, 21 Oct 2015 07:27:30 GMT"}, 30.0),
        ({"retry-after": EARLIER, "date": "Wed, 21 Oct 2015 07:29:00 GMT"}, 0.0),
        ({"retry-after": EARLIER}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_in_seconds_or_as_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert retry_after_s(headers) == seconds


def test_without_the_sdk_the_error_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    model = OpenAIModel(
        "ollama/x", model="x", settings=ModelSettings(base_url="http://127.0.0.1:9/v1")
    )
    with pytest.raises(MissingExtra, match="pip install 'openai"):
        model.complete(Request("# go.\n"))
    with pytest.raises(MissingExtra, match="pip install 'openai"):
        model.request("chat", {})
