"""A results folder has one writer at a time, and no fault of disk or person costs a line."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.ledger import Ledger
from benchmarks.report import tables
from benchmarks.report.page import write
from benchmarks.results import UNPAID, Results, begin, read_lines
from benchmarks.suite import OWN_PROMPTS, Outcome, Settings, Trial, suite
from benchmarks.worker import run_trial
from cap.cli.main import run as cap
from cap.errors import SpendLimit, UsageError
from tests.fakes.openai_server import FakeServer, Fault, error
from tests.rows import table

SETTINGS = Settings("tabletop", "oracle", mode="instant")
TABLETOP = suite("tabletop")
TRIAL = Trial("pick-and-place", "SA-SI", 0)
GOOD = Outcome(True, "", "words", "x", "", 1, 0, 0, 0, 0.0, 0.1, {})


def opened(folder: Path, *, resume: bool = False) -> Results:
    return begin(folder, TABLETOP, SETTINGS, resume=resume)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_two_runs_cannot_write_to_one_folder(tmp_path: Path) -> None:
    first = opened(tmp_path)
    first.add(TRIAL, GOOD)
    with (tmp_path / "trials.jsonl").open("ab") as file:
        file.write(b'{"half": ')  # under way
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="another run is writing"):
        opened(tmp_path, resume=True)
    assert contents(tmp_path) == before
    first.close()
    second = opened(tmp_path, resume=True)
    assert second.done == {TRIAL}
    second.close()


def test_trials_without_a_header_are_not_added_to(tmp_path: Path) -> None:
    (tmp_path / "trials.jsonl").write_text("precious\n")
    with pytest.raises(UsageError, match=r"no header\.json"):
        opened(tmp_path)
    assert contents(tmp_path) == {"trials.jsonl": b"precious\n"}


def test_a_damaged_line_in_between_stops_resuming_and_is_named(tmp_path: Path) -> None:
    results = opened(tmp_path)
    results.add(TRIAL, GOOD)
    results.close()
    path = tmp_path / "trials.jsonl"
    path.write_bytes(b"?\n" + path.read_bytes())
    before = contents(tmp_path)
    with pytest.raises(UsageError, match="line 1 is no trial"):
        opened(tmp_path, resume=True)
    assert contents(tmp_path) == before


def test_what_changes_no_outcome_makes_no_other_run(tmp_path: Path) -> None:
    opened(tmp_path).close()
    for more in ({"max_calls": 9}, {"pictures": "elsewhere"}, {"cache": "elsewhere"}):
        begin(tmp_path, TABLETOP, replace(SETTINGS, options=more), resume=True).close()


def test_a_header_has_of_a_persons_settings_what_the_run_uses(tmp_path: Path) -> None:
    tables = {
        "vllm": {"timeout_s": 9.0, "headers": {"X": "$GATE", "Y": "a-secret"}},
        "mine": {"base_url": "https://mine.example/v1", "key_env": "MINE"},
    }
    price = {"read": 1.0, "written": 2.0}
    options = {
        "asked": {"usual": {}, "said": {"seed": 3}, "providers": tables, "base_url": {}},
        "prices": {"vllm/fake": price, "mine/other": price},
        "ledger": str(tmp_path / "spent.json"),
        "record": str(Path.home() / "kept" / "r.jsonl"),
    }
    begin(tmp_path, TABLETOP, replace(SETTINGS, model="vllm/fake", options=options), resume=False)
    told = json.loads((tmp_path / "header.json").read_text())["settings"]["options"]
    headers = {"X": "$GATE", "Y": "[said]"}
    assert told == {
        "asked": {
            **{"usual": {}, "said": {"seed": 3}, "base_url": {}},
            "providers": {"vllm": {"timeout_s": 9.0, "headers": headers}},
        },
        "prices": {"vllm/fake": price},
        "record": "~/kept/r.jsonl",
    }


COMMAND = ["bench", "run", "tabletop", "--mode", "instant", "-m", "oracle", "-n", "4"]
COMMAND += ["--tasks", "pick-and-place", "--split", "SA-SI", "--jobs", "1", "--out", "out"]


@pytest.mark.usefixtures("trials_here")
@pytest.mark.parametrize("short", [True, False], ids=["half a line", "no byte"])
def test_a_disk_that_fills_ends_a_run_in_one_line_and_it_goes_on_later(
    short: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written: list[bytes] = []

    def filling(file: int, data: bytes) -> int:
        if not data.startswith(b'{"task"'):  # somebody else's
            return write(file, data)
        written.append(data)
        if len(written) < 3:
            return write(file, data)
        if short:
            return write(file, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write = os.write
    with monkeypatch.context() as patched:
        patched.setattr("os.write", filling)
        assert cap(COMMAND) == 2
    assert "make room and use --resume" in capsys.readouterr().err.strip().splitlines()[-1]
    kept = Path("out/trials.jsonl").read_bytes()
    assert kept == b"".join(written[:2])
    assert cap([*COMMAND, "--resume"]) == 0
    assert Path("out/trials.jsonl").read_bytes().startswith(kept)
    assert len({line.trial for line in read_lines(Path("out"))}) == 4


def test_a_report_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    results = opened(tmp_path)
    results.add(TRIAL, GOOD)
    results.close()
    (tmp_path / "report.md").symlink_to("/dev/full")
    with pytest.raises(UsageError, match="cannot write the report"):
        write(tmp_path)
    assert len(list(read_lines(tmp_path))) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    table(
        __file__, "runner_folder: what_no_trial_could_run_with_is_refused_before_the_first"
    ).values(),
)
def test_what_no_trial_could_run_with_is_refused_before_the_first(
    arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cap(["bench", "run", "tabletop", *arguments]) == code
    assert told in capsys.readouterr().err.strip().splitlines()[-1]
    assert not Path("runs").exists()


def test_processes_that_share_a_ledger_share_its_limits(tmp_path: Path) -> None:
    first, second = Ledger(tmp_path / "spent.json"), Ledger(tmp_path / "spent.json")

    def check(requests: int, cost_usd: float) -> None:
        if requests >= 2 or cost_usd >= 1.0:
            raise SpendLimit("enough")

    first.begin(check)
    second.begin(check)
    for account in (first, second):
        with pytest.raises(SpendLimit):
            account.begin(check)
    assert second.refused == "enough"
    first.pay(0.25)
    second.pay(0.5)
    assert json.loads((tmp_path / "spent.json").read_text()) == [2, 0.75, 0]


def test_a_trial_the_budget_ended_is_no_outcome(tmp_path: Path) -> None:
    options = {"max_calls": 0, "ledger": str(tmp_path / "spent.json")}
    outcome = run_trial(TRIAL, replace(SETTINGS, model="nearest", options=options))
    assert (outcome.cause, "raise it: --set max_calls=N" in outcome.failure) == (UNPAID, True)


@pytest.mark.usefixtures("trials_here")
def test_dollars_are_a_limit_of_the_whole_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("home/.config/cap").mkdir(parents=True)
    prices = '[prices]\n"openai/fake" = { read = 0.0, written = 1000000.0 }\n'
    Path("home/.config/cap/config.toml").write_text(prices)
    with FakeServer(lambda prompt, body: "say('I cannot')") as server:
        asked = ["bench", "run", "tabletop", "-m", "openai/fake", "--base-url", server.url]
        asked += ["--mode", "instant", "--tasks", "stack-blocks", "--split", "SA-SI", "-n", "3"]
        asked += ["--jobs", "1", "--out", "out", "--max-cost"]
        assert cap([*asked, "0.5"]) == 4
        assert "raise --max-cost and use --resume; 2 of 3 trials" in capsys.readouterr().err
        assert cap([*asked, "1000", "--resume"]) == 0
    report = tables.read(Path("out"))
    assert report.headline[-1].endswith("--max-cost 1000")  # the last command, not the first
    assert "max_cost 1000.0" in report.settings
    lines = list(read_lines(Path("out")))
    assert [line.outcome.cause for line in lines] == ["task"] * 3
    spent = sum(line.outcome.cost_usd or 0.0 for line in lines)
    assert json.loads(Path("out/spent.json").read_text())[1] == pytest.approx(spent)


@pytest.mark.usefixtures("trials_here")
def test_the_oracle_need_not_solve_what_has_noise(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["bench", "oracle", "tabletop", "-n", "1", "--tasks", "im-pick-and-place"]
    assert cap([*asked, "--out", "one"]) == 0
    assert [line.trial.split for line in read_lines(Path("one"))] == ["IM"]
    cap([*asked, "--split", "IM-noise", "--out", "two"])
    assert [line.trial.split for line in read_lines(Path("two"))] == ["IM-noise"]


@pytest.mark.usefixtures("trials_here")
def test_failures_are_drawn_and_disturbances_disturb() -> None:
    asked = ["bench", "run", "tabletop", "-m", "oracle", "--mode", "instant", "--jobs", "1"]
    asked += ["--tasks", "pick-and-place", "--split", "SA-SI", "-n", "2", "--pictures"]
    assert cap([*asked, "--out", "calm"]) == 0
    assert cap([*asked, "--disturbances", "drop=1", "--out", "dropped"]) == 0
    assert not list(Path("calm/pictures").iterdir())
    assert len(list(Path("dropped/pictures").glob("*.png"))) == 4
    page = Path("dropped/report.html").read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == 4


ENDPOINT = ["bench", "run", "tabletop", "-m", "vllm/fake", "--mode", "instant", "--jobs", "1"]
ENDPOINT += ["--tasks", "pick-and-place", "--split", "SA-SI", "--out", "out"]


def causes(folder: Path) -> list[str]:
    return [line.outcome.cause for line in read_lines(folder)]


@pytest.mark.usefixtures("trials_here")
@pytest.mark.parametrize(
    ("faults", "told"),
    [
        ([error(404, "no such model")] * 9, "not found (404: no such model)"),
        ([error(401, "bad key")] * 9, "asks for a key"),
        ([error(402, "no credit")] * 9, "quota is used up"),
        ([error(400, "which?", code="model_not_found")] * 9, "not found (400: which?)"),
        ([Fault(body=b"<html>")] * 9, "not JSON"),
    ],
    ids=["no model", "no key", "no credit", "no model, by code", "no endpoint"],
)
def test_a_run_that_cannot_ask_ends_early_with_the_reason(
    faults: list[Fault], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(lambda prompt, body: "say('done')", faults) as server:
        assert cap([*ENDPOINT, "-n", "9", "--base-url", server.url]) == 4
    assert causes(Path("out")) == ["infrastructure"] * 3
    screen = capsys.readouterr()
    assert told in screen.err
    assert "0.0" not in screen.out


def test_a_recording_gets_no_holes_by_resuming_without_it(tmp_path: Path) -> None:
    record = {"record": str(tmp_path / "r.jsonl")}
    begin(tmp_path, TABLETOP, replace(SETTINGS, options=record), resume=False).close()
    with pytest.raises(UsageError, match=r"r\.jsonl, which .*add --record"):
        opened(tmp_path, resume=True)
    begin(tmp_path, TABLETOP, replace(SETTINGS, options=record), resume=True).close()


@pytest.mark.usefixtures("trials_here")
def test_an_endpoint_that_fails_late_is_told_counted_and_asked_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answers = iter(["say('I cannot')", error(404, "gone"), error(404, "gone"), error(404, "gone")])
    with FakeServer(lambda prompt, body: next(answers, "say('I cannot')")) as server:
        asked = [*ENDPOINT, "-n", "4", "--base-url", server.url]
        assert cap(asked) == 0
        screen = capsys.readouterr()
        assert causes(Path("out")) == ["task"] + ["infrastructure"] * 3
        assert "3 of 4 trials were ended by infrastructure" in screen.err
        assert "gone" in screen.err
        assert "task 1, infrastructure 3" in Path("out/report.md").read_text()
        assert cap([*asked, "--resume"]) == 0
    assert causes(Path("out")) == ["task"] * 4
    assert "ended by infrastructure" not in capsys.readouterr().err
    assert len(Path("out/trials.jsonl").read_text().splitlines()) == 7


@pytest.mark.parametrize("name", ["tabletop", "drawing", "robocodegen", "humaneval", "reasoning"])
def test_no_suite_blames_a_model_for_its_endpoint(name: str) -> None:
    found = suite(name)
    prompts = OWN_PROMPTS.get(name, "")
    options = {"asked": {"base_url": {"vllm": "http://127.0.0.1:9/v1"}}}
    settings = Settings(name, "vllm/x", mode="instant", prompts=prompts, options=options)
    (task, split), *_ = found.cells()
    outcome = run_trial(Trial(task, split, 0), settings)
    assert (outcome.cause, outcome.success) == ("infrastructure", False)
    assert "nothing answers there" in outcome.extra["endpoint"]


@pytest.mark.inside
@pytest.mark.usefixtures("trials_here")
def test_ctrl_c_names_the_folder_and_reports_what_has_ended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add = Results.add

    def strike(self: Results, trial: Trial, outcome: Outcome) -> None:
        add(self, trial, outcome)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Results, "add", strike)
        assert cap(COMMAND) == 130
    screen = capsys.readouterr()
    assert "--out out --resume" in screen.err
    assert "100.0" in screen.out
    assert Path("out/report.md").exists()
    assert cap([*COMMAND, "--resume"]) == 0
