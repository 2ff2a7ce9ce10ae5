"""`cap bench run|report|compare|oracle`: suites of tasks, any model, results that resume."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cap.cli.bench.problems import problem_options
from cap.cli.bench.trials import SHARED, Interrupted, Manner, carry_out, options_for, runner_options
from cap.cli.options import Asked, model_options
from cap.cli.session_options import load_config
from cap.errors import SpendLimit, UnknownModel, UsageError

_MODE = click.option(
    "--mode", type=click.Choice(["physics", "instant"]), default="physics", show_default=True
)
_SPLIT = click.option("--split", "--arm", "splits", multiple=True, help="Only these; repeatable.")
_TASKS = click.option("--tasks", help="Only these, with commas.")
_N = click.option(
    "-n",
    "--trials",
    "--samples",
    "n",
    type=click.IntRange(min=1),
    help="Of each task: 50; of each problem: 1.",
)
USUAL_N = 50
"""Trials of each task, where neither a person nor the suite says how many."""
_SEED = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)


def _numbers(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, float]:
    """Return `NAME=VALUE` words as numbers by name."""
    found: dict[str, float] = {}
    for word in given:
        name, _, text = word.partition("=")
        try:
            found[name.strip()] = float(text)
        except ValueError:
            hint = "write it as NAME=VALUE, such as drop=0.1"
            raise click.BadParameter(f"{word!r} is not a number by name; {hint}") from None
    return found


@click.command(
    "run",
    help=f"""Run a suite's tasks with a model and write a report; resumes after a kill.

    {SHARED}""",
)
@click.argument("suite_name", metavar="SUITE")
@click.option(
    "-m", "--model", required=True, help="oracle, no-op, any model; on tabletop nl:MODEL."
)
@_SPLIT
@_TASKS
@_N
@_SEED
@_MODE
@click.option(
    "--perception", type=click.Choice(["truth", "camera"]), default="truth", show_default=True
)
@click.option("--prompts", help="Prompt set or folder; the suite's own by default.")
@click.option(
    "--disturbances",
    multiple=True,
    callback=_numbers,
    metavar="NAME=VALUE",
    help="What goes wrong, such as drop=0.1 or place_m=0.01; may be repeated.",
)
@problem_options
@runner_options
@model_options
def run(suite_name: str, asked: Asked, manner: Manner, **given: Any) -> int:
    """Run a suite's tasks with a model."""
    from benchmarks.suite import OWN_PROMPTS, Settings

    options, manner = options_for(asked, load_config(asked), manner)
    if given["disturbances"]:
        options["disturbances"] = given["disturbances"]
    options |= {name: given[name] for name in ("problems", "shared_library") if given[name]}
    settings = Settings(
        suite=suite_name,
        model=given["model"],
        mode=given["mode"],
        perception=given["perception"],
        prompts=given["prompts"] or OWN_PROMPTS.get(suite_name, ""),
        options=options,
    )
    _run(settings, manner, given)
    return 0


@click.command("oracle")
@click.argument("suite_name", metavar="SUITE")
@_N
@_SEED
@click.option(
    "--mode", type=click.Choice(["physics", "instant"]), default="instant", show_default=True
)
@_SPLIT
@_TASKS
@runner_options
def oracle(suite_name: str, manner: Manner, **given: Any) -> int:
    """Prove that every task can be solved: its oracle program runs; 1 if one fails.

    Splits with noise, in which no program can always succeed, are run only if --split names them.
    """
    from benchmarks.suite import OWN_PROMPTS, Settings

    prompts = OWN_PROMPTS.get(suite_name, "")
    settings = Settings(suite=suite_name, model="oracle", mode=given["mode"], prompts=prompts)
    table = _run(settings, manner, given, proof=True)
    return 1 if any(row["failed by"] for row in table) else 0


def _run(
    settings: Any, manner: Manner, given: dict[str, Any], *, proof: bool = False
) -> list[dict[str, Any]]:
    """Run the trials that were asked for; print the table and return it."""
    from benchmarks.suite import Proves, Takes, check_count, suite

    found = suite(settings.suite, settings.options)
    if isinstance(found, Takes):
        _refuse_said(settings.suite, {"mode", "perception", "prompts"} - set(found.takes))
    n = given["n"] or getattr(found, "usual_n", USUAL_N)
    check_count(n)
    tasks = _names(given["tasks"])
    splits = list(given["splits"]) or None
    if proof and splits is None and isinstance(found, Proves):
        splits = list(found.oracle_splits)
    trials = found.trials(n, given["seed"], tasks, splits)
    try:
        folder = carry_out(found, trials, settings, manner, settings.model)
    except SpendLimit as error:
        if error.run is not None:
            tell(Path(error.run))
        raise
    except UnknownModel as error:
        raise UsageError(f"{error}, oracle, no-op") from None
    except Interrupted as stop:
        tell(stop.folder)
        raise
    return tell(folder)


def _names(text: str | None) -> list[str] | None:
    """Split `--tasks`.

    Raises:
        UsageError: It names nothing.
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("--tasks names nothing; write names with commas, or leave it out")
    return names


def _refuse_said(suite: str, names: set[str]) -> None:
    """Refuse options that a person gave and a suite does not use.

    Raises:
        UsageError: Naming one.
    """
    said = click.get_current_context().get_parameter_source
    for name in sorted(names):
        if said(name) is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f"the suite '{suite}' takes no --{name}; leave it out")


def tell(folder: Path) -> list[dict[str, Any]]:
    """Write a folder's report, and print its table as far as there is one."""
    from benchmarks.report import tables as reports
    from benchmarks.report.page import write
    from benchmarks.results import read_lines
    from cap.cli.tables import show

    if next(read_lines(folder), None) is None:
        return []
    table, own = reports.rows(folder), reports.summary(folder)
    markdown, page = write(folder)
    keys = ("task", "split", "success %, 95 %", "n", "measured", "failed by")
    shown = [row for row in table if not own or row["task"] == reports.ALL]
    show([{key: row[key] for key in keys if key in row} for row in shown])
    if own:
        show(own)
    click.echo(f"report: {markdown} and {page.name}")
    return table


@click.command("report")
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR..."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def report(folders: tuple[Path, ...], as_json: bool) -> int:
    """Write report.md and report.html into results folders, and print the tables."""
    from benchmarks.report import tables as reports
    from benchmarks.report.page import write
    from cap.cli.tables import show

    for folder in folders:
        show(reports.rows(folder), as_json)
        markdown, page = write(folder)
        click.echo(f"report: {markdown} and {page.name}", err=as_json)
    return 0


@click.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def compare(first: Path, second: Path, as_json: bool) -> int:
    """Compare two results folders, trial by trial."""
    from benchmarks.report import tables as reports
    from cap.cli.tables import show

    for folder in (first, second):
        if not folder.is_dir():
            raise UsageError(f"no results folder {folder}")
    show(reports.compare(first, second), as_json)
    return 0


COMMANDS = (run, oracle, report, compare)
