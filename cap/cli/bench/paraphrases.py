"""`cap bench paraphrases`: everyday wordings that no prompt was written for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cap.cli.bench.measurement import require_own_benchmarks
from cap.cli.json_output import print_json
from cap.cli.options import ModelOptions, SectionedCommand, load_config, with_options
from cap.cli.session import model_for


@click.command(
    "paraphrases",
    cls=SectionedCommand,
    short_help="Try everyday wordings that no prompt was written for.",
)
@click.option("-m", "--model", metavar="MODEL", help="Model (default: nearest).")
@click.option("--mode", type=click.Choice(["physics", "instant"]), default="instant")
@click.option("--prompts", type=click.Path(path_type=Path), metavar="DIR", help="Own prompts.")
@click.option("-v", "--verbose", is_flag=True, help="One line for each case.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
@with_options(ModelOptions, "model_options")
def command(
    model_options: ModelOptions,
    model: str | None,
    mode: str,
    prompts: Path | None,
    verbose: bool,
    as_json: bool,
) -> int:
    """Everyday wordings that no prompt has as an example: right, wrong, declined.

    \b
    cap bench paraphrases -m nearest

    The cases have scenes and seeds of their own, on the robot ravens.
    """  # noqa: D301
    require_own_benchmarks()
    from benchmarks.models import Meter
    from benchmarks.tabletop import paraphrases as held
    from cap.cli.tables import show
    from cap.models.replay import recording_warning

    settings = load_config(model_options, model=model)
    if warning := recording_warning(model_options.record):
        click.echo(f"warning: {warning}", err=True)
    found = model_for(settings, model_options.record)
    meter = Meter(found)
    outcomes: list[held.ParaphraseOutcome] = []
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
        print_json([vars(summary) for summary in summaries])
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


@contextmanager
def _sessions(model: Any, mode: str, folder: Path | None) -> Iterator[Any]:
    """Yield a factory of sessions; those it made are closed at the end."""
    from cap.robot import registry
    from cap.session.session import Session
    from cap.session.settings import SessionSettings

    prompts = registry.robot_prompts("ravens", folder)
    made: list[Session] = []

    def make(objects: Any, seed: int) -> Session:
        robot = registry.make_robot("ravens", seed=seed, mode=mode, objects=list(objects))
        made.append(Session(robot, model, SessionSettings(prompts=prompts, seed=seed)))
        return made[-1]

    try:
        yield make
    finally:
        for session in made:
            session.close()
