import time
from typing import Any

import pytest

from cap.errors import ModelError
from cap.models.base import Request
from tests.fakes.openai_server import (
    FakeServer,
    Fault,
    delta,
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


def test_refused_stream_options_are_dropped_once_and_remembered(connect: Any) -> None:
    with FakeServer(said, refuses=["stream_options"]) as server:
        model = connect(server.url)
        first, _ = (model.stream(REQUEST, lambda piece: None) for _ in range(2))
    assert [("stream_options" in post.body) for post in server.posts] == [True, False, False]
    assert first.text == TEXT


def test_a_stream_that_ends_at_the_limit_is_not_whole(connect: Any) -> None:
    assert streamed(connect, stream(delta("say('he"), delta(finish="length")))[0].ended == "cut"


def test_an_error_that_never_ends_ends_with_the_deadline(connect: Any) -> None:
    endless = Fault(status=500, chunks=[b'{"error": "', b" "], then="repeat")
    with FakeServer(said, [endless]) as server, pytest.raises(ModelError, match="no whole answer"):
        connect(server.url, timeout_s=0.2, clock=time.monotonic).complete(REQUEST)
