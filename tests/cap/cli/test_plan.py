"""`cap plan`: one instruction with one planner, shown and kept."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchmarks.planning import trials
from cap.cli.main import run
from cap.models.base import Scores
from cap.planners.stand_in_models import FORMS, StandIn
from tests.fakes.openai_server import FakeServer, error
from tests.rows import cases

Capture = pytest.CaptureFixture[str]


def plan(*words: str, out: Path) -> int:
    return run(["plan", *words, "--out", str(out)])


def test_an_instruction_is_carried_out_with_its_scores_as_a_table(
    tmp_path: Path, capsys: Capture
) -> None:
    assert plan("bring me something to clean up the spill", out=tmp_path / "run") == 0
    shown = capsys.readouterr().out
    assert "perfect-say knows the right next step; not a language model" in shown
    assert "find a sponge          1" in shown
    assert "done: the world matches the instruction" in shown
    with Image.open(tmp_path / "run" / "after.png") as after:
        assert after.size == (480, 480)
    kinds = [
        json.loads(line)["kind"]
        for line in (tmp_path / "run" / "events.jsonl").read_text().splitlines()
    ]
    assert kinds.count("candidates") == kinds.count("step") + 1 == 5
    assert run(["trace", "show", str(tmp_path / "run")]) == 0
    assert "bring it to you" in capsys.readouterr().out


@pytest.mark.inside
def test_what_was_unusual_in_comparing_is_shown(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = StandIn.score

    def score(model: StandIn, prompt: str, continuations: Sequence[str]) -> Scores:
        return Scores(right(model, prompt, continuations).logprobs, "exact", ("by guess",))

    monkeypatch.setattr(StandIn, "score", score)
    assert plan("throw away the apple", out=tmp_path / "run") == 0
    assert "note: by guess (step 1, 2, 3, 4" in capsys.readouterr().out


def test_a_zero_shot_planner_acts_in_the_household(tmp_path: Path, capsys: Capture) -> None:
    words = ("Drink the milk", "--planner", "zero-shot", "-r", "household")
    assert plan(*words, "--json", out=tmp_path / "run") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["done"]
    assert found["plan"][-1] == "drink the milk"
    assert found["whereabouts"]["milk"] == "hand"
    assert found["rung"] == "translated"
    every = [entry for moment in found["scores"] for entry in moment["candidates"]]
    for entry in every:  # no affordance and no payoff: it has none
        assert set(entry) == {
            "text", "said", "likeness", "share", "beta", "penalty", "score",
        }  # fmt: skip
        liking = entry["beta"] * math.log(entry["share"])
        assert entry["score"] == pytest.approx(entry["likeness"] + liking - entry["penalty"])
    assert any(entry["share"] < 1 for entry in every)
    assert plan(*words, out=tmp_path / "table") == 0
    (head,) = [row for row in capsys.readouterr().out.splitlines() if "likeness" in row]
    assert head.split()[:6] == ["candidate", "step", "likeness", "share", "penalty", "score"]


def test_a_zero_shot_planner_translates_as_it_is_told(tmp_path: Path, capsys: Capture) -> None:
    likeness = {}
    for said in ("tfidf", "edit"):
        words = ("Drink the milk", "--planner", "zero-shot", "-r", "household")
        plan(*words, "--translator", said, "--json", out=tmp_path / said)
        found = json.loads(capsys.readouterr().out)
        likeness[said] = [c["likeness"] for moment in found["scores"] for c in moment["candidates"]]
    assert likeness["edit"] != likeness["tfidf"]


BLOCKS_AND_BOWLS = ("--objects", "red block, red bowl, blue block, blue bowl")
HOUSEHOLD = ("--planner", "zero-shot", "-r", "household")


@pytest.mark.sweep(share=0.34)  # some seconds each
@pytest.mark.parametrize(
    "words",
    [
        ("Drink the milk.", *HOUSEHOLD),
        ("drink the milk", *HOUSEHOLD),
        ("Put the blocks in their matching bowls.", "-r", "ravens", *BLOCKS_AND_BOWLS),
    ],
    ids=itemgetter(0),
)
def test_an_instruction_is_known_whatever_its_case_its_stop_and_its_wording(
    words: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    assert plan(*words, out=tmp_path / "run") == 0
    assert capsys.readouterr().out.count("done: the world matches the instruction") == 1


def test_a_monologue_reads_what_came_of_its_steps(tmp_path: Path, capsys: Capture) -> None:
    words = ("stack all the blocks", "--planner", "monologue", "-r", "ravens")
    assert plan(*words, "--feedback", "scene", "--disturb", "once", out=tmp_path / "run") == 0
    shown = capsys.readouterr().out
    assert "goal: green block on red block" in shown
    assert "Reached: nothing" in shown
    assert "somebody kept it from succeeding" in shown


def test_a_program_is_bounded_and_disturbed_like_any_planner(
    tmp_path: Path, capsys: Capture
) -> None:
    words = ("put the apple on the desk", "--planner", "cap", "--objects", "apple @ table")
    assert plan(*words, "--max-steps", "1", out=tmp_path / "one") == 1
    assert "1 steps were taken" in capsys.readouterr().out
    plan(*words, "--disturb", "once", out=tmp_path / "two")
    assert "somebody kept it from succeeding" in capsys.readouterr().out


def test_what_a_person_says_on_the_way_is_what_is_judged(tmp_path: Path, capsys: Capture) -> None:
    words = ("throw away the apple", "--say", "1:bring me a sponge")
    assert plan(*words, out=tmp_path / "run") == 0
    shown = capsys.readouterr().out
    assert "Person: bring me a sponge" in shown
    assert "pick up the sponge" in shown


def test_a_person_who_answers_nothing_holds_nothing_up(tmp_path: Path, capsys: Capture) -> None:
    assert plan("bring me a drink", "--feedback", "human", out=tmp_path / "run") == 0
    assert "Person: (no answer)" in capsys.readouterr().out


def test_what_no_stand_in_knows_ends_with_the_remedy(tmp_path: Path, capsys: Capture) -> None:
    assert plan("sing a song", "-m", "perfect-say", out=tmp_path / "run") == 4
    shown = capsys.readouterr().out
    assert "use another model with -m" in shown
    assert "the benchmark knows, for example: " in shown


def test_every_stand_in_is_named_where_a_model_is_chosen(
    capsys: Capture,
) -> None:
    assert run(["plan", "--help"]) == 0
    shown = "".join(capsys.readouterr().out.split())
    assert [form for form in FORMS if f"{form}," not in shown and f"{form}." not in shown] == []


@pytest.mark.parametrize("planner", ["saycan", "cap"])
def test_a_model_that_gives_nothing_is_told_alike_by_every_planner(
    planner: str, tmp_path: Path, capsys: Capture
) -> None:
    """A program that could not be written ended with 1, as one that went wrong."""
    words = ("frobnicate the gizmo", "--planner", planner, "-m", "nearest")
    assert plan(*words, out=tmp_path / "run") == 4
    shown = capsys.readouterr().out
    assert "ended unfinished: NoMatch: nearest cannot" in shown
    assert "the benchmark knows, for example: " in shown


CORNERS = ("Put all the blocks in different corners", "--planner", "monologue", "-r", "ravens")


def test_a_benchmark_instruction_that_the_scene_forbids_says_what_is_in_the_way(
    tmp_path: Path, capsys: Capture
) -> None:
    for seed in ("0", "1", "2"):
        words = (*CORNERS, "--feedback", "scene", "--seed", seed)
        assert plan(*words, out=tmp_path / seed) == 2
        assert re.search(r"the \w+ bowl is too near to the [\w ]+ corner", capsys.readouterr().err)
    for more in (("--seed", "3"), ("--objects", "red block, blue block")):
        assert plan(*CORNERS, "--feedback", "scene", *more, out=tmp_path / more[0]) == 0
        assert "done: the world matches the instruction" in capsys.readouterr().out


@pytest.mark.parametrize("robot", ["kitchen", "ravens"])
@pytest.mark.parametrize("planner", ["saycan", "monologue"])
def test_a_model_without_log_probabilities_is_shown_the_scene_and_asked_once_a_step(
    robot: str, planner: str, tmp_path: Path, capsys: Capture
) -> None:
    said = " done." if planner == "monologue" and robot == "ravens" else "A"

    def answer(prompt: str, body: Any) -> Any:
        return error(400, "no logprobs") if "logprobs" in body else said

    with FakeServer(answer) as server:
        words = ("tidy up", "-r", robot, "--planner", planner, "-m", "openai/x", "--json")
        more = ("--base-url", server.url, "--max-steps", "1")
        plan(*words, *more, out=tmp_path / "run")
        bodies = [post.body for post in server.posts if "messages" in post.body]
    asked = [body for body in bodies if "logprobs" not in body]
    found = json.loads(capsys.readouterr().out)
    assert len(asked) == 1
    assert found["usage"]["requests"] >= 1
    system, user = (message["content"] for message in asked[0]["messages"])
    assert "ython" not in system
    last = user.rsplit("\n\nScene: there is ", 1)[1]
    assert ("coke can" if robot == "kitchen" else "red block") in last.splitlines()[0]


def test_a_model_that_cannot_match_is_asked_before_anything_is_learned(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def learned(*_: Any, **__: Any) -> Any:
        raise AssertionError("it learned first")

    monkeypatch.setattr(trials, "trained", learned)
    words = ("juggle the plates", "-r", "ravens", "--planner", "saycanpay", "-m", "nearest")
    assert plan(*words, out=tmp_path / "run") == 4
    assert "nearest cannot match" in capsys.readouterr().out


def test_a_plan_without_a_step_there_is_is_not_done(tmp_path: Path, capsys: Capture) -> None:
    assert plan("go to the moon", "-m", "nearest", out=tmp_path / "run") == 4
    assert "no step of the model's plan is one there is" in capsys.readouterr().out


@cases(("instruction", "objects", "why"))
def test_in_the_kitchen_what_is_so_already_or_cannot_be_is_refused_at_the_start(
    instruction: str,
    objects: str,
    why: str,
    tmp_path: Path,
    capsys: Capture,
) -> None:
    """Met by nothing, or met before anything was done, it was told as done."""
    assert plan(instruction, "--objects", objects, out=tmp_path / "run") == 2
    error = capsys.readouterr().err
    assert "there is nothing to do" in error
    assert why in error
    assert "--objects" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


@cases(("words", "why"))
def test_what_cannot_be_is_one_line_and_leaves_nothing(
    words: list[str], why: str, tmp_path: Path, capsys: Capture
) -> None:
    assert plan(*words, out=tmp_path / "run") == 2
    shown, error = capsys.readouterr()
    assert "failed" not in shown
    assert why in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()
