"""Programs that somebody who has read only the sentences of a task might pass off as doing it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from benchmarks.control.tasks import TASKS, EpisodeVerdict
from benchmarks.suite import OWN_PROMPTS, BaseSuite, Outcome, Settings, Trial
from cap.errors import NoMatch
from cap.models.base import Completion, Request

NOTHING = "say('done')\n"


@dataclass
class Cheater:
    """Answers the first instruction with the first program, the second with the second, ..."""

    programs: Sequence[str]
    """One for each instruction; for those after the last it says no."""
    asked: list[str] = field(default_factory=list)
    """What it was asked."""
    name: str = "cheater"

    def complete(self, request: Request) -> Completion:
        words = request.prompt.rstrip().splitlines()[-1]
        if words not in self.asked:
            self.asked.append(words)
        number = self.asked.index(words)
        if number >= len(self.programs):
            raise NoMatch("no more cheats")
        return Completion(self.programs[number], self.name)


def carried_out(
    suite: BaseSuite,
    trial: Trial,
    programs: Sequence[str],
    monkeypatch: pytest.MonkeyPatch,
    prompts: str = "",
) -> Outcome:
    """Run a trial of a robot's suite whose model answers with programs."""
    model = Cheater(programs)
    monkeypatch.setattr("benchmarks.models.model_for", lambda *_: model)
    prompts = prompts or OWN_PROMPTS.get(suite.name, "ravens-seen")
    return suite.run(trial, Settings(suite.name, "cheater", mode="instant", prompts=prompts))


def judged(trial: Trial, program: str) -> EpisodeVerdict:
    """Run a controller's program beside the sandbox, which takes four times as long."""
    task = TASKS[trial.task]
    robot = task.robot(trial.seed)
    scope = {name: entry.function for name, entry in robot.primitives().items()}
    exec(program, {**scope, "np": np})
    verdict = task.judge(robot)
    robot.close()
    return verdict


def assert_judged_wrong(outcome: Outcome, broken: bool = False) -> None:
    """Assert that a trial failed: by the judge, unless its program or model is broken."""
    assert not outcome.success
    assert (outcome.cause != "task") == broken, outcome.failure
