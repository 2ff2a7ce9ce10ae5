"""Options that commands share: each is declared once, as a field of the object a command gets."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

import click

from cap.errors import UsageError

F = TypeVar("F", bound=Callable[..., Any])


def option(*flags: str, **settings: Any) -> Any:
    """Declare a field of a frozen object as an option, in click's words; the field is its name."""
    return field(metadata={"option": (flags, settings)})


def group(kind: type[Any]) -> Any:
    """Declare a field as an object that has options of its own."""
    return field(metadata={"group": kind})


def with_options(kind: type[Any], argument: str) -> Callable[[F], Callable[..., Any]]:
    """Return the decorator that adds the options a frozen object declares to a command.

    Args:
        kind: The object's class.
        argument: Name of the command's argument that gets it.
    """

    def decorate(command: F) -> Callable[..., Any]:
        def wrapped(**values: Any) -> Any:
            chosen = _gathered(kind, values)
            return command(**{argument: chosen}, **values)

        wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
        vars(wrapped)["__click_params__"] = getattr(command, "__click_params__", [])
        for declared in reversed(list(_declared(kind))):
            wrapped = declared(wrapped)
        return wrapped

    return decorate


def _declared(kind: type[Any]) -> Iterator[Callable[..., Any]]:
    """Yield click's decorators for the options of a kind of object, in order."""
    for entry in fields(kind):
        if "group" in entry.metadata:
            yield from _declared(entry.metadata["group"])
        else:
            flags, settings = entry.metadata["option"]
            yield click.option(*flags, entry.name, **settings)


def _gathered(kind: type[Any], values: dict[str, Any]) -> Any:
    """Take an object's values out of those of a command."""
    return kind(
        **{
            entry.name: _gathered(entry.metadata["group"], values)
            if "group" in entry.metadata
            else values.pop(entry.name)
            for entry in fields(kind)
        }
    )


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


def split_names(text: str | None, remedy: str) -> list[str] | None:
    """Split names at their commas; None where none were asked for.

    Raises:
        UsageError: There is no name in it; with the remedy.
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(remedy)
    return names


def whole_numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> list[int]:
    """Return numbers from 1 on that are written with commas, each once, the smallest first."""
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    if not all(word.isascii() and word.isdigit() and 0 < int(word) < 10**6 for word in words):
        raise click.BadParameter(f"{text!r}; write numbers from 1 on with commas, such as 1,5,20")
    return sorted({int(word) for word in words})


def _headers(
    ctx: click.Context, param: click.Parameter, given: tuple[str, ...]
) -> dict[str, str] | None:
    """Return `NAME=VALUE` words as headers by name."""
    found = dict(word.partition("=")[::2] for word in given)
    return {name.strip(): text.strip() for name, text in found.items()} or None


def _json_fields(ctx: click.Context, param: click.Parameter, given: str | None) -> Any:
    """Return the fields of a JSON object."""
    if given is None:
        return None
    try:
        found = json.loads(given)
    except ValueError as error:
        raise click.BadParameter(f"no JSON ({error}); write it like '{{\"top_k\": 20}}'") from None
    if not isinstance(found, dict):
        raise click.BadParameter("no JSON object; write it like '{\"top_k\": 20}'")
    return found


@dataclass(frozen=True)
class ModelOptions:
    """How a model is asked."""

    base_url: str | None = option(
        "--base-url", metavar="URL", help="Address of the model's provider, in place of its own."
    )
    """Address of the provider of the model that is named; of no other."""
    model_mode: str | None = option(
        "--model-mode",
        type=click.Choice(["chat", "completion"]),
        help="How prompts are sent (default: the provider's own).",
    )
    """`chat` or `completion`."""
    max_tokens: int | None = option(
        "--max-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Longest answer of the model (default: 1024; a cut one is asked for with more).",
    )
    """Longest answer of the model, in tokens."""
    temperature: float | None = option(
        "--temperature",
        type=click.FloatRange(0.0, 2.0),
        callback=finite,
        metavar="T",
        help="Of every request (default: 0); in a suite each trial then has its own seed.",
    )
    """Of every request; None for 0."""
    model_seed: int | None = option(
        "--model-seed", type=click.IntRange(min=0), metavar="N", help="Sampling seed of the model."
    )
    """Sampling seed, for models that take one."""
    reasoning_effort: str | None = option(
        "--reasoning-effort", metavar="WORD", help="How long it thinks, such as low."
    )
    """In the words of the provider."""
    headers: dict[str, str] | None = option(
        "--header",
        multiple=True,
        callback=_headers,
        metavar="NAME=VALUE",
        help="One more header; a value '$NAME' is read from the environment.",
    )
    """More headers of each request."""
    extra_body: dict[str, Any] | None = option(
        "--extra-body", callback=_json_fields, metavar="JSON", help="More fields of each request."
    )
    """More fields of each request's body."""
    model_timeout: float | None = option(
        "--model-timeout",
        type=click.FloatRange(min=0.1),
        callback=finite,
        metavar="S",
        help="Longest wait for one completion (default: the provider's own, 120 or 600).",
    )
    """Longest wait for one completion, retries included, in seconds."""
    requests_per_minute: int | None = option(
        "--requests-per-minute",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most requests sent in any minute.",
    )
    """Most requests sent in any minute, by all processes together."""
    stream: bool | None = option(
        "--stream/--no-stream",
        default=None,
        help="Whether answers come in pieces (default: where you watch).",
    )
    """Whether answers come in pieces."""
    record: Path | None = option(
        "--record",
        type=Named(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Append completions, for -m replay/FILE.",
    )
    """JSONL file completions are appended to."""
    cache: Path | None = option(
        "--cache",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Keep the model's answers there; the same request is asked once.",
    )
    """Folder of the model's answers; None takes the configured one."""
    max_cost: float | None = option(
        "--max-cost",
        type=click.FloatRange(min=0.0),
        callback=finite,
        metavar="USD",
        help="Most the model may cost, passed at most by requests under way; see [prices].",
    )
    """Dollars the whole run may spend on its model."""
    max_calls: int | None = option(
        "--max-calls",
        type=click.IntRange(min=0),
        metavar="N",
        help="Most requests to the model, retries included.",
    )
    """Requests the whole run may send to its model."""
    concurrency: int | None = option(
        "--concurrency",
        type=click.IntRange(min=1),
        metavar="N",
        help="Most requests at the same time (default: 8).",
    )
    """Requests under way at the same time, of all processes together."""


def load_config(options: ModelOptions, **more: Any) -> Any:
    """Return the settings that hold; warnings go to standard error.

    Args:
        options: What was said of the model on the command line.
        more: Further settings that were said there, by name.
    """
    from cap import config

    said = {**vars(options), **more}
    settings = config.load(
        os.environ,
        Path.cwd(),
        confirm=confirm,
        flags={name: said[name] for name in (*config.SETTINGS, "base_url") if name in said},
    )
    for warning in settings.warnings:
        click.echo(f"warning: {warning}", err=True)
    return settings


def confirm(question: str) -> bool:
    """Ask the person; where there is none, the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(question, default=False, err=True)
