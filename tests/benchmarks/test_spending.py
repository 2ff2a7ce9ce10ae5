"""What a run pays for is counted, recorded and shown, also where it is stopped in the middle."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import pytest

from benchmarks.report.tables import read
from benchmarks.results import begin, read_beside, read_lines
from benchmarks.suite import Outcome, Settings, Trial, suite
from cap.cli.main import run as cap
from cap.config import config_file
from cap.errors import UsageError
from tests.fakes.openai_server import FakeServer, Fault, error, reply

SETTINGS = Settings("tabletop", "oracle", mode="instant")


SUITE = ["bench", "run", "tabletop", "--mode", "instant", "--jobs", "1", "--split", "SA-SI"]
PRICED = '[prices]\n"vllm/fake" = { read = 1.0, written = 1.0 }\n'


def priced() -> None:
    """Write down what the model costs, as a person does."""
    config_file().parent.mkdir(parents=True)
    config_file().write_text(PRICED)


@contextlib.contextmanager
def bench(server: FakeServer, *more: str) -> Iterator[tuple[subprocess.Popen[str], IO[str]]]:
    """Run two trials in a process of their own, and yield it with what it tells."""
    command = [sys.executable, "-P", "-m", "cap", *SUITE, "--tasks", "stack-blocks", "-n", "2"]
    command += ["-m", "vllm/fake", "--base-url", server.url, "--out", "o", *more]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        yield process, process.stderr


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


def children_of(parent: int) -> set[Path]:
    """Return the folders in /proc of a process's living children."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, above, *_ = path.read_text().rpartition(") ")[2].split()
            if int(above) == parent and state != "Z":
                found.add(path.parent)
    return found


def test_a_stop_ends_the_workers_and_keeps_the_count() -> None:
    asked, end = threading.Event(), threading.Event()

    def answer(prompt: str, body: Any) -> str:
        asked.set()
        end.wait(60.0)
        return "say('x')"

    with FakeServer(answer) as server:
        with bench(server) as (process, told):
            assert asked.wait(60.0)
            workers = children_of(process.pid)
            assert workers
            process.send_signal(signal.SIGINT)
            said = told.read()
            assert process.wait(60.0) == 130
        deadline = time.monotonic() + 20.0  # a process that is killed is gone a moment later
        while any(path.exists() for path in workers) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(path.exists() for path in workers)
        end.set()
        assert len(server.posts) == 1
    ended = "stopped: 0 of 2 trials have ended; to go on: the same command with --out o --resume"
    assert ended in said
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
