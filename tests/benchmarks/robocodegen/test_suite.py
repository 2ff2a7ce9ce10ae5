"""RoboCodeGen: fit problems, two by two arms through the engine, and reports by group."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import models
from benchmarks.problems.judge import examine, judge
from benchmarks.problems.problem import GENERALISATIONS
from benchmarks.problems.schema import SCHEMA
from benchmarks.problems.validation import check_problem
from benchmarks.report import tables
from benchmarks.results import begin, read_header
from benchmarks.robocodegen.suite import ARMS, LIBRARY, RoboCodeGenSuite, problem_set
from benchmarks.suite import Outcome, Settings, Trial, suite
from benchmarks.worker import run_trial
from cap.checker.policy import EVERYWHERE
from cap.checker.undefined import undefined
from cap.cli.main import run as cap
from cap.errors import ModelError, UsageError
from cap.program.program import Program
from cap.prompt import prompt as prompts
from cap.result import plain
from cap.robot import registry
from tests.benchmarks.robocodegen.solutions import SOLUTIONS
from tests.fakes.scripted import Scripted

PROBLEMS = problem_set(None).problems
SUITE = RoboCodeGenSuite()


def outcome(task: str, arm: str, model: str = "oracle", **options: Any) -> Outcome:
    settings = Settings("robocodegen", model, prompts="robocodegen", options=options)
    return suite("robocodegen", options).run(Trial(task, arm, 0), settings)


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Scripted]:
    def answer(*answers: Any) -> Scripted:
        model = Scripted(*answers)
        monkeypatch.setattr(models, "_made", lambda *given: model)
        return model

    return answer


# --- the problems


def test_the_families_have_the_papers_sizes() -> None:
    sizes = Counter(problem.family for problem in PROBLEMS.values())
    assert len(SOLUTIONS) == len(PROBLEMS)
    assert sizes == {"numpy": 16, "control": 4, "geometry": 10, "scene": 7}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.sweep
def test_references_are_right_and_mutants_are_not(name: str) -> None:
    finding = check_problem(PROBLEMS[name], seeds=[0])
    assert finding.faults == ()
    assert finding.rejected >= 4


@pytest.mark.parametrize("source", SOLUTIONS, ids=lambda source: source.partition("(")[0][4:])
@pytest.mark.sweep(share=0.1)
def test_what_another_hand_wrote_is_right_too(source: str) -> None:
    (name,) = [name for name in PROBLEMS if source.startswith(f"def {name}(")]
    assert judge(examine(PROBLEMS[name], 0), source).missed == ""


# --- the prompts


def examples(file: str) -> dict[str, Program]:
    prompt = prompts.load(registry.prompts_path() / "robocodegen" / f"{file}.py")
    return {entry.instruction: Program.parse(entry.code) for entry in prompt.examples}


def lacking(program: Program) -> list[str]:
    return [entry.name for entry in undefined(program, EVERYWHERE)]


def test_both_prompts_show_the_same_functions_and_differ_in_their_helpers() -> None:
    hierarchical, flat = examples("hierarchical"), examples("flat")
    assert list(hierarchical) == list(flat)
    assert len(flat) == 15
    assert not any(map(lacking, flat.values()))
    assert sum(bool(lacking(program)) for program in hierarchical.values()) >= 6


def test_no_prompt_shows_a_problem() -> None:
    shown = " ".join(examples("flat")) + " ".join(
        name for program in examples("hierarchical").values() for name in lacking(program)
    )
    assert not [name for name in PROBLEMS if name in shown]


# --- baselines and arms


def test_no_op_solves_nothing() -> None:
    wrong = outcome("get_bounds_of_all_objects", "flat-single", "no-op")
    assert (wrong.success, wrong.cause, wrong.extra["passed_cases"]) == (False, "task", 0)


@pytest.mark.sweep(share=0.1)
@pytest.mark.parametrize("part", range(10))
def test_the_oracle_solves_all(part: int) -> None:
    for name in [*PROBLEMS][part::10]:
        right = outcome(name, "flat-single")
        assert (name, right.success, right.failure) == (name, True, "")
        assert right.requests == 1


LENGTH = "def get_path_length(points):\n    return get_sum(get_steps(points))"
TOTAL = "def get_sum(xs):\n    return float(np.sum(xs))"
STEPS = "def get_steps(points):\n    return [get_step(p, q) for p, q in zip(points, points[1:])]"
STEP = "def get_step(p, q):\n    return np.linalg.norm(np.asarray(q) - np.asarray(p))"
HELPFUL = {
    "define function: length = get_path_length(points)": LENGTH,
    "define function: get_sum(get_steps(points))": TOTAL,
    "define function: get_steps(points)": STEPS,
    "define function: get_step(p, q)": STEP,
}
"""By what is asked: helpers are generated at once."""


@pytest.mark.parametrize("arm", ARMS)
def test_helpers_are_generated_in_the_recursive_arms_alone(
    arm: str, answering: Callable[..., Scripted]
) -> None:
    model = answering(HELPFUL)
    found = outcome("get_path_length", arm, "any")
    recursive = arm.endswith("recursive")
    assert found.success == recursive
    assert found.requests == (4 if recursive else 1)
    assert found.cause == ("" if recursive else "model")
    if recursive:
        assert set(found.extra["functions"]) == {
            "get_path_length",
            "get_sum",
            "get_steps",
            "get_step",
        }
    helpers_shown = "move_point(point=point" in model.requests[0].prompt
    assert helpers_shown == arm.startswith("hierarchical")


SHOWN = """
def get_path_length(points):
    moved = move_points(points, [1, 1])  # whose helper the hierarchical prompt does not show
    return get_total([get_distance(p, q) for p, q in zip(moved, moved[1:])])
"""


@pytest.mark.parametrize("arm", ARMS)
def test_what_the_prompt_shows_is_there_to_be_called(
    arm: str, answering: Callable[..., Scripted]
) -> None:
    answering(SHOWN)
    found = outcome("get_path_length", arm, "any")
    assert (found.success, found.failure, found.requests) == (True, "", 1)
    assert found.extra["functions"] == ["get_path_length"]
    assert "def get_distance(" in found.program  # so that what was run stands whole in the file


def test_a_model_is_asked_with_the_header_alone(
    answering: Callable[..., Scripted],
) -> None:
    model = answering(ModelError("nothing"))
    outcome("get_points_within_radius", "flat-single", "any")
    (request,) = model.requests
    last = request.prompt.rstrip().splitlines()[-1]
    assert last == (
        "# define function: near_points = get_points_within_radius(points, center, radius)."
    )
    assert "from scene import" not in request.prompt
    shipped = prompts.load(registry.prompts_path() / "robocodegen" / "flat.py").text
    assert request.prompt == f"{shipped.strip()}\n\n{last}\n"  # as the paper asks


def test_a_model_is_told_which_functions_a_scene_gives(
    answering: Callable[..., Scripted],
) -> None:
    model = answering(PROBLEMS["get_object_area"].reference)
    found = outcome("get_object_area", "hierarchical-recursive", "any")
    assert found.success
    assert found.calls > 0
    first = model.requests[0].prompt.splitlines()[0]
    assert first == "from scene import get_object_names, get_object_outline"


def test_asking_for_an_object_that_is_not_there_is_the_programs_fault(
    answering: Callable[..., Scripted],
) -> None:
    source = "def get_object_area(name):\n    return get_object_outline('moon')"
    answering(source)
    found = outcome("get_object_area", "flat-single", "any")
    assert (found.success, found.cause) == (False, "program")
    assert "NotFound" in found.failure


def test_samples_differ_by_their_seed_and_only_with_a_temperature(
    answering: Callable[..., Scripted],
) -> None:
    model = answering(HELPFUL)
    for temperature in (0.0, 0.8):
        options = {"asked": {"said": {"temperature": temperature}}}
        settings = Settings("robocodegen", "any", prompts="robocodegen", options=options)
        for sample in (0, 3):
            SUITE.run(Trial("get_path_length", "flat-single", 0, sample), settings)
    asked = [(request.temperature, request.seed) for request in model.requests]
    assert asked == [(0.0, None), (0.0, None), (0.8, 0), (0.8, 3_000_009)]


# --- one library for all


def own_file(tmp_path: Path) -> str:
    """Write two problems; the second is easily solved with what the first needs."""
    entry = SCHEMA[SCHEMA.index("[[problem]]") :]
    second = entry.replace("get_highest_point", "get_top_point").replace('"highest"', '"top"')
    path = tmp_path / "two.toml"
    path.write_text(SCHEMA + "\n" + second)
    return str(path)


FIRST = "def get_highest_point(points):\n    return max(points, key=get_height)"
SECOND = "def get_top_point(points):\n    return max(points, key=lambda p: get_height(p))"
HEIGHT = "def get_height(point):\n    return point[1]"


def test_a_shared_library_keeps_what_was_written(
    tmp_path: Path, answering: Callable[..., Scripted]
) -> None:
    model = answering(FIRST, HEIGHT, SECOND)
    options = {"problems": own_file(tmp_path), "shared_library": True}
    whole = outcome(LIBRARY, "hierarchical-recursive", "any", **options)
    assert whole.success
    assert len(model.requests) == whole.requests == 3  # the helper was asked for once
    assert whole.prompt_tokens == 30
    found = SUITE.parts(Trial(LIBRARY, "flat-single", 0), whole)
    assert [trial.task for trial, _ in found] == ["get_highest_point", "get_top_point"]
    broken = Outcome(False, "infrastructure", "any", "", requests=2)
    parts = list(SUITE.parts(Trial(LIBRARY, "flat-single", 0), broken))
    assert [part.task for part, _ in parts] == list(SUITE.problems)
    assert not any(one.success or one.requests for _, one in parts)


def test_a_shared_library_takes_all_problems_or_none(tmp_path: Path) -> None:
    found = RoboCodeGenSuite(own_file(tmp_path), shared_library=True)
    assert {trial.task for trial in found.trials(2, 0)} == {LIBRARY}
    with pytest.raises(UsageError, match="needs all problems"):
        found.trials(1, 0, ["get_top_point"])


# --- as a suite


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": 0}, "cannot run 0 samples"),
        ({"tasks": ["get_box_centre"]}, "Did you mean 'get_box_center'"),
        ({"splits": ["flat"]}, "unknown arm 'flat'"),
    ],
)
def test_wrong_trials_are_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        SUITE.trials(**{"n": 1, "seed": 0, **given})
    assert words in str(caught.value)


def test_a_reference_that_fails_counts_as_no_verdict_on_a_model(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(SCHEMA.replace('"[1, 2]"]', '"[5, 1]"]', 1))
    settings = Settings(
        "robocodegen", "oracle", prompts="robocodegen", options={"problems": str(path)}
    )
    found = run_trial(Trial("get_highest_point", "flat-single", 0), settings)
    assert (found.success, found.cause) == (False, "infrastructure")
    assert "the reference fails" in found.failure


def test_the_report_counts_by_family_and_by_kind(tmp_path: Path) -> None:
    settings = Settings("robocodegen", "oracle", prompts="robocodegen")
    results = begin(tmp_path / "run", SUITE, settings, resume=False)
    blank = outcome("get_box_center", "flat-single", "no-op")
    for trial in SUITE.trials(1, 0, None, ["flat-single"]):
        right = PROBLEMS[trial.task].family == "numpy"
        results.add(trial, replace(blank, success=right, cause="" if right else "task"))
    results.close()
    found = tables.rows_of(tables.read(tmp_path / "run").families)
    rows = {row["task"]: row for row in found}
    assert rows["numpy"]["n"] == 16
    assert rows["numpy"]["success %, 95 %"].startswith("100.0")
    assert rows["scene"]["success %, 95 %"].startswith("0.0")
    assert rows["all"]["success %, 95 %"].startswith("43.2")
    assert "code-davinci-002 81.1" in rows["all"]["published %"]
    assert "code-davinci-002 42.9" in rows["scene"]["published %"]
    assert (
        "the paper's 37, which are others"
        in read_header(tmp_path / "run")["conditions"]["problems"]
    )
    assert sum(row["n"] for name, row in rows.items() if name in GENERALISATIONS) == 37


def test_the_report_takes_a_pass_apart(tmp_path: Path) -> None:
    options = {"problems": own_file(tmp_path), "shared_library": True}
    found = suite("robocodegen", options)
    settings = Settings("robocodegen", "oracle", prompts="robocodegen", options=options)
    results = begin(tmp_path / "run", found, settings, resume=False)
    (trial,) = found.trials(1, 0, None, ["flat-single"])
    results.add(trial, Outcome(**plain(asdict(found.run(trial, settings)))))
    results.close()
    counts = {cell.task: cell.n for cell in tables.read(tmp_path / "run").families}
    assert counts == {"all": 2, "numpy": 2, "localism": 2}


# --- the command line


def test_problems_are_listed_checked_and_their_format_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cap(["bench", "problems", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert len(listed) == 37
    assert all(entry["reason"] for entry in listed)
    assert cap(["bench", "problems", "--schema"]) == 0
    path = tmp_path / "mine.toml"
    path.write_text(capsys.readouterr().out)
    assert cap(["bench", "problems", "--check", str(path)]) == 0
    assert "1 of 1 problems are suitable" in capsys.readouterr().err
    path.write_text(
        SCHEMA.replace("return points[0]", "return [1, 2] and max(points, key=lambda p: p[1])")
    )
    assert cap(["bench", "problems", "--check", str(path)]) == 1
    assert "mutant 'the first' passes" in capsys.readouterr().err
    assert cap(["bench", "problems", str(tmp_path / "none.toml")]) == 2
    assert "none.toml" in capsys.readouterr().err


@pytest.mark.usefixtures("trials_here")
def test_samples_of_a_file_are_judged(tmp_path: Path) -> None:
    right = PROBLEMS["get_box_center"].reference
    lines = [
        {"task_id": "get_box_center", "solution": right, "by": "hand"},
        {"task_id": "get_xy_from_polar", "completion": "    return [0, 0]\n"},
        {"task_id": "get_box_center", "completion": "    return (min_xy + max_xy) / 2\n"},
        {"task_id": "get_box_center", "completion": right.replace("np.asarray", "get_middle")},
    ]
    path, out = tmp_path / "samples.jsonl", tmp_path / "scored"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = ["bench", "score", "robocodegen", str(path), "--incomplete", "-k", "1,3"]
    assert cap([*command, "--out", str(out)]) == 0
    found = [json.loads(line) for line in (out / "given.samples.jsonl").read_text().splitlines()]
    assert [line["passed"] for line in found] == [True, False, True, False]
    assert [{**line} for line in lines] == [
        {key: line[key] for key in line if key not in ("result", "passed")} for line in found
    ]
    report = (out / "report.md").read_text()
    assert "| all | given | 50.0 (15.0-85.0) | 0.6-99.4 |" in report
    assert "given: pass@1 33.3 %" in report
    assert "published" not in report.partition("| arm |")[2]
