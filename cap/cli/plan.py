"""`cap plan INSTRUCTION`: one planner, step by step, with what it chose among."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from cap.cli.options import (
    Command,
    ModelOptions,
    json_option,
    load_config,
    split_names,
    vary,
    with_options,
)
from cap.cli.output import is_json, print_json, show
from cap.cli.session import beginning, model_for
from cap.errors import UsageError
from cap.planners.stand_in_models import StandIn, is_stand_in, what_it_knows

SHOWN = 3
"""Candidates of a step in the table."""
_TRY = "perfect-say"


@dataclass(frozen=True)
class PlanOptions(ModelOptions):
    """What was said on the command line about one plan."""

    model: str | None = vary(
        None,
        "Model to use, or a stand-in: perfect-say, perfect-say-with-distractors:N, noisy-say:P, "
        "even-say:N, uniform-say or copy-say (N: number of other steps; P: probability of the "
        "correct step).",
    )
    robot: str = vary("kitchen", "Robot: kitchen, ravens or household.")
    seed: int = 0
    mode: str = "instant"
    objects: str | None = vary(
        None, 'Objects and their places, such as "apple @ table, sponge @ cart".'
    )
    planner: str = "saycan"
    feedback: str | None = None
    say: tuple[str, ...] = ()
    disturb: str | None = None
    max_steps: int = 15
    out: Path | None = None


EXAMPLES = """
\b
More examples:
  cap plan "stack all the blocks" --planner monologue -r ravens
  cap plan "bring me a drink" --feedback human       (the planner may ask you)
  cap plan "stack all the blocks" --planner saycanpay -r ravens
  cap plan "Drink the milk" --planner zero-shot -r household
"""


@click.command("plan", cls=Command, epilog=EXAMPLES)
@click.argument("instruction", metavar="INSTRUCTION")
@with_options(PlanOptions)
@json_option
def command(options: PlanOptions, instruction: str) -> int:
    """Follow an instruction step by step with SayCan, Inner Monologue or another planner.

    \b
    cap plan "bring me something to clean up the spill"
    cap plan "throw away the apple" --feedback success --disturb once
    """  # noqa: D301  (the backspace is click's mark for lines to leave alone)
    from rich.console import Console

    from benchmarks.models import Meter
    from benchmarks.planning import single
    from cap.trace.terminal import Live
    from cap.trace.trace import versions

    if not instruction.strip():
        raise UsageError("the instruction is empty; say what the robot should do")
    setup = _setup(options)
    settings = load_config(options)
    name = settings.model
    unsaid = settings.sources["model"] == "default" and options.planner != "cap"
    if unsaid and single.is_known(setup, instruction):
        name = _TRY
    single.check_writer(setup, name, instruction)
    made: list[Meter] = []

    def make_model(known: Any) -> Any:
        made.append(Meter(_model(name, known, options, settings)))
        return made[-1]

    header = {
        "instructions": [instruction],
        "robot": options.robot,
        "model": name,
        "planner": options.planner,
        "seed": options.seed,
        "mode": options.mode,
        "versions": versions(),
    }
    with beginning(options.out, settings.runs, options.robot, header) as trace:
        if not is_json():
            trace.listeners.append(Live(Console(highlight=False)))
            if is_stand_in(name):
                click.echo(f"{name} {what_it_knows(name)}")
        verdict = single.run(setup, instruction, make_model, trace)
    assert trace.folder is not None
    usage = {**vars(made[-1].usage), "requests": made[-1].requests}
    trace.event("done", ok=_good(verdict), usage=usage, model=name, by_lmp={})
    trace.close("ok" if _good(verdict) else "failed")
    unknown = not verdict.judged and verdict.episode.end == "model"
    known = single.nearest_known(setup, instruction) if unknown else []
    about = {"model": name, "stand_in": what_it_knows(name), "usage": usage}
    return _report(verdict, trace.folder, instruction, known, about)


def _setup(options: PlanOptions) -> Any:
    """Return what a person asked for.

    Raises:
        UsageError: It cannot be had.
    """
    from benchmarks.planning import single

    kinds = split_names(options.feedback, "--feedback", "object, success")
    for kind in kinds or ():
        if kind not in single.FEEDBACK:
            raise UsageError(f"no feedback {kind!r}; use {', '.join(single.FEEDBACK)}")
    names = split_names(options.objects, "--objects", "apple @ table, sponge")
    interjections = []
    for text in options.say:
        number, mark, words = text.partition(":")
        if not (mark and number.strip().isdigit() and words.strip()):
            raise UsageError(f"--say {text!r} is not N:WORDS; write it like 2:never mind")
        interjections.append((int(number), " ".join(words.split())))
    setup = single.PlanSetup(
        options.robot,
        options.planner,
        options.seed,
        options.mode,
        None if names is None else tuple(names),
        tuple(kinds or ()),
        _answer,
        tuple(interjections),
        options.disturb or "",
        options.max_steps,
    )
    single.check(setup)
    return setup


def _model(name: str, known: Any, options: PlanOptions, settings: Any) -> Any:
    if is_stand_in(name):
        return StandIn(name, known, options.seed)
    return model_for(replace(settings, model=name), options.record)


def _answer(question: str) -> str:
    """Ask the person; "" where there is nobody, or they say nothing."""
    if not sys.stdin.isatty():
        return ""
    with contextlib.suppress(click.Abort):
        return str(click.prompt(question, default="", show_default=False, err=True))
    return ""


_OF_A_VERDICT = ("judged", "missed", "positions", "whereabouts")
_OF_AN_EPISODE = ("end", "why", "rung", "plan")


def _report(
    verdict: Any,
    folder: Path,
    instruction: str,
    known: Sequence[str],
    about: Mapping[str, Any],
) -> int:
    """Print the candidates, the result and known instructions; return the exit code."""
    from cap.trace.reader import read_events

    moments = [event["data"] for event in read_events(folder) if event["kind"] == "candidates"]
    episode, done = verdict.episode, _good(verdict)
    code = 0 if done else {"model": 4, "refused": 3}.get(episode.end, 1)
    pictures = [str(path) for path in folder.glob("after.png")]
    if is_json():
        steps = [
            {"text": one.action.text, "ok": one.ok, "message": one.message, "feedback": one.lines}
            for one in episode.outcomes
        ]
        print_json(
            {
                "done": done,
                **{key: getattr(verdict, key) for key in _OF_A_VERDICT},
                **{key: getattr(episode, key) for key in _OF_AN_EPISODE},
                "steps": steps,
                "scores": moments,
                "pictures": pictures,
                "run": str(folder),
                **about,
            }
        )
        return code
    if moments:
        click.echo()
        show(_rows(moments))
    for note in dict.fromkeys(str(words) for moment in moments for words in moment["notes"]):
        click.echo(f"note: {note}")
    if episode.end != "done":
        click.echo(f"ended unfinished: {episode.why}")
        if known:
            click.echo(f"the benchmark knows, for example: {'; '.join(known)}")
    elif verdict.judged:
        click.echo(
            "done: the world matches the instruction" if done else f"not done: {verdict.missed}"
        )
    elif done:
        click.echo(
            "done according to the planner; the benchmark cannot judge this task, so check it"
        )
    else:
        click.echo("not done: the planner ended without taking a step")
    if pictures:
        click.echo(f"pictures: {', '.join(pictures)}")
    click.echo(f"run: {folder}")
    return code


def _good(verdict: Any) -> bool:
    """Return whether a plan was done: as the world shows, or as a planner says that took steps."""
    episode = verdict.episode
    acted = any(outcome.ok for outcome in episode.outcomes)
    return episode.end == "done" and verdict.missed is None and (verdict.judged or acted)


def _rows(moments: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the best candidates of each step as rows of a table."""
    from cap.planners.saycan import PARTS

    rows = []
    every = [entry for moment in moments for entry in moment["candidates"]]
    parts = [part for part in PARTS if any(part in entry for entry in every)]
    for number, moment in enumerate(moments, start=1):
        for place, entry in enumerate(moment["candidates"][:SHOWN]):
            rows.append(
                {
                    "candidate": entry["text"],
                    "step": number if place == 0 else "",
                    **{part: f"{entry[part]:.3f}" if part in entry else "" for part in parts},
                    "score": f"{entry['score']:.3g}",
                    "chosen": entry["text"] == moment["chosen"],
                    "rung": moment["rung"] if place == 0 else "",
                }
            )
    return rows
