"""What a run pays for is counted, recorded and shown, also where it is stopped in the middle."""

from __future__ import annotations

import json
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report.tables import read
from benchmarks.results import begin, read_beside, read_lines
from benchmarks.suite import Outcome, Settings, Trial, suite
from cap.cli.main import run as cap
from cap.config import config_file
from cap.errors import UsageError
from tests.fakes.openai_server import FakeServer, Fault, error, reply
from tests.fakes.workers import children, state

SETTINGS = Settings("tabletop", "oracle", mode="instant")


SUITE = ["bench", "run", "tabletop", "--mode", "instant", "--jobs", "1", "--split", "SA-SI"]
PRICED = '[prices]\n"vllm/fake" = { read = 1.0, written = 1.0 }\n'


def priced() -> None:
    """Write down what the model costs, as a person does."""
    config_file().parent.mkdir(parents=True)
    config_file().write_text(PRICED)


@pytest.mark.usefixtures("trials_here")
def test_a_trial_counts_its_requests_as_they_are_sent() -> None:
    faults = [error(500, "busy", headers={"retry-after-ms": "1"})] * 2
    with FakeServer(lambda prompt, body: "say('no')", faults, refuses=["temperature"]) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url]
        assert cap([*SUITE, "--tasks", "stack-blocks", "-n", "2", "--out", "o", *asked]) == 0
        sent = len(server.posts)
    ended = [line.outcome for line in read_lines(Path("o"))]
    assert sent == sum(outcome.requests for outcome in ended) == 5
    assert read(Path("o")).total.usage.requests == sent


@pytest.mark.usefixtures("trials_here")
def test_what_a_trial_took_that_the_limit_stopped_is_counted_and_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    priced()
    with FakeServer(lambda prompt, body: "put_first_on_second(") as server:  # asked again each time
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--set", "max_calls=1", "--out", "o"]
        assert cap([*SUITE, "--tasks", "stack-blocks", "-n", "2", *asked]) == 4
        assert len(server.posts) == 1
    told = capsys.readouterr().err
    beside = read_beside(Path("o"))
    assert (beside.requests, beside.unanswered, beside.untold) == (1, 0, 1)
    assert beside.cost_usd > 0
    assert json.loads(Path("o/spent.json").read_text()) == [1, pytest.approx(beside.cost_usd), 1]
    assert (
        "no trial has ended; in addition, for trials that were stopped or run again: 1 request,"
        in told
    )


def test_a_stop_ends_the_workers_and_keeps_the_count(capsys: pytest.CaptureFixture[str]) -> None:
    before, end = children(os.getpid()), threading.Event()
    workers: list[int] = []

    def answer(prompt: str, body: Any) -> str:
        workers.extend({*children(os.getpid())} - {*before})
        os.kill(os.getpid(), signal.SIGINT)
        end.wait(60.0)
        return "say('x')"

    with FakeServer(answer) as server:
        asked = ["-m", "vllm/fake", "--base-url", server.url, "--out", "o"]
        assert cap([*SUITE, "--tasks", "stack-blocks", "-n", "2", *asked]) == 130
        assert workers
        assert [state(pid) for pid in workers] == [""] * len(workers)
        end.set()
        assert len(server.posts) == 1
    ended = "stopped: 0 of 2 trials have ended; to go on: the same command with --out o --resume"
    assert ended in capsys.readouterr().err
    beside = read_beside(Path("o"))
    assert (beside.requests, beside.unanswered) == (1, 1)
    with pytest.raises(
        UsageError, match=r"holds no trial yet; in addition, .*: 1 request, 0 tokens"
    ):
        read(Path("o"))


@pytest.mark.usefixtures("trials_here")
@pytest.mark.parametrize(
    "usage",
    [None, {"prompt_tokens": -500, "completion_tokens": -3}, {"prompt_tokens": "many"}],
    ids=["none", "negative", "text"],
)
def test_tokens_that_nobody_counts_are_marked_and_a_recording_says_what_it_cost(
    usage: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    priced()

    def answer(prompt: str, body: Any) -> Fault:
        said = {"message": {"content": "say('x')"}, "finish_reason": "stop"}
        return reply({"choices": [said], **({} if usage is None else {"usage": usage})})

    with FakeServer(answer) as server:
        asked = [
            "-m",
            "vllm/fake",
            "--base-url",
            server.url,
            "--set",
            "stream=false",
            "--record",
            "r.jsonl",
        ]
        cap([*SUITE, "--tasks", "stack-blocks", "-n", "1", "--out", "o", *asked])
    (line,) = read_lines(Path("o"))
    outcome = line.outcome
    assert outcome.estimated
    assert outcome.cost_usd == pytest.approx(
        (outcome.prompt_tokens + outcome.completion_tokens) / 1e6
    )
    told = (
        f"{outcome.requests} request{'s' * (outcome.requests > 1)}, "
        f"~{outcome.prompt_tokens + outcome.completion_tokens} tokens, ~${outcome.cost_usd:.4f}"
    )
    assert f"model: {told}" in capsys.readouterr().out
    assert read(Path("o")).as_json["total"]["estimated"] is True
    cap([*SUITE, "--tasks", "stack-blocks", "-n", "1", "--out", "p", "-m", "replay/r.jsonl"])
    assert f"as recorded, nothing was sent: {told}" in capsys.readouterr().out


def test_what_was_run_again_was_paid_for_all_the_same(tmp_path: Path) -> None:
    results = begin(tmp_path, suite("tabletop"), SETTINGS, resume=False)
    trial = Trial("stack-blocks", "SA-SI", 0)
    lost = Outcome(False, "infrastructure", "", "", requests=3, prompt_tokens=30, cost_usd=0.5)
    for outcome in (lost, replace(lost, cause="task", requests=1)):
        results.add(trial, outcome)
    results.close()
    report = read(tmp_path)
    assert (report.total.usage.requests, report.beside.requests) == (1, 3)
    assert any("run again: 3 requests, 30 tokens, $0.5000" in line for line in report.headline)
    assert report.as_json["beside"]["requests"] == 3
