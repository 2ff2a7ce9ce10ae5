"""Options that several commands share, and the settings, robot and session they describe."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cap.cli.asking import APPROVALS, approval, approver, ask_person, robot_values
from cap.cli.options import MODEL, Asked, F, Named, finite, with_options
from cap.errors import CapError, MissingExtra, UsageError
from cap.robot.robot_files import path_of


@dataclass(frozen=True)
class Options:
    """What a person said on the command line about one session."""

    robot: str | None
    """Registered robot; None takes the configured one."""
    model: str | None
    """Model; None takes the configured one."""
    base_url: str | None
    """Endpoint that replaces the provider's own."""
    model_mode: str | None
    """`chat` or `completion`."""
    seed: int
    """Of the scene and of random numbers in programs."""
    mode: str | None
    """`physics` or `instant`."""
    objects: str | None
    """Comma-separated names."""
    prompts: Path | None
    """A folder of prompt files instead of the shipped ones."""
    record: Path | None
    """JSONL file completions are appended to."""
    out: Path | None
    """The run folder itself; by default a new one under the configured `runs`."""
    time_limit: float
    """Seconds a program itself may run; robot and model calls do not count."""
    model_timeout: float | None
    """Longest wait for one completion, retries included, in seconds."""
    cache: Path | None
    """Folder of the model's answers; None takes the configured one."""
    skills: Path | None
    """Folder of kept functions; None takes the configured one."""
    max_cost: float | None
    """Dollars the run may spend on its model."""
    max_calls: int | None
    """Requests the run may send to its model."""
    concurrency: int | None
    """Requests under way at the same time."""
    repairs: int | None
    """How often a program may be written again before it runs."""
    runtime_repairs: int | None
    """How often after it failed while it ran."""
    dry_run: bool
    """Run in the instant world; nothing physical moves."""
    robot_options: tuple[str, ...]
    """`key=value`, for the robot."""
    approve: str | None
    """When a person is asked: `each-program`, `each-call` or `none`."""
    rehearse: bool | None
    """Whether programs run in a twin first; None for the robot's usual."""
    min_level: str | None
    """The weakest sandbox to accept; None for the robot's usual."""
    yes: bool
    """Do not ask before programs move real hardware: only with `approve` none."""
    ask: bool
    """Ask before every program, in simulation too."""
    verbose: bool
    """Show the programs of nested LMPs as well."""
    as_json: bool
    """One JSON object on standard output, nothing else."""


LONGEST_S = 86400.0
"""Longest time a program may be given: a day, seconds."""
_CLICK = (
    click.option("-r", "--robot", metavar="NAME", help="Robot (default: ravens)."),
    click.option("-m", "--model", metavar="MODEL", help="Model (default: nearest)."),
    *MODEL,
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True),
    click.option("--mode", type=click.Choice(["physics", "instant"]), help="Kind of world."),
    click.option("--objects", metavar="NAMES", help='Such as "red block, blue bowl".'),
    click.option(
        "--prompts",
        type=Named(path_type=Path),
        metavar="DIR",
        help="Prompt files to use instead of the shipped ones.",
    ),
    click.option(
        "--record",
        type=Named(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Append completions, for -m replay/FILE.",
    ),
    click.option(
        "--out", type=Named(path_type=Path), metavar="DIR", help="Folder of this run: a new one."
    ),
    click.option(
        "--time-limit",
        type=click.FloatRange(min=0.01, max=LONGEST_S),
        callback=finite,
        default=10.0,
        show_default=True,
        metavar="S",
        help="Seconds a program itself may run.",
    ),
    click.option(
        "--skills",
        type=Named(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder of kept functions.",
    ),
    click.option(
        "--repairs",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often a program is written again before it runs (default: 2).",
    ),
    click.option(
        "--runtime-repairs",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often after it failed while it ran (default: 1; 0 on hardware).",
    ),
    click.option("--dry-run", is_flag=True, help="Preview in the instant world; nothing moves."),
    click.option(
        "-R",
        "--robot-option",
        "robot_options",
        multiple=True,
        metavar="KEY=VALUE",
        help="An option of the robot, such as host=192.168.0.10.",
    ),
    click.option(
        "--approve",
        type=click.Choice(APPROVALS),
        help="When to ask you (default: none; each-program on hardware).",
    ),
    click.option(
        "--rehearse/--no-rehearse",
        default=None,
        help="Run each program in the robot's twin first (default: on hardware).",
    ),
    click.option(
        "--min-level",
        metavar="LEVEL",
        help="The weakest sandbox to accept, see cap info (on hardware: kernel-seccomp).",
    ),
    click.option(
        "--yes", is_flag=True, help="With --approve none: nobody is asked before hardware moves."
    ),
    click.option("--ask", is_flag=True, help="As --approve each-program."),
    click.option("-v", "--verbose", is_flag=True, help="Show the programs of nested LMPs."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
)


def session_options(command: F) -> Callable[..., Any]:
    """Add the shared options to a command; it gets them as one `options` argument."""
    return with_options(command, _CLICK, Options, "options")


def load_config(options: Options | Asked, **more: Any) -> Any:
    """Return the settings that hold; warnings go to standard error.

    Args:
        options: What was said on the command line.
        more: Further settings that were said there, by name.
    """
    from cap import config

    said = {name: getattr(options, name, None) for name in config.SETTINGS}
    settings = config.load(
        os.environ, Path.cwd(), Path.home(), confirm=confirm, flags={**said, **more}
    )
    for warning in settings.warnings:
        click.echo(f"warning: {warning}", err=True)
    return settings


def confirm(question: str) -> bool:
    """Ask the person; where there is none, the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(question, default=False, err=True)


def object_names(text: str | None) -> list[str] | None:
    """Split `--objects`.

    Raises:
        UsageError: It names nothing.
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError('--objects names nothing; write it like "red block, blue bowl"')
    return names


@contextmanager
def open_session(options: Options, instructions: Sequence[str]) -> Iterator[Any]:
    """Build the robot, the model and the session a command's options describe.

    The run folder comes first, so that a run that fails to start has its trace as well; after a
    mistake in what was asked for there is none.
    """
    from cap.sandbox.parent.template_client import shared_template

    shared_template().start()  # it loads numpy and shapely while we load the rest
    from cap.trace.trace import Trace, new_run_folder

    settings = load_config(options)
    if not all(words.strip() for words in instructions):
        raise UsageError("an instruction is empty; say what the robot should do")
    there = options.out is not None and options.out.exists()
    folder = options.out or new_run_folder(settings.runs, settings.robot, instructions[0])
    trace = Trace(_claim(folder), {"instructions": instructions, "dry_run": options.dry_run})
    try:
        session = _make_session(options, settings, trace, instructions)
    except BaseException as error:
        trace.event("failure", kind="start", error=type(error).__name__, message=str(error))
        trace.close("error")
        if isinstance(error, UsageError):  # nothing was tried: a slip leaves nothing behind
            _remove(folder, there)
        elif isinstance(error, CapError):
            error.run = str(folder)
        raise
    with session:
        yield session


def _make_session(options: Options, settings: Any, trace: Any, instructions: Sequence[str]) -> Any:
    from cap.robot import registry
    from cap.sandbox.limits import Limits
    from cap.session.session import Session
    from cap.session.skills.store import SkillStore

    model = model_for(options, settings)
    robot = _make_robot(options, settings)
    try:
        trace.update(mode=getattr(robot, "mode", None))
        asks = approval(options.approve, options.ask, options.yes, robot.simulated)
        return Session(
            robot,
            model,
            prompts=registry.robot_prompts(settings.robot, options.prompts),
            trace=trace,
            seed=options.seed,
            limits=Limits(program_s=options.time_limit),
            approve=approver(asks, robot.simulated),
            allow=ask_person if asks == "each-call" else None,
            repairs=repairs_for(settings, robot.simulated),
            skills=SkillStore(skills_folder(settings)),
            rehearse=options.rehearse,
            min_level=options.min_level,
            robot_file=path_of(settings.robot),
        )
    except BaseException:
        robot.close()
        raise


def skills_folder(settings: Any) -> Path:
    """Return the folder of kept functions: the one that is set, or under the person's data."""
    if settings.skills is not None:
        return Path(settings.skills)
    data = Path(os.environ.get("XDG_DATA_HOME", ""))
    return (data if data.is_absolute() else Path.home() / ".local" / "share") / "cap" / "skills"


def model_for(options: Options, settings: Any) -> Any:
    """Build the model the settings name."""
    from cap.models.budget import Allowance
    from cap.models.providers import ModelTerms, make_model

    return make_model(
        settings.model,
        base_url=settings.base_url,
        mode=settings.model_mode,
        environ=os.environ,
        record=options.record,
        timeout_s=options.model_timeout,
        terms=ModelTerms(
            cache=settings.cache,
            allowance=Allowance(settings.max_calls, settings.max_cost, settings.concurrency),
            prices=settings.prices,
        ),
    )


def repairs_for(settings: Any, simulated: bool) -> Any:
    """Return how often programs may be repaired; None where nobody said."""
    from cap.engine.repair import Repairs

    if settings.repairs is None and settings.runtime_repairs is None:
        return None
    usual = Repairs() if simulated else Repairs(runtime=0)
    static, runtime = settings.repairs, settings.runtime_repairs
    return Repairs(
        usual.static if static is None else static, usual.runtime if runtime is None else runtime
    )


def _make_robot(options: Options, settings: Any) -> Any:
    """Build the robot; without a physics engine fall back, unless physics was asked for."""
    from cap.robot import registry

    given = {"seed": options.seed, "objects": object_names(options.objects)}
    extra = {**settings.robots.get(settings.robot, {}), **robot_values(options.robot_options)}
    extra = registry.own_options(extra)
    if options.dry_run:
        return _dry(registry.make_robot(settings.robot, mode="instant", **given, **extra))
    try:
        return registry.make_robot(settings.robot, mode=settings.mode, **given, **extra)
    except MissingExtra as missing:
        if settings.sources["mode"] != "default":
            raise
        click.echo(f"note: {missing}; using the instant world (no physics)", err=True)
        return registry.make_robot(settings.robot, mode="instant", **given, **extra)


def _dry(robot: Any) -> Any:
    """Return a robot that moves nothing.

    Raises:
        UsageError: It is real.
    """
    if not robot.simulated:
        robot.close()
        raise UsageError(
            f"robot '{robot.name}' has no dry run: made with mode='instant' it is still real "
            "(simulated is False), so nothing was run; simulate it in that mode"
        )
    return robot


def _remove(folder: Path, there: bool) -> None:
    """Remove what was written of a run that never began; its folder too, unless it was there."""
    with contextlib.suppress(OSError):
        (folder / "programs").rmdir()
        for name in ("events.jsonl", "run.json"):
            (folder / name).unlink()
        if not there:
            folder.rmdir()


def _claim(folder: Path) -> Path:
    """Make sure a run folder is this run's own."""
    if (folder / "run.json").exists():
        raise UsageError(f"{folder} already holds a run; choose another --out or remove it")
    if folder.is_dir() and any(folder.iterdir()):
        raise UsageError(f"{folder} holds something else; choose a new or empty folder for --out")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make folder {folder}: {error.strerror or error}") from None
    return folder
