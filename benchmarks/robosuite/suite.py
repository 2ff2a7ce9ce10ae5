"""The suite: tasks in robosuite's environments, by programs or by a policy of somebody else's.

A trial's layout is the one that `robosuite.make(..., seed=SEED)` and one `reset()` give. Success is
robosuite's own `_check_success`; of the task `re-stack` it is that of Stack with its two cubes
exchanged, from a start where Stack's own check holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks import task_file
from benchmarks.robot_suite import (
    OPTIONS,
    RobotCase,
    carry_out,
    check_model,
    prompts_for,
)
from benchmarks.suite import (
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_options,
)
from cap.errors import CapError, UsageError
from cap.robot import registry
from robots.robosuite import require_robosuite

VERSION = "2"
POLICY = "policy"
"""The option, and the function of the file it names."""
_PACKAGES = ("robosuite", "mujoco", "numpy")


class RobosuiteTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One task."""

    name: str
    env: str
    """robosuite's name of the environment."""
    instruction: str
    oracle: str
    """A program that does it, whatever the seed and the arm."""
    arms: tuple[str, ...] = ("Panda",)
    """Arms it is tried with; the splits of reports."""
    setup: tuple[str, ...] = ()
    """What is stacked before the trial, upper thing first."""
    exchanged: bool = False
    """Stack's check with its two cubes exchanged judges."""
    published: Mapping[str, float] = {}
    """Others' values, percent, by what they are of."""


TASKS = {
    task.name: task
    for task in task_file.load(Path(__file__).with_name("tasks.toml"), RobosuiteTask)
}


class RobosuiteSuite(BaseSuite):
    """Tasks in robosuite's environments; each arm is a split."""

    name = "robosuite"
    about = "tasks in robosuite's environments, judged by its own checks"
    version = VERSION
    judged = "robosuite's own check of success judges, after every program ended well."
    takes = ("prompts",)
    usual_n = 50
    policy: Path | None = None
    """A file of somebody else's policy, which acts in place of programs."""

    def adjusted(self, options: Mapping[str, Any]) -> BaseSuite:
        """Return the suite, run by the policy that the options name, if they do."""
        self.policy = Path(options[POLICY]) if options.get(POLICY) else None
        return self

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task with each of its arms."""
        return tuple((task.name, arm) for task in TASKS.values() for arm in task.arms)

    def conditions(self) -> Mapping[str, str]:
        """Return the versions that layouts and physics depend on."""
        return {name: version(name) for name in _PACKAGES}

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return what CaP-X reports of a task, in percent; it is measured with a Panda."""
        return TASKS[task].published if task in TASKS and split == "Panda" else {}

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model, prompts, a policy or an option that does not
                exist.
            MissingExtra: robosuite is not installed.
            MissingKey: The model needs a key and none is set.
        """
        require_robosuite()
        if self.policy is not None:
            check_options(settings, (POLICY, *OPTIONS))
            _function_of(self.policy)
        else:
            check_model(settings)
            prompts_for("robosuite", settings)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one trial.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        task = TASKS[trial.task]
        options = {"env": task.env, "arm": trial.split}
        if self.policy is not None:
            return _by_policy(self.policy, task, trial)
        robot: Any = registry.make_robot("robosuite", seed=trial.seed, **options)

        def case(rng: np.random.Generator, robot: Any) -> RobotCase:
            _set_up(task, robot)
            return RobotCase(
                (task.instruction,), task.oracle, lambda robot: missed(task, robot.env)
            )

        return carry_out(robot, case, trial, settings, prompts_for("robosuite", settings))


def missed(task: RobosuiteTask, env: Any) -> str | None:
    """Say that robosuite's check does not hold; None if it does."""
    if not task.exchanged:
        return None if env._check_success() else "robosuite's check of success does not hold"
    _exchange(env)
    try:
        return None if env._check_success() else "Stack's check, its cubes exchanged, does not hold"
    finally:
        _exchange(env)


def _exchange(env: Any) -> None:
    """Have Stack take each of its cubes for the other."""
    env.cubeA, env.cubeB = env.cubeB, env.cubeA
    env.cubeA_body_id, env.cubeB_body_id = env.cubeB_body_id, env.cubeA_body_id


def _set_up(task: RobosuiteTask, robot: Any) -> None:
    """Stack what a task begins with.

    Raises:
        UsageError: It does not stand there, so that the trial cannot begin.
    """
    if task.setup:
        try:
            robot.put_first_on_second(*task.setup)
        except CapError as error:
            raise UsageError(f"task '{task.name}' cannot be set up: {error}") from None
        if not robot.env._check_success():
            raise UsageError(f"task '{task.name}' cannot be set up: the cubes do not stand stacked")


def _function_of(path: Path) -> Any:
    """Return the function of a policy's file.

    Raises:
        UsageError: There is none.
    """
    found = getattr(registry.load_module(path), POLICY, None)
    if not callable(found):
        raise UsageError(f"{path} has no function '{POLICY}'; it takes robosuite's environment")
    return found


def _by_policy(path: Path, task: RobosuiteTask, trial: Trial) -> Outcome:
    """Have a policy act in a trial's environment until it returns or the episode ends."""
    act = _function_of(path)
    robot: Any = registry.make_robot("robosuite", seed=trial.seed, env=task.env, arm=trial.split)
    env = robot.env
    _set_up(task, robot)
    env.timestep, env.ignore_done = 0, False
    failure = ""
    try:
        act(env, task.instruction)
    except Exception as error:  # a person's policy may fail in any way
        failure = "" if env.done else f"{type(error).__name__}: {error}"
    lacking = failure or missed(task, env) or ""
    return Outcome(
        success=not lacking,
        cause="task" if lacking else "",
        instruction=task.instruction,
        program="",
        failure=lacking,
        calls=int(env.timestep),
    )
