"""`cap bench run|oracle`: suites of tasks, any model, results that resume."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cap.cli import completion
from cap.cli.bench.report import show_report
from cap.cli.bench.suites import SuiteCommand
from cap.cli.bench.trials import (
    SHARED,
    Interrupted,
    RunnerOptions,
    carry_out,
    options_for,
    tell_left_out,
)
from cap.cli.options import (
    ModelOptions,
    SamplingOptions,
    group,
    load_config,
    mode_option,
    model_option,
    option,
    rounds_option,
    seed_option,
    split_names,
    whole_numbers,
    with_options,
)
from cap.errors import MissingSimulator, SpendLimit, UnknownModel, UsageError

if TYPE_CHECKING:
    from benchmarks.report.tables import Report

_UNSAID = click.core.ParameterSource.DEFAULT
_split = partial(option, "--split", "--arm", multiple=True, help="Only these; repeatable.")
_tasks = partial(option, "--tasks", help="Only these, with commas.")
_as_json = partial(
    option, "--json", is_flag=True, help="Print the report as one JSON list, numbers as numbers."
)
_n = partial(
    option,
    "-n",
    "--trials",
    "--samples",
    type=click.IntRange(min=1),
    help="Of each task: 50; of each problem: 1.",
)


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


@dataclass(frozen=True)
class SuiteSampling(SamplingOptions):
    """The same, of a suite, which has judges of its own."""

    choose_by: str = option(
        "--choose-by",
        type=click.Choice(["agreement", "goal", "both", "judge"]),
        default="both",
        show_default=True,
        help="What most do, a goal check, or both; judge: the suite's own, an upper bound.",
    )
    """What decides beside failures."""


_OF_PLANNING = ("table", "translator")
"""Options of the suite `planning` alone."""


@dataclass(frozen=True)
class SuiteOptions:
    """What a suite is run with."""

    model: str | None = model_option(
        help="oracle, no-op, noisy-oracle:P, any model; tabletop: nl:MODEL; planning: say models.",
    )
    """Whom the suite asks; None only where the suite has models of its own."""
    splits: tuple[str, ...] = _split()
    """Only these parts of the suite; none for all."""
    tasks: str | None = _tasks()
    """Only these tasks, with commas."""
    as_json: bool = _as_json()
    """Print the report as JSON."""
    n: int | None = _n()
    """Trials of each task, or samples of each problem."""
    seed: int = seed_option()
    """Of the first trial."""
    mode: str = mode_option(default="physics", show_default=True)
    """`physics` or `instant`."""
    perception: str = option(
        "--perception", type=click.Choice(["truth", "camera"]), default="truth", show_default=True
    )
    """Where names and places come from: `truth` or `camera`."""
    prompts: str | None = option(
        "--prompts", help="Prompt set or folder; the suite's own by default."
    )
    """Prompt set or folder; None for the suite's own."""
    disturbances: dict[str, float] = option(
        "--disturbances",
        multiple=True,
        callback=_numbers,
        metavar="NAME=VALUE",
        help="What goes wrong, such as drop=0.1 or place_m=0.01; may be repeated.",
    )
    """How likely or how large each disturbance is."""
    sampling: SuiteSampling = group(SuiteSampling)
    """How many programs are tried for an instruction, and how one is chosen."""
    rounds: int = rounds_option(
        help="Suites of robots: the model may go on with an instruction, up to K programs.",
        section=SuiteSampling.section,
    )
    """How often the model may go on with an instruction."""
    problems: tuple[Path, ...] = option(
        "--problems",
        type=click.Path(path_type=Path),
        multiple=True,
        metavar="FILE",
        help="RoboCodeGen: your own; may be repeated; cap bench problems --schema.",
    )
    """Files of function-writing problems; none for the suite's own."""
    problem_file: Path | None = option(
        "--problem-file",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="HumanEval: problems in its form, such as MBPP's or EvalPlus's.",
    )
    """Problems in HumanEval's form; None for the official ones."""
    folder: Path | None = option(
        "--from",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Transcripts: published programs, one text file a command.",
    )
    """Transcripts to play; None of every other suite."""
    policy: Path | None = option(
        "--policy",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="robosuite: your own policy, a function policy(env, instruction), and no model.",
    )
    """A policy that acts in place of programs; None for programs."""
    k: list[int] = option(
        "-k", callback=whole_numbers, metavar="K,...", help="For pass@k, such as 1,5,20."
    )
    """For which k pass@k is told; none for the suite's own."""
    shared_library: bool = option(
        "--shared-library",
        is_flag=True,
        help="RoboCodeGen: keep what is written for one problem for those after it.",
    )
    """Whether what is written for one problem is kept for those after it."""
    table: str | None = option(
        "--table", metavar="ID", help="Planning: a paper's table, such as SC-4; five or quality."
    )
    """The table of planners to make."""
    translator: str | None = option(
        "--translator",
        metavar="KIND[:MODEL]",
        help="Planning, table NL-1: tfidf (the default), edit, embedding or two-stage.",
    )
    """From the model's words to the steps there are; None for the usual one."""


@dataclass(frozen=True)
class OracleOptions:
    """What a suite's oracle programs are run with."""

    n: int | None = _n()
    """Trials of each task."""
    seed: int = seed_option()
    """Of the first trial."""
    mode: str = mode_option(default="instant", show_default=True)
    """`physics` or `instant`."""
    splits: tuple[str, ...] = _split()
    """Only these parts of the suite; none for those that can be solved."""
    tasks: str | None = _tasks()
    """Only these tasks, with commas."""
    as_json: bool = _as_json()
    """Print the report as JSON."""


@click.command(
    "run",
    cls=SuiteCommand,
    short_help="Run a suite's tasks with a model; resumes after a kill.",
    help=f"""Run a suite's tasks with a model and write a report; resumes after a kill.

    \b
    cap bench run tabletop -m nearest -n 1 --mode instant
    cap bench run robocodegen -m openai/gpt-4.1 --max-cost 5
    cap bench run tabletop -m nearest --out runs/mine --resume

    Exit code 0 whatever the rate is, 1 if no trial could be judged or a recording lacks answers.

    {SHARED}""",
)
@click.argument("suite_name", metavar="SUITE", shell_complete=completion.suites)
@with_options(SuiteOptions, "options")
@with_options(RunnerOptions, "runner_options")
@with_options(ModelOptions, "model_options")
def run(
    suite_name: str,
    options: SuiteOptions,
    runner_options: RunnerOptions,
    model_options: ModelOptions,
) -> int:
    """Run a suite's tasks with a model."""
    from benchmarks.suite import OWN_PROMPTS, RECORDING, Settings

    named = None if options.model is None else options.model.removeprefix("nl:")
    config = load_config(model_options, model=named)
    suite_options, runner_options = options_for(model_options, config, runner_options)
    if options.disturbances:
        suite_options["disturbances"] = options.disturbances
    if options.sampling.samples > 1:
        suite_options["sampling"] = options.sampling.sampling()
    if options.rounds > 1:
        suite_options["rounds"] = options.rounds
    if options.problems:
        suite_options["problems"] = [str(path.resolve()) for path in options.problems]
    if options.problem_file is not None:
        suite_options["problem_file"] = str(options.problem_file.resolve())
    if options.folder is not None:
        suite_options["from"] = str(options.folder.resolve())
    if options.policy is not None:
        suite_options["policy"] = str(options.policy.resolve())
    if options.k:
        suite_options["k"] = options.k
        if options.k[-1] > (options.n or 1):
            raise UsageError(f"-k {options.k[-1]} needs as many samples: -n {options.k[-1]}")
    if options.shared_library:
        suite_options["shared_library"] = True
    if suite_name == "planning":
        suite_options |= {"table": options.table or "SC-4"}
        suite_options |= {"models": [options.model]} if options.model else {}
        suite_options |= {"translator": options.translator} if options.translator else {}
    elif only := next((n for n in _OF_PLANNING if getattr(options, n)), ""):
        raise UsageError(f"the suite '{suite_name}' takes no --{only}; leave it out")
    elif options.model is None and options.policy is None and suite_name != "transcripts":
        raise UsageError(
            "say whom to ask with -m: oracle, no-op, noisy-oracle:P, nearest or any model"
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
        options=suite_options,
    )
    report = _run(settings, options, runner_options)
    tally = report.total.tally
    lacking = tally.unjudged == tally.n or tally.causes[RECORDING]
    return 1 if lacking else 0


@click.command(
    "oracle", cls=SuiteCommand, short_help="Prove that every task of a suite can be solved."
)
@click.argument("suite_name", metavar="SUITE", shell_complete=completion.suites)
@with_options(OracleOptions, "options")
@with_options(RunnerOptions, "runner_options")
def oracle(suite_name: str, options: OracleOptions, runner_options: RunnerOptions) -> int:
    """Prove that every task can be solved: its oracle program runs; 1 if one fails.

    \b
    cap bench oracle tabletop -n 1
    cap bench oracle kitchen -n 5 --mode physics

    Splits with noise, in which no program can always succeed, are run only if --split names them.
    """  # noqa: D301
    from benchmarks.suite import OWN_PROMPTS, Settings

    prompts = OWN_PROMPTS.get(suite_name, "")
    settings = Settings(suite=suite_name, model="oracle", mode=options.mode, prompts=prompts)
    tally = _run(settings, options, runner_options).total.tally
    return 1 if tally.successes < tally.n else 0


def _run(
    settings: Any, options: SuiteOptions | OracleOptions, runner_options: RunnerOptions
) -> Report:
    """Run the trials that were asked for; print the report and return it."""
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
    remedy = "--tasks names nothing; write names with commas, or leave it out"
    tasks = split_names(options.tasks, remedy)
    splits = list(options.splits) or None
    if isinstance(options, OracleOptions) and splits is None and found.oracle_splits:
        splits = list(found.oracle_splits)
    trials = found.trials(n, options.seed, tasks, splits)
    tell_left_out(found)
    try:
        try:
            folder = carry_out(found, trials, settings, runner_options, settings.model)
        except MissingSimulator as missing:
            if said("mode") is not _UNSAID:
                raise
            click.echo(f"note: {missing}; using the instant world (no physics)", err=True)
            settings = replace(settings, mode="instant")
            folder = carry_out(found, trials, settings, runner_options, settings.model)
    except SpendLimit as error:
        if error.run is not None:
            error.told = show_report(Path(error.run), options.as_json) is not None
        raise
    except UnknownModel as error:
        raise UsageError(f"{error}, oracle, no-op") from None
    except Interrupted as stop:
        show_report(stop.folder, options.as_json)
        raise
    report: Report = show_report(folder, options.as_json)
    return report
