"""The tables: laid out, run, the same for the same seed, with the papers' values beside."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.planning.suite import SEARCHED, TABLES, PlanningCell, PlanningSuite, paper
from benchmarks.report import tables
from benchmarks.suite import Settings, Trial, suite
from cap.cli.main import run
from cap.errors import UsageError
from tests.rows import table


def settings(table: str, *models: str) -> Settings:
    options = {"table": table, **({"models": list(models)} if models else {})}
    return Settings("planning", "offline", "instant", options=options)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_a_cell_for_every_row_and_column(table: str) -> None:
    found = PlanningSuite(table)
    cells = found.cells()
    assert len(set(cells)) == len(cells) > 10
    for model in found.models:
        assert any(model in split for _, split in cells)
    assert any(found.reference(*cell) for cell in cells) or table in ("five", "quality")
    found.check(settings(table))


@pytest.mark.sweep(share=0.2)
@pytest.mark.parametrize("table", TABLES)
def test_one_trial_of_each_kind_runs_and_runs_alike_again(table: str) -> None:
    found = suite("planning", {"table": table})
    chosen: dict[str, Trial] = {}
    for trial in found.trials(1, 0):
        chosen.setdefault(trial.split, trial)
    for trial in chosen.values():
        if "uniform" in trial.split or (table == "quality" and ":0.6" not in trial.split):
            continue
        if trial.split.startswith("saycanpay"):
            continue
        if table in SEARCHED and (
            "can" in trial.split or "beams" in trial.split
        ):  # what is learned is tried elsewhere
            continue
        first, again = (replace(found.run(trial, settings(table)), seconds=0.0) for _ in range(2))
        assert first == again
        assert first.cause != "infrastructure", first
        json.dumps(first.extra)


def test_every_instruction_of_a_family_is_run_once() -> None:
    found = PlanningSuite("SC-4", ["perfect-say"])
    every = found.trials(1, 0, ["Embodiment"], ["saycan perfect-say plan"])
    assert [trial.seed for trial in every] == list(range(11))
    assert [t.seed for t in found.trials(1, 1, ["Embodiment"], ["saycan perfect-say plan"])] == (
        list(range(11, 22))
    )


@pytest.mark.parametrize("table", TABLES)
def test_only_the_model_that_was_asked_for_runs(table: str) -> None:
    """`nearest` wrote programs beside any other model, and counted in its rate."""
    for cell in PlanningSuite(table, ["perfect-say"]).cells():
        assert "nearest" not in cell[1]


@pytest.mark.usefixtures("trials_here")
def test_each_planner_and_model_has_a_headline_that_says_what_the_model_knows(
    tmp_path: Path,
) -> None:
    words = ["bench", "run", "planning", "--table", "IM-1", "-n", "2", "--jobs", "1"]
    words += ["--tasks", "im-pick-and-place"]
    for name in ("perfect-say", "noisy-say:0.7"):
        words += ["--split", f"success {name}"]
    assert run([*words, "--out", str(tmp_path / "out")]) == 0
    report = tables.read(tmp_path / "out")
    columns = ["success perfect-say", "success noisy-say:0.7"]
    assert [cell.split for cell in report.models] == columns
    right = "knows the right next step"
    known = [
        f"perfect-say {right}; not a language model",
        f"noisy-say:0.7 {right}, and says it with probability 0.7; not a language model",
    ]
    assert report.headline[:2] == [*known]
    assert report.headline[3].startswith("success perfect-say: success 100.0 %")
    assert report.headline[4].startswith("success noisy-say:0.7: success ")
    assert [cell.split for cell in report.sums if cell.task == "all"] == columns
    numbers = report.as_json
    assert numbers["stand_ins"][:2] == known
    for name in ("report.md", "report.html"):
        text = (tmp_path / "out" / name).read_text().replace("\\", "")
        assert all(line in text for line in known)


def test_a_table_or_model_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"no table 'SC4'\. Use one of: SC-4"):
        PlanningSuite("SC4")
    with pytest.raises(UsageError, match="noisy-say:P"):
        PlanningSuite("SC-4", ["noisy-say:7"]).check(settings("SC-4", "noisy-say:7"))
    with pytest.raises(UsageError, match="unknown model"):
        PlanningSuite("SC-4", ["perfet"]).check(settings("SC-4", "perfet"))


@pytest.mark.usefixtures("trials_here")
def test_a_table_is_made_by_its_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "run", "planning", "--table", "SC-4", "-m", "perfect-say", "--jobs", "1"]
    words += ["--tasks", "NL single", "--split", "saycan perfect-say plan"]
    assert run([*words, "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    total, row = shown.partition("\nall ")[2].split("\nNL single ")
    for part in ("saycan perfect-say", "exact", "100.0 (79.6-100.0)", "15", "PaLM 540B 100"):
        assert part in row
    assert "PaLM 540B 84" in total
    assert "pass@" not in shown  # instructions are no samples of one problem


@pytest.mark.parametrize(
    ("words", "why"),
    table(__file__, "planning_suite: a_wrong_table_is_one_line").values(),
)
def test_a_wrong_table_is_one_line(
    words: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", "run", *words]) == 2
    assert why in capsys.readouterr().err


def test_there_is_no_oracle_and_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "oracle", "planning"]) == 2
    assert "no programs of its own" in capsys.readouterr().err


def test_stand_ins_that_read_no_example_have_no_cell_without_the_fitting_one() -> None:
    found = PlanningSuite("NL-1")
    assert {s for _, s in found.cells() if s.startswith("- dynamic")} == {"- dynamic copy-say"}
    assert "never read the example" in found.judged
    assert ("test", "- correction perfect-say") in found.cells()


def test_values_are_the_seeds_own_or_labelled_as_from_records() -> None:
    found = PlanningSuite("NL-1").reference("test", "vanilla copy-say")
    assert found == {"Codex 12B executable, from records, not verified": 18.07}
    total = PlanningCell("total", "object+success", "perfect-say")
    assert paper("IM-3", total) == {"PaLM 540B": 60.4}
    generalise = PlanningSuite("SP-6")
    (three,) = {s for _, s in generalise.cells() if "3" in s}
    assert generalise.reference("household generalise", three) == {"Vicuna 13B": 25}
