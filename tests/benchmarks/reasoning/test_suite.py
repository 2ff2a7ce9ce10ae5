"""The reasoning suite: its questions have one answer each, and nothing else passes."""

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.reasoning.answers import wrong
from benchmarks.reasoning.questions import COLORS, QUESTIONS, put
from benchmarks.reasoning.suite import ARMS, SYSTEM, TASKS, ReasoningSuite
from benchmarks.suite import OWN_PROMPTS, Outcome, Settings, Trial
from cap.errors import ModelError, PromptError, UsageError
from cap.prompt.prompt import Example
from cap.robot.registry import load_prompts, prompts_path
from tests.fakes.scripted import Scripted

SUITE = ReasoningSuite()
OBJECTS, POSITIONS = TASKS.values()
ORACLE = Settings("reasoning", "oracle", prompts=OWN_PROMPTS["reasoning"])
RIGHTMOST = Trial("object-selection", "lmp", 0)
BESIDE = Trial("position-selection", "lmp", 0)
LINE = Trial("position-selection", "lmp", 23)
FILES = {"object": "parse_obj_name", "position": "parse_position"}


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a trial with a scripted model."""

    def run(trial: Trial, *answers: Any, **options: Any) -> tuple[Outcome, Scripted]:
        model = Scripted(*answers)
        monkeypatch.setattr("benchmarks.models.model_for", lambda *_: model)
        return SUITE.run(trial, replace(ORACLE, model="scripted", options=options)), model

    return run


def in_words(trial: Trial) -> Trial:
    return replace(trial, split="direct")


def test_there_are_as_many_questions_as_in_the_paper_and_no_two_alike() -> None:
    assert len(OBJECTS) >= 28
    assert len(POSITIONS) >= 23
    assert len({question.name for question in QUESTIONS}) == len(QUESTIONS)
    assert len({question.words for question in QUESTIONS}) == len(QUESTIONS)


def test_questions_have_the_answers_that_were_worked_out_otherwise() -> None:
    known = {question.name: question for question in QUESTIONS}
    lines = Path(__file__).with_name("right.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert {row["question"] for row in rows} == known.keys()
    for row in rows:
        asked = put(known[row["question"]], row["seed"])
        assert wrong(asked.question, asked.answer, row["right"]) is None, row


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("task", TASKS)
def test_oracle_answers_every_question(task: str, arm: str) -> None:
    trials = SUITE.trials(len(TASKS[task]), 60, [task], [arm])
    outcomes = [SUITE.run(trial, ORACLE) for trial in trials]
    missed = [(o.extra["question"], o.failure) for o in outcomes if not o.success]
    assert missed == []
    assert len({o.extra["question"] for o in outcomes}) == len(TASKS[task])


@pytest.mark.parametrize("cell", SUITE.cells())
def test_doing_nothing_answers_no_question(cell: tuple[str, str]) -> None:
    no_op = replace(ORACLE, model="no-op")
    outcomes = [SUITE.run(Trial(*cell, seed), no_op) for seed in range(30)]
    assert Counter(outcome.success for outcome in outcomes) == {False: 30}


def test_arms_are_asked_the_same_in_the_same_scene() -> None:
    for task in TASKS:
        outcomes = [SUITE.run(Trial(task, arm, 17), ORACLE) for arm in ARMS]
        assert len({json.dumps([o.instruction, o.extra]) for o in outcomes}) == 1


def pattern(words: str) -> str:
    """Return words without what only a scene decides: colors and numbers."""
    words = re.sub(r"\{(block|bowl)2?\}|\{twin\}", lambda m: f"C {m[1] or 'bowl'}", words)
    words = re.sub(r"\b(" + "|".join(COLORS) + r")\b", "C", words)
    return re.sub(r"\d+(\.\d+)?", "N", words).strip(" .").lower()


def examples(folder: str, kind: str) -> dict[str, Example]:
    name = FILES[kind] if folder == "reasoning" else kind
    prompt = load_prompts(prompts_path() / folder)[name]
    return {example.instruction: example for example in prompt.examples}


@pytest.mark.parametrize("folder", ["reasoning", "reasoning-direct", "reasoning-step-by-step"])
def test_no_question_stands_in_a_prompt(folder: str) -> None:
    shown = [words for kind in FILES for words in examples(folder, kind)]
    asked = {pattern(question.words) for question in QUESTIONS}
    assert shown
    assert [words for words in shown if pattern(words) in asked] == []


@pytest.mark.parametrize("kind", FILES)
def test_the_arms_prompts_have_the_same_examples(kind: str) -> None:
    code = examples("reasoning", kind)
    assert list(code) == list(examples("reasoning-direct", kind))
    assert list(code) == list(examples("reasoning-step-by-step", kind))


@pytest.mark.parametrize(
    "program",
    [
        "ret_val = 3",
        "ret_val = None",
        "ret_val = {'answer': objects}",
        "ret_val = [1, 2]",
        "ret_val = lambda: 1",
        "names = objects",
        "ret_val = get_obj_pos('the moon')",
        "ret_val = get_obj_pos(objects)",
        "ret_val = objects[99]",
        "import os\nret_val = os.listdir('/')",
        "while True:\n    pass",
        "class Same(str):\n    def __eq__(self, other):\n        return True\nret_val = Same('x')",
    ],
)
def test_programs_that_give_no_names_fail_by_their_own_fault(answering: Any, program: str) -> None:
    outcome, _ = answering(RIGHTMOST, program, limits={"program_s": 0.3})
    assert (outcome.success, outcome.cause) == (False, "program")
    assert outcome.failure


@pytest.mark.parametrize(
    "program",
    [
        "ret_val = np.array([np.nan, 0.1])",
        "ret_val = (float('inf'), 0)",
        "ret_val = 'there'",
        "ret_val = [[0.1, 0.2], [0.3]]",
        "ret_val = [[[0.1, 0.2]]]",
        "ret_val = 0.1",
        "ret_val = [0.1 + 2j, 0]",
        "ret_val = [True, False]",
        "ret_val = []",
    ],
)
def test_programs_that_give_no_points_fail_by_their_own_fault(answering: Any, program: str) -> None:
    outcome, _ = answering(BESIDE, program)
    assert (outcome.success, outcome.cause) == (False, "program")


@pytest.mark.parametrize(
    ("trial", "program"),
    [
        (RIGHTMOST, "ret_val = objects"),
        (RIGHTMOST, "ret_val = []"),
        (RIGHTMOST, "ret_val = 'ultraviolet block'"),
        (BESIDE, "ret_val = [0.0, 0.0]"),
        (BESIDE, "ret_val = [0.0, 0.0, 0.0]"),
        (BESIDE, "ret_val = np.zeros((500, 2))"),
        (LINE, "ret_val = np.zeros((5, 2))"),
    ],
)
def test_wrong_answers_are_wrong(answering: Any, trial: Trial, program: str) -> None:
    outcome, _ = answering(trial, program)
    assert (outcome.success, outcome.cause) == (False, "task")
    assert "right" in outcome.failure


@pytest.mark.parametrize("text", ["", "I cannot say.", "answer = ", "(nan, nan)", "ret_val = 1/0"])
@pytest.mark.parametrize("trial", [RIGHTMOST, BESIDE])
def test_texts_that_are_no_answer_are_the_model_s_fault(
    answering: Any, trial: Trial, text: str
) -> None:
    outcome, _ = answering(in_words(trial), text)
    assert (outcome.success, outcome.cause) == (False, "model")


@pytest.mark.parametrize("arm", ["direct", "step-by-step"])
def test_an_answer_that_cannot_be_read_is_sent_back_once(answering: Any, arm: str) -> None:
    trial = replace(RIGHTMOST, split=arm)
    right = put(OBJECTS[0], 0).answer[0]
    for texts, won, malformed in (
        ([f"answer = '{right}'"], True, False),
        (["I cannot say.", f"The rightmost block is the {right}."], True, False),
        (["I cannot say.", "I really cannot."], False, True),
        (["I cannot say.", "the ultraviolet block"], False, True),
    ):
        outcome, model = answering(trial, *texts, "one too many")
        assert (outcome.success, outcome.requests) == (won, len(texts))
        assert bool(outcome.extra.get("malformed")) == malformed
        assert bool(outcome.extra.get("repaired")) == (len(texts) > 1)
        for request in model.requests[1:]:
            assert "# I cannot say." in request.prompt or "I cannot say." in request.prompt
            assert "#! " in request.prompt
            assert "answer it once more" in request.prompt
            assert request.prompt.count("ret_val") == 0


def test_a_model_that_refuses_is_to_blame_in_every_arm(answering: Any) -> None:
    for arm in ARMS:
        outcome, _ = answering(replace(BESIDE, split=arm), ModelError("out of order"))
        assert (outcome.success, outcome.cause) == (False, "model")
        assert "out of order" in outcome.failure


def test_language_is_asked_with_positions_and_code_without(answering: Any) -> None:
    outcome, model = answering(in_words(BESIDE), "(0, 0)")
    (request,) = model.requests
    asked = put(POSITIONS[0], 0)
    assert request.system == SYSTEM
    assert f"positions = {dict(asked.scene.positions)!r}" in request.prompt
    assert (outcome.requests, outcome.prompt_tokens, outcome.cost_usd) == (1, 10, 0.25)
    _, model = answering(BESIDE, "ret_val = (0, 0)")
    (request,) = model.requests
    assert request.system is None
    assert asked.scene.objects[0] in request.prompt
    assert str(asked.scene.positions[asked.scene.objects[0]]) not in request.prompt


def test_an_answer_after_the_last_mark_counts_up_to_the_next_question(answering: Any) -> None:
    (right,) = put(OBJECTS[0], 0).answer
    text = f"The answer is not clear.\nanswer = '{right}'\n\n# the next question.\nanswer = 'x'"
    assert answering(in_words(RIGHTMOST), text)[0].success


@pytest.mark.parametrize(
    ("changes", "error"),
    [({"options": {"pictures": "x"}}, UsageError), ({"prompts": "no/such"}, PromptError)],
)
def test_settings_that_cannot_be_are_refused(changes: dict[str, Any], error: Any) -> None:
    with pytest.raises(error):
        SUITE.check(replace(ORACLE, **changes))
