"""`cap batch FILE`: many sessions from a file, each with what is expected of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cap.cli.bench.trials import SHARED, options_for, run_trials
from cap.cli.options import (
    PATH,
    Command,
    RunnerOptions,
    json_option,
    load_config,
    vary,
    with_options,
)
from cap.cli.output import is_json, print_json, show
from cap.cli.session import sampling
from cap.config import skills_folder
from cap.messages import printable
from cap.robot.registry import path_of

EXAMPLE = '''\
# Run it:  cap batch example.toml
# Defaults for all sessions:
[defaults]
robot = "ravens"
mode = "instant"        # the default is "physics"
model = "nearest"       # or openai/NAME, ollama/NAME, ...; -m overrides it

[[sessions]]
name = "into the bowl"
objects = ["red block", "green block", "blue bowl"]
seed = 1
instructions = ["put the red block in the blue bowl"]
expect = { inside = ["red block", "blue bowl"], only_moved = ["red block"] }

# A session may have several instructions, each with its own expected effect.
[[sessions]]
name = "and back"
objects = ["red block", "blue block", "blue bowl"]
seed = 2

[[sessions.instructions]]
text = "put the red block on the blue block"
expect = { on = ["red block", "blue block"] }

[[sessions.instructions]]
text = "undo that"
check = """
# In metres; before this instruction, the red block was on the blue one.
ret_val = positions["red block"][2] < before["red block"][2] - 0.02
"""
'''


_UNNAMED = "for sessions that specify none."


@dataclass(frozen=True)
class BatchOptions(RunnerOptions):
    """What sessions have by default, and how they are run."""

    robot: str | None = vary(None, f"Robot {_UNNAMED}")
    model: str | None = vary(None, f"Model {_UNNAMED}")
    mode: str | None = vary(None, f"Simulation mode {_UNNAMED}")
    prompts: Path | None = vary(None, f"Folder with prompt files {_UNNAMED}")
    samples: int = 1
    rounds: int = 1
    learn: bool = False
    example: bool = False


@click.command(
    "batch",
    cls=Command,
    help=f"""Run the sessions in a TOML or JSONL file; exit with code 1 if any fails.

    \b
    cap batch example.toml
    cap batch example.toml -m openai/gpt-4.1 --junit results.xml

    The page docs/batches.md describes the format; --example prints an example file.

    Order of precedence, highest first: session, command line, [defaults], configuration.

    Robot and model files in a batch are executed, so run only batches that you trust.

    Functions are saved only with --learn; saved functions are reused only with --learn or --set
    skills=DIR.

    {SHARED}""",
)
@click.argument("file", type=PATH, required=False)
@with_options(BatchOptions)
@json_option
def command(options: BatchOptions, file: Path | None) -> int:
    """Run the sessions of a file."""
    if options.example:
        if is_json():
            raise click.UsageError("--example cannot print JSON; leave out --json")
        click.echo(EXAMPLE, nl=False)
        return 0
    if file is None:
        raise click.UsageError("name a file, or use --example")
    from benchmarks.batch.batch_file import read
    from benchmarks.batch.suite import BatchSuite
    from benchmarks.suite import Settings

    config = load_config(options)
    usual = {"robot": config.robot, "mode": config.mode, "model": config.model}
    prompts = None if options.prompts is None else str(options.prompts.resolve())
    said = {name: getattr(options, name) for name in usual} | {"prompts": prompts}
    batch = read(file, _placed(usual), _placed(said))
    settled, options = options_for(options, config)
    if options.samples > 1:
        settled["sampling"] = sampling(config, options.samples)
    if options.rounds > 1:
        settled["rounds"] = options.rounds
    if options.learn or config.sources["skills"] == "--set":
        kept = str(skills_folder(config).resolve())
        settled |= {"skills": kept, "learn": options.learn}
    settings = Settings(
        suite="batch",
        model=_all_of(batch, "model"),
        mode=_all_of(batch, "mode"),
        prompts="",
        options={**settled, "sessions": {name: dict(one) for name, one in batch.sessions.items()}},
    )
    suite = BatchSuite(batch)
    suite.title = file.name
    return int(not run_trials(suite, suite.trials(), settings, options, file.stem, _show))


def _placed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was said at all, a robot's file by its whole path."""
    found = {name: value for name, value in given.items() if value is not None}
    if (path := path_of(found.get("robot", ""))) is not None:
        found["robot"] = str(path)
    return found


def _all_of(batch: Any, key: str) -> str:
    """Return what the sessions run with, for the report."""
    return ", ".join(dict.fromkeys(session[key] for session in batch.sessions.values()))


def _show(folder: Path) -> bool | None:
    """Print the result of each session and write the report.

    Returns:
        Whether all succeeded; None if none has ended.
    """
    from benchmarks.report.page import write
    from benchmarks.results import read_header, read_lines

    sessions = read_header(folder)["settings"]["options"]["sessions"]
    place = {name: number for number, name in enumerate(sessions)}
    found = sorted(read_lines(folder), key=lambda line: place[line.trial.task])
    if not found:
        return None
    models = {name: session["model"] for name, session in sessions.items()}
    several = len(set(models.values())) > 1
    rows = [_row(line, models[line.trial.task] if several else None) for line in found]
    if is_json():
        print_json(rows)
    else:
        show([{name: row[name] for name in row if name != "why"} for row in rows])
        for row in rows:
            if row["why"]:
                click.echo(printable(f"{row['session']}: {row['why']}"))
    markdown, page = write(folder)
    good = sum(line.outcome.success for line in found)
    click.echo(f"{good} of {len(found)} sessions succeeded")
    click.echo(f"report: {markdown} and {page.name}")
    return good == len(found)


def _row(line: Any, model: str | None) -> dict[str, Any]:
    """Return a session's row; the model stands in it where not all have the same."""
    outcome = line.outcome
    turns = outcome.extra.get("turns", [])
    return {
        "session": line.trial.task,
        "robot": line.trial.split,
        **({} if model is None else {"model": model}),
        "result": "ok" if outcome.success else f"failed ({outcome.cause})",
        "effect": "; ".join(", ".join(turn.get("effect", ())) for turn in turns),
        "why": outcome.failure,
        "calls": outcome.calls,
        "requests": outcome.requests,
        "s": round(outcome.seconds, 2),
    }
