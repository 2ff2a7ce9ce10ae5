"""The suite: every task on every robot, each robot a split, so that reports stand side by side.

Trials of one task and seed say the same words to every robot. Each robot's scene is the first of
the seed's scenes in which its tool can do what is asked: a pen cannot draw through a block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.embodiments.embodiment import EMBODIMENTS, Embodiment
from benchmarks.embodiments.judge import Figure, differs
from benchmarks.embodiments.tasks import PRELUDE, TASKS, SharedTask, Where, Wish
from benchmarks.robot_suite import RobotCase, carry_out, check_model, names_prompts
from benchmarks.suite import Outcome, Settings, Trial, check_count, check_names
from cap.errors import UsageError
from cap.robot import registry

VERSION = "1"
_SCENES = 200
"""Scenes of a seed that are tried."""
_WORDS = 11
"""Stream of the random numbers that words are made of."""


class EmbodimentSuite:
    """The same instructions on several robots."""

    name = "embodiments"
    version = VERSION

    def __init__(
        self,
        bodies: Sequence[Embodiment] = EMBODIMENTS,
        tasks: Sequence[SharedTask] = TASKS,
    ) -> None:
        """Put robots and tasks together, both in report order."""
        self._bodies = {body.robot: body for body in bodies}
        self._tasks = {task.name: task for task in tasks}

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task with every robot, robots last."""
        return tuple((task, robot) for task in self._tasks for robot in self._bodies)

    def trials(
        self,
        n: int,
        seed: int,
        tasks: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
    ) -> tuple[Trial, ...]:
        """Return `n` trials of every task and robot asked for, with the seeds from `seed` on.

        Raises:
            UsageError: No trials or too many, or an unknown task or robot.
        """
        check_count(n)
        check_names("task", tasks, list(self._tasks))
        check_names("split", splits, list(self._bodies))
        return tuple(
            Trial(task, robot, number)
            for task, robot in self.cells()
            if (not tasks or task in tasks) and (not splits or robot in splits)
            for number in range(seed, seed + n)
        )

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model or an option that does not exist, or prompts.
            MissingKey: The model needs a key and none is set.
        """
        check_model(settings)
        if names_prompts(settings):
            raise UsageError(
                "every robot of this suite has prompts of its own; leave out --prompts"
            )
        for body in self._bodies.values():
            registry.make_robot(body.robot, mode=settings.mode, **body.options).close()

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one trial.

        Raises:
            UsageError: The settings name a model that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        body = self._bodies[trial.split]
        wish = self.wish(trial)
        robot: Any = registry.make_robot(
            body.robot, seed=trial.seed, mode=settings.mode, **body.options
        )
        scene_seed, figures = prepare(robot, body, wish, trial.seed)

        def case(rng: np.random.Generator, robot: Any) -> RobotCase:
            return RobotCase(wish.instructions, oracle(body, wish), _missed(body, figures))

        outcome = carry_out(robot, case, trial, settings, registry.robot_prompts(body.robot))
        return replace(outcome, extra={**outcome.extra, "scene_seed": scene_seed})

    def wish(self, trial: Trial) -> Wish:
        """Return what a person says in a trial; its robot and scene play no part."""
        rng = np.random.default_rng([trial.seed, _WORDS, *trial.task.encode()])
        return self._tasks[trial.task].wish(rng, self._bodies[trial.split].things)

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return nothing: no success rates are published for these tasks."""
        return {}


def oracle(body: Embodiment, wish: Wish) -> str:
    """Return a program that does what is wished for with a robot's tool."""
    return PRELUDE + "\n".join(f"{step}\n{body.act}" for step in wish.steps) + "\n"


def prepare(robot: Any, body: Embodiment, wish: Wish, seed: int) -> tuple[int, tuple[Figure, ...]]:
    """Give a robot the first of a seed's scenes in which its tool can do what is wished for.

    Returns:
        The scene's own seed, and what the tool should trace in it.

    Raises:
        UsageError: There is none.
    """
    scenes = np.random.SeedSequence([seed, _WORDS]).generate_state(_SCENES).tolist()
    for number in scenes:
        robot.reset(number)
        figures = tuple(wish.figures(_where(robot)))
        paths = [figure.shortest for figure in figures]
        if body.fits(robot, paths):
            return number, figures
    raise UsageError(f"no scene of seed {seed} leaves '{body.robot}' room for {wish.instructions}")


def _where(robot: Any) -> Where:
    return lambda name: np.asarray(robot.get_obj_pos(name), dtype=np.float64)[:2]


def _missed(body: Embodiment, figures: Sequence[Figure]) -> Callable[[Any], str | None]:
    def missed(robot: Any) -> str | None:
        found = [differs(trace, figures) for trace in body.traces(robot)]
        if None in found:
            return None
        return found[0] if found else "the tool traced nothing"

    return missed
