from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from cap.errors import ModelError, ModelUnreachable
from cap.models.base import MAX_TOKENS, Request
from cap.models.openai.model import MAX_STOPS, REASONING_TOKENS, SYSTEM
from tests.cap.models.conftest import KEY
from tests.fakes.openai_server import FakeServer, by_instruction, error

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


@pytest.mark.parametrize(("mode", "posts"), [("chat", 2), ("completion", 1)])
def test_a_server_that_speaks_of_pictures_that_it_is_not_sent_refuses(
    connect: Any, mode: str, posts: int
) -> None:
    with FakeServer(ANSWER, [error(400, "image input is not supported")] * 9) as server:
        with pytest.raises(ModelError, match="refuses the request"):
            connect(server.url, mode=mode).complete(replace(REQUEST, pictures=(b"png",)))
        assert len(server.posts) == posts


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


def test_a_closed_model_can_be_used_again(connect: Any) -> None:
    with FakeServer(ANSWER) as server:
        model = connect(server.url)
        model.complete(REQUEST)
        model.close()
        assert model.complete(REQUEST).text


def test_an_address_without_v1_says_what_to_check(connect: Any) -> None:
    with FakeServer(ANSWER) as server, pytest.raises(ModelError, match="usually ends in /v1"):
        connect(server.url.removesuffix("/v1")).complete(REQUEST)
