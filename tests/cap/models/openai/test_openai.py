"""Requests to an endpoint, whole and streamed, and what is read of its answers."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from cap.errors import ModelError, ModelUnreachable
from cap.models.base import MAX_TOKENS, Completion, Request
from cap.models.openai.model import MAX_STOPS, REASONING_TOKENS, SYSTEM, is_cut_off
from cap.models.openai.replies import read_reply
from tests.cap.models.conftest import KEY
from tests.fakes.openai_server import (
    FakeServer,
    Fault,
    by_instruction,
    delta,
    error,
    stream,
)

REQUEST = Request("from env import say\n\n# greet.\n", stop=("\n# ", "\nobjects = ["))
ANSWER = by_instruction({"# greet.": "say('hello')"})


def test_chat_sends_the_prompt_as_the_users_message_and_no_stop(connect: Any) -> None:
    with FakeServer(ANSWER) as server:
        connect(server.url, mode="chat").complete(REQUEST)
    body = server.posts[0].body
    assert server.posts[0].path == "/v1/chat/completions"
    asked = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": REQUEST.prompt}]
    assert body["messages"] == asked
    assert "stop" not in body


def test_completion_sends_the_bare_prompt_and_at_most_four_stops(connect: Any) -> None:
    stops = ("\na", "\nb", "\nc", "\nd", "\ne")
    with FakeServer(ANSWER) as server:
        connect(server.url, mode="completion").complete(Request(REQUEST.prompt, stop=stops, seed=7))
    assert server.posts[0].path == "/v1/completions"
    assert server.posts[0].body == {
        "model": "fake",
        "prompt": REQUEST.prompt,
        "stop": list(stops[:MAX_STOPS]),
        "temperature": 0.0,
        "max_tokens": 1024,
        "seed": 7,
    }


def test_the_key_goes_into_the_header_only(connect: Any) -> None:
    with FakeServer(ANSWER) as server:
        connect(server.url).complete(REQUEST)
    assert server.posts[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(server.posts[0].body)


def test_a_proxy_does_not_stand_before_a_loopback_server(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with FakeServer(ANSWER) as server:
        assert connect(server.url).complete(REQUEST).text


@pytest.mark.parametrize("name", ["stop", "temperature", "seed", "max_tokens"])
def test_a_refused_parameter_is_dropped_once_and_remembered(connect: Any, name: str) -> None:
    request = Request(REQUEST.prompt, stop=REQUEST.stop, seed=1)
    with FakeServer(ANSWER, refuses=[name]) as server:
        model = connect(server.url, mode="completion")
        first, second = model.complete(request), model.complete(request)
    assert [name in post.body for post in server.posts] == [True, False, False]
    assert first.notes == second.notes
    assert len(first.notes) == 1
    assert name in first.notes[0]


def test_chat_renames_max_tokens_and_leaves_room_for_reasoning(connect: Any) -> None:
    with FakeServer(ANSWER, refuses=["max_tokens"]) as server:
        completion = connect(server.url).complete(REQUEST)
    assert server.posts[1].body["max_completion_tokens"] == MAX_TOKENS + REASONING_TOKENS
    assert "refuses max_tokens" in completion.notes[0]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (400, "Unrecognized request argument supplied: seed"),
        (422, '[{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]'),
    ],
)
def test_a_refusal_that_only_names_the_parameter_in_words_counts(
    connect: Any, status: int, told: str
) -> None:
    with FakeServer(ANSWER, [error(status, told)]) as server:
        completion = connect(server.url).complete(Request(REQUEST.prompt, seed=1))
    assert completion.text
    assert "seed" not in server.posts[1].body


@pytest.mark.parametrize("status", [400, 415, 500])
def test_pictures_that_are_refused_are_left_out_and_it_is_noted(connect: Any, status: int) -> None:
    request = replace(REQUEST, pictures=(b"png",))
    with FakeServer(ANSWER, [error(status, "image input is not supported")]) as server:
        model = connect(server.url)
        assert model.sees
        first, second = model.complete(request), model.complete(request)
    assert [("image_url" in str(post.body)) for post in server.posts] == [True, False, False]
    text = server.posts[0].body["messages"][1]["content"][0]
    assert text == {"type": "text", "text": REQUEST.prompt}
    assert "refuses pictures" in first.notes[0]
    assert first.notes == second.notes
    assert not model.sees


def test_a_busy_server_that_speaks_of_pictures_gets_them_again(connect: Any) -> None:
    request = replace(REQUEST, pictures=(b"png",))
    with FakeServer(ANSWER, [error(429, "the vision model is busy")]) as server:
        assert connect(server.url).complete(request).notes == ()
    assert [("image_url" in str(post.body)) for post in server.posts] == [True, True]


def test_a_cache_knows_models_apart_by_all_that_decides_their_answers(connect: Any) -> None:
    url = "http://127.0.0.1:9/v1"
    said: list[dict[str, Any]] = [
        {},
        {"mode": "completion"},
        {"reasoning_effort": "low"},
        {"extra_body": {"top_k": 20}},
        {"headers": {"X-Team": "arms"}},
        {"query": {"api-version": "2"}},
        {"mode": "completion", "reasoning_effort": "low"},
    ]
    assert len({connect(url, **each).identity for each in said}) == len(said)
    assert connect(url, mode="completion").identity == f"openai/fake {url} completion"
    assert connect(url, timeout_s=5.0).identity == connect(url).identity


def test_nothing_listening_is_said_at_once(connect: Any, sleeps: Any) -> None:
    with FakeServer(ANSWER) as server:
        url = server.url
    with pytest.raises(ModelUnreachable, match=f"{url}: nothing answers there; start the server"):
        connect(url).complete(REQUEST)
    assert sleeps.waits == []


def test_threads_can_share_a_model_that_learns_what_is_refused(connect: Any) -> None:
    requests = [Request(f"# say {number}.\n", seed=number) for number in range(12)]
    with FakeServer(lambda prompt, body: prompt, refuses=["seed", "max_tokens"]) as server:
        model = connect(server.url)
        with ThreadPoolExecutor(4) as pool:
            completions = list(pool.map(model.complete, requests))
    assert [completion.text for completion in completions] == [each.prompt for each in requests]


def test_an_address_without_v1_says_what_to_check(connect: Any) -> None:
    with FakeServer(ANSWER) as server, pytest.raises(ModelError, match="usually ends in /v1"):
        connect(server.url.removesuffix("/v1")).complete(REQUEST)


# --- what is taken for a prompt that a server cut off without a word


@pytest.mark.parametrize(
    ("known", "chars", "tokens", "cut"),
    [
        ({}, 1999, 10, False),
        ({}, 2000, 10, True),
        ({}, 30_000, 0, False),  # nobody says
        ({}, 17_000, 4096, False),  # may well be all of it
        ({"unsaid": True}, 17_000, 4096, True),
        ({"unsaid": True}, 17_000, 4094, False),
        ({"window": 8000}, 24_000, 8000, True),
        ({"window": 8000}, 24_000, 7000, False),
    ],
)
def test_what_is_taken_for_cut_off(
    known: dict[str, Any], chars: int, tokens: int, cut: bool
) -> None:
    assert is_cut_off(chars, tokens, **known) is cut


# --- stream

TEXT = "say('hello there')\nsay('again')"


def said(prompt: str, body: Any) -> str:
    return TEXT


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
    with FakeServer(said, [stream(delta("say('he"), delta(finish="length"))]) as server:
        assert connect(server.url).stream(REQUEST, len).ended == "cut"


def test_an_error_that_never_ends_ends_with_the_deadline(connect: Any) -> None:
    endless = Fault(status=500, chunks=[b'{"error": "', b" "], then="repeat")
    with FakeServer(said, [endless]) as server, pytest.raises(ModelError, match="no whole answer"):
        connect(server.url, timeout_s=0.2, clock=time.monotonic).complete(REQUEST)


# --- what an endpoint's answer says of itself: its text, and whether that is all of it


def reply(message: dict[str, Any], reason: Any = "stop") -> Completion:
    return read_reply({"choices": [{"message": message, "finish_reason": reason}]})


@pytest.mark.parametrize(
    ("reason", "ended"),
    [
        ("stop", "whole"),
        ("tool_calls", "whole"),
        (None, "whole"),
        ("length", "cut"),
        ("max_tokens", "cut"),
        ("abort", "cut"),
        ("error", "cut"),
        ("content_filter", "withheld"),
        ("SAFETY", "withheld"),
    ],
)
def test_servers_tell_in_their_own_words_how_an_answer_ended(reason: Any, ended: str) -> None:
    assert reply({"content": "say('a')"}, reason).ended == ended


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (r'"a \ud83d"', "a \ufffd"),
        (r'"a \udc00 b"', "a \ufffd b"),
        (r'"a \ud83d\ude00"', "a \U0001f600"),
    ],
)
def test_half_a_character_is_a_mark(sent: str, text: str) -> None:
    found = reply({"content": json.loads(sent)}).text
    assert found == text
    found.encode()


def test_code_in_a_tool_call_stands_beside_the_text() -> None:
    call = {"function": {"name": "run", "arguments": json.dumps({"code": "say('b')"})}}
    assert reply({"content": None, "tool_calls": [call]}).text == "say('b')"
    both = reply({"content": "Here it is.", "tool_calls": [call]}).text
    assert both == "Here it is.\n\n```python\nsay('b')\n```\n"


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 3, "prompt_cache_hit_tokens": 4}, (3, 0, 3, 0)),
        ({"completion_tokens": 5, "total_tokens": 20}, (0, 5, 0, 0)),
        ({"prompt_tokens": -1, "completion_tokens": 2.5, "total_tokens": None}, (0, 0, 0, 0)),
        ("none", (0, 0, 0, 0)),
    ],
)
def test_tokens_are_counted_as_servers_report_them(usage: Any, counts: tuple[int, ...]) -> None:
    found = read_reply({"choices": [{"text": "x"}], "usage": usage})
    tokens = found.prompt_tokens, found.completion_tokens
    assert (*tokens, found.cached_tokens, found.reasoning_tokens) == counts
