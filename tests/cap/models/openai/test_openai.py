import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from cap.errors import ModelError, ModelUnreachable
from cap.models.base import MAX_TOKENS, Request
from cap.models.openai.model import MAX_STOPS, REASONING_TOKENS, SYSTEM
from tests.fakes.openai_server import (
    DRIP,
    DROP,
    HANG,
    FakeServer,
    Fault,
    by_instruction,
    error,
    reply,
)

KEY = "sk-" + "very-secret-0123456789"
REQUEST = Request("from env import say\n\n# greet.\n", stop=("\n# ", "\nobjects = ["))
ANSWER = by_instruction({"# greet.": "say('hello')"})


def failure(connect: Any, faults: Sequence[Fault], **options: Any) -> str:
    """Return the message of the ModelError these faults lead to."""
    with FakeServer(ANSWER, faults) as server, pytest.raises(ModelError) as raised:
        connect(server.url, **options).complete(REQUEST)
    message = str(raised.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("mode", ["chat", "completion"])
def test_both_modes_give_the_same_text_and_count_tokens(connect: Any, mode: str) -> None:
    with FakeServer(ANSWER) as server:
        completion = connect(server.url, mode=mode).complete(REQUEST)
    assert completion.text == "say('hello')"
    assert (completion.model, completion.notes) == ("fake", ())
    assert (completion.prompt_tokens, completion.completion_tokens) == (8, 3)


def test_chat_sends_the_prompt_as_the_users_message_and_no_stop(connect: Any) -> None:
    with FakeServer(ANSWER) as server:
        connect(server.url, mode="chat").complete(REQUEST)
    body = server.posts[0].body
    assert server.posts[0].path == "/v1/chat/completions"
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert body["messages"][1]["content"] == REQUEST.prompt
    assert "stop" not in body


@pytest.mark.parametrize(("system", "sent"), [(None, SYSTEM), ("Answer in words.",) * 2])
def test_a_chat_model_is_told_what_is_wanted(connect: Any, system: str | None, sent: str) -> None:
    with FakeServer(ANSWER) as server:
        connect(server.url, mode="chat").complete(replace(REQUEST, system=system))
    assert server.posts[0].body["messages"][0] == {"role": "system", "content": sent}


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


def test_a_server_that_needs_no_key_gets_none_from_the_environment(
    connect: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer(ANSWER) as server:
        connect(server.url, api_key=None).complete(REQUEST)
    assert KEY not in repr(server.seen)


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
    assert "max_completion_tokens" in completion.notes[0]


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


def test_too_long_a_prompt_is_not_taken_for_a_refused_parameter(connect: Any) -> None:
    told = "maximum context is 4096 tokens, invalid: reduce the prompt or max_tokens"
    with FakeServer(ANSWER, [error(400, told, code="context_length_exceeded")]) as server:
        with pytest.raises(ModelError, match="400: maximum context"):
            connect(server.url).complete(REQUEST)
        assert len(server.posts) == 1


def test_retry_after_is_honoured_and_other_waits_double(connect: Any, sleeps: Any) -> None:
    faults = [error(429, "busy", headers={"Retry-After": "7"}), error(500, "oops"), DROP]
    with FakeServer(ANSWER, faults) as server:
        assert connect(server.url).complete(REQUEST).text == "say('hello')"
    assert sleeps.waits == [7.0, 1.0, 2.0]


def test_what_has_no_words_is_told_by_its_status(connect: Any) -> None:
    assert "/v1: answers 503 (4 tries)" in failure(connect, [Fault(503, b"<html>")] * 4)
    assert "/v1 refuses the request (418)" in failure(connect, [Fault(418, b"")])


def test_tries_are_few(connect: Any, sleeps: Any) -> None:
    message = failure(connect, [error(503, "overloaded")] * 9)
    assert "503: overloaded (4 tries)" in message
    assert len(sleeps.waits) == 3


def test_a_wait_past_the_deadline_fails_at_once(connect: Any, sleeps: Any) -> None:
    message = failure(connect, [error(429, "busy", headers={"Retry-After": "90"})], timeout_s=60.0)
    assert "asks to wait 90 s" in message
    assert sleeps.waits == []


def test_retries_end_with_the_deadline(connect: Any, sleeps: Any) -> None:
    message = failure(connect, [error(500, "oops")] * 9, timeout_s=1.2)
    assert "the next try would be past 1.2 s" in message
    assert sleeps.waits == [0.5]


def test_the_last_try_is_the_last_and_our_own_wait_is_not_the_servers(connect: Any) -> None:
    busy = error(429, "busy", headers={"Retry-After": "1"})
    message = failure(connect, [busy] * 9, timeout_s=8.0)
    assert message.endswith("busy (4 tries)")
    message = failure(connect, [busy] * 9, timeout_s=3.5)
    assert message.endswith("busy (3 tries; the next try would be past 3.5 s)")


def test_a_used_up_quota_is_not_retried(connect: Any, sleeps: Any) -> None:
    message = failure(connect, [error(429, "You exceeded it", code="insufficient_quota")])
    assert "quota is used up" in message
    assert sleeps.waits == []


@pytest.mark.parametrize("fault", [HANG, DRIP], ids=["silent", "dripping"])
def test_an_answer_that_never_ends_ends_with_the_deadline(connect: Any, fault: Fault) -> None:
    message = failure(connect, [fault], timeout_s=0.1, clock=time.monotonic)
    assert "no whole answer within 0.1 s" in message


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_names_the_address_and_the_variable(connect: Any, status: int) -> None:
    message = failure(connect, [error(status, "no")], key_env="OPENROUTER_API_KEY")
    assert "http://127.0.0.1" in message
    assert "/v1 does not accept the key" in message
    assert "OPENROUTER_API_KEY" in message
    assert "-m nearest" in message


def test_an_unknown_model_names_those_there_are(connect: Any) -> None:
    with (
        FakeServer(ANSWER, models=["llama", "qwen"]) as server,
        pytest.raises(ModelError, match=r"models there: llama, qwen\. Did you mean 'llama'"),
    ):
        connect(server.url, model="lama").complete(REQUEST)


def test_a_model_of_the_other_mode_says_so(connect: Any) -> None:
    message = failure(connect, [error(404, "This is not a chat model")])
    assert "try completion mode" in message


def test_an_address_without_v1_says_what_to_check(connect: Any) -> None:
    with FakeServer(ANSWER) as server, pytest.raises(ModelError, match="usually ends in /v1"):
        connect(server.url.removesuffix("/v1")).complete(REQUEST)


def test_nothing_listening_is_said_at_once(connect: Any, sleeps: Any) -> None:
    with FakeServer(ANSWER) as server:
        url = server.url
    with pytest.raises(ModelUnreachable, match=f"{url}: nothing answers there; start the server"):
        connect(url).complete(REQUEST)
    assert sleeps.waits == []


def test_a_dropped_connection_is_unreachable_after_all_tries(connect: Any) -> None:
    with FakeServer(ANSWER, [DROP] * 4) as server, pytest.raises(ModelUnreachable, match="4 tries"):
        connect(server.url).complete(REQUEST)


def test_a_web_page_is_no_endpoint(connect: Any, sleeps: Any) -> None:
    assert "not JSON" in failure(connect, [Fault(body=b"<html>hello</html>")])
    assert sleeps.waits == []


def test_malformed_json_is_asked_for_again(connect: Any) -> None:
    with FakeServer(ANSWER, [Fault(body=b'{"choices": [')]) as server:
        assert connect(server.url).complete(REQUEST).text


def test_an_answer_that_breaks_off_is_asked_for_again(connect: Any, sleeps: Any) -> None:
    half = Fault(body=b'{"choices": [', headers={"Content-Length": "1000"})
    with FakeServer(ANSWER, [half]) as server:
        assert connect(server.url).complete(REQUEST).text
    assert sleeps.waits == [0.5]


@pytest.mark.inside
def test_an_endless_answer_is_not_kept(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cap.models.openai.replies.MAX_ANSWER_BYTES", 1000)
    assert "longer than 1000 bytes" in failure(connect, [DRIP])


def test_threads_can_share_a_model_that_learns_what_is_refused(connect: Any) -> None:
    requests = [Request(f"# say {number}.\n", seed=number) for number in range(12)]
    with FakeServer(lambda prompt, body: prompt, refuses=["seed", "max_tokens"]) as server:
        model = connect(server.url)
        with ThreadPoolExecutor(4) as pool:
            completions = list(pool.map(model.complete, requests))
    assert [completion.text for completion in completions] == [each.prompt for each in requests]


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("mode", ["chat", "completion"])
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"choices": []}, "without any choices"),
        ({"choices": [None]}, "without any choices"),
        ({"choices": "none"}, "without any choices"),
        (["choices"], "without any choices"),
        ({"error": {"message": "no credit left"}}, "no credit left"),
        ({"choices": [{}]}, "no text"),
        ({"choices": [{"text": " \n", "message": {"content": " \n"}}]}, "no text"),
        ({"choices": [{"text": 5, "message": {"content": None}}]}, "no text"),
        ({"choices": [{"message": {"refusal": "I will not"}}]}, "I will not"),
        ({"choices": [{"text": "", "finish_reason": "length"}]}, "limit of 1024 tokens"),
        ({"choices": [{"text": "", "finish_reason": "content_filter"}]}, "content filter"),
    ],
)
def test_an_answer_without_text_says_why(connect: Any, mode: str, body: Any, told: str) -> None:
    with FakeServer(ANSWER, [reply(body)]) as server:
        completion = connect(server.url, mode=mode).complete(REQUEST)
    assert completion.empty
    assert told in completion.why_empty
    assert server.url in completion.why_empty


def test_a_cut_completion_is_noted(connect: Any) -> None:
    cut = {"choices": [{"message": {"content": "say('he"}, "finish_reason": "length"}]}
    with FakeServer(ANSWER, [reply(cut)]) as server:
        completion = connect(server.url).complete(REQUEST)
    assert completion.notes == ("the completion was cut at its limit of 1024 tokens",)


@pytest.mark.parametrize(
    "fault",
    [
        error(400, f"strange request with {KEY}"),
        error(401, f"Incorrect API key provided: {KEY}."),
        error(401, f"Incorrect API key provided: {KEY[:8]}******{KEY[-4:]}."),
        error(403, "x" * 290 + KEY),
        error(404, f"{KEY} has no access"),
        error(429, f"{KEY} is busy", code="insufficient_quota"),
        error(500, f"\n{KEY}\n"),
        Fault(status=400, body=f"<p>{KEY}".encode()),
    ],
)
def test_no_message_repeats_the_key(connect: Any, fault: Fault) -> None:
    message = failure(connect, [fault] * 4)
    assert "sk-" not in message
    assert KEY[-4:] not in message


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": f"wrong: {KEY}"}},
        {"choices": [{"message": {"refusal": f"no, {KEY}"}}]},
    ],
)
def test_no_empty_answer_repeats_the_key(connect: Any, body: Any) -> None:
    with FakeServer(ANSWER, [reply(body)]) as server:
        why = connect(server.url).complete(REQUEST).why_empty
    assert "[key]" in why
    assert KEY[-4:] not in why


def test_no_message_repeats_an_addresss_password(connect: Any) -> None:
    with FakeServer(ANSWER) as server:
        url = server.url
    with pytest.raises(ModelUnreachable) as raised:
        connect(url.replace("://", "://me:hunter2@")).complete(REQUEST)
    assert "hunter2" not in str(raised.value)
    assert url in str(raised.value)


def test_a_server_that_repeats_the_address_does_not_show_its_password(connect: Any) -> None:
    with FakeServer(ANSWER) as server:
        url = server.url.replace("://", "://me:hunter2@")
        server.faults.append(error(400, f"strange request to {url}"))
        with pytest.raises(ModelError, match="strange request to http://127") as raised:
            connect(url).complete(REQUEST)
    assert "hunter2" not in str(raised.value)


def test_a_closed_model_can_be_used_again(connect: Any) -> None:
    with FakeServer(ANSWER) as server:
        model = connect(server.url)
        model.complete(REQUEST)
        model.close()
        assert model.complete(REQUEST).text


def test_importing_the_module_does_not_import_the_sdk() -> None:
    code = "import sys, cap.models.openai.model; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
