"""Suites of tasks for any robot: a scene, a few instructions in one session, a judge of the world.

A suite lists its tasks as data (`RobotTask`); the trial is the same for all of them. A trial
succeeds if every instruction's program ran to its end, what must be so after each of them is so,
and the judge finds nothing lacking after the last.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.models import MODEL_OPTIONS, Meter, check_model_of, model_of, seed_of
from benchmarks.noisy_oracle import NoisyOracle, is_noisy
from benchmarks.results import cause_of
from benchmarks.suite import (
    BASELINES,
    DOUBTS,
    REPAIRED,
    TRIED,
    BaseSuite,
    Outcome,
    Settings,
    Trial,
    check_options,
    load_prompts,
    program_limits,
)
from cap.engine.lmp import unhinted
from cap.engine.settings import Repairs, Sampling
from cap.errors import UsageError
from cap.models.base import Model
from cap.prompt.prompt import Prompt
from cap.robot import observation, registry
from cap.robot.protocol import Rewindable
from cap.session.session import TOP, Session
from cap.session.settings import SessionSettings
from cap.session.turn import Turn

SIZE_PX = 320
"""Width and height of the pictures before and after a failed trial."""
SHOWN_CALLS = 200
"""Calls of a failed trial that are written down."""
OPTIONS = ("limits", "pictures", "repairs", "rounds", "sampling", *MODEL_OPTIONS)
"""What `Settings.options` may hold."""


Judge = Callable[[Any], str | None]
"""Returns in words what a robot's world lacks, or None if it lacks nothing; nothing else."""


@dataclass(frozen=True)
class RobotCase:
    """One scene of a task."""

    instructions: tuple[str, ...]
    """What a person says, one after the other."""
    oracle: str | tuple[str, ...]
    """A program that does it all, or one for each instruction."""
    missed: Judge
    """Says what the robot's world lacks in the end; None if nothing."""
    on_the_way: tuple[Judge | None, ...] = ()
    """The same after the first instruction, the second, ...; None where nothing is asked for."""
    watch: Callable[[Any], None] | None = None
    """Called with the robot after each of a program's calls, by a judge of the way there."""
    anyhow: bool = False
    """The world alone is judged, however a program ended."""
    blame: Callable[[Turn], str] = lambda turn: cause_of(turn.failure)
    """Returns who is to blame for a turn's failure; "" without one."""
    names: tuple[str, ...] = ()
    """What a noisy oracle's mutants may confuse; by default the names in the robot's facts."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """What the outcome of a failed trial says too."""


MakeCase = Callable[[np.random.Generator, Any], RobotCase]


@dataclass(frozen=True)
class RobotTask:
    """A task with its scenes."""

    name: str
    """As reports show it."""
    make: MakeCase
    """Makes the case of a random generator for a robot in its first state."""


class RobotSuite(BaseSuite):
    """Tasks of one robot."""

    takes = ("mode", "prompts")
    judged = "A trial succeeds if every program ended well and left the world as was asked."

    def __init__(
        self, name: str, version: str, robot: str, tasks: Sequence[RobotTask], about: str = ""
    ) -> None:
        """Name a suite.

        Args:
            name: As the command line takes it.
            version: Changes whenever the same settings may give other outcomes.
            robot: Registered robot.
            tasks: In report order.
            about: What it is, in one line.

        Raises:
            UsageError: There are no tasks, or two of one name.
        """
        if not tasks:
            raise UsageError(f"suite '{name}' has no tasks; give it at least one RobotTask")
        names = [task.name for task in tasks]
        for task_name in names:
            if names.count(task_name) > 1:
                raise UsageError(f"suite '{name}' has two tasks '{task_name}'; rename one")
        self.name = name
        self.version = version
        self.about = about or f"tasks of the robot '{robot}'"
        self._robot = robot
        self.tasks = {task.name: task for task in tasks}
        """By name, in report order."""

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task, in report order."""
        return tuple((name, "") for name in self.tasks)

    def check(self, settings: Settings) -> None:
        """Refuse what no trial could be run with, before the first one.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist, or the
                robot is real.
            MissingKey: The model needs a key and none is set.
        """
        check_model(settings)
        robot = registry.make_robot(self._robot, mode=settings.mode)
        robot.close()
        if not robot.simulated:
            raise UsageError(f"robot '{robot.name}' is real; a benchmark moves simulated ones only")
        prompts_for(self._robot, settings)

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one trial.

        Raises:
            UsageError: The settings name a model, prompts or an option that does not exist.
            MissingKey: The model needs a key and none is set.
        """
        robot: Any = registry.make_robot(self._robot, seed=trial.seed, mode=settings.mode)
        make = self.tasks[trial.task].make
        return carry_out(robot, make, trial, settings, prompts_for(self._robot, settings))


def prompts_for(robot: str, settings: Settings) -> Mapping[str, Prompt]:
    """Return a robot's own prompts, by default or where none are needed, or those named."""
    if settings.model in BASELINES or not names_prompts(settings):
        return registry.robot_prompts(robot)
    return load_prompts(settings.prompts)


def check_model(settings: Settings) -> None:
    """Refuse an option or a model with which no trial could be run.

    Raises:
        UsageError: It does not exist.
        MissingKey: The model needs a key and none is set.
    """
    check_options(settings, OPTIONS)
    check_model_of(settings)


def names_prompts(settings: Settings) -> bool:
    """Return whether settings name prompts; else each robot's own serve."""
    return settings.prompts not in ("", Settings("", "").prompts)


def carry_out(
    robot: Any,
    make: MakeCase,
    trial: Trial,
    settings: Settings,
    prompts: Mapping[str, Prompt],
    through: Callable[[Model], Model] | None = None,
) -> Outcome:
    """Carry out one trial with a robot in its first state; closes the robot.

    Args:
        robot: The robot.
        make: Makes the case for it.
        trial: Which trial.
        settings: What the run is asked for.
        prompts: What its model is asked with.
        through: Wraps the model, such as by a planner.

    Raises:
        UsageError: The settings name a model that does not exist.
        MissingKey: The model needs a key and none is set.
    """
    model = model_of(settings, trial)
    meter = Meter(model)
    if isinstance(model, NoisyOracle):  # an oracle is a person's: it may use every name
        prompts = {**prompts, TOP: unhinted(prompts[TOP])}
        model.asks = prompts[TOP].text.strip()
    wanted = _Wanted()
    asked = meter if through is None else through(meter)
    with Session(robot, asked, session_settings(settings, trial, prompts, wanted)) as session:
        first = robot.snapshot() if isinstance(robot, Rewindable) else None
        case = make(np.random.default_rng([trial.seed, 7]), robot)
        if not isinstance(case, RobotCase):
            raise UsageError(
                f"task '{trial.task}' gives {type(case).__name__}, no RobotCase; return one"
            )
        if isinstance(model, NoisyOracle):
            model.names = case.names or _named(robot)
            model.programs = _programs(case)
            model.done = partial(wanted, robot)
        if (watch := case.watch) is not None:
            session.trace.listeners.append(
                lambda event: watch(robot) if event.kind == "call" else None
            )
        turns, missed = _act(session, case, settings.model, wanted)
        extra = extra_of(turns)
        if missed is not None:
            extra |= {**case.evidence, "missed": missed, "calls": shown_calls(turns)}
            extra |= pictures_of(robot, first, trial, settings)
    failed = next((turn for turn in turns if turn.failure is not None), None)
    why = str((failed and failed.failure) or missed or "")
    cause = (failed and case.blame(failed)) or "task"
    outcome = outcome_of(case.instructions, turns, missed, cause, why, extra)
    return meter.settled(outcome)


def outcome_of(
    instructions: Sequence[str],
    turns: Sequence[Turn],
    missed: str | None,
    cause: str,
    failure: str,
    extra: Mapping[str, Any],
) -> Outcome:
    """Return the verdict on a session.

    Args:
        instructions: What a person said.
        turns: How they went.
        missed: What is lacking; None if nothing.
        cause: Who is to blame if something is.
        failure: Why it did not succeed, or a program did not end well.
        extra: The outcome's own.
    """
    return Outcome(
        success=missed is None,
        cause="" if missed is None else cause,
        instruction="; ".join(instructions),
        program="\n".join(turn.program for turn in turns),
        failure=failure,
        calls=sum(len(turn.calls) for turn in turns),
        extra=extra,
    )


def _named(robot: Any) -> tuple[str, ...]:
    """Return every name in the lists of a robot's facts."""
    facts = observation.facts(robot).values()
    lists = [fact for fact in facts if isinstance(fact, list | tuple)]
    return tuple(name for fact in lists for name in fact if isinstance(name, str))


class _Wanted:
    """What a suite's own judge says of a world after the instruction that is carried out."""

    judge: Judge | None = None

    def __call__(self, robot: Any) -> bool:
        """Accept whatever nobody judges."""
        return self.judge is None or self.judge(robot) is None


def _act(
    session: Session, case: RobotCase, model: str, wanted: _Wanted
) -> tuple[list[Turn], str | None]:
    """Carry out a case's instructions, up to the first that does not do what it says.

    Returns:
        The turns, and what is lacking; None if nothing.
    """
    asked: list[tuple[str, str | None]] = [
        (words, "pass\n" if model == "no-op" else None) for words in case.instructions
    ]
    if model == "oracle":
        asked = list(_programs(case).items())
    elif is_noisy(model):
        asked = [(words, None) for words in _programs(case)]
    turns: list[Turn] = []
    for number, (words, program) in enumerate(asked, 1):
        judge = case.on_the_way[number - 1] if number <= len(case.on_the_way) else None
        wanted.judge = judge if number < len(asked) else case.missed
        turns.append(session.run(words) if program is None else session.execute(program, words))
        if not turns[-1].ok and not case.anyhow:
            return turns, f"{words!r} was not carried out"
        if judge is not None and number < len(asked):
            missed = _verdict(judge, session.robot)
            if missed is not None:
                return turns, f"after {words!r}: {missed}"
    return turns, _verdict(case.missed, session.robot)


def _programs(case: RobotCase) -> dict[str, str]:
    """Return a case's oracle by instruction: all of them at once if one program does it all."""
    if isinstance(case.oracle, str):
        return {"; ".join(case.instructions): case.oracle}
    return dict(zip(case.instructions, case.oracle, strict=True))


def _verdict(judge: Judge, robot: Any) -> str | None:
    """Return what a judge says of a world.

    Raises:
        UsageError: It is no verdict: nobody knows whether True means that all is well.
    """
    missed: Any = judge(robot)
    if missed is None or (isinstance(missed, str) and missed.strip()):
        return missed
    code = getattr(judge, "__code__", None)
    where = f"{code.co_filename}, line {code.co_firstlineno}" if code is not None else repr(judge)
    raise UsageError(
        f"the judge at {where} returned {missed!r:.60}; a judge returns in words what is lacking, "
        "or None if nothing is"
    )


def extra_of(turns: Sequence[Turn]) -> dict[str, Any]:
    """Return what reports count of a trial's turns: repairs, programs tried, doubts."""
    doubts = [line for turn in turns for line in turn.effect.doubts]
    tried = sum(turn.tried for turn in turns)
    found = {REPAIRED: any(turn.attempts > 1 for turn in turns), TRIED: tried, DOUBTS: doubts}
    return {name: value for name, value in found.items() if value}


def shown_calls(turns: Sequence[Turn]) -> list[dict[str, Any]]:
    """Return the calls of a failed trial as a report shows them: the first `SHOWN_CALLS`."""
    every = [call for turn in turns for call in turn.as_json()["calls"]]
    keys = ("name", "args", "kwargs", "result", "error")
    return [{key: call[key] for key in keys} for call in every[:SHOWN_CALLS]]


def pictures_of(robot: Any, first: Any, trial: Trial, settings: Settings) -> dict[str, Any]:
    """Draw a failed trial's world into the folder the option `pictures` names, if it does."""
    folder = settings.options.get("pictures")
    if folder is None or first is None or not hasattr(robot, "render"):
        return {}
    parts = filter(None, (trial.task, trial.split, str(trial.seed), str(trial.sample)))
    return _keep_pictures(robot, first, Path(folder), "_".join(parts))


def _keep_pictures(robot: Any, first: Any, folder: Path, stem: str) -> dict[str, Any]:
    """Draw the world as it is and as it was; return what an outcome says of it.

    Args:
        robot: Whose world; it is left as it was at first.
        first: A snapshot of it.
        folder: Where the files go.
        stem: What their names begin with.
    """
    plain = re.sub(r"[^\w.-]+", "-", stem)[:80]
    stem = plain if plain == stem else f"{plain}-{zlib.crc32(stem.encode()):08x}"
    names = [f"{stem}_before.png", f"{stem}_after.png"]
    try:
        robot.render(SIZE_PX, SIZE_PX).save(folder / names[1])
        robot.restore(first)
        robot.render(SIZE_PX, SIZE_PX).save(folder / names[0])
    except OSError:  # a full disk costs the picture, not the trial
        return {}
    return {"pictures": names}


def session_settings(
    settings: Settings,
    trial: Trial,
    prompts: Mapping[str, Prompt],
    reached: Callable[[Any], bool],
) -> SessionSettings:
    """Return how the session of a trial runs, as the settings' options have it.

    Args:
        settings: What the run is asked for.
        trial: Which one.
        prompts: What its model is asked with.
        reached: Returns of a robot whether its world is as the instruction wants it; chooses
            between
            programs where neither their agreement nor a goal check is to do so.
    """
    options = settings.options
    sampling, repairs = Sampling(**options.get("sampling", {})), options.get("repairs")
    if not (sampling.agreement or sampling.goal):
        sampling = replace(sampling, judge=reached)
    return SessionSettings(
        prompts=prompts,
        seed=seed_of(trial),
        limits=program_limits(options.get("limits", {})),
        repairs=None if repairs is None else Repairs(**repairs),
        sampling=sampling,
        rounds=options.get("rounds", 1),
    )
