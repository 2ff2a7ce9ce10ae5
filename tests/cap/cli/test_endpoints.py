"""Endpoints through the real command: every mode of failing, windows, recordings, own models."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cap.cli.main import run
from tests.fakes.openai_server import (
    DROP,
    FakeServer,
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


FAILING = {
    "key": error(401, f"Incorrect API key provided: {KEY}"),
    "overloaded": error(529, f"overloaded {KEY}"),
    "refusal": reply({"choices": [{"message": {"refusal": f"no, {KEY}"}}]}),
    "stalled stream": stream(delta("say('"), then="hang"),
    "no connection": DROP,
}


@pytest.mark.parametrize("mode", FAILING)
def test_every_failing_is_one_line_with_its_code_and_no_key(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, mode: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer(says_hello, [FAILING[mode]] * 50) as server:
        asked = ["-m", "openai/fake", "--base-url", server.url]
        asked += ["--set", "model_timeout=0.5"]
        code = run(["run", "say it", *asked, "--set", "cache=kept", "--out", "o", *INSTANT])
        assert server.posts
    shown = capsys.readouterr()
    assert code == 4
    assert "fake at http" in shown.out
    assert "Traceback" not in shown.out + shown.err
    kept = "".join(
        path.read_text() for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".png"
    )
    assert KEY[-10:] not in shown.out + shown.err + kept


def test_settings_on_the_command_line_reach_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_KEY", "sesame-9999")
    settings = "max_tokens=333 reasoning_effort=low stream=false"
    settings += " headers.X-Team=arms headers.X-Key=$GATEWAY_KEY extra_body.top_k=20"
    said = [word for one in settings.split() for word in ("--set", one)]
    with FakeServer(says_hello) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--out", "o", *said, *INSTANT]
        assert run(["run", "say it", *asked]) == 0
    (seen,) = server.posts
    sent = {key: seen.body[key] for key in ("max_tokens", "reasoning_effort", "top_k")}
    assert sent == {"max_tokens": 333, "reasoning_effort": "low", "top_k": 20}
    assert "stream" not in seen.body
    assert (seen.headers["x-team"], seen.headers["x-key"]) == ("arms", "sesame-9999")
    assert all(
        b"sesame" not in path.read_bytes() for path in Path("o").rglob("*") if path.is_file()
    )


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
    requests = [usage["requests"] for usage in turn["usage_by_lmp"].values()]
    assert sum(requests) == turn["usage"]["requests"] == 2
    assert re.search(r"parse_obj_name: 1 request, \d+ \+ \d+ tokens", capsys.readouterr().out)
