"""Turns as rows of a table: what a scripted model answers, what is done, and what is so then.

A row has the `answers` by instruction, one after the other, or `drawn`, one for each sample; the
answer of a `goal` check; the
`options` of the session; the user's `decisions`; and the `steps`. A step runs an instruction,
executes a program or undoes turns; what else it has is what is so afterwards: see `_check`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from cap.engine.settings import GenerationLimits, Repairs, Sampling
from cap.models.base import Completion
from cap.session.session import Session
from cap.session.turn import Turn
from cap.trace.trace import Event
from robots.ravens import create
from tests.cap.conftest import Open
from tests.fakes.scripted import OBJECTS, PROMPTS, WITH_GOAL, Drawn, Scripted, listened

GROUPS = {"repairs": Repairs, "sampling": Sampling, "budget": GenerationLimits}


def play(open_session: Open, case: Mapping[str, Any]) -> None:
    """Do what a row says, and check what it says of each step."""
    given, goal = case["answers"], case.get("goal", "")
    if "drawn" in case:
        model: Scripted = Drawn(given, goal, case["steps"][0]["run"])
    elif isinstance(given, dict):
        model = Scripted({words: _written(answer) for words, answer in given.items()}, goal=goal)
    else:
        model = Scripted(*map(_written, given), goal=goal)
    options: dict[str, Any] = {"min_level": "process", **case.get("options", {})}
    for name, kind in GROUPS.items():
        if name in options:
            options[name] = kind(**options[name])
    robot: Any = create(mode="instant", objects=options.pop("objects", OBJECTS), seed=1)
    decisions = list(case.get("decisions", ()))
    if decisions or not options.get("simulated", True):
        options["approve"] = lambda source: decisions.pop(0) if decisions else True
    robot.simulated = options.pop("simulated", True)
    prompts = WITH_GOAL if "goal" in case else PROMPTS
    session = open_session(model, robot=robot, prompts=prompts, **options)
    events = listened(session)
    for step in case["steps"]:
        begun, before = len(model.requests), len(events)
        turn = None
        if "undo" in step:
            session.undo(step["undo"])
        elif "execute" in step:
            turn = session.execute(step["execute"], expect=step.get("expect", ()))
        else:
            turn = session.run(step["run"], step.get("expect", ()))
        _check(step, session, turn, events[before:], model.asked[begun:])


def _written(answer: Any) -> Any:
    """Return an answer of a table as a scripted model takes it."""
    if isinstance(answer, list):
        return [_written(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    if "ended" in answer:
        return Completion(answer["text"], "scripted", ended=answer["ended"])
    return KeyboardInterrupt()


def _check(
    step: Mapping[str, Any],
    session: Session,
    turn: Turn | None,
    happened: list[Event],
    asked: list[str],
) -> None:
    """Check what a step says: of its turn, of the session, and of what its model was sent."""
    model: Any = session.model
    if turn is not None:
        failure = turn.failure
        assert (failure.error if failure else "") == step.get("error", ""), failure
        found: dict[str, Any] = {
            "kind": failure and failure.kind,
            "moved": sorted(turn.moved),
            "said": list(turn.effect.said),
            "doubts": list(turn.effect.doubts),
            "requests": turn.usage.requests,
            "stdout": turn.stdout,
            "attempts": turn.attempts,
            "program": turn.program,
        }
        found = {key: found[key] for key in found if key in step}
        assert found == {key: step[key] for key in found}
        assert step.get("message", "") in (failure.message if failure else "")
    for name, value in step.get("variables", {}).items():
        assert session.state.variables.get(name) == value
    assert asked == step.get("asked", asked)
    assert set(step.get("events", ())) <= {event.kind for event in happened}
    for event in happened:
        if event.kind == "samples":
            shown = "; ".join([*event.data["why"], event.data["stopped"]])
            assert event.data["chosen"] == step.get("chosen", event.data["chosen"])
            assert step.get("why", "") in shown
    last = model.prompts[-1] if model.prompts else ""
    for text in step.get("shown", ()):
        assert text in last
    for text in step.get("not_shown", ()):
        assert text not in last
    if "notes" in step:
        assert len(model.notes) == len(step["notes"])
        assert all(map(re.search, step["notes"], model.notes))
