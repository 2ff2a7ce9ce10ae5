"""What `cap bench run`, `oracle` and `score` and `cap batch` share: running many trials."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cap.cli.options import Command, RunnerOptions
from cap.cli.output import remark
from cap.cli.session import warned_of
from cap.errors import CapError, EndpointFailed, SpendLimit, Stopped, UsageError
from cap.messages import printable

if TYPE_CHECKING:
    from benchmarks.suite import BaseSuite

Report = Callable[[Any, Any], None]
SHARED = """--max-cost and --set max_calls=N apply to the whole run, even if it is resumed.

    A run that reaches a limit stops; to continue it, use --resume.

    All processes started with --jobs share the --out folder and the limit set with --set
    concurrency=N.

    On a Ray cluster, every machine must have access to the --out folder."""
R = TypeVar("R", bound=RunnerOptions)


class SuiteCommand(Command):
    """A command that takes a suite: its help names them."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the suites' names."""
        from benchmarks.suite import names

        with formatter.section("Suites"):
            formatter.write_text(f"{', '.join(names())}, or your own folder or Python file")


def given(**values: Any) -> dict[str, Any]:
    """Return the options of a suite that were given; files by their whole paths."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            found[name] = [str(path.resolve()) for path in value]
        else:
            found[name] = str(value.resolve()) if isinstance(value, Path) else value
    return {name: value for name, value in found.items() if value not in (None, [], {})}


def options_for(options: R, config: Any) -> tuple[dict[str, Any], R]:
    """Return the model's part of a suite's options, and options with as many jobs as may be."""
    from cap.models.providers import make_model

    found = given(
        asked=config.asked(),
        cache=config.cache,
        max_calls=config.max_calls,
        max_cost=config.max_cost,
        prices={name: dict(price) for name, price in config.prices.items()},
        record=options.record,
    )
    with contextlib.suppress(CapError):  # what is wrong with a model its suite says
        warned_of(make_model(config.model, asked=config.asked()))
    for name in ("concurrency", "requests_per_minute"):
        if config.sources[name] != "default":
            most = getattr(config, name)
            options = replace(options, jobs=min(options.jobs, most))
            found[name] = most // options.jobs
    return found, options


def run_trials(
    suite: Any,
    trials: Sequence[Any],
    settings: Any,
    runner: RunnerOptions,
    title: str,
    show: Callable[[Path], Any],
) -> Any:
    """Run trials, write their report and show it; return what was shown.

    Args:
        suite: What they are of.
        trials: All of them; those that ended in an earlier run are left out.
        settings: What with.
        runner: How.
        title: What the folder is named by, if it is a new one.
        show: Shows the report of the folder, also of a run that a stop or its budget ends; None if
            no trial has ended.

    Raises:
        CapError: They cannot be run, or not to the end; what was written stays.
    """
    from benchmarks import ledger
    from benchmarks.report import junit
    from benchmarks.results import begin, read_lines
    from benchmarks.runner import run
    from cap.sandbox.limits import MIN_LEVEL_VARIABLE, weakest_level
    from cap.sandbox.sandbox import Sandbox
    from cap.trace.trace import new_run_folder

    if runner.min_level is not None:
        os.environ[MIN_LEVEL_VARIABLE] = runner.min_level  # for the processes of the run, too
    Sandbox(min_level=weakest_level(str(settings.model)))
    suite.check(settings)
    suite.require(trials)
    if runner.go_on and runner.out is None:
        raise UsageError("--resume goes on with a results folder; say which with --out")
    folder = runner.out or new_run_folder(Path("runs"), settings.suite, title)
    names = {"ledger": ledger.NAME}
    if runner.pictures:
        names["pictures"] = "pictures"
    places = {option: str(folder.resolve() / name) for option, name in names.items()}
    settings = replace(settings, options={**settings.options, **places})
    results = begin(folder, suite, settings, resume=runner.go_on, command=_command())
    try:
        try:
            if runner.pictures:
                (folder / "pictures").mkdir(exist_ok=True)
            run(
                results,
                trials,
                settings,
                jobs=runner.jobs,
                engine=runner.engine,
                address=runner.ray_address,
                on_done=_progress(trials, results.done, suite.usual_n == 1, runner.quiet),
            )
        finally:
            results.close()
            if runner.junit is not None and next(read_lines(folder), None) is not None:
                junit.write(folder, runner.junit)
    except (SpendLimit, EndpointFailed) as error:
        error.run = str(folder)
        if isinstance(error, SpendLimit):
            error.reported = show(folder) is not None
        raise
    except (KeyboardInterrupt, Stopped) as stop:
        _say_stopped(folder, trials)
        if isinstance(stop, KeyboardInterrupt):
            show(folder)
        raise
    _say_what_broke(folder)
    return show(folder)


def _say_stopped(folder: Path, trials: Sequence[Any]) -> None:
    """Say how far a run has come that was stopped, and how to go on."""
    from benchmarks.results import read_lines

    ended = {line.trial for line in read_lines(folder)}.intersection(trials)
    summary = f"{len(ended)} of {len(trials)} trials have ended"
    remark(f"stopped: {summary}; to go on: the same command with --out {folder} --resume")


_OF_THIS_RUN = re.compile(
    r" (--(out|junit)[ =]('[^']*'|\S+)|--resume|--quiet|-q|--json)(?=\s|$)",
)
"""Options that the command for another folder goes without."""


def _command() -> str:
    """Return the command that repeats this run in a folder of its own, without passwords."""
    from cap.config import shown_url

    words = click.get_current_context().find_root().obj or ()
    kept = [re.sub("https?://.*", lambda url: shown_url(url.group()), word) for word in words]
    return _OF_THIS_RUN.sub("", shlex.join(["cap", *kept])) if kept else ""


def say_left_out(suite: BaseSuite) -> None:
    """Say which of the user's own problems are left out, and why."""
    for why in suite.left_out.values():
        remark(f"note: {why}; it is left out")


def _say_what_broke(folder: Path) -> None:
    """Say how many trials could not be judged, why, and how to run them again."""
    from benchmarks.results import RECORDING, read_lines

    ended = [line.outcome for line in read_lines(folder)]
    for cause, how in (
        ("infrastructure", "were ended by infrastructure, such as"),
        (RECORDING, "asked for what the recording does not hold, such as"),
    ):
        if broken := [outcome.failure for outcome in ended if outcome.cause == cause]:
            remark(
                f"note: {len(broken)} of {len(ended)} trials {how}: "
                f"{printable(broken[-1])}; to run them again: --out {folder} --resume"
            )


def _progress(trials: Sequence[Any], done: Set[Any], sampled: bool, quiet: bool) -> Report:
    """Return what prints a line for each trial, with its place in the run; nothing if `quiet`."""
    places = count(len(done & set(trials)) + 1)

    def report(trial: Any, outcome: Any) -> None:
        result = "ok" if outcome.success else f"failed ({outcome.cause})"
        number = f" sample {trial.sample}" if sampled or trial.sample else ""
        split = f" {trial.split}" if trial.split else ""
        name = printable(f"{trial.task}{split} seed {trial.seed}{number}")
        line = f"{next(places)}/{len(trials)} {name}: {result}, {outcome.seconds:.1f} s"
        if not quiet:
            remark(line)

    return report
