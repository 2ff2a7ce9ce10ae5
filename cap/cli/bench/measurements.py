"""`cap bench speed|engine|sandbox|perception|paraphrases`: measurements, each with its n."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cap.cli.bench import plot
from cap.cli.bench.problems import problems
from cap.cli.bench.run import COMMANDS
from cap.cli.bench.score import score, speed_of_scoring
from cap.cli.options import Asked, model_options
from cap.cli.session_options import load_config
from cap.errors import MissingExtra, UsageError


@click.group("bench")
def command() -> None:
    """Measure speed and understanding."""


@command.command("speed")
@click.option("-n", "--runs", type=click.IntRange(min=3), default=10, show_default=True)
@click.option(
    "--trials",
    type=click.IntRange(min=100, max=1_000_000),
    help="Instead: whether a suite's run of so many trials keeps its pace and memory (Linux).",
)
@click.option("--humaneval", is_flag=True, help="Instead: judging beside the official scorer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def speed(runs: int, trials: int | None, humaneval: bool, as_json: bool) -> int:
    """Measure pick-and-place, reset, the engine's overhead and start-up; 1 if over a limit."""
    from cap.cli.tables import show

    _own("benchmarks")
    if humaneval:
        return speed_of_scoring(runs, as_json)
    from benchmarks.performance import growth
    from benchmarks.performance.speed import Row, measure

    rows: list[Row] = []
    try:
        for row in growth.measure(trials) if trials else measure(runs):
            rows.append(row)
            if not as_json and sys.stderr.isatty():
                click.echo(f"measured: {row.what}", err=True)
    except MissingExtra as missing:
        click.echo(f"note: the rows with physics are left out: {_only_physics(missing)}", err=True)
    table = [
        {
            "what": row.what,
            "median": f"{row.median:.4f}",
            "unit": row.unit,
            "min-max": f"{row.low:.4f}-{row.high:.4f}",
            "n": row.runs,
            "limit": row.limit,
            "original": row.original,
        }
        for row in rows
    ]
    show(table, as_json)
    over = [row.what for row in rows if not row.ok]
    if over:
        click.echo(f"over the limit: {', '.join(over)}{_busy()}", err=True)
    return 1 if over else 0


@command.command("engine")
@click.option("-n", "--runs", type=click.IntRange(min=3), default=10, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def engine(runs: int, as_json: bool) -> int:
    """Measure what the engine adds to a model's own time; 1 if a limit is broken."""
    from cap.cli.tables import show

    _own("benchmarks")
    from benchmarks.performance.engine import Row, measure

    rows: list[Row] = []
    for row in measure(runs):
        rows.append(row)
        if not as_json and sys.stderr.isatty():
            click.echo(f"measured: {row.what}", err=True)
    table = [
        {
            "what": row.what,
            "median": f"{row.median:.3f}",
            "unit": row.unit,
            "min-max": f"{row.low:.3f}-{row.high:.3f}",
            "n": row.runs,
            "limit": f"{'>=' if row.at_least else '<='} {row.limit}",
            "holds": "yes" if row.ok else "no",
        }
        for row in rows
    ]
    show(table, as_json)
    broken = [row.what for row in rows if not row.ok]
    if broken:
        click.echo(f"limit broken: {', '.join(broken)}{_busy()}", err=True)
    return 1 if broken else 0


@command.command("sandbox")
@click.option("-n", "--runs", type=click.IntRange(min=3), default=40, show_default=True)
@click.option("--profile", is_flag=True, help="Where the time of a trivial program goes.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@click.option("--markdown", is_flag=True, help="Print the table as Markdown.")
def sandbox(runs: int, profile: bool, as_json: bool, markdown: bool) -> int:
    """Measure the sandbox beside other ways to run a program; 1 if over a limit."""
    _own("benchmarks")
    if profile:
        return _profile(runs, as_json)
    from benchmarks.performance.sandbox.measure import Row, conditions, installed, measure
    from benchmarks.performance.sandbox.table import as_data, as_lines, as_markdown
    from cap.cli.tables import show

    lacking = {name: install for name, install in installed().items() if install is not None}
    for line in conditions():
        click.echo(line, err=as_json)
    for name, install in lacking.items():
        click.echo(f"{name} is not installed; to compare with it: {install}", err=as_json)
    rows: list[Row] = []
    for row in measure(runs, [name for name in installed() if name not in lacking]):
        rows.append(row)
        if sys.stderr.isatty():
            click.echo(f"measured: {row.what}", err=True)
    if markdown:
        click.echo(as_markdown(rows))
    else:
        show(as_data(rows) if as_json else as_lines(rows), as_json)
    over = [row.what for row in rows if not row.ok]
    if over:
        click.echo(f"over the limit: {', '.join(over)}{_busy()}", err=True)
    return 1 if over else 0


def _profile(runs: int, as_json: bool) -> int:
    """Print where the time of a trivial program goes in this sandbox."""
    from benchmarks.performance.sandbox.profile import profile
    from cap.cli.tables import show

    stages = profile(runs)
    table = [
        {
            "what": stage.what,
            "median us": f"{stage.median_us:.1f}",
            "min-max": f"{stage.low_us:.1f}-{stage.high_us:.1f}",
            "n": stage.runs,
        }
        for stage in stages
    ]
    show(table, as_json)
    return 0


@command.command("perception")
@click.option("-n", "--scenes", type=click.IntRange(min=1), default=60, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def perception(scenes: int, as_json: bool) -> int:
    """Names and places from pictures alone, beside the truth; 1 if a limit is broken."""
    from cap.cli.tables import show

    _own("benchmarks")
    from benchmarks.performance.perception import MEDIAN_LIMIT_M, NAMES_LIMIT, measure

    try:
        seen = list(measure(scenes))
    except MissingExtra as missing:
        raise MissingExtra(_only_physics(missing)) from None
    table = [
        {
            "camera": row.camera,
            "scenes": row.scenes,
            "names right": f"{row.right}/{row.n}",
            "95 %": "{:.3f}-{:.3f}".format(*row.interval),
            "limit": f">= {NAMES_LIMIT}",
            "median error": f"{1e3 * row.median_m:.2f} mm",
            "greatest": f"{1e3 * max(row.errors_m, default=0.0):.2f} mm",
            "median limit": f"<= {1e3 * MEDIAN_LIMIT_M:g} mm",
        }
        for row in seen
    ]
    show(table, as_json)
    return 0 if all(row.ok for row in seen) else 1


@command.command("paraphrases")
@click.option("-m", "--model", metavar="MODEL", help="Model (default: nearest).")
@click.option("--mode", type=click.Choice(["physics", "instant"]), default="instant")
@click.option("--prompts", type=click.Path(path_type=Path), metavar="DIR", help="Own prompts.")
@click.option("-v", "--verbose", is_flag=True, help="One line for each case.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@model_options
def paraphrases(
    asked: Asked, model: str | None, mode: str, prompts: Path | None, verbose: bool, as_json: bool
) -> int:
    """Everyday wordings, held out while the prompts were written: right, wrong, declined.

    The cases have scenes and seeds of their own, on the robot ravens.
    """
    _own("benchmarks")
    from benchmarks.models import Meter
    from benchmarks.tabletop import paraphrases as held
    from cap.cli.tables import show

    meter = Meter(_model(asked, model))
    outcomes: list[held.Outcome] = []
    for case in held.load():
        with _sessions(meter, mode, prompts) as make_session:
            outcome = held.run_case(case, make_session)
        if meter.unasked is not None:
            click.echo(f"stopped at case {len(outcomes) + 1}: {case.id}", err=True)
            raise meter.unasked
        outcomes.append(outcome)
        if verbose and not as_json:
            line = f"{outcome.result}: {outcome.case.instruction} {outcome.reason}"
            click.echo(line, err=True)
    summaries = held.summarize(outcomes)
    if as_json:
        click.echo(json.dumps([vars(summary) for summary in summaries]))
        return 0
    show(
        [
            {
                "family": row.family,
                "right": row.right,
                "wrong": row.wrong,
                "declined": row.declined,
                "n": row.n,
                "right/n, 95 %": f"{row.low:.2f}-{row.high:.2f}",
            }
            for row in summaries
        ]
    )
    return 0


def _model(asked: Asked, name: str | None) -> Any:
    """Return the model a person named, or the configured one."""
    from benchmarks.models import Warm
    from cap.models.budget import Allowance
    from cap.models.providers import ModelTerms, make_model

    config = load_config(asked, model=name)
    allowance = Allowance(config.max_calls, config.max_cost, config.concurrency)
    model = make_model(
        config.model,
        base_url=config.base_url,
        mode=config.model_mode,
        timeout_s=asked.model_timeout,
        terms=ModelTerms(config.cache, allowance, config.prices),
    )
    return Warm(model, asked.temperature, 0) if asked.temperature else model


@contextmanager
def _sessions(model: Any, mode: str, folder: Path | None) -> Iterator[Any]:
    """Yield a factory of sessions; those it made are closed at the end."""
    from cap.robot import registry
    from cap.session.session import Session

    prompts = registry.robot_prompts("ravens", folder)
    made: list[Session] = []

    def make(objects: Any, seed: int) -> Session:
        robot = registry.make_robot("ravens", seed=seed, mode=mode, objects=list(objects))
        made.append(Session(robot, model, prompts=prompts, seed=seed))
        return made[-1]

    try:
        yield make
    finally:
        for session in made:
            session.close()


def _only_physics(missing: MissingExtra) -> str:
    """Return what is missing, without the advice to do without physics."""
    return str(missing).partition(", or use --mode")[0]


def _busy() -> str:
    """Return what to know of a limit that was passed while the machine was busy; else ""."""
    if not hasattr(os, "getloadavg"):
        return ""
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load <= cores:
        return ""
    return f"; the machine is busy (load {load:.1f} on {cores} cores): measure when it is idle"


def _own(package: str) -> None:
    """Refuse to measure with somebody else's package of the same name."""
    from cap.robot.registry import shadowed

    if (hidden := shadowed(package)) is not None:
        raise UsageError(f"package '{package}' is hidden by {hidden}; rename it or move away")
    sys.modules.setdefault(package, __import__(package))


for _command in (*COMMANDS, problems, score, plot.command):
    command.add_command(_command)
