"""Groups of options that commands share, each handed to the command as one object."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def with_options(
    command: F, options: Sequence[Any], kind: type[Any], argument: str
) -> Callable[..., Any]:
    """Add options to a command; it gets them as one object of a kind, by the argument's name."""
    names = tuple(kind.__dataclass_fields__)

    def wrapped(**values: Any) -> Any:
        chosen = kind(**{name: values.pop(name) for name in names})
        return command(**{argument: chosen}, **values)

    wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
    vars(wrapped)["__click_params__"] = getattr(command, "__click_params__", [])
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


def finite(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    """Refuse infinities and what is no number, for click."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not finite", ctx, param)
    return value


class Named(click.Path):
    """A path that is said: an empty text is no folder, least of all the current one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("it is empty; name one", param, ctx)
        return super().convert(value, param, ctx)


MODEL = (
    click.option("--base-url", metavar="URL", help="OpenAI-compatible endpoint."),
    click.option(
        "--model-mode",
        type=click.Choice(["chat", "completion"]),
        help="How prompts are sent (default: the provider's own).",
    ),
    click.option(
        "--model-timeout",
        type=click.FloatRange(min=0.1),
        callback=finite,
        metavar="S",
        help="Longest wait for one completion (default: the provider's own, 120 or 600).",
    ),
    click.option(
        "--cache",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Keep the model's answers there; the same request is asked once.",
    ),
    click.option(
        "--max-cost",
        type=click.FloatRange(min=0.0),
        callback=finite,
        metavar="USD",
        help="Most the model may cost; its price stands under [prices] in config.toml.",
    ),
    click.option(
        "--max-calls", type=click.IntRange(min=0), metavar="N", help="Most requests to the model."
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most requests at the same time (default: 8).",
    ),
)
"""How a model is asked."""


@dataclass(frozen=True)
class Asked:
    """What a person said on the command line about the model of many trials."""

    base_url: str | None
    """Endpoint that replaces the provider's own."""
    model_mode: str | None
    """`chat` or `completion`."""
    model_timeout: float | None
    """Longest wait for one completion, retries included, in seconds."""
    cache: Path | None
    """Folder of the model's answers; None takes the configured one."""
    max_cost: float | None
    """Dollars the whole run may spend on its model."""
    max_calls: int | None
    """Requests the whole run may send to its model."""
    concurrency: int | None
    """Requests under way at the same time, of all processes together."""
    temperature: float | None
    """Of every request; None for 0."""


_BENCH_MODEL = (
    *MODEL,
    click.option(
        "--temperature",
        type=click.FloatRange(0.0, 2.0),
        callback=finite,
        metavar="T",
        help="Of every request (default: 0); above 0 each trial has its own seed.",
    ),
)


def model_options(command: F) -> Callable[..., Any]:
    """Add the options of a run's model; the command gets them as one `asked` argument."""
    return with_options(command, _BENCH_MODEL, Asked, "asked")
