"""`--resume DIR` and `--replay DIR`: sessions that begin where an earlier one was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from cap.cli.json_output import print_json
from cap.cli.options import SessionOptions, robot_values
from cap.cli.pictures import wanted
from cap.cli.session import People, open_session, watch, world_as_json
from cap.errors import CapError, UsageError
from cap.robot.robot_files import is_file


@dataclass(frozen=True)
class Opening:
    """A session that is to be opened."""

    options: SessionOptions
    """How."""
    kept: Any = None
    """The saved session it goes on with; None for a new one."""
    folder: Path | None = None
    """Where that was saved."""


def as_saved(options: SessionOptions, kept: Any) -> SessionOptions:
    """Return options with the robot, scene and seed of a saved session; a dry run stays one.

    Raises:
        UsageError: Another robot or other objects were asked for, or its robot cannot be had.
    """
    robot = options.robot or kept.registered_robot()
    if robot != kept.robot and not is_file(robot):
        raise UsageError(f"the saved session is one of robot '{kept.robot}'; leave out --robot")
    if options.objects is not None and kept.objects is not None:
        raise UsageError("the saved session has objects of its own; leave out --objects")
    from cap.session.session_file import DRY_RUN

    dry = kept.mode == DRY_RUN
    mode = options.mode or (None if dry else kept.mode)
    given = options.robot_options
    if mode == "physics" and (wanted := kept.engine_option(robot)):
        if robot_values(given).get("engine", kept.engine) != kept.engine:
            raise UsageError(
                f"the saved session's physics is that of {kept.engine}, which no other engine goes "
                "on with; leave out -R engine, or use --mode instant"
            )
        given = tuple(one for one in given if not one.startswith("engine="))
        given += tuple(f"{name}={value}" for name, value in wanted.items())
    return replace(
        options,
        robot=robot,
        robot_options=given,
        mode=mode,
        dry_run=options.dry_run or (dry and options.mode is None),
        seed=kept.seed,
        objects=options.objects if kept.objects is None else ", ".join(kept.objects),
    )


def saved_at(folder: Path | None) -> Any:
    """Read a saved session; None where none is asked for."""
    from cap.session import session_file

    return None if folder is None else session_file.read(folder)


def go_on(session: Any, kept: Any, folder: Path) -> None:
    """Make a new session a saved one; say so if its world or its last turn is not what it was."""
    rewound = session.restore(kept)
    session.earlier_run = str(folder)
    session.trace.update(resumed=str(folder), seed=kept.seed)
    if not rewound:
        noted = getattr(session.robot, "world_note", "")
        why = kept.world_lost or noted or "the real world stays as it is"
        click.echo(f"note: variables and history only; {why}", err=True)
    from cap.messages import clipped
    from cap.trace.reader import read_events

    asked, known = "", 0
    with contextlib.suppress(CapError, KeyError, TypeError):  # a file, or a damaged trace
        for event in read_events(folder):
            kind, data = event["kind"], event["data"]
            if event["depth"] == 0 and kind == "instruction":
                asked, known = clipped(str(data["text"]), 80), known + 1
            elif event["depth"] == 0 and kind == "done":
                asked = ""
            elif kind in ("resumed", "redo", "undo"):
                known += -data["turns"] if kind == "undo" else data["turns"]
    if asked and known > kept.turns:
        click.echo(f"note: the last turn was cut off, and is as if never asked: {asked}", err=True)


@contextmanager
def resumed(
    options: SessionOptions,
    folder: Path | None,
    instructions: Sequence[str],
    people: People | None = None,
) -> Iterator[tuple[Any, SessionOptions]]:
    """Open a session that goes on with the one of a run folder; a new one where there is none.

    Yields:
        The session, and the options it was opened with: robot, scene and seed are the saved ones.
    """
    kept = saved_at(folder)
    options = as_saved(options, kept) if kept else options
    with open_session(options, instructions, people) as session:
        if kept and folder:
            go_on(session, kept, folder)
        yield session, options


@contextmanager
def replayed(options: SessionOptions, folder: Path) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Open a session like that of a run; yield it, and its steps as they are repeated."""
    from cap.session import replay, session_file
    from cap.trace.reader import UNREADABLE, read_events, read_header

    todo = replay.steps(folder)
    for event in read_events(folder):
        if event["kind"] == UNREADABLE:
            line = f"line {event['data']['line']} of {folder / 'events.jsonl'}"
            click.echo(f"warning: {line} cannot be read; it is left out", err=True)
    kept = session_file.read(folder, session_file.START)
    with replay.recording(folder) as file:
        looked = read_header(folder).get("look") is True
        options = replace(as_saved(options, kept), model=f"replay/{file}", look=looked)
        by = {(True, False): "agreement", (False, True): "goal"}
        chosen = by.get((kept.sampling.agreement, kept.sampling.goal), "both")
        options = replace(
            options,
            samples=kept.sampling.samples,
            rounds=kept.rounds,
            settings=(*options.settings, f"choose_by={chosen}"),
        )
        with open_session(options, [f"replay {folder.name}"]) as session:
            session.restore(kept)
            yield session, replay.replay(replay.ready(session, kept, folder), todo)


def replay_run(options: SessionOptions, folder: Path, gif: Path | None, pictures: bool) -> int:
    """Repeat a run with no model; exit code 1 if anything came out differently.

    Args:
        options: How it is shown.
        folder: The run.
        gif: File it is filmed in.
        pictures: Whether pictures are kept.
    """
    with replayed(options, folder) as (session, steps):
        watch(session, options)
        film = wanted(session, gif, pictures)
        done = []
        for entry in steps:
            done.append(entry)
            if film is not None:
                film.turn()
        return _compared(session, options, done, film.finish() if film else [])


def _compared(session: Any, options: SessionOptions, done: list[Any], paths: list[Path]) -> int:
    """Say whether each step came out as it did then."""
    other = [entry for entry in done if not entry.same]
    if options.as_json:
        shown = {
            "status": "failed" if other else "done",
            "run": str(session.trace.folder),
            "turns": [entry.turn.as_json() for entry in done if entry.turn is not None],
            "differs": [entry.step.text for entry in other],
            **world_as_json(session.robot),
        }
        if paths:
            shown["pictures"] = [str(path) for path in paths]
        print_json(shown)
        return 1 if other else 0
    from cap.messages import printable

    for entry in other:
        click.echo(f"came out differently than in the run: {printable(entry.step.text)}")
    if not other:
        click.echo(f"replayed: {len(done)} steps came out as in the run")
    for path in paths:
        click.echo(f"picture: {path}")
    click.echo(f"run: {session.trace.folder}")
    return 1 if other else 0
