"""Endpoints through the real command: every mode of failing, windows, recordings, own models."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from tests.cap.cli.conftest import Cap
from tests.fakes.openai_server import (
    DROP,
    HANG,
    FakeServer,
    Fault,
    delta,
    error,
    reply,
    stream,
)

Capture = pytest.CaptureFixture[str]
INSTANT = ["--mode", "instant"]
KEY = "sk-" + "very-secret-0123456789"


def last_line(prompt: str) -> str:
    return prompt.rstrip().splitlines()[-1].removeprefix("# ").removesuffix(".")


def says_hello(prompt: str, body: Any) -> str:
    return "say('hello')"


def whole(text: str | None, finish: str = "stop", **usage: int) -> Fault:
    choice = {"message": {"content": text}, "finish_reason": finish}
    return reply({"choices": [choice], "usage": usage})


HTML = {"Content-Type": "text/html"}
FAILING = {
    "401": error(401, f"Incorrect API key provided: {KEY}"),
    "402": error(402, "no credit"),
    "403": error(403, f"{KEY} may not"),
    "404": error(404, "no such model", code="model_not_found"),
    "413": error(413, "too large"),
    "context length": error(
        400, "maximum context length is 8 tokens", code="context_length_exceeded"
    ),
    "429": error(429, "slow down"),
    "429, an hour": error(429, "slow down", headers={"Retry-After": "3600"}),
    "quota": error(429, "you exceeded it", code="insufficient_quota"),
    "500": error(500, f"oops {KEY}"),
    "503 page": Fault(503, b"<html>", HTML),
    "529": error(529, "overloaded"),
    "redirect": Fault(307, b"", {"Location": "/v1/chat/completions"}),
    "no JSON": Fault(body=b"{"),
    "page": Fault(body=b"<html>", headers=HTML),
    "empty": Fault(body=b""),
    "a list": reply([]),
    "null": reply(None),
    "no choices": reply({"choices": []}),
    "no text": whole(None),
    "refusal": reply({"choices": [{"message": {"refusal": f"no, {KEY}"}}]}),
    "filtered": whole("", "content_filter"),
    "reasoning only": whole(None, "length", prompt_tokens=3000, completion_tokens=1024),
    "error inside": reply({"error": {"message": f"no: {KEY}"}}),
    "error in the stream": stream(b'data: {"error": {"message": "boom"}}\n\n'),
    "half a stream": stream(delta("say('"), then="drop"),
    "stalled stream": stream(delta("say('"), then="hang"),
    "silence": HANG,
    "no connection": DROP,
    "packed strangely": Fault(body=b"x", headers={"Content-Encoding": "br"}),
    "cut-off prompt": whole("say('hello')", prompt_tokens=100, completion_tokens=4),
}


@pytest.mark.sweep(share=0.08)
@pytest.mark.parametrize("how", ["stream=true", "stream=false"])
@pytest.mark.parametrize("mode", FAILING)
def test_every_failing_is_one_line_with_its_code_and_no_key(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, mode: str, how: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer(says_hello, [FAILING[mode]] * 50) as server:
        asked = ["-m", "openai/fake", "--base-url", server.url, "--set", how]
        asked += ["--set", "model_timeout=0.5"]
        code = run(["run", "say it", *asked, "--set", "cache=kept", "--out", "o", *INSTANT])
        assert server.posts
    shown = capsys.readouterr()
    assert code == 4
    failures = [line for line in shown.out.splitlines() if "fake at http" in line]
    failures += [line for line in shown.err.splitlines() if line.startswith("error: ")]
    assert len(failures) >= 1, shown
    assert "Traceback" not in shown.out + shown.err
    (done,) = [
        event
        for event in map(json.loads, Path("o/events.jsonl").read_text().splitlines())
        if event["kind"] == "failure"
    ]
    assert re.fullmatch(r"[A-Z]\w+", done["data"]["error"])
    assert "\n" not in done["data"]["message"]
    assert done["data"]["message"] not in ("", done["data"]["error"])
    kept = "".join(
        path.read_text() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".png"
    )
    for text in (shown.out, shown.err, kept):
        assert KEY not in text
        assert KEY[-10:] not in text


def test_a_window_that_is_too_small_is_found_by_the_check_and_holds_for_runs(cap: Cap) -> None:
    def knows(prompt: str, body: Any) -> Any:
        found = re.search(r"The password is (\w+)\.", prompt)
        return found[1] if found else "say('hello')"

    for window, told in (
        (2100, "2100 tokens; the beginning of longer prompts is silently cut off"),
        (None, "tokens were read completely"),
    ):
        with FakeServer(knows, window=window) as server:
            asked = ["vllm/fake", "--base-url", server.url]
            assert told in cap(["models", "check", *asked]).out
            shown = cap(["run", "say it", "-m", *asked, *INSTANT], 4 if window else 0).out
            assert ("its beginning is cut off" in " ".join(shown.split())) == bool(window)


def test_settings_on_the_command_line_reach_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "sesame-9999")
    settings = "max_tokens=333 temperature=0.5 model_seed=7 reasoning_effort=low stream=false"
    settings += " headers.X-Team=arms headers.X-Key=$GATEWAY_KEY extra_body.top_k=20"
    said = [word for one in settings.split() for word in ("--set", one)]
    with FakeServer(says_hello) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--out", "o", *said, *INSTANT]
        assert run(["run", "say it", *asked]) == 0
    (seen,) = server.posts
    sent = {key: seen.body.get(key) for key in ("max_tokens", "temperature", "seed", "top_k")}
    assert sent == {"max_tokens": 333, "temperature": 0.5, "seed": 7, "top_k": 20}
    assert seen.body["reasoning_effort"] == "low"
    assert "stream" not in seen.body
    assert (seen.headers["x-team"], seen.headers["x-key"]) == ("arms", "sesame-9999")
    assert all(
        b"sesame" not in path.read_bytes() for path in Path("o").rglob("*") if path.is_file()
    )


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("extra_body=[1]", "fields of a JSON object"),
        ("headers.X-Api-Key=hunter2", "looks like a key"),
        ("headers.Authorization: Bearer hunter2", "KEY=VALUE"),
        ("temperature=3", "a number from 0 to 2"),
    ],
)
def test_a_wrong_setting_is_one_line(cap: Cap, value: str, told: str) -> None:
    shown = cap(["run", "say it", "-m", "vllm/fake", "--set", value, *INSTANT], 2).err
    assert told in shown
    assert "hunter2" not in shown


OWN = """
from cap.models.base import Completion

class Own:
    name = "own"

    def complete(self, request):
        return Completion("say('mine')", self.name, 10, 2)

def create():
    return Own()
"""


@pytest.mark.usefixtures("trials_here")
def test_a_model_of_ones_own_runs_everywhere() -> None:
    Path("own.py").write_text(OWN)
    assert run(["run", "say it", "-m", "own.py", *INSTANT]) == 0
    suite = ["bench", "run", "tabletop", "-m", "own.py", "-n", "1", "--mode", "instant"]
    assert run([*suite, "--tasks", "pick-and-place", "--out", "bench"]) == 0
    lines = [json.loads(line) for line in Path("bench/trials.jsonl").read_text().splitlines()]
    assert {line["program"].strip() for line in lines} == {"say('mine')"}


def pictures_in(body: Any) -> list[bytes]:
    content = body["messages"][-1]["content"]
    parts = content if isinstance(content, list) else []
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.removeprefix("data:image/png;base64,")) for url in urls]


def test_a_model_that_sees_is_sent_the_picture_that_the_trace_keeps(capsys: Capture) -> None:
    with FakeServer(says_hello) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--look", "--out", "o", *INSTANT]
        assert run(["run", "say it", "say it", *asked]) == 0
        sent = [pictures_in(post.body) for post in server.posts]
    kept = [Path("o", name).read_bytes() for name in ("look-01.png", "look-02.png")]
    assert sent == [[kept[0]], [kept[1]]]
    assert kept[0].startswith(b"\x89PNG")
    assert "the model sees look-01.png" in capsys.readouterr().out
    assert run(["run", "--replay", "o", "--out", "again"]) == 0
    assert Path("again/look-01.png").read_bytes() == kept[0]


def test_a_model_that_reads_text_alone_is_asked_without_and_it_says_so(capsys: Capture) -> None:
    with FakeServer(says_hello, blind=True) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--look", *INSTANT]
        assert run(["run", "say it", *asked]) == 0
        assert [len(pictures_in(post.body)) for post in server.posts] == [1, 0]
        assert "does not accept pictures" in " ".join(capsys.readouterr().out.split())
        assert run(["run", "say it", *asked]) == 0
        assert [len(pictures_in(post.body)) for post in server.posts] == [1, 0, 0]
    assert "vllm/fake does not accept pictures, so --look is ignored" in capsys.readouterr().err
    assert run(["run", "stack all the blocks", "--look", *INSTANT]) == 0
    assert "nearest does not accept pictures, so --look is ignored" in capsys.readouterr().err


def test_what_each_lmp_took_is_told(capsys: Capture) -> None:
    answers = {"go": "say(parse_obj_name('it'))", "it": "ret_val = 'red block'"}
    with FakeServer(lambda prompt, body: answers[last_line(prompt)]) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, *INSTANT]
        assert run(["run", "go", *asked, "--json"]) == 0
        (turn,) = json.loads(capsys.readouterr().out)["turns"]
        assert run(["run", "go", *asked, "-v"]) == 0
    assert set(turn["usage_by_lmp"]) == {"ui", "parse_obj_name"}
    for name in ("requests", "prompt_tokens", "completion_tokens"):
        parts = [usage[name] for usage in turn["usage_by_lmp"].values()]
        assert sum(parts) == turn["usage"][name] >= 2
    assert re.search(r"parse_obj_name: 1 request, \d+ \+ \d+ tokens", capsys.readouterr().out)


@pytest.mark.usefixtures("trials_here")
def test_plain_http_to_another_machine_is_warned_about_in_suites_too(cap: Cap) -> None:
    there = ["--base-url", "http://192.0.2.1:9/v1", "--set", "model_timeout=0.1"]
    assert (
        "warning: vllm/x is asked at http://192.0.2.1:9/v1"
        in cap(["run", "say it", "-m", "vllm/x", *there, *INSTANT], 4).err
    )
    suite = ["bench", "run", "tabletop", "-n", "1", "--mode", "instant", "--tasks", "nth-block"]
    assert (
        "warning: vllm/x is asked at http://192.0.2.1:9/v1"
        in cap([*suite, "--split", "SA-SI", "-m", "vllm/x", *there], 4).err
    )
