"""Scripted sessions as a suite: a trial is one session, its instructions one after the other.

An instruction succeeds if its program ran to its end (or was refused, where `fails` is expected),
and everything expected of it is so. The first that does not ends the session. The sessions
themselves stand in the settings, so a results folder is whole without the file they came from.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.batch.batch_file import AT, Batch, prompts_of, robot_of
from benchmarks.batch.effects import Positions, View, has_words, judge, run_check
from benchmarks.models import MODEL_OPTIONS, Meter, model_for, seed_of
from benchmarks.results import cause_of
from benchmarks.robot_suite import extra_of, pictures_of, shown_calls
from benchmarks.suite import DOUBTS, BaseSuite, Outcome, Settings, Trial, check_options
from cap.engine.doubts.doubts import DID_NOTHING
from cap.engine.effect import Effect
from cap.engine.settings import Sampling
from cap.errors import CapError, UsageError
from cap.result import Result
from cap.robot.observation import Observation
from cap.robot.protocol import Conditioned, Containing, Locating, Rewindable, Robot
from cap.robot.registry import is_file
from cap.sandbox.limits import Limits
from cap.session.session import Session
from cap.session.settings import SessionSettings
from cap.session.skills.store import SkillStore
from cap.session.turn import Turn

OPTIONS = (
    *("limits", "pictures", "sampling", "rounds", "skills", "learn", "sessions"),
    *MODEL_OPTIONS,
)
"""What `Settings.options` may hold."""


@dataclass(frozen=True)
class JudgedTurn:
    """One instruction that was carried out."""

    turn: Turn
    """How it went."""
    missed: str
    """What is not as expected, or ""."""
    cause: str
    """"" or who is to blame."""

    @property
    def why(self) -> str:
        """Why it did not succeed, or ""."""
        if not self.cause:
            return ""
        return self.missed or str(self.turn.failure)


class BatchSuite(BaseSuite):
    """The sessions of one file."""

    name = "batch"
    judged = "A session succeeds if every program ended well and all that was expected is so."
    about = "the sessions of a file, each with what is expected of it"

    def __init__(self, batch: Batch | None = None) -> None:
        """Take what a file says; in a worker nothing, since trials come with their settings."""
        self.version = batch.version if batch else ""
        self._sessions = batch.sessions if batch else {}
        self._named = batch.models if batch else {}

    def adjusted(self, options: Mapping[str, Any]) -> BatchSuite:
        """Return the suite of the sessions that stand in a run's settings."""
        found = BatchSuite()
        found.version, found._named = self.version, self._named
        found._sessions = options.get("sessions", self._sessions)
        return found

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every session with its robot, in the file's order."""
        return tuple((name, _shown(session)) for name, session in self._sessions.items())

    def trials(
        self,
        n: int = 1,
        seed: int = 0,
        tasks: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
    ) -> tuple[Trial, ...]:
        """Return one trial for each session; its seed is the file's.

        Raises:
            UsageError: There is no file.
        """
        if not self._sessions:
            raise UsageError("a batch comes from a file; run it with cap batch FILE")
        return tuple(
            Trial(name, _shown(session), session["seed"])
            for name, session in self._sessions.items()
        )

    def check(self, settings: Settings) -> None:
        """Refuse models that cannot be asked, before the first session.

        Raises:
            UsageError: An unknown model or option.
            MissingKey: A model needs a key and none is set.
        """
        check_options(settings, OPTIONS)
        for spec in dict.fromkeys(entry["model"] for entry in self._sessions.values()):
            try:
                model_for(spec, {**settings.options, "ledger": None})
            except CapError as error:
                if spec not in self._named:
                    raise
                raise type(error)(f"{self._named[spec]}: {error}") from None

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one session.

        Raises:
            UsageError: Its robot, objects, model or prompts cannot be used.
        """
        entry = settings.options["sessions"][trial.task]
        meter = Meter(model_for(entry["model"], settings.options, trial))
        prompts, robot, options = prompts_of(entry), robot_of(entry), settings.options
        skills = options.get("skills")
        with Session(
            robot,
            meter,
            SessionSettings(
                prompts=prompts,
                seed=seed_of(trial),
                limits=Limits(**settings.options.get("limits", {})),
                sampling=Sampling(**options.get("sampling", {})),
                rounds=options.get("rounds", 1),
                skills=None if skills is None else SkillStore(Path(skills)),
                learn=(lambda offered: True) if options.get("learn") else None,
            ),
        ) as session:
            first = robot.snapshot() if isinstance(robot, Rewindable) else None
            before, rested, begun = dict(robot.positions()), _rest(robot), Observation.of(robot)
            steps = _carry_out(session, entry)
            calls = tuple(call for step in steps for call in step.turn.calls)
            effect = Effect.of(begun, Observation.of(robot), Result(calls=calls))
            answered = any(step.turn.effect.answered for step in steps)
            words = replace(effect, answered=answered).words
            missed = _unmet(entry, _view(robot, before, rested, _said(robot), words))
            outcome = meter.settled(_outcome(entry, steps, missed, meter))
            extra = {**outcome.extra, "after": dict(robot.positions())}
            if not outcome.success:
                extra |= {"before": before, "objects": list(before)}
                extra |= pictures_of(robot, first, trial, settings)
        return replace(outcome, extra=extra)


def _shown(session: Mapping[str, Any]) -> str:
    """Return a session's robot as reports show it: of a file only its folder and name."""
    robot = str(session["robot"])
    return "/".join(Path(robot).parts[-2:]) if is_file(robot) else robot


def _view(
    robot: Robot,
    before: Positions,
    rested: Mapping[str, str] | None,
    said: Sequence[str],
    effect: Sequence[str],
) -> View:
    """Return what a robot's world is judged by; all but the robot is of what is judged."""
    held = robot.condition().get("held", "nothing") if isinstance(robot, Conditioned) else "nothing"
    return View(
        before=before,
        after=dict(robot.positions()),
        said=said,
        places=AT.get(robot.name, {}),
        effect=effect,
        contents=robot.contents() if isinstance(robot, Containing) else None,
        held="" if held == "nothing" else str(held),
        resting=_rest(robot),
        rested=rested,
    )


def _rest(robot: Robot) -> Mapping[str, str] | None:
    """Return what each object is in or on; None if the robot does not say."""
    return dict(robot.whereabouts()) if isinstance(robot, Locating) else None


def _said(robot: Robot) -> Sequence[str]:
    return tuple(getattr(robot, "spoken", ()))


def _carry_out(session: Session, entry: Mapping[str, Any]) -> list[JudgedTurn]:
    """Carry out the instructions, up to the first that does not succeed."""
    steps: list[JudgedTurn] = []
    robot = session.robot
    for asked in entry["instructions"]:
        before, heard = dict(robot.positions()), len(_said(robot))
        rested = _rest(robot)
        turn = session.run(asked["text"])
        view = _view(robot, before, rested, _said(robot)[heard:], turn.effect.words)
        steps.append(_step(asked, turn, view))
        if steps[-1].cause:
            break
    return steps


def _step(asked: Mapping[str, Any], turn: Turn, view: View) -> JudgedTurn:
    expect = asked["expect"] or {}
    wanted, failure = expect.get("fails", False), turn.failure
    reason = _refusal(turn) if wanted else None
    if failure is not None and reason is None:
        why = f"neither the robot refused nor the model declined: {failure}" if wanted else ""
        return JudgedTurn(turn, why, cause_of(failure))
    if failure is None and wanted:
        return JudgedTurn(turn, "it ran to its end, and should have failed", "task")
    if isinstance(wanted, str) and not has_words(wanted, str(reason)):
        return JudgedTurn(turn, f"the reason has not the words {wanted!r}: {reason}", "task")
    if wanted and view.moved and not {"moved", "only_moved"} & expect.keys():
        return JudgedTurn(turn, f"it failed, but moved: {', '.join(view.moved)}", "task")
    missed = _unmet(asked, view)
    return JudgedTurn(turn, missed, "task" if missed else "")


def _refusal(turn: Turn) -> str | None:
    """Return why the robot refused or the model declined; None if neither was so.

    A model declines that gives no statement of a program: words, comments alone, nothing, or that
    it cannot match. A program of its own that fails, or that does nothing, declines nothing.
    """
    failure = turn.failure
    if failure is None:
        return None
    if failure.robot or (failure.kind == "model" and failure.cause == "model"):
        return str(failure)
    if failure.error == DID_NOTHING and not ast.parse(turn.program).body:
        return f"{failure}: {turn.program.strip()}"
    return None


def _unmet(asked: Mapping[str, Any], view: View) -> str:
    """Return what is not as an instruction, or a session, expects; "" if all is."""
    missed = judge(asked["expect"] or {}, view)
    if missed is None and asked["check"]:
        missed = run_check(asked["check"], view)
    return missed or ""


def _outcome(
    entry: Mapping[str, Any], steps: Sequence[JudgedTurn], missed: str, meter: Meter
) -> Outcome:
    """Return the verdict."""
    last = steps[-1]
    cause = last.cause or ("task" if missed else "")
    why = last.why if last.cause else missed
    one = len(entry["instructions"]) == 1
    where = "" if one or not last.cause else f"{last.turn.instruction!r}: "
    turns = [step.turn for step in steps]
    return Outcome(
        success=not cause,
        cause=cause,
        instruction="; ".join(asked["text"] for asked in entry["instructions"]),
        program=_programs(steps),
        failure=f"{where}{why}" if cause else "",
        calls=sum(len(turn.calls) for turn in turns),
        extra={"turns": [_told(step) for step in steps]}
        | {name: value for name, value in extra_of(turns).items() if name == DOUBTS}
        | ({"calls": shown_calls(turns)} if cause else {}),
    )


def _programs(steps: Sequence[JudgedTurn]) -> str:
    if len(steps) == 1:
        return steps[0].turn.program
    return "\n".join(f"# {step.turn.instruction}\n{step.turn.program}" for step in steps)


def _told(step: JudgedTurn) -> dict[str, Any]:
    turn = step.turn
    judged = {"instruction": turn.instruction, "ok": not step.cause, "why": step.why}
    return {**judged, "effect": list(turn.effect.words), "left_over": list(turn.effect.left_over)}
