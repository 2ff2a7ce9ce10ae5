"""`cap bench run|report|compare|oracle`: suites of tasks, any model, results that resume."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cap.errors import UsageError


@click.command("run")
@click.argument("suite_name", metavar="SUITE")
@click.option("-m", "--model", required=True, help="oracle, no-op, nl:MODEL, or any model.")
@click.option("--split", "--arm", "splits", multiple=True, help="Only these; may be repeated.")
@click.option("--tasks", help="Only these, with commas.")
@click.option("-n", "--trials", "n", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--engine", type=click.Choice(["local", "ray"]), default="local", show_default=True)
@click.option("--ray-address", metavar="ADDRESS", help="Of a running cluster.")
@click.option(
    "--mode", type=click.Choice(["physics", "instant"]), default="physics", show_default=True
)
@click.option(
    "--perception", type=click.Choice(["truth", "camera"]), default="truth", show_default=True
)
@click.option("--prompts", default="ravens-seen", show_default=True, help="Prompt set or folder.")
@click.option(
    "--temperature", type=click.FloatRange(0, 2), help="0, the default, is greedy; else sampled."
)
@click.option("--base-url", metavar="URL", help="OpenAI-compatible endpoint.")
@click.option("--model-mode", type=click.Choice(["chat", "completion"]))
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Results folder.")
@click.option("--resume", is_flag=True, help="Go on with what --out holds.")
def run(suite_name: str, **given: Any) -> int:
    """Run a suite's tasks with a model and write a report; resumes after a kill."""
    from benchmarks.suites import Settings

    names = ("base_url", "model_mode", "temperature")
    options = {name: given[name] for name in names if given[name]}
    settings = Settings(
        suite=suite_name,
        model=given["model"],
        mode=given["mode"],
        perception=given["perception"],
        prompts=given["prompts"],
        options=options,
    )
    return _run(settings, given)


@click.command("oracle")
@click.argument("suite_name", metavar="SUITE")
@click.option("-n", "--trials", "n", type=click.IntRange(min=1), default=50, show_default=True)
@click.option("--jobs", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--mode", type=click.Choice(["physics", "instant"]), default="instant")
@click.option("--split", "splits", multiple=True, help="Only these; may be repeated.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Results folder.")
def oracle(suite_name: str, **given: Any) -> int:
    """Prove that every task can be solved: its oracle program runs; 1 if one fails."""
    from benchmarks.suites import Settings

    rest = {"tasks": None, "seed": 0, "engine": "local", "ray_address": None, "resume": False}
    settings = Settings(suite=suite_name, model="oracle", mode=given["mode"])
    return _run(settings, {**rest, **given}, all_must_succeed=True)


def _run(settings: Any, given: dict[str, Any], *, all_must_succeed: bool = False) -> int:
    from benchmarks.suites import suite

    found = suite(settings.suite)
    tasks = [name.strip() for name in given["tasks"].split(",")] if given["tasks"] else None
    trials = found.trials(given["n"], given["seed"], tasks, list(given["splits"]) or None)
    return carry_out(settings, found, trials, given, all_must_succeed=all_must_succeed)


def carry_out(
    settings: Any,
    found: Any,
    trials: Any,
    given: dict[str, Any],
    *,
    all_must_succeed: bool = False,
) -> int:
    """Run trials, write their results down and report; the exit code."""
    from benchmarks import report as reports
    from benchmarks import runner
    from benchmarks.results import begin
    from benchmarks.suites import Summarizes
    from cap.cli.tables import show

    folder = given["out"] or _folder(settings)
    results = begin(folder, found, settings, resume=given["resume"])
    try:
        with _progress(len(trials), len(results.done.intersection(trials))) as told:
            runner.run(
                results,
                trials,
                settings,
                jobs=given["jobs"],
                engine=given["engine"],
                address=given["ray_address"],
                on_done=told,
            )
    finally:
        results.close()
    table = reports.rows(folder)
    markdown, page = reports.write(folder)
    keys = ("task", "split", "success %, 95 %", "n", "failed by")
    if isinstance(found, Summarizes):
        table_of_suite = found.summary(folder)
        shown = [row for row in table if row["task"] == "all"]
    else:
        table_of_suite, shown = [], table
    show([{key: row[key] for key in keys} for row in shown], False)
    if table_of_suite:
        show(table_of_suite, False)
    click.echo(f"report: {markdown} and {page.name}")
    failed = any(row["failed by"] for row in table)
    return 1 if all_must_succeed and failed else 0


def _folder(settings: Any) -> Path:
    from cap.trace import new_run_folder

    return new_run_folder(Path("runs"), settings.suite, settings.model)


@contextmanager
def _progress(total: int, before: int) -> Any:
    """Tell of each trial: a bar in a terminal, else a line each."""
    won = 0
    ended = before
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True)) as bar:
            task = bar.add_task("trials", total=total, completed=before)

            def tell(trial: Any, outcome: Any) -> None:
                nonlocal won, ended
                won, ended = won + outcome.success, ended + 1
                bar.update(task, advance=1, description=f"{won} of {ended - before} succeeded")

            yield tell
        return

    def line(trial: Any, outcome: Any) -> None:
        nonlocal ended
        ended += 1
        word = "ok" if outcome.success else f"failed ({outcome.cause})"
        name = f"{trial.task} {trial.split} seed {trial.seed}"
        click.echo(f"{ended}/{total} {name}: {word}, {outcome.seconds:.1f} s", err=True)

    yield line


@click.command("report")
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="DIR..."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def report(folders: tuple[Path, ...], as_json: bool) -> int:
    """Write report.md and report.html into results folders, and print the tables."""
    from benchmarks import report as reports
    from cap.cli.tables import show

    for folder in folders:
        show(reports.rows(folder), as_json)
        markdown, page = reports.write(folder)
        click.echo(f"report: {markdown} and {page.name}", err=as_json)
    return 0


@click.command("compare")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def compare(first: Path, second: Path, as_json: bool) -> int:
    """Compare two results folders, trial by trial."""
    from benchmarks import report as reports
    from cap.cli.tables import show

    for folder in (first, second):
        if not folder.is_dir():
            raise UsageError(f"no results folder {folder}")
    show(reports.compare(first, second), as_json)
    return 0


COMMANDS = (run, oracle, report, compare)
