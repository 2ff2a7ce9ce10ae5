"""`cap bench run|oracle|score`: suites of tasks, any model or given answers, resumable results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from cap.cli import completion
from cap.cli.bench.report import show_report
from cap.cli.bench.trials import SHARED, SuiteCommand, given, options_for, run_trials, say_left_out
from cap.cli.options import (
    MODEL_FIELDS,
    PATH,
    RunnerOptions,
    json_option,
    key_values,
    load_config,
    split_names,
    vary,
    with_options,
)
from cap.cli.output import remark
from cap.cli.session import sampling
from cap.errors import MissingSimulator, UnknownModel, UsageError

_UNSAID = click.core.ParameterSource.DEFAULT


@dataclass(frozen=True)
class TrialOptions(RunnerOptions):
    """Which trials of a suite are run, in which world."""

    splits: tuple[str, ...] = ()
    tasks: str | None = None
    n: int | None = None
    seed: int = 0
    mode: str = "physics"


@dataclass(frozen=True)
class SuiteOptions(TrialOptions):
    """What a suite is run with."""

    model: str | None = vary(
        None,
        "Model to use, or oracle, no-op or noisy-oracle:P; tabletop also accepts nl:MODEL, and "
        "planning accepts stand-ins such as perfect-say.",
    )
    perception: str = "truth"
    prompts: str | None = vary(
        None, "Prompt set or folder (default: the suite's own).", type=str, metavar="DIR"
    )
    disturbances: tuple[str, ...] = ()
    best_of: int = 1
    rounds: int = 1
    problems: tuple[Path, ...] = ()
    problem_file: Path | None = None
    transcripts: Path | None = None
    policy: Path | None = None
    k: list[int] = field(default_factory=list)
    shared_library: bool = False
    table: str | None = None


@dataclass(frozen=True)
class OracleOptions(TrialOptions):
    """What a suite's oracle programs are run with."""

    mode: str = "instant"


@dataclass(frozen=True)
class ScoreOptions(RunnerOptions):
    """Which problems the answers are to, and how they are judged."""

    incomplete: bool = False
    timeout: float | None = None
    k: list[int] = field(default_factory=list)
    problem_file: Path | None = None
    problems: tuple[Path, ...] = ()


@click.command(
    "run",
    cls=SuiteCommand,
    short_help="Run a suite's tasks with a model and write a report.",
    help=f"""Run a suite's tasks with a model and write a report.

    \b
    cap bench run tabletop -m nearest -n 1 --mode instant
    cap bench run robocodegen -m openai/gpt-4.1 --max-cost 5
    cap bench run tabletop -m nearest --out runs/mine --resume

    To continue an interrupted run, pass its --out folder and --resume. The exit code is 1 if
    no trial could be judged or a recording lacks answers; it does not depend on the success rate.

    {SHARED}""",
)
@click.argument("suite_name", metavar="SUITE", shell_complete=completion.suites)
@with_options(SuiteOptions)
@json_option
def run(suite_name: str, options: SuiteOptions) -> int:
    """Run a suite's tasks with a model."""
    from benchmarks.results import RECORDING
    from benchmarks.suite import OWN_PROMPTS, Settings

    named = None if options.model is None else options.model.removeprefix("nl:")
    config = load_config(options, model=named, mode=None)
    settled, options = options_for(options, config)
    settled |= given(
        disturbances=key_values(options.disturbances, "--disturbances", "drop=0.1"),
        sampling=sampling(config, options.best_of) if options.best_of > 1 else None,
        rounds=options.rounds if options.rounds > 1 else None,
        problems=options.problems,
        problem_file=options.problem_file,
        policy=options.policy,
        k=options.k,
        shared_library=options.shared_library or None,
        **{"from": options.transcripts},
    )
    if options.k and options.k[-1] > (options.n or 1):
        raise UsageError(f"-k {options.k[-1]} needs that many samples: -n {options.k[-1]}")
    if suite_name == "planning":
        settled |= {"table": options.table or "SC-4"}
        settled |= given(models=options.model and [options.model])
    elif options.table:
        raise UsageError(f"the suite '{suite_name}' takes no --table; leave it out")
    elif options.model is None and options.policy is None and suite_name != "transcripts":
        raise UsageError(
            "choose a model with -m: oracle, no-op, noisy-oracle:P, nearest or any other model"
        )
    unasked = "transcript" if suite_name == "transcripts" else "offline"
    if options.policy is not None:
        unasked = f"policy {options.policy.name}"
    settings = Settings(
        suite=suite_name,
        model=options.model or unasked,
        mode=options.mode,
        perception=options.perception,
        prompts=options.prompts or OWN_PROMPTS.get(suite_name, ""),
        options=settled,
    )
    tally = _run(settings, options)
    lacking = tally.unjudged == tally.n or tally.causes[RECORDING]
    return 1 if lacking else 0


@click.command("oracle", cls=SuiteCommand)
@click.argument("suite_name", metavar="SUITE", shell_complete=completion.suites)
@with_options(OracleOptions, hidden=MODEL_FIELDS)
@json_option
def oracle(suite_name: str, options: OracleOptions) -> int:
    """Run each task's oracle program; exit with code 1 if any fails.

    \b
    cap bench oracle tabletop -n 1
    cap bench oracle kitchen -n 5 --mode physics

    Splits with noise, in which no program always succeeds, run only if you name them with --split.
    """  # noqa: D301
    from benchmarks.suite import OWN_PROMPTS, Settings

    prompts = OWN_PROMPTS.get(suite_name, "")
    settings = Settings(suite=suite_name, model="oracle", mode=options.mode, prompts=prompts)
    tally = _run(settings, options)
    return 1 if tally.successes < tally.n else 0


def _run(settings: Any, options: TrialOptions) -> Any:
    """Run the trials that were asked for; print the report and return its counts."""
    from benchmarks.suite import check_count, suite

    found = suite(settings.suite, settings.options)
    said = click.get_current_context().get_parameter_source
    for name in sorted({"mode", "perception", "prompts"} - set(found.takes)):
        if said(name) is click.core.ParameterSource.COMMANDLINE:
            raise UsageError(f"the suite '{settings.suite}' takes no --{name}; leave it out")
    if said("mode") is _UNSAID:
        settings = replace(settings, mode=getattr(found, "usual_mode", settings.mode))
    n = options.n or found.usual_n
    check_count(n)
    tasks = split_names(options.tasks, "--tasks", "pick-and-place, nth-block")
    splits = list(options.splits) or None
    if isinstance(options, OracleOptions) and splits is None and found.oracle_splits:
        splits = list(found.oracle_splits)
    trials = found.trials(n, options.seed, tasks, splits)
    say_left_out(found)
    try:
        try:
            report = run_trials(found, trials, settings, options, settings.model, show_report)
        except MissingSimulator as missing:
            if said("mode") is not _UNSAID:
                raise
            remark(f"note: {missing}; using the instant world (no physics)")
            settings = replace(settings, mode="instant")
            report = run_trials(found, trials, settings, options, settings.model, show_report)
    except UnknownModel as error:
        raise UsageError(f"{error}, oracle, no-op") from None
    return report.total


@click.command("score", cls=SuiteCommand)
@click.argument("suite_name", metavar="SUITE", shell_complete=completion.suites)
@click.argument("file", type=PATH, metavar="FILE")
@with_options(ScoreOptions, hidden=MODEL_FIELDS)
@json_option
def score(options: ScoreOptions, suite_name: str, file: Path) -> int:
    """Score the answers in FILE to the problems of SUITE (humaneval or robocodegen).

    \b
    cap bench score humaneval samples.jsonl -k 1,10

    FILE contains one JSON object per line, with task_id and either completion or solution. The
    lines of FILE are written to the results folder, in the same order, with their verdicts added
    and all other fields kept. The exit code is 1 if no sample could be judged; it does not depend
    on the success rate.
    """  # noqa: D301
    from benchmarks.samples import SAMPLES
    from benchmarks.suite import OWN_PROMPTS, Settings, suite

    settled = given(
        k=options.k,
        limit_s=options.timeout,
        problem_file=options.problem_file,
        problems=options.problems,
    )
    found = suite(suite_name, settled)
    if not found.judges_samples:
        raise UsageError(f"'{suite_name}' cannot judge samples; use humaneval or robocodegen")
    prompts = OWN_PROMPTS.get(suite_name, "")
    model = f"{SAMPLES}{file.resolve()}"
    settings = Settings(suite=suite_name, model=model, prompts=prompts, options=settled)
    found.check(settings)
    trials = found.given(file, incomplete=options.incomplete)
    say_left_out(found)
    fewest = min(Counter(trial.task for trial in trials).values())
    if options.k and options.k[-1] > fewest:
        few = f"some problems have only {fewest} samples"
        remark(f"note: no pass@{options.k[-1]}: {few}")
    tally = run_trials(found, trials, settings, options, file.stem, show_report).total
    return 1 if tally.unjudged == tally.n else 0
