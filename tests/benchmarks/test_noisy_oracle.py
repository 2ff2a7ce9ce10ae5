"""A noisy oracle: right as often as it says, wrong in the way it says, the same for the same."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from benchmarks.models import draw_of
from benchmarks.noisy_oracle import KINDS, WHAT_IT_IS, NoisyOracle, mutant, noise_of
from benchmarks.statistics import wilson_interval
from benchmarks.suite import Settings, Trial, suite
from cap.errors import ModelError, UsageError
from cap.models.base import Request

PROGRAM = """
spots = [get_obj_pos('blue bowl'), 0.25]
for name in ['red block', 'blue block']:
    put_first_on_second(name, 'blue bowl')
"""
NAMES = ("red block", "blue block", "blue bowl", "green bowl")


def _asked(words: str, seed: int | None = None) -> Request:
    return Request(f"import numpy as np\n\n# {words}.\n", seed=seed)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_mutant_is_another_valid_program(kind: str) -> None:
    changed, way = mutant(PROGRAM, kind, np.random.default_rng(0), NAMES)
    assert way == kind
    assert ast.dump(ast.parse(changed)) != ast.dump(ast.parse(PROGRAM))


def test_a_program_without_a_place_for_a_mutation_does_nothing() -> None:
    assert mutant("say('hello')\n", "loop", np.random.default_rng(0), ()) == ("pass\n", "nothing")


def test_a_thing_is_taken_for_another_of_its_kind() -> None:
    changed, _ = mutant("f('red block')", "object", np.random.default_rng(1), NAMES)
    assert changed == "f('blue block')\n"


def test_it_is_right_as_often_as_it_says_each_sample_for_itself() -> None:
    model = NoisyOracle("noisy-oracle:0.7", "3", {"tidy up": PROGRAM}, NAMES)
    answers = [model.complete(_asked("tidy up", seed)) for seed in range(400)]
    low, high = wilson_interval(sum(answer.text == PROGRAM for answer in answers), 400)
    assert low < 0.7 < high
    assert all(WHAT_IT_IS in answer.notes for answer in answers)
    assert len({answer.notes for answer in answers}) == 1 + len(KINDS)
    assert [model.complete(_asked("tidy up", seed)) for seed in range(400)] == answers


def test_trials_of_one_seed_draw_for_themselves_however_alike_they_are_asked() -> None:
    trials = [Trial("in", "", 0), Trial("on", "", 0), Trial("on", "UA", 0), Trial("on", "", 1)]
    trials += [Trial("on", "", 0, sample=1)]
    draws = [draw_of(Settings("kitchen", "noisy-oracle:0.5"), trial) for trial in trials]
    draws += [draw_of(Settings("drawing", "noisy-oracle:0.5"), trials[0])]
    patterns = set()
    for draw in draws:
        model = NoisyOracle("noisy-oracle:0.5", draw, {"go to the countertop": PROGRAM}, NAMES)
        answers = (model.complete(_asked("go to the countertop", seed)) for seed in range(40))
        patterns.add(tuple(answer.text == PROGRAM for answer in answers))
    assert len(patterns) == len(draws)


def test_an_instruction_that_no_oracle_knows_is_not_answered() -> None:
    with pytest.raises(ModelError, match="knows the task's own programs alone"):
        NoisyOracle("noisy-oracle:1", "", {"tidy up": PROGRAM}).complete(_asked("something else"))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("noisy-oracle", "P from 0 to 1"),
        ("noisy-oracle:1.5", "P from 0 to 1"),
        ("noisy-oracle:nan", "P from 0 to 1"),
        ("noisy-oracle:0.5:swop", "Did you mean 'swap'"),
    ],
)
def test_a_name_that_says_nothing_is_refused_with_the_remedy(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        noise_of(name)


@pytest.mark.sweep(share=0.3)
@pytest.mark.parametrize(
    ("name", "task", "split"),
    [
        ("drawing", "make-bigger", ""),
        ("kitchen", "go-to", ""),
        ("tabletop", "pick-and-place", "SA-SI"),
        ("control", "cartpole", ""),
        ("robocodegen", "get_box_center", "hierarchical-recursive"),
        ("reasoning", "object-selection", "lmp"),
        ("humaneval", "HumanEval/0", "none"),
    ],
)
def test_every_suite_with_oracles_takes_it(name: str, task: str, split: str) -> None:
    from benchmarks.suite import OWN_PROMPTS

    found = suite(name)
    tasks = dict.fromkeys(one for one, _ in found.cells())
    trial = Trial(task if task in tasks else next(iter(tasks)), split, 0)
    for model, right in (("noisy-oracle:1", True), ("noisy-oracle:0:nothing", False)):
        settings = Settings(name, model, mode="instant", prompts=OWN_PROMPTS.get(name, ""))
        found.check(settings)
        outcome = found.run(trial, settings)
        assert outcome.success is right, outcome.failure
