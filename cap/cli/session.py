"""The session that a command's options describe: new, resumed or repeated; shown, and reported."""

from __future__ import annotations

import contextlib
import functools
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from cap.cli.approval import approval, approver, ask_for_program, ask_person, keep_skill
from cap.cli.options import SessionOptions, load_config, robot_values, split_names
from cap.cli.output import SessionConsole, is_json, print_json, remark
from cap.config import skills_folder
from cap.errors import CapError, MissingKey, MissingSimulator, Stopped, UsageError
from cap.messages import is_real, printable, usage_line
from cap.models.base import Usage
from cap.result import plain
from cap.robot import registry
from cap.robot.registry import is_file, path_of
from cap.trace.trace import Trace, new_run_folder, status_after


@contextmanager
def open_session(
    options: SessionOptions,
    instructions: Sequence[str],
    people: Any = None,
) -> Iterator[Any]:
    """Build the robot, the model and the session a command's options describe.

    The run folder comes first, so that a run that fails to start has its trace as well; after a
    mistake in what was asked for there is none.

    Args:
        options: What was said on the command line.
        instructions: Those that are known already; the folder is named after the first.
        people: Is asked before anything moves, by `approve(source)` and `allow(call)`; None for
            the person at the terminal.
    """
    from cap.sandbox.client import shared_template

    shared_template().start()  # it loads numpy and shapely while we load the rest
    settings = load_config(options)
    if not all(words.strip() for words in instructions):
        raise UsageError("an instruction is empty; say what the robot should do")
    header = {"instructions": instructions, "dry_run": options.dry_run}
    with beginning(options.out, settings.runs, settings.robot, header) as trace:
        session = _make_session(options, settings, trace, people)
    for why in session.damaged_skills.values():
        remark(f"warning: skipping a skill: {why}")
    try:
        with session:
            yield session
    except Stopped:  # no report follows
        if not is_json():
            with contextlib.suppress(OSError):  # the terminal may be gone
                click.echo(f"run: {session.trace.folder}")
        raise


def _make_session(options: SessionOptions, settings: Any, trace: Any, people: Any) -> Any:
    from cap.engine.settings import HARDWARE_REPAIRS, GenerationLimits, Repairs, Sampling
    from cap.sandbox.limits import Limits
    from cap.session.session import Session
    from cap.session.settings import SessionSettings
    from cap.session.skills.store import SkillStore

    model = model_for(settings, options.record)
    robot = _make_robot(options, settings)
    try:
        trace.update(mode=getattr(robot, "mode", None), look=options.look)
        if options.look and not hasattr(robot, "render"):
            raise UsageError(f"robot '{robot.name}' cannot render pictures; leave out --look")
        if options.look and not getattr(model, "sees", True):
            note = f"note: {model.name} does not accept pictures, so --look is ignored"
            remark(note)
        asks = approval(options.approve, options.ask, options.yes, robot.simulated)
        usual = Repairs() if robot.simulated else HARDWARE_REPAIRS
        repairs = Repairs(
            usual.static if settings.repairs is None else settings.repairs,
            usual.runtime if settings.runtime_repairs is None else settings.runtime_repairs,
            settings.undo_failed,
        )
        return Session(
            robot,
            model,
            SessionSettings(
                prompts=registry.robot_prompts(settings.robot, options.prompts),
                trace=trace,
                seed=options.seed,
                limits=Limits(program_s=settings.time_limit, calls_s=settings.calls_time),
                approve=approver(asks, robot.simulated, None if people is None else people.approve),
                allow=(people.allow if people else ask_person) if asks == "each-call" else None,
                budget=GenerationLimits(functions=settings.max_functions),
                look=options.look,
                learn=keep_skill if options.learn else None,
                rounds=options.rounds,
                sampling=Sampling(**sampling(settings, options.samples)),
                repairs=repairs,
                skills=SkillStore(skills_folder(settings)),
                rehearse=options.rehearse,
                min_level=options.min_level,
                robot_file=path_of(settings.robot),
            ),
        )
    except BaseException:  # also Ctrl-C: nobody else could close it
        robot.close()
        raise


def sampling(settings: Any, samples: int) -> dict[str, Any]:
    """Return the fields of a `Sampling` as the settings have them."""
    by = settings.choose_by
    return {
        "samples": samples,
        "agreement": by in ("agreement", "both"),
        "goal": by in ("goal", "both"),
        "max_tokens": settings.try_tokens,
        "max_s": settings.try_time,
        "verify": settings.verify,
    }


def model_for(settings: Any, record: Path | None = None) -> Any:
    """Build the model the settings name.

    Args:
        settings: Its name, and how it is asked.
        record: JSONL file its completions are appended to.
    """
    from cap.models.budget import Allowance
    from cap.models.providers import ModelTerms, make_model

    model = make_model(
        settings.model,
        asked=settings.asked(),
        record=record,
        terms=ModelTerms(
            cache=settings.cache,
            allowance=Allowance(settings.max_calls, settings.max_cost, settings.concurrency),
            prices=settings.prices,
        ),
    )
    return warned_of(model)


def warned_of(model: Any) -> Any:
    """Return a model, once the user is warned where others can listen."""
    from cap.models.providers import endpoint_warning

    if warning := endpoint_warning(model):
        remark(f"warning: {warning}")
    return model


def _make_robot(options: SessionOptions, settings: Any) -> Any:
    """Build the robot; without a physics engine fall back, unless physics was asked for.

    Raises:
        UsageError: A dry run is wanted of a robot that is always real.
    """
    objects = split_names(options.objects, "--objects", "red block, blue bowl")
    given = {"seed": options.seed, "objects": objects}
    extra = {**settings.robots.get(settings.robot, {}), **robot_values(options.robot_options)}
    extra = registry.own_options(extra)
    if options.dry_run:
        robot = registry.make_robot(settings.robot, mode="instant", **given, **extra)
        if robot.simulated:
            return robot
        robot.close()
        raise UsageError(
            f"robot '{robot.name}' has no dry run: made with mode='instant' it is still real "
            "(simulated is False), so nothing was run; simulate it in that mode"
        )
    try:
        return registry.make_robot(settings.robot, mode=settings.mode, **given, **extra)
    except MissingSimulator as missing:
        if settings.sources["mode"] != "default" or "host" in extra:  # a real one has no stand-in
            raise
        remark(f"note: {missing}; using the instant world (no physics)")
        return registry.make_robot(settings.robot, mode="instant", **given, **extra)


@contextmanager
def beginning(
    out: Path | None, runs: Path, robot: str, header: Mapping[str, Any]
) -> Iterator[Trace]:
    """Yield the trace of a run; what fails inside ends it, and a slip leaves nothing behind.

    Args:
        out: The run's folder; None for a new one in `runs`.
        runs: The folder of runs.
        robot: The robot's name, for a new folder's.
        header: What the run is begun with; a new folder has the first of its instructions.
    """
    there = out is not None and out.exists()
    folder = _claimed(out or new_run_folder(runs, robot, header["instructions"][0]))
    trace = Trace(folder, header)
    try:
        yield trace
    except BaseException as error:  # the trace has whatever it was
        slip = isinstance(error, UsageError | MissingKey)
        if not slip:  # of that no trace is kept
            trace.event("failure", kind="start", error=type(error).__name__, message=str(error))
        with contextlib.suppress(OSError):  # that one says more than a full disk
            trace.close(status_after(error))
        if slip:
            shutil.rmtree(folder, ignore_errors=True)
            if there:
                folder.mkdir(exist_ok=True)
        elif isinstance(error, CapError):
            error.run = str(folder)
        raise


def _claimed(folder: Path) -> Path:
    """Make sure a run folder is this run's own."""
    if (folder / "run.json").exists():
        raise UsageError(f"{folder} already holds a run; choose another --out or remove it")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty; choose a new or empty folder for --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make folder {folder}: {error.strerror or error}") from None
    return folder


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
    if mode == "physics":  # no other engine goes on with it
        wanted = kept.engine_option(robot)
        for name, value in wanted.items():
            if any(one.startswith(f"{name}=") and one != f"{name}={value}" for one in given):
                raise UsageError(f"the saved session uses {name}={value}; start without -R {name}")
        given = tuple(one for one in given if one.partition("=")[0] not in wanted)
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


def _go_on(session: Any, kept: Any, folder: Any) -> None:
    """Make a new session a saved one; say so if its world is not what it was."""
    rewound = session.restore(kept)
    session.earlier_run = str(folder)
    session.trace.update(resumed=str(folder), seed=kept.seed)
    if not rewound:
        noted = getattr(session.robot, "world_note", "")
        why = kept.world_lost or noted or "the real world stays as it is"
        remark(f"note: variables and history only; {why}")
    from cap.trace.export.run_record import RunRecord

    with contextlib.suppress(CapError):  # a file, or a damaged trace
        last = RunRecord.read(folder).turns[-1:]
        if last and last[0].ok is None:
            words = last[0].instruction[:80]
            remark(f"note: the last turn was interrupted and is discarded: {words}")


@contextmanager
def resumed(
    options: SessionOptions,
    folder: Path | None,
    instructions: Sequence[str],
    people: Any = None,
) -> Iterator[tuple[Any, SessionOptions]]:
    """Open a session that goes on with the one of a run folder; a new one where there is none.

    Yields:
        The session, and the options it was opened with: robot, scene and seed are the saved ones.
    """
    kept = None
    if folder is not None:
        from cap.session import session_file

        kept = session_file.read(folder)
        options = as_saved(options, kept)
    with open_session(options, instructions, people) as session:
        if kept is not None:
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
            remark(f"warning: {line} cannot be read; skipping it")
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


def differing(steps: Iterator[Any], film: Any) -> list[str]:
    """Repeat steps, filmed if there is a film; return those that came out differently."""
    found = []
    for entry in steps:
        if film is not None:
            film.turn(entry.turn)
        found += [] if entry.same else [entry.step.text]
    return found


def watch(session: Any, options: SessionOptions, echo: bool = True) -> None:
    """Show the session in the terminal as it happens.

    With `--json` only a person who is asked sees it, beside the questions.
    """
    asked = session.engine.gate.approve is ask_for_program and sys.stdin.isatty()
    if is_json() and not asked:
        return
    from cap.sandbox.limits import WEAK_LEVELS
    from cap.trace.terminal import Live

    console = SessionConsole(highlight=False)
    follows = session.engine.settings.allow is None
    session.trace.listeners.append(Live(console, options.verbose, echo, follows))
    unsent = _unsent(session.robot)
    if options.dry_run or unsent is not None:
        where = "in the instant world" if unsent is None else "nothing is sent"
        console.print(f"dry run: {where}; no hardware moves", style="dim")
    level = session.engine.sandbox.level
    if level in WEAK_LEVELS:
        console.print(
            f"sandbox: only level '{level}' is available here; see cap info", style="yellow"
        )
    if session.model.name == "nearest":
        about = "model: nearest (not a language model; adapts the closest example)"
        console.print(about, style="dim")


def report(
    session: Any,
    paths: Sequence[Path] = (),
    *,
    left: Sequence[str] = (),
    differs: Sequence[str] | None = None,
) -> int:
    """Say where the run is kept and return the exit code.

    Args:
        session: Whose turns are over.
        paths: Pictures of it.
        left: Instructions that were not run, after a failure.
        differs: Of a run that was repeated, the steps that came out differently.
    """
    failure = next((turn.failure for turn in session.turns if turn.failure), None)
    code = failure.exit_code if failure else 0
    if differs is not None:
        code = 1 if differs else 0
    if is_json():
        shown = {
            "status": "failed" if code else "done",
            "run": str(session.trace.folder),
            "turns": [turn.as_json() for turn in session.turns],
            **_world(session.robot),
        }
        if differs is None:
            mode = getattr(session.robot, "mode", None)
            shown |= {"mode": mode, "usage": vars(session.usage)}
        else:
            shown["differs"] = differs
        if (unsent := _unsent(session.robot)) is not None:
            shown["commands"] = unsent
        if paths:
            shown["pictures"] = [str(path) for path in paths]
        print_json(shown)
        return code
    for text in differs or ():
        click.echo(f"result differs from the run: {printable(text)}")
    if differs == []:
        click.echo("replayed: same result as in the run")
    for words in left:
        click.echo(f"not run after the failure: {words}")
    for path in paths:
        click.echo(f"picture: {path}")
    say_end(session)
    return code


def _unsent(robot: Any) -> list[str] | None:
    """Return the commands that a robot in a dry run would have sent; None of any other."""
    return getattr(robot, "commands", None) if getattr(robot, "mode", "") == "dry run" else None


def say_end(session: Any, folder: str = "run") -> None:
    """Say what a robot holds, what a dry run would have sent, what models took, where the run is.

    Args:
        session: Whose turns are over.
        folder: What the run's folder is called.
    """
    if not session.turns or session.turns[-1].ok:  # else it was reported with the failure
        session.report_held()
    if unsent := _unsent(session.robot):
        click.echo("commands that would be sent:")
        for line in unsent:
            click.echo(f"  {line}")
    if len(session.turns) > 1 and (found := real_usage(session)):
        click.echo(f"total: {usage_line(functools.reduce(Usage.plus, found.values()))}")
    click.echo(f"{folder}: {session.trace.folder}")


def _world(robot: Any) -> dict[str, Any]:
    """Return how a robot and its world are in the end, as far as it reports: base pose, ink."""
    found: dict[str, Any] = {}
    if hasattr(robot, "condition"):
        found["condition"] = plain(robot.condition())
    if hasattr(robot, "strokes"):
        found["ink"] = plain(robot.strokes)
    return found


def real_usage(session: Any) -> dict[str, Usage]:
    """Return what language models took for each LMP, also in turns that were undone."""
    found: dict[str, Usage] = {}
    for (model, lmp), usage in session.took.items():
        if is_real(model):
            found[lmp] = found.get(lmp, Usage()).plus(usage)
    return found
