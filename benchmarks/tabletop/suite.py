"""The tabletop suite: one trial is one instruction in one scene, judged on the world's true state.

Success is what the judge finds when the program has ended, however it ended. Anything else is a
failure with a cause: `model` gave nothing usable, `program` failed, a primitive of the `robot`
refused or missed, the `infrastructure` broke, or all went well and the `task` is not done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import published
from benchmarks.models import MODEL_OPTIONS, Meter, check_model_of, model_of
from benchmarks.noisy_oracle import NoisyOracle
from benchmarks.pictures import keep_pictures
from benchmarks.robot_suite import extra_of, session_settings, shown_calls
from benchmarks.suite import (
    BASELINES,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    cause_of,
    check_options,
    load_prompts,
    program_limits,
)
from benchmarks.tabletop import language_planner
from benchmarks.tabletop.attributes import EVERY, Attributes
from benchmarks.tabletop.inner_monologue import SPLITS_IM, TASKS_IM
from benchmarks.tabletop.judge import judge
from benchmarks.tabletop.oracles import oracle
from benchmarks.tabletop.tasks import SPLITS, TASKS, Task
from benchmarks.tabletop.trial_sampler import Setup, prepare
from cap.engine.engine import unhinted
from cap.engine.goal import GOAL
from cap.errors import ModelError, NotFound, UsageError
from cap.robot import registry
from cap.session.session import TOP, Session
from cap.session.turn import Turn
from robots.ravens import RavensRobot, create
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


@dataclass(frozen=True)
class Attempt:
    """What was tried in one trial."""

    program: str
    """The program or plan; "" if there was none."""
    turn: Turn | None = None
    """How it ran, if it ran."""
    failure: str = ""
    """Why it did not end well, or ""."""
    cause: str = ""
    """Who is to blame for that, or ""."""

    @classmethod
    def of(cls, turn: Turn, there: Collection[str], program: str | None = None) -> Attempt:
        """Return what a turn says; `there` is what truly is in the scene."""
        failure = turn.failure
        cause = cause_of(failure)
        if failure is not None and failure.robot and failure.error == NotFound.__name__:
            # The program asked for what is not there, or the robot did not see what is.
            lost = [call for call in turn.calls if (call.error or "").startswith(NotFound.__name__)]
            given = [one for call in lost[-1:] for one in (*call.args, *call.kwargs.values())]
            named = [name for one in given for name in (one if isinstance(one, list) else [one])]
            exists = {*there, *PLACES}
            seen = all(isinstance(name, str) and plain(name) in exists for name in named)
            cause = "robot" if named and seen else "program"
        return cls(turn.program if program is None else program, turn, str(failure or ""), cause)


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
        _actor(settings)
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
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        start_s = time.perf_counter()
        act = _actor(settings)
        cell = CELLS[trial.task, trial.split]
        setup = prepare(cell.task, cell.attributes, trial.split, trial.seed)
        model = model_of(_asked(settings), trial)
        meter = Meter(model)
        prompts = load_prompts("ravens-seen" if act is _baseline else settings.prompts)
        if isinstance(model, NoisyOracle):  # an oracle is a person's: it may use every name
            model.programs = {setup.instruction: oracle(cell.task, setup.words)}
            model.names = (*setup.objects, *PLACES)
            prompts = {**prompts, TOP: unhinted(prompts[TOP])}
            model.asks = prompts[TOP].text.strip()
        if settings.options.get("sampling", {}).get("goal"):  # its own prompts have none
            prompts = {GOAL: registry.robot_prompts("ravens")[GOAL], **prompts}
        robot = _robot(setup, cell, settings)

        def reached(robot: Any) -> bool:
            return judge(setup.goal, setup.before, dict(robot.positions()), robot.spoken) is None

        if isinstance(model, NoisyOracle):
            model.done = partial(reached, robot)
        with Session(
            robot,
            meter,
            session_settings(settings, trial, prompts, reached),
        ) as session:
            first = robot.snapshot()
            attempt = act(session, meter, setup, cell.task, settings)
            after = dict(robot.positions())
            missed = judge(setup.goal, setup.before, after, robot.spoken)
            # With where everything ended, two runs that agree have agreed in every motion.
            ended = {name: list(where) for name, where in after.items()}
            extra: dict[str, Any] = {"scene_seed": setup.scene_seed, "after": ended}
            if attempt.turn is not None:
                extra |= extra_of([attempt.turn])
            if missed is not None:
                extra |= _evidence(attempt, setup, missed)
                extra |= _pictures(robot, first, trial, settings)
        outcome = replace(
            _outcome(attempt, setup, meter, missed),
            seconds=time.perf_counter() - start_s,
            extra=extra,
        )
        return meter.settled(outcome)

    def family(self, task: str) -> str:
        """Return the papers' grouping: long-horizon, or spatial-geometric."""
        return _GROUPS.get(task, "")

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return the paper's values for a cell, in percent by method."""
        return published.rates(__file__, task, split)


Act = Callable[[Session, Meter, Setup, Task, Settings], Attempt]


def _actor(settings: Settings) -> Act:
    """Return what carries out an instruction.

    Raises:
        UsageError: An unknown option, or a planner without a model.
    """
    check_options(settings, OPTIONS)
    if settings.model == PLANNER:
        raise UsageError(f"'{PLANNER}' plans with a model; name it, as in {PLANNER}:openai/NAME")
    if settings.model in BASELINES:
        return _baseline
    return _plan if settings.model.startswith(f"{PLANNER}:") else _write


def _baseline(
    session: Session, meter: Meter, setup: Setup, task: Task, settings: Settings
) -> Attempt:
    """Run the task's own program, or one that does nothing."""
    source = oracle(task, setup.words) if settings.model == "oracle" else "pass\n"
    return Attempt.of(session.execute(source, setup.instruction), setup.before)


def _write(session: Session, meter: Meter, setup: Setup, task: Task, settings: Settings) -> Attempt:
    """Let the model write a program."""
    return Attempt.of(session.run(setup.instruction), setup.before)


def _plan(session: Session, meter: Meter, setup: Setup, task: Task, settings: Settings) -> Attempt:
    """Let the model list sentences, and carry those out."""
    try:
        steps = language_planner.plan(meter, setup.instruction, session.robot.context())
    except ModelError as error:
        return Attempt("", None, f"{type(error).__name__}: {error}", "model")
    turn = session.execute("".join(step.call for step in steps), setup.instruction)
    return Attempt.of(turn, setup.before, "\n".join(map(str, steps)))


def _outcome(attempt: Attempt, setup: Setup, meter: Meter, missed: str | None) -> Outcome:
    """Return the verdict; `seconds` and `extra` are still to come."""
    return Outcome(
        success=missed is None,
        cause="" if missed is None else attempt.cause or "task",
        instruction=setup.instruction,
        program=attempt.program,
        failure=attempt.failure or missed or "",
        calls=len(attempt.turn.calls) if attempt.turn else 0,
        extra={},
    )


def _evidence(attempt: Attempt, setup: Setup, missed: str) -> dict[str, Any]:
    """Return what a reader needs to see why a trial failed, as plain data."""
    return {
        "objects": list(setup.objects),
        "goal": setup.goal,
        "missed": missed,
        "before": {name: list(where) for name, where in setup.before.items()},
        "calls": shown_calls([attempt.turn] if attempt.turn else []),
    }


def _pictures(robot: RavensRobot, first: Any, trial: Trial, settings: Settings) -> dict[str, Any]:
    """Draw the world after and before into the folder the option `pictures` names, if it does."""
    if (folder := settings.options.get("pictures")) is None:
        return {}
    stem = f"{trial.task}_{trial.split}_{trial.seed}_{trial.sample}"
    return keep_pictures(robot, first, Path(folder), stem)


def _robot(setup: Setup, cell: TabletopCell, settings: Settings) -> RavensRobot:
    wrong = {**cell.noise, **settings.options.get("disturbances", {})}
    return create(
        seed=setup.scene_seed,
        mode=settings.mode,
        objects=setup.objects,
        perception=settings.perception,
        disturbances=wrong,
    )


def _asked(settings: Settings) -> Settings:
    """Return settings with the model that a planner asks in place of the planner."""
    return replace(settings, model=settings.model.removeprefix(f"{PLANNER}:"))
