import time
from typing import Any

import pytest

from cap.errors import ModelError
from cap.models.base import Request, Streams
from tests.fakes.openai_server import (
    DONE,
    KEEP_ALIVE,
    FakeServer,
    Fault,
    delta,
    event,
    reply,
    stream,
)

REQUEST = Request("from env import say\n\n# greet.\n", stop=("\n# ",))
TEXT = "say('hello there')\nsay('again')"


def said(prompt: str, body: Any) -> str:
    return TEXT


def streamed(connect: Any, *faults: Fault, **options: Any) -> tuple[Any, list[str]]:
    """Return the completion and the pieces told."""
    pieces: list[str] = []
    with FakeServer(said, faults) as server:
        completion = connect(server.url, **options).stream(REQUEST, pieces.append)
    return completion, pieces


@pytest.mark.parametrize("mode", ["chat", "completion"])
def test_a_streamed_completion_is_the_one_that_comes_in_one(connect: Any, mode: str) -> None:
    pieces: list[str] = []
    with FakeServer(said) as server:
        model = connect(server.url, mode=mode)
        streamed, whole = model.stream(REQUEST, pieces.append), model.complete(REQUEST)
    assert streamed == whole
    assert streamed.completion_tokens > 0
    assert len(pieces) > 1
    assert "".join(pieces) == TEXT


def test_a_model_at_an_endpoint_streams(connect: Any) -> None:
    assert isinstance(connect("http://127.0.0.1:9/v1"), Streams)


def test_refused_stream_options_are_dropped_once_and_remembered(connect: Any) -> None:
    with FakeServer(said, refuses=["stream_options"]) as server:
        model = connect(server.url)
        first, _ = (model.stream(REQUEST, lambda piece: None) for _ in range(2))
    assert [("stream_options" in post.body) for post in server.posts] == [True, False, False]
    assert first.text == TEXT


def test_a_stream_that_breaks_begins_anew_and_says_so(connect: Any, sleeps: Any) -> None:
    completion, pieces = streamed(connect, stream(delta("say('h"), then="drop"))
    assert completion.text == TEXT
    assert pieces[:2] == ["say('h", ""]
    assert "".join(pieces[2:]) == TEXT
    assert sleeps.waits == [0.5]


def test_a_stream_that_breaks_before_any_text_says_nothing_of_it(connect: Any) -> None:
    _, pieces = streamed(connect, stream(KEEP_ALIVE, then="drop"))
    assert "" not in pieces


def test_a_stream_that_always_breaks_ends_after_a_few_tries(connect: Any) -> None:
    with FakeServer(said, [stream(delta("x"), then="drop")] * 9) as server:
        with pytest.raises(ModelError, match=r"middle of the answer \(4 tries\)"):
            connect(server.url).stream(REQUEST, lambda piece: None)
        assert len(server.posts) == 4


@pytest.mark.parametrize("then", ["hang", "repeat"])
@pytest.mark.parametrize("last", [delta("x"), KEEP_ALIVE], ids=["text", "comments"])
def test_a_stream_that_never_ends_ends_with_the_deadline(
    connect: Any, then: Any, last: bytes
) -> None:
    begun = time.monotonic()
    with (
        FakeServer(said, [stream(delta("say("), last, then=then)]) as server,
        pytest.raises(ModelError, match=r"no whole answer within 0\.2 s|longer than"),
    ):
        connect(server.url, timeout_s=0.2, clock=time.monotonic).stream(REQUEST, lambda piece: None)
    assert time.monotonic() - begun < 20.0  # the server itself would hold us for 30 s


def test_an_error_that_never_ends_ends_with_the_deadline(connect: Any) -> None:
    endless = Fault(status=500, chunks=[b'{"error": "', b" "], then="repeat")
    with FakeServer(said, [endless]) as server, pytest.raises(ModelError, match="no whole answer"):
        connect(server.url, timeout_s=0.2, clock=time.monotonic).complete(REQUEST)


@pytest.mark.parametrize("status", [200, 400, 500])
def test_an_answer_of_any_status_that_breaks_off_is_asked_for_again(
    connect: Any, status: int
) -> None:
    broken = Fault(status, chunks=[b'{"error": {'], then="drop")
    assert streamed(connect, broken)[0].text == TEXT


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(
    "chunks",
    [
        [KEEP_ALIVE, KEEP_ALIVE, delta("say(1)"), KEEP_ALIVE, delta(finish="stop"), DONE],
        [delta("say(1)"), delta(finish="stop")],
        [delta("say(1)"), DONE],
        [delta("say(1)", "stop"), event({"choices": []}), DONE],
        [delta(role="assistant"), delta("say("), delta("1)"), DONE],
        [event("odd"), event([]), event({"choices": [None]}), delta("say(1)"), DONE],
        [(delta("say(1)") + DONE).replace(b"\n", b"\r\n")],
        [delta("say(1)")[:9], delta("say(1)")[9:], DONE],
        [b"event: x\nid: 3\nretry: 5\n\n", delta("say(1)"), b"data:[DONE]\n\n"],
        [delta("say(1)").rstrip() + b"\n" + DONE.rstrip()],
        [delta(reasoning_content="I think: say(2)"), delta("say(1)"), DONE],
        [delta(content=[{"type": "text", "text": "say(1)"}]), DONE],
        [delta("say(1)"), DONE, delta("say(2)")],
    ],
)
def test_all_these_streams_say_the_same(connect: Any, chunks: list[bytes]) -> None:
    completion, pieces = streamed(connect, stream(*chunks))
    assert completion.text == "".join(pieces) == "say(1)"


def test_a_piece_that_is_no_json_is_asked_for_again(connect: Any) -> None:
    completion, pieces = streamed(connect, stream(delta("say("), b"data: {oops\n\n", DONE))
    assert completion.text == TEXT
    assert "" in pieces


def test_an_error_in_the_middle_is_asked_for_again(connect: Any) -> None:
    failed = stream(delta("say("), event({"error": {"message": "overloaded"}}), DONE)
    assert streamed(connect, failed)[0].text == TEXT


@pytest.mark.parametrize("chunks", [[DONE], [delta(""), DONE], [delta(finish="stop"), DONE]])
def test_a_stream_without_text_says_so(connect: Any, chunks: list[bytes]) -> None:
    completion, _ = streamed(connect, stream(*chunks))
    assert completion.empty
    assert "answered with" in completion.why_empty


def test_a_server_that_does_not_stream_is_understood(connect: Any) -> None:
    whole = reply({"choices": [{"message": {"content": "say(1)"}}]})
    assert streamed(connect, whole)[0].text == "say(1)"


def test_a_stream_under_a_wrong_content_type_is_understood(connect: Any) -> None:
    wrong = Fault(headers={"Content-Type": "text/html"}, chunks=[delta("say(1)"), DONE])
    assert streamed(connect, wrong)[0].text == "say(1)"


def test_a_web_page_is_no_stream(connect: Any, sleeps: Any) -> None:
    page = Fault(headers={"Content-Type": "text/html"}, body=b"<html>\n<p>hello</html>\n")
    with pytest.raises(ModelError, match="not JSON"):
        streamed(connect, page)
    assert sleeps.waits == []


def test_the_code_of_a_streamed_tool_call_is_the_program(connect: Any) -> None:
    def call(part: str) -> bytes:
        return delta(tool_calls=[{"index": 0, "function": {"arguments": part}}])

    completion, _ = streamed(connect, stream(call('{"code": "sa'), call('y(1)"}'), DONE))
    assert completion.text == "say(1)"


def test_a_stream_cut_at_the_limit_is_noted(connect: Any) -> None:
    completion, _ = streamed(connect, stream(delta("say("), delta(finish="length"), DONE))
    assert "cut at its limit" in completion.notes[0]
