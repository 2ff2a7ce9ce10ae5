"""The reasoning suite: questions about a scene, answered in language or by a program.

Trial number `seed` of a cell asks question `seed` modulo 30, in a scene of that seed: 30 trials ask
every question once. All three arms are asked the same questions in the same scenes. Success is a
right answer (`answers`); else `model` gave no answer that can be read, `program` failed, or all
went well and the answer is wrong (`task`). An answer that cannot be read is malformed, in words as
in a program, and is sent back.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.models import MODEL_OPTIONS, Meter, check_model_of, model_of, seed_of
from benchmarks.reasoning.methods import (
    LMPS,
    Response,
    fixed_answer,
    in_code,
    in_words,
    right_answer,
)
from benchmarks.reasoning.questions import QUESTIONS, PosedQuestion, put
from benchmarks.results import read_lines
from benchmarks.suite import (
    REPAIRED,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_options,
    load_prompts,
    program_limits,
)
from cap.result import plain

TASKS = {
    f"{kind}-selection": [question for question in QUESTIONS if question.kind == kind]
    for kind in ("object", "position")
}
"""The questions of each task."""
ARMS = ("direct", "step-by-step", "lmp")
"""The splits."""
OPTIONS = ("limits", *MODEL_OPTIONS)
"""What `Settings.options` may hold."""
_PAPER: Mapping[tuple[str, str], float] = {
    ("object-selection", "direct"): 39.3,
    ("object-selection", "step-by-step"): 67.9,
    ("object-selection", "lmp"): 96.4,
    ("position-selection", "direct"): 30.4,
    ("position-selection", "step-by-step"): 47.8,
    ("position-selection", "lmp"): 100.0,
}
"""Percent of its own 28 and 23 questions."""
_NOT_COMPARED = ("position-selection", "lmp")
"""A value that cannot be relied on: the evaluation published with the paper compares the positions
that LMPs answered, and does not use what comes of it."""


class ReasoningSuite(BaseSuite):
    """Two tasks under three arms."""

    name = "reasoning"
    about = "questions about a scene, in words and by program"
    version = "6"
    takes = ("prompts",)

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        check_options(settings, OPTIONS)
        program_limits(settings.options.get("limits", {}))
        check_model_of(settings)

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task under every arm."""
        return tuple((task, arm) for task in TASKS for arm in ARMS)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Ask one question once.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        start_s = time.perf_counter()
        check_options(settings, OPTIONS)
        questions = TASKS[trial.task]
        asked = put(questions[trial.seed % len(questions)], trial.seed)
        fixed = fixed_answer(settings.model, asked, trial.split)
        known = {"": right_answer(asked, trial.split)}
        meter = Meter(fixed or model_of(settings, trial, known, asked.scene.objects))
        reply = _ask(asked, trial, settings, meter)
        extra = _evidence(asked)
        extra |= {"malformed": True} if reply.malformed else {}
        extra |= {REPAIRED: True} if reply.sent_back else {}
        outcome = Outcome(
            success=not reply.cause,
            cause=reply.cause,
            instruction=asked.words,
            program=reply.text,
            failure=reply.missed,
            calls=reply.calls,
            seconds=time.perf_counter() - start_s,
            extra=extra,
        )
        return meter.settled(outcome)

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return the paper's value for a cell, in percent of its own questions."""
        value = _PAPER.get((task, split))
        method = "CaP (answers not compared)" if (task, split) == _NOT_COMPARED else "CaP"
        return {} if value is None else {method: value}

    def summary(self, folder: Path) -> list[dict[str, Any]]:
        """Return for each task and arm how many answers could not be read."""
        counts: dict[tuple[str, str], Counter[str]] = {}
        for line in read_lines(folder):
            found = counts.setdefault((line.trial.task, line.trial.split), Counter())
            extra = line.outcome.extra
            counted = {"malformed": extra.get("malformed"), "sent back": extra.get(REPAIRED)}
            found.update(n=1, **{name: bool(said) for name, said in counted.items()})
        return [
            {
                "task": task,
                "arm": arm,
                "n": counts[task, arm]["n"],
                "sent back": counts[task, arm]["sent back"],
                "malformed": counts[task, arm]["malformed"],
            }
            for task, arm in self.cells()
            if (task, arm) in counts
        ]


def _ask(asked: PosedQuestion, trial: Trial, settings: Settings, meter: Meter) -> Response:
    kind = asked.question.kind
    if trial.split != "lmp":
        folder = f"{settings.prompts}-{trial.split}"
        repairs = bool(getattr(meter, "repairs", True))
        return in_words(asked, meter, load_prompts(folder, (kind,))[kind], repairs=repairs)
    prompts = load_prompts(settings.prompts, tuple(LMPS.values()))
    seed = seed_of(trial)
    limits = program_limits(settings.options.get("limits", {}))
    return in_code(asked, meter, prompts, seed=seed, limits=limits)


def _evidence(asked: PosedQuestion) -> dict[str, Any]:
    """Return what a reader needs to check the verdict."""
    return {
        "question": asked.question.name,
        "right": plain(asked.answer),
        "scene": {name: list(where) for name, where in asked.scene.positions.items()},
    }
