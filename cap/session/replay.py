"""Replay: a run once more without a model, its requests answered as they were answered then.

A run folder holds all it takes: the session as it began, what was asked of it and in which order,
each completion under the key of its request, and the result of each turn.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from cap.errors import SavedError, UsageError
from cap.models.replay import read_entry
from cap.result import plain
from cap.session.session import Session
from cap.session.session_file import SavedSession
from cap.session.turn import Turn
from cap.trace.reader import read_events


@dataclass(frozen=True)
class ReplayStep:
    """One thing a user did in a session."""

    kind: Literal["run", "execute", "undo", "redo", "model"]
    """Which."""
    text: str = ""
    """The instruction, or the program's name."""
    source: str = ""
    """The user's own program."""
    turns: int = 0
    """How many were undone."""
    repairs: bool = False
    """Whether the model that took over can be asked to repair what it wrote."""
    outcome: Any = None
    """Its result, as JSON; None of what is no turn."""


@dataclass(frozen=True)
class Replayed:
    """The result of a step this time."""

    step: ReplayStep
    """What was done."""
    turn: Turn | None
    """The turn; None of what is none."""

    @property
    def same(self) -> bool:
        """True if it ended as it did then: same success or error, same value, same positions."""
        return self.turn is None or _outcome(self.turn) == self.step.outcome


def steps(folder: Path) -> tuple[ReplayStep, ...]:
    """Return what was done in a run, in order; a turn that a killed run never finished is left out.

    Raises:
        UsageError: It is no run folder.
        SavedError: Its events are not those of a session.
    """
    found: list[ReplayStep] = []
    moved: Any = None
    failed: str | None = None
    try:
        for event in read_events(folder):
            kind, data = event["kind"], event["data"]
            if event["depth"]:
                continue
            if kind == "instruction":
                failed = None
                source = data.get("source", "")
                found.append(ReplayStep("execute" if source else "run", data["text"], source))
            elif kind == "undo":
                found.append(ReplayStep("undo", turns=data["turns"]))
            elif kind == "redo":
                found.append(ReplayStep("redo"))
            elif kind == "undo_round":
                raise UsageError(
                    f"in {folder} a single round was undone, which version 0.1 alone can replay"
                )
            elif kind == "model":
                found.append(ReplayStep("model", data["name"], repairs=data["repairs"]))
            elif kind == "moved":
                moved = data["objects"]
            elif kind == "failure":
                failed = data["error"]
            elif kind == "done":
                done = {"ok": data["ok"], "value": data.get("value")}
                found[-1] = replace(found[-1], outcome={**done, "moved": moved, "failed": failed})
    except (KeyError, TypeError, IndexError, AttributeError) as error:
        raise SavedError(f"{folder / 'events.jsonl'} is damaged: {error!r}") from None
    turns = ("run", "execute")
    finished = [step for step in found if step.kind not in turns or step.outcome is not None]
    if not any(step.outcome is not None for step in finished):
        raise SavedError(f"no turn was finished in {folder}; there is nothing to replay")
    return tuple(finished)


def recorded(folder: Path) -> list[dict[str, Any]]:
    """Return a run's completions as lines of a recording.

    Raises:
        UsageError: It is no run folder, or one of its completions is damaged.
        SavedError: Its completions have no keys.
    """
    lines: list[dict[str, Any]] = []
    asked: dict[str, list[str]] = defaultdict(list)
    for event in read_events(folder):
        data = event.get("data", {})
        if event.get("kind") == "prompt":
            asked[str(data.get("lmp"))].append(str(data.get("tail")))
        if event.get("kind") not in ("completion", "unanswered"):
            continue
        tails = asked[str(data.get("lmp"))]
        tail = tails.pop(0) if tails else ""
        if "key" not in data:
            raise SavedError(f"{folder} was written by an older version; it cannot be replayed")
        if data.get("remembered") and any(line["key"] == data["key"] for line in lines):
            continue  # it stands there with what it took; in a rehearsal nothing is written down
        usage = {key: data.get(key, 0) for key in ("prompt_tokens", "completion_tokens")}
        text = data.get("message") if "error" in data else data.get("text")
        more = {"prompt_end": tail, "any_prompt": True, "usage": usage}
        lines.append({**data, "text": text, **more})
        read_entry(json.dumps(lines[-1]), f"{folder / 'events.jsonl'}, answer {len(lines)}")
    return lines


@contextlib.contextmanager
def recording(folder: Path) -> Iterator[Path]:
    """Give a run's completions as a recording file, while it is read."""
    lines = [json.dumps(line) + "\n" for line in recorded(folder)]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"{folder.resolve().name}.jsonl"
        path.write_text("".join(lines), encoding="utf-8")
        yield path


def ready(session: Session, kept: SavedSession, folder: Path) -> Session:
    """Have a restored session repair programs as the run did, and say what it replays.

    Raises:
        UsageError: The robot is real hardware, and its world not what it was.
    """
    if not session.robot.simulated:
        raise UsageError(f"robot '{session.robot.name}' is real; runs are replayed in simulation")
    session.model.name = f"replay/{folder}"
    session.engine.repairs = kept.repairs
    session.engine.author.model.repairs = kept.model_repairs  # type: ignore[attr-defined]
    session.trace.update(model=session.model.name, replay=str(folder))
    return session


def replay(session: Session, todo: Sequence[ReplayStep]) -> Iterator[Replayed]:
    """Do the steps of a run in a session, one at a time."""
    for step in todo:
        turn = None
        if step.kind == "undo":
            session.undo(step.turns)
        elif step.kind == "redo":
            session.redo()
        elif step.kind == "model":
            session.engine.author.model.repairs = step.repairs  # type: ignore[attr-defined]
            continue
        elif step.kind == "execute":
            turn = session.execute(step.source, step.text)
        else:
            turn = session.run(step.text)
        yield Replayed(step, turn)


def _outcome(turn: Turn) -> Any:
    """Return the result of a turn, as a run folder has it."""
    failed = turn.failure and turn.failure.error
    done = {"ok": turn.ok, "value": plain(turn.value)}
    return json.loads(json.dumps({**done, "moved": plain(turn.moved), "failed": failed}))
