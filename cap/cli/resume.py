"""`--resume DIR` and `--replay DIR`: sessions that begin where an earlier one was."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cap.cli.options import SessionOptions, robot_values
from cap.cli.session import People, open_session
from cap.errors import CapError, UsageError
from cap.messages import printable
from cap.robot.robot_files import is_file


def as_saved(options: SessionOptions, kept: Any) -> SessionOptions:
    """Return options with the robot, scene and seed of a saved session; a dry run stays one.

    Raises:
        UsageError: Another robot or other objects were asked for, or its robot cannot be had.
    """
    robot = options.robot or kept.registered_robot()
    if robot != kept.robot and not is_file(robot):
        raise UsageError(f"the saved session uses robot '{kept.robot}'; leave out --robot")
    if options.objects is not None and kept.objects is not None:
        raise UsageError("the saved session has its own objects; leave out --objects")
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


def _go_on(session: Any, kept: Any, folder: Path) -> None:
    """Make a new session a saved one; say so if its world or its last turn is not what it was."""
    rewound = session.restore(kept)
    session.earlier_run = str(folder)
    session.trace.update(resumed=str(folder), seed=kept.seed)
    if not rewound:
        noted = getattr(session.robot, "world_note", "")
        why = kept.world_lost or noted or "the real world stays as it is"
        click.echo(f"note: variables and history only; {why}", err=True)
    from cap.trace.export.run_record import RunRecord

    with contextlib.suppress(CapError):  # a file, or a damaged trace
        last = RunRecord.read(folder).turns[-1:]
        if last and last[0].ok is None:
            asked = printable(last[0].instruction[:80])
            click.echo(f"note: the last turn was interrupted and is discarded: {asked}", err=True)


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
    if folder is None:
        with open_session(options, instructions, people) as session:
            yield session, options
        return
    from cap.session import session_file

    kept = session_file.read(folder)
    options = as_saved(options, kept)
    with open_session(options, instructions, people) as session:
        _go_on(session, kept, folder)
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
            click.echo(f"warning: {line} cannot be read; skipping it", err=True)
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
