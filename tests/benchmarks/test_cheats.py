"""Programs that come near what a task says and do not do it: each judge finds them wrong.

They were written from the sentences alone. One of each suite runs in `make test`.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.problems.judge import examine, judge
from benchmarks.robocodegen.suite import problem_set
from benchmarks.suite import OWN_PROMPTS, Settings, Trial, suite
from cap.program.extraction import program_in
from tests.benchmarks.cheating import Cheater, carried_out

PROMPTS = Path(__file__).parents[2] / "prompts"
CHEATS = [
    (file.stem, json.loads(line))
    for file in sorted(Path(__file__).with_name("cheats").glob("*.jsonl"))
    for line in file.read_text().splitlines()
]


def cheats(*, robots: bool) -> Any:
    chosen = [(name, cheat) for name, cheat in CHEATS if ("programs" in cheat) == robots]
    seen: set[str] = set()
    cases = []
    for number, (name, cheat) in enumerate(chosen):
        marks = [pytest.mark.soak] if name in seen else []
        seen.add(name)
        cases.append(pytest.param(name, cheat, marks=marks, id=f"{name}-{number}"))
    return pytest.mark.parametrize(("name", "cheat"), cases)


@pytest.fixture(scope="module")
def all_names(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a prompt that brings every primitive of the tabletop into scope."""
    folder = tmp_path_factory.mktemp("prompts") / "all-names"
    shutil.copytree(PROMPTS / "ravens-seen", folder)
    file = folder / "ui.py"
    more = "from robot import get_obj_names, find_free_region, arrange_objects\n"
    file.write_text(file.read_text().replace("from robot import", f"{more}from robot import", 1))
    return str(folder)


@cheats(robots=True)
def test_a_cheat_is_judged_wrong(
    name: str, cheat: dict[str, Any], all_names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    trial = Trial(cheat["task"], cheat.get("split", ""), cheat["seed"])
    prompts = all_names if name == "tabletop" else ""
    outcome = carried_out(suite(name, {}), trial, cheat["programs"], monkeypatch, prompts)
    assert outcome.instruction == "; ".join(cheat["instructions"])
    assert (outcome.success, outcome.cause) == (False, "task"), cheat["why"]


@cheats(robots=False)
def test_a_wrong_answer_is_judged_wrong(name: str, cheat: dict[str, Any]) -> None:
    problem = problem_set(None).problems[cheat["task"]]
    assert not judge(examine(problem, 0), cheat["solution"]).right, cheat["why"]


FORMS = {
    "a shown helper again": "def get_distance(a, b):\n    return np.linalg.norm(a - b)\n\n{}",
    "a constant": "ORIGIN = 0.0\n\n{}",
    "a print after it": "{}\nprint(get_path_length(np.array([[0, 0], [1, 0]])))\n",
    "an assertion after it": "{}\nassert get_path_length(np.array([[0, 0], [1, 0]])) == 1\n",
    "a script's part": "{}\nif __name__ == '__main__':\n    print('done')\n",
    "a second block": "```python\n{}```\n\nAs in:\n\n```python\nx = get_path_length(p)\n```",
    "a lambda": (
        "get_path_length = lambda points: sum(\n"
        "    np.linalg.norm(np.diff(points, axis=0), axis=1))\n"
    ),
}
RIGHT = (
    "def get_path_length(points):\n"
    "    points = np.asarray(points)\n"
    "    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())\n"
)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_right_function_passes_in_any_form_when_it_is_written_and_when_it_is_scored(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = form.format(RIGHT)
    model = Cheater([answer] * 9)
    monkeypatch.setattr("benchmarks.models.model_for", lambda *_: model)
    found = suite("robocodegen", {})
    settings = Settings(found.name, "cheater", prompts=OWN_PROMPTS["robocodegen"])
    for arm in ("flat-single", "hierarchical-recursive"):
        outcome = found.run(Trial("get_path_length", arm, 0), settings)
        assert outcome.success, outcome.failure
    source = program_in(answer).source
    if "get_path_length(p)" not in source:  # what a file of samples has runs as it is
        assert judge(examine(problem_set(None).problems["get_path_length"], 0), source).right


def test_what_the_check_refuses_is_counted_as_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Cheater(["import os\n" + RIGHT] * 9)
    monkeypatch.setattr("benchmarks.models.model_for", lambda *_: model)
    found = suite("robocodegen", {})
    settings = Settings(found.name, "cheater", prompts=OWN_PROMPTS["robocodegen"])
    outcome = found.run(Trial("get_path_length", "flat-single", 0), settings)
    assert not outcome.success
    assert "'import os' is not allowed" in outcome.extra["refused"]
