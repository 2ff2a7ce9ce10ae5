"""The tabletop tasks as a Gymnasium environment."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from benchmarks.environments import RAVENS
from benchmarks.environments.ravens_policies import (
    main,
    oracle_program,
    random_program,
    success_rate,
)
from benchmarks.tabletop.suite import CELLS
from benchmarks.tabletop.trial_sampler import prepare
from cap.errors import UsageError


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    made = gymnasium.make(RAVENS)
    made.reset(seed=0)  # Gymnasium's own checker breaks where the first reset is refused
    yield made
    made.close()


def test_gymnasium_finds_nothing_wrong() -> None:
    env = gymnasium.make(RAVENS, render_mode="rgb_array")
    with warnings.catch_warnings():
        # Gymnasium advises against spaces that are no simple box: texts are meant here.
        warnings.filterwarnings("ignore", module="gymnasium")
        check_env(env.unwrapped)
    env.reset(seed=0)
    assert env.render().shape == (480, 480, 3)
    env.close()


def test_an_episode_is_the_suites_trial_of_its_seed(env: Any) -> None:
    seen, info = env.reset(seed=7)
    cell = CELLS["pick-and-place", "SA-SI"]
    setup = prepare(cell.task, cell.attributes, "SA-SI", 7)
    assert seen["instruction"] == setup.instruction
    assert set(seen["objects"].split(", ")) == set(setup.objects)
    first = setup.before[seen["objects"].split(", ")[0]]
    assert np.allclose(seen["positions"][0], first, atol=1e-6)
    assert info == {"task": "pick-and-place", "split": "SA-SI", "seed": 7}


def test_the_judge_rewards_and_ends_the_episode(env: Any) -> None:
    env.reset(seed=3)
    seen, reward, terminated, truncated, info = env.step("say('done')")
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["missed"]
    assert "said 'done'" in seen["feedback"]
    seen, reward, terminated, _, info = env.step("import os")
    assert (reward, terminated) == (0.0, False)
    assert "CAP102" in seen["feedback"]
    seen, reward, terminated, _, info = env.step(env.unwrapped.oracle())
    assert (reward, terminated, info["success"], info["missed"]) == (1.0, True, True, None)
    assert info["turn"]["effect"] == ["moved"]


def test_an_episode_ends_after_some_steps(env: Any) -> None:
    env.reset(seed=3)
    ended = [env.step("pass")[3] for _ in range(5)]
    assert ended == [False] * 4 + [True]


def test_an_instruction_asks_the_model() -> None:
    env = gymnasium.make(RAVENS, action="instruction", image=0)
    seen, _ = env.reset(seed=1)
    assert "image" not in seen
    _, reward, terminated, _, info = env.step(seen["instruction"])
    assert (reward, terminated) == (1.0, True), info["missed"]
    env.reset(seed=1)
    assert "NoMatch" in env.step("sing me a song")[0]["feedback"]
    env.close()


def test_the_two_policies(env: Any) -> None:
    assert success_rate(env, oracle_program, 2) == 1.0
    assert success_rate(env, random_program, 3) < 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"task": "stack-block"}, "no task 'stack-block'. Did you mean 'stack-blocks'"),
        ({"split": "UA-UI"}, "task 'pick-and-place' has no split 'UA-UI'; it has SA-SI, UA-SI"),
        ({"action": "torque"}, "no action 'torque'"),
        ({"model": "gpt"}, "unknown model 'gpt'"),
        ({"task": None}, "no task 'None'"),
        ({"image": -1}, "image is -1; it is a width in pixels"),
        ({"image": "x"}, "image is 'x'"),
        ({"image": 10**6}, "image is 1000000"),
    ],
)
def test_what_is_not_there_is_told(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        gymnasium.make(RAVENS, **given)


def test_nothing_is_done_before_the_first_episode() -> None:
    env = gymnasium.make(RAVENS).unwrapped
    with pytest.raises(UsageError, match=r"call reset\(\) first"):
        env.step("pass")
    env.close()


def test_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "environments.md").read_text(encoding="utf-8")
    (one,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(one, "environments.md", "exec"), {})
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("Pick up the ")
    assert shown[1:] == ["0.0 said 'hello'; nothing moved", "1.0 True ['moved']"]
    commands = re.findall(r"-m benchmarks.environments.ravens_policies (.*)", page)
    for command in commands:
        main([*command.split()[:-1], "2"])  # of two episodes
        assert " % of 2\n" in capsys.readouterr().out
    assert len(commands) == 2


@pytest.mark.parametrize("action", ["program", "instruction"])
def test_what_is_no_text_is_no_action_and_earns_nothing(action: str) -> None:
    env: Any = gymnasium.make(RAVENS, action=action, image=0).unwrapped
    env.reset(seed=3)
    for given in (None, b"say('x')", 3):
        with pytest.raises(UsageError, match=r"the action is .*; it must be text"):
            env.step(given)
    env.close()


def test_options_and_steps_after_the_end_are_refused(env: Any) -> None:
    with pytest.raises(UsageError, match=r"reset\(\) has no options and was given {'zz': 1}"):
        env.reset(seed=3, options={"zz": 1})
    env.reset(seed=3, options={})
    assert env.step(env.unwrapped.oracle())[1:3] == (1.0, True)
    with pytest.raises(gymnasium.error.ResetNeeded, match="the episode is over"):
        env.step("say('x')")
    env.reset(seed=3)
    assert env.step("say('x')")[1:3] == (0.0, False)
