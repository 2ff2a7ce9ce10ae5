"""The tabletop suite: one trial is one instruction in one scene, judged on the world's true state.

Success is what the judge finds when the program has ended, however it ended. Anything else is a
failure with a cause: `model` gave nothing usable, `program` failed, a primitive of the `robot`
refused or missed, the `infrastructure` broke, or all went well and the `task` is not done.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks import published
from benchmarks.models import MODEL_OPTIONS, check_model_of
from benchmarks.results import cause_of
from benchmarks.robot_suite import RobotCase, carry_out
from benchmarks.suite import (
    BASELINES,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_options,
    load_prompts,
    program_limits,
)
from benchmarks.tabletop.inner_monologue import SPLITS_IM, TASKS_IM
from benchmarks.tabletop.judge import judge
from benchmarks.tabletop.language_planner import LanguagePlanner
from benchmarks.tabletop.oracles import oracle
from benchmarks.tabletop.tasks import EVERY, SPLITS, TASKS, Attributes, Task
from benchmarks.tabletop.trial_sampler import prepare
from cap.engine.goal_check import GOAL
from cap.errors import NotFound, UsageError
from cap.robot import registry
from cap.session.turn import Turn
from robots.ravens import create
from robots.table.geometry import PLACES
from robots.table.object_names import plain

PLANNER = "nl"
OPTIONS = ("disturbances", "limits", "pictures", "repairs", "rounds", "sampling", *MODEL_OPTIONS)
"""What `Settings.options` may hold."""


@dataclass(frozen=True)
class TabletopCell:
    """One task under one split."""

    task: Task
    """The task."""
    attributes: Attributes
    """The words it draws from."""
    noise: Mapping[str, float]
    """What goes wrong in the world."""


CELLS: Mapping[tuple[str, str], TabletopCell] = {
    (task.name, split): TabletopCell(task, attributes, {})
    for split, (seen, attributes) in SPLITS.items()
    for task in TASKS
    if task.seen == seen
} | {
    (task.name, split): TabletopCell(task, EVERY, noise)
    for split, noise in SPLITS_IM.items()
    for task in TASKS_IM
}


_GROUPS = {task.name: task.group for task in TASKS}


def blamed(turn: Turn, there: Collection[str]) -> str:
    """Return who is to blame for a turn's failure; `there` is what truly is in the scene."""
    failure = turn.failure
    if failure is None or not failure.robot or failure.error != NotFound.__name__:
        return cause_of(failure)
    # The program asked for what is not there, or the robot did not see what is.
    lost = [call for call in turn.calls if (call.error or "").startswith(NotFound.__name__)]
    given = [one for call in lost[-1:] for one in (*call.args, *call.kwargs.values())]
    named = [name for one in given for name in (one if isinstance(one, list) else [one])]
    exists = {*there, *PLACES}
    seen = all(isinstance(name, str) and plain(name) in exists for name in named)
    return "robot" if named and seen else "program"


class TabletopSuite(BaseSuite):
    """Fourteen families in 22 cells, and Inner Monologue's eight with and without its noise."""

    name = "tabletop"
    about = "the papers' tabletop: 14 families in 22 cells, and Inner Monologue's 8"
    version = "4"
    oracle_splits = (*SPLITS, "IM")
    takes = ("mode", "perception", "prompts")

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        check_options(settings, OPTIONS)
        if settings.model == PLANNER:
            raise UsageError(
                f"'{PLANNER}' plans with a model; name it, as in {PLANNER}:openai/NAME"
            )
        program_limits(settings.options.get("limits", {}))
        check_model_of(_asked(settings))
        load_prompts(settings.prompts)
        wrong = settings.options.get("disturbances", {})
        create(mode=settings.mode, perception=settings.perception, disturbances=wrong).close()

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task with its split, in the papers' order."""
        return tuple(CELLS)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one trial.

        Raises:
            UsageError: The settings name a model or prompts that do not exist.
            MissingKey: The model needs a key and none is set.
        """
        cell = CELLS[trial.task, trial.split]
        setup = prepare(cell.task, cell.attributes, trial.split, trial.seed)
        baseline = settings.model in BASELINES
        prompts = load_prompts("ravens-seen" if baseline else settings.prompts)
        if settings.options.get("sampling", {}).get("goal"):  # its own prompts have none
            prompts = {GOAL: registry.robot_prompts("ravens")[GOAL], **prompts}
        robot = create(
            seed=setup.scene_seed,
            mode=settings.mode,
            objects=setup.objects,
            perception=settings.perception,
            disturbances={**cell.noise, **settings.options.get("disturbances", {})},
        )

        def missed(robot: Any) -> str | None:
            # With where everything ended, two runs that agree have agreed in every motion.
            ended.update({name: list(where) for name, where in robot.positions().items()})
            return judge(setup.goal, setup.before, robot.positions(), robot.spoken)

        ended: dict[str, list[float]] = {}
        case = RobotCase(
            (setup.instruction,),
            oracle(cell.task, setup.words),
            missed,
            anyhow=True,
            blame=lambda turn: blamed(turn, setup.before),
            names=(*setup.objects, *PLACES),
            evidence={
                "objects": list(setup.objects),
                "goal": setup.goal,
                "before": {name: list(where) for name, where in setup.before.items()},
            },
        )
        plans = settings.model.startswith(f"{PLANNER}:")
        facts = robot.context() if plans else {}
        planner = partial(LanguagePlanner, instruction=setup.instruction, facts=facts)
        outcome = carry_out(
            robot,
            lambda rng, robot: case,
            trial,
            _asked(settings),
            prompts,
            planner if plans else None,
        )
        extra = {"scene_seed": setup.scene_seed, "after": ended, **outcome.extra}
        return replace(outcome, extra=extra)

    def families(self, task: str) -> tuple[str, ...]:
        """Return the papers' grouping: long-horizon, or spatial-geometric."""
        return (_GROUPS[task],) if task in _GROUPS else ()

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return the paper's values for a cell, in percent by method."""
        return published.rates(__file__, task, split)


def _asked(settings: Settings) -> Settings:
    """Return settings with the model that a planner asks in place of the planner."""
    return replace(settings, model=settings.model.removeprefix(f"{PLANNER}:"))
