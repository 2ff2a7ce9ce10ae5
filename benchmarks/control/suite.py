"""The control suite: a model writes a controller as a program, which runs in the sandbox.

Every reading and every torque or push is a call of a primitive; simulated time passes only in those
calls, so outcomes do not depend on how fast anything runs. Success is what the world's own record
says when the program has ended, however it ended. Else `model` gave nothing usable, `program`
failed (a refused push or torque is its mistake: there is no other robot to blame), or all went well
and the `task` is not done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.control.tasks import TASKS, EpisodeVerdict
from benchmarks.models import MODEL_OPTIONS, check_model_of
from benchmarks.results import cause_of
from benchmarks.robot_suite import RobotCase, carry_out
from benchmarks.suite import (
    ENDPOINT,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_options,
    load_prompts,
    program_limits,
)
from cap.errors import PromptError
from cap.prompt.prompt import Prompt
from cap.sandbox.limits import Limits
from cap.session.session import TOP
from cap.session.turn import Turn

BASELINE = "baseline"
"""The model that is each task's simple program."""
OPTIONS = ("limits", *MODEL_OPTIONS)
"""What `Settings.options` may hold."""
LIMITS = Limits(program_s=60.0, calls=100_000)
"""A controller makes some ten calls for each of a thousand steps."""


class ControlSuite(BaseSuite):
    """Five controllers, each in an episode that the seed decides."""

    name = "control"
    about = "five controllers written by a model, each run through an episode"
    judged = "Success is what the episode's own record says, however the program ended."
    version = "5"
    takes = ("prompts",)

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        check_options(settings, OPTIONS)
        program_limits(settings.options.get("limits", {}), LIMITS)
        if settings.model != BASELINE:
            check_model_of(settings)
        for task in TASKS:
            _prompt(settings, task)

    def require(self, trials: Sequence[Trial]) -> None:
        """Make each task's world once, in vain.

        Raises:
            MissingExtra: What simulates a task is not installed.
        """
        for task in dict.fromkeys(trial.task for trial in trials):
            TASKS[task].robot(0).close()

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task; there is one split, without a name."""
        return tuple((name, "") for name in TASKS)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Let one program control one episode.

        Raises:
            UsageError: The settings name a model or prompts that do not exist.
            MissingKey: The model needs a key and none is set.
            MissingExtra: What simulates the task is not installed.
        """
        task, words = TASKS[trial.task], TASKS[trial.task].instruction(trial.seed)
        limits = program_limits(settings.options.get("limits", {}), LIMITS)
        verdicts: list[EpisodeVerdict] = []

        def missed(robot: Any) -> str | None:
            verdicts.append(task.judge(robot))
            return verdicts[-1].missed

        program = task.oracle(trial.seed)
        if settings.model == BASELINE:
            settings, program = replace(settings, model="oracle"), task.baseline
        case = RobotCase((words,), program, missed, anyhow=True, blame=_blamed)
        outcome = carry_out(
            task.robot(trial.seed),
            lambda rng, robot: case,
            trial,
            replace(settings, options={**settings.options, "limits": vars(limits)}),
            {TOP: replace(_prompt(settings, task.name), name=TOP)},
        )
        last = verdicts[-1]
        extra: dict[str, Any] = {"measured": last.metrics, "missed": last.missed}
        if ENDPOINT in outcome.extra:
            extra[ENDPOINT] = outcome.extra[ENDPOINT]
        return replace(outcome, extra=extra)


def _prompt(settings: Settings, task: str) -> Prompt:
    """Return a task's prompt.

    Raises:
        PromptError: No such folder, or it has no prompt of the task's name.
    """
    found = load_prompts(settings.prompts)
    if task not in found:
        raise PromptError(f"the prompts '{settings.prompts}' have no {task}.py; add the file")
    return found[task]


def _blamed(turn: Turn) -> str:
    """Return who is to blame for an episode that was not controlled."""
    failure = turn.failure
    if failure is not None and failure.robot and failure.kind == "raised":
        return "program"
    return cause_of(failure)
