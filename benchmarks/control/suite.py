"""The control suite: a model writes a controller as a program, which runs in the sandbox.

Every reading and every torque or push is a call of a primitive; simulated time passes only in those
calls, so outcomes do not depend on how fast anything runs. Success is what the world's own record
says when the program has ended, however it ended. Else `model` gave nothing usable, `program`
failed (a refused push or torque is its mistake: there is no other robot to blame), or all went well
and the `task` is not done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.control.tasks import TASKS, ControlTask, EpisodeVerdict
from benchmarks.models import MODEL_OPTIONS, Meter, NoModel, check_model_of, model_of, seed_of
from benchmarks.noisy_oracle import is_noisy
from benchmarks.suite import (
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    cause_of,
    check_options,
    load_prompts,
    program_limits,
)
from cap.engine.engine import unhinted
from cap.errors import PromptError
from cap.prompt.prompt import Prompt
from cap.result import Failure
from cap.sandbox.limits import Limits
from cap.session.session import Session
from cap.session.settings import SessionSettings
from cap.session.turn import Turn

PROGRAMS: Mapping[str, Callable[[ControlTask, int], str]] = {
    "oracle": lambda task, seed: task.oracle(seed),
    "no-op": lambda task, seed: "pass\n",
    "baseline": lambda task, seed: task.baseline,
}
"""What stands in place of a model, by its name."""
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
        if settings.model not in PROGRAMS:
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
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
            MissingExtra: What simulates the task is not installed.
        """
        start_s = time.perf_counter()
        check_options(settings, OPTIONS)
        task = TASKS[trial.task]
        known = {"": task.oracle(trial.seed)}
        asks = settings.model not in PROGRAMS
        meter = Meter(model_of(settings, trial, known) if asks else NoModel())
        turn, verdict = _episode(task, trial, settings, meter)
        outcome = Outcome(
            success=verdict.missed is None,
            cause="" if verdict.missed is None else _blamed(turn.failure),
            instruction=turn.instruction,
            program=turn.program,
            failure=str(turn.failure or verdict.missed or ""),
            calls=len(turn.calls),
            seconds=time.perf_counter() - start_s,
            extra={"measured": verdict.metrics, "missed": verdict.missed, "series": verdict.series},
        )
        return meter.settled(outcome)

    def plot(self, folder: Path) -> list[Path]:
        """Draw the episodes of a results folder into it; return the files.

        Raises:
            MissingExtra: matplotlib is not installed.
            UsageError: There is no episode, or the folder cannot be written.
        """
        from benchmarks.control.plot import draw

        return draw(folder)


def _episode(
    task: ControlTask, trial: Trial, settings: Settings, meter: Meter
) -> tuple[Turn, EpisodeVerdict]:
    prompt = _prompt(settings, task.name)
    if is_noisy(settings.model):  # an oracle is a person's: it may use every name
        prompt = unhinted(prompt)
    words = task.instruction(trial.seed)
    with Session(
        task.robot(trial.seed),
        meter,
        SessionSettings(
            prompts={"ui": replace(prompt, name="ui")},
            seed=seed_of(trial),
            limits=program_limits(settings.options.get("limits", {}), LIMITS),
        ),
    ) as session:
        if settings.model in PROGRAMS:
            source = PROGRAMS[settings.model](task, trial.seed)
            turn = session.execute(source, words)
        else:
            turn = session.run(words)
        return turn, task.judge(session.robot)


def _prompt(settings: Settings, task: str) -> Prompt:
    """Return a task's prompt.

    Raises:
        PromptError: No such folder, or it has no prompt of the task's name.
    """
    found = load_prompts(settings.prompts)
    if task not in found:
        raise PromptError(f"the prompts '{settings.prompts}' have no {task}.py; add the file")
    return found[task]


def _blamed(failure: Failure | None) -> str:
    """Return who is to blame for an episode that was not controlled."""
    if failure is None:
        return "task"
    if failure.robot and failure.kind == "raised":
        return "program"
    return cause_of(failure)
