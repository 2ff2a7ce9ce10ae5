"""`cap models list` and `cap models check`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from cap.cli.options import (
    CommandGroup,
    ModelOptions,
    json_option,
    load_config,
    unasked_config,
    with_options,
)
from cap.cli.output import is_json, print_result, show
from cap.cli.session import warned_of
from cap.errors import UsageError
from cap.models import providers

ANSWER_S = 60.0
"""Longest wait for one answer of a check, where no setting gives another."""


@click.group("models", cls=CommandGroup)
def command() -> None:
    """List models and check what their endpoints support."""


@command.command("list")
@json_option
def list_models() -> None:
    """List the values that --model accepts.

    \b
    cap models list
    """  # noqa: D301
    rows = providers.list_models(unasked_config().asked())
    if not is_json():  # the whole rows are wider than a screen
        shown = ("model", "what it is", "address", "key")
        rows = [{name: row[name] for name in shown} for row in rows]
    show(rows)


@command.command("check")
@click.argument("name", metavar="NAME")
@with_options(ModelOptions, hidden=("model", "max_cost", "record"))
@click.option(
    "--window",
    type=click.IntRange(min=0),
    default=16384,
    show_default=True,
    metavar="TOKENS",
    help="Longest prompt in tokens when measuring the context window (0: do not measure).",
)
@json_option
def check_model(name: str, options: ModelOptions, window: int) -> None:
    """Find out what a model's endpoint supports by sending a few small requests.

    \b
    cap models check ollama/qwen2.5-coder

    To measure the context window, the command sends prompts of 2,048 tokens or more and asks the
    model for the first line of each prompt. The command waits up to 60 s for each answer; to change
    this limit, use --set model_timeout=S.
    """  # noqa: D301
    from cap.models import probe

    settings = load_config(options, model=name)
    timeout_s = ANSWER_S if settings.model_timeout is None else None
    model = warned_of(providers.make_model(name, asked=settings.asked(), timeout_s=timeout_s))
    endpoint = getattr(model, "endpoint", None)
    if endpoint is None:
        raise UsageError(f"{name} is not an endpoint, so there is nothing to check")
    try:
        found = probe.check(endpoint, window)
    finally:
        endpoint.close()
    print_result({"model": model.name, **asdict(found)}, _rows(asdict(found)))


def _rows(found: dict[str, Any]) -> list[str]:
    """Return what a person reads."""
    words = {True: "yes", False: "no", None: "not known"}
    lines = []
    for key, value in found.items():
        if key == "refused":
            value = ", ".join(value) or "nothing"
        elif value is None or isinstance(value, bool):
            value = words[value]
        lines.append(f"{_NAMES.get(key, key)}: {value}")
    return lines


_NAMES = {
    "logprobs": "alternatives to a token",
    "rung": "continuations are compared by",
    "window": "context window, in tokens",
    "cuts_off": "silently cuts off longer prompts",
    "pictures": "accepts pictures",
    "refused": "refused parameters",
}
