"""Everyday sentences: does a model understand how ordinary people put things?

The sentences in `tasks.jsonl` were written without sight of any prompt and are not for tuning. A
trial is a scene, earlier instructions of the same session, one sentence, and what must be true
afterwards, in the words of `benchmarks.tabletop.judge`. A sentence is right, wrong, or declined:
the model said that it cannot match it, and nothing moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import task_file
from benchmarks.models import Meter, model_of
from benchmarks.noisy_oracle import is_noisy
from benchmarks.results import cause_of
from benchmarks.robot_suite import (
    check_model,
    extra_of,
    outcome_of,
    prompts_for,
    session_settings,
    shown_calls,
)
from benchmarks.suite import (
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_count,
    chosen_cells,
)
from benchmarks.tabletop.judge import judge
from cap.errors import UsageError
from cap.robot import registry
from cap.session.session import Session
from cap.session.turn import Turn

RESULT = "result"
"""The entry of `Outcome.extra` that says `right`, `wrong` or `declined`."""


class EverydayTask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One sentence in its scene."""

    id: str
    family: str
    """The group it is reported in."""
    objects: tuple[str, ...]
    """Names of what stands in the scene."""
    seed: int
    """Of the scene."""
    instruction: str
    expect: Mapping[str, Any]
    """What must be true afterwards, in the words of `benchmarks.tabletop.judge`."""
    setup: tuple[str, ...] = ()
    """Earlier instructions of the same session."""


TASKS = {
    task.id: task for task in task_file.load(Path(__file__).with_name("tasks.jsonl"), EverydayTask)
}


class EverydaySuite(BaseSuite):
    """Each sentence in a session of its own, on the robot `ravens`."""

    name = "everyday"
    about = "everyday sentences that no prompt has as an example"
    version = "1"
    judged = "A sentence is right if the world is as it asks, or if it is declined where it should."
    usual_n = 1
    usual_mode = "instant"
    takes = ("mode", "prompts")
    shares = ("declined",)

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every sentence."""
        return tuple((name, "") for name in TASKS)

    def trials(
        self,
        n: int,
        seed: int,
        tasks: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
    ) -> tuple[Trial, ...]:
        """Return `n` samples of every sentence, from sample `seed` on; scenes have their own seed.

        Raises:
            UsageError: No trials or too many, or an unknown sentence.
        """
        check_count(n)
        cells = chosen_cells(self.cells(), n, tasks, splits)
        numbers = range(seed, seed + n)
        return tuple(
            Trial(*cell, TASKS[cell[0]].seed, number) for cell in cells for number in numbers
        )

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        if settings.model == "oracle" or is_noisy(settings.model):
            raise UsageError("the suite 'everyday' has no programs of its own; name a model")
        check_model(settings)
        prompts_for("ravens", settings)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one sentence, and judge it on the world's true state.

        An earlier instruction that fails ends the session. A decline after something moved is
        wrong.
        """
        task, meter = TASKS[trial.task], Meter(model_of(settings, trial))
        objects = list(task.objects)
        robot: Any = registry.make_robot(
            "ravens", seed=task.seed, mode=settings.mode, objects=objects
        )
        turns: list[Turn] = []
        undone = before = dict(robot.positions())
        chosen = session_settings(
            settings, trial, prompts_for("ravens", settings), lambda robot: False
        )
        with Session(robot, meter, chosen) as session:
            for words in (*task.setup, task.instruction):
                undone, before = before, dict(robot.positions())
                said = len(robot.spoken)
                idle = settings.model == "no-op"
                turns.append(session.execute("pass\n", words) if idle else session.run(words))
                if not turns[-1].ok:
                    break
            after, spoken = dict(robot.positions()), robot.spoken[said:]
        result, reason = verdict(task, turns[-1], before, after, spoken, undone)
        extra: dict[str, Any] = {RESULT: result, **extra_of(turns)}
        extra["measured"] = {"declined": float(result == "declined")}
        if reason:
            extra |= {"missed": reason, "calls": shown_calls(turns)}
        cause = cause_of(turns[-1].failure) or "task"
        asked = (*task.setup, task.instruction)
        outcome = outcome_of(asked, turns, reason or None, cause, reason, extra)
        return meter.settled(outcome)

    def families(self, task: str) -> tuple[str, ...]:
        """Return a sentence's family."""
        return (TASKS[task].family,) if task in TASKS else ()


def verdict(
    task: EverydayTask,
    last: Turn,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    spoken: Sequence[str],
    undone: Mapping[str, Any],
) -> tuple[str, str]:
    """Return `right`, `wrong` or `declined`, and why a session did not end right.

    Args:
        task: What was asked.
        last: The turn the session ended with.
        before: Where each object was before that turn.
        after: Where each is now.
        spoken: What was said in that turn.
        undone: Where each object was before the turn before it.
    """
    failure = last.failure
    if failure is None:
        reason = judge(task.expect, before, after, spoken, undone)
        return ("wrong", reason) if reason else ("right", "")
    moved = judge({"unmoved": True}, before, after, ())
    if "refused" in task.expect and not moved:
        return "right", ""
    declined = failure.kind == "model" and failure.error == "NoMatch" and not moved
    why = f"{last.instruction!r} failed: {failure.error}: {failure.message}"
    return "declined" if declined else "wrong", f"{why}; {moved or 'nothing moved'}"
