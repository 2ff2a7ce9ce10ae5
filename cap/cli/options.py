"""Options that commands share: each is declared once, as a field of the object a command gets."""

from __future__ import annotations

import inspect
import json
import math
import os
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import click

from cap.cli import completion
from cap.errors import UsageError
from cap.result import EFFECTS

F = TypeVar("F", bound=Callable[..., Any])

APPROVALS = ("each-program", "each-call", "none")
"""When a person may be asked."""
LONGEST_S = 86400.0
"""Longest time a program may be given: a day, seconds."""
_WORLD, _PROGRAMS, _LIMITS, _APPROVAL = "Robot and world", "Programs", "Limits", "Approval"
"""Sections of the help."""


def option(*flags: str, section: str | None = None, **settings: Any) -> Any:
    """Declare a field of a frozen object as an option, in click's words; the field is its name.

    Args:
        flags: What is typed.
        section: Where it stands in the help; None for the `section` of the object.
        settings: What click takes.
    """
    return field(metadata={"option": (flags, settings), "section": section})


def group(kind: type[Any]) -> Any:
    """Declare a field as an object that has options of its own."""
    return field(metadata={"group": kind})


class SectionedOption(click.Option):
    """An option that stands in a section of its command's help."""

    def __init__(self, *declared: Any, section: str = "", **settings: Any) -> None:
        """Declare it.

        Args:
            declared: The name, and what is typed.
            section: The title it stands under; "" for the command's own options.
            settings: What click takes.
        """
        super().__init__(*declared, **settings)
        self.section = section


_SHORT = 12
"""How many options the help of a command shows; the others by `--help-all`."""
_EXAMPLES = 2
"""How many of its examples."""
_USUAL = (
    *("--robot", "--model", "--seed", "--mode", "--objects", "--trials", "--split", "--dry-run"),
    *("--resume", "--gif", "--samples", "--max-cost", "--out", "--json", "--robot-option"),
)
"""Options that are shown first of all."""


class SectionedCommand(click.Command):
    """A command whose help has the usual options, and by `--help-all` all of them, in sections."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        """Declare it as click does; a command of many options gets one more."""
        super().__init__(*given, **settings)
        if sum(isinstance(param, click.Option) for param in self.params) > _SHORT:
            self.params.append(
                click.Option(
                    ["--help-all"],
                    is_flag=True,
                    is_eager=True,
                    expose_value=False,
                    callback=_tell_all,
                    help="Show every option and example.",
                )
            )

    def _whole(self, ctx: click.Context) -> bool:
        return bool(ctx.meta.get(_ALL)) or self.params[-1].name != "help_all"

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what it does, and a few of its examples."""
        text = self.help
        if not self._whole(ctx) and text is not None:
            parts = inspect.cleandoc(text).split("\n\n")
            self.help = "\n\n".join(
                "\n".join(part.split("\n")[: _EXAMPLES + 1]) if part.startswith("\b") else part
                for part in parts
            )
        super().format_help_text(ctx, formatter)
        self.help = text

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section, the command's own first."""
        sections: dict[str, list[tuple[str, str]]] = {"": []}
        params, usual = self.get_params(ctx), set[str]()
        if not self._whole(ctx):
            there = {flag for param in params for flag in param.opts}
            shown = [flag for flag in _USUAL if flag in there][: _SHORT - 2]
            usual = {*shown, "--help", "--help-all"}
        for param in params:
            record, argument = param.get_help_record(ctx), isinstance(param, click.Argument)
            if record is not None and (argument or not usual or usual.intersection(param.opts)):
                title = "" if usual else getattr(param, "section", "")
                sections.setdefault(title, []).append(record)
        for title, rows in sections.items():
            with formatter.section(title or "Options"):
                formatter.write_dl(rows)


_ALL = "cap.help_all"


def _tell_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the whole help and leave."""
    if wanted:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class CommandGroup(click.Group):
    """A group whose help has the first sentence of each command, however narrow the terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands."""
        rows = [
            (name, command.get_short_help_str(sys.maxsize))
            for name, command in sorted(self.commands.items())
            if not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def with_options(
    kind: type[Any], argument: str, hidden: tuple[str, ...] = ()
) -> Callable[[F], Callable[..., Any]]:
    """Return the decorator that adds the options a frozen object declares to a command.

    Args:
        kind: The object's class.
        argument: Name of the command's argument that gets it.
        hidden: Fields whose options the help leaves out, since the command refuses them.
    """

    def decorate(command: F) -> Callable[..., Any]:
        def wrapped(**values: Any) -> Any:
            chosen = _gathered(kind, values)
            return command(**{argument: chosen}, **values)

        wrapped.__name__, wrapped.__doc__ = command.__name__, command.__doc__
        vars(wrapped)["__click_params__"] = getattr(command, "__click_params__", [])
        for declared in reversed(list(_declared(kind, hidden))):
            wrapped = declared(wrapped)
        return wrapped

    return decorate


def _declared(kind: type[Any], hidden: tuple[str, ...]) -> Iterator[Callable[..., Any]]:
    """Yield click's decorators for the options of a kind of object, in order."""
    for entry in fields(kind):
        if "group" in entry.metadata:
            yield from _declared(entry.metadata["group"], hidden)
            continue
        flags, settings = entry.metadata["option"]
        section = entry.metadata["section"]
        yield click.option(
            *flags,
            entry.name,
            cls=SectionedOption,
            section=getattr(kind, "section", "") if section is None else section,
            hidden=entry.name in hidden,
            **settings,
        )


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


expect_option = click.option(
    "--expect",
    type=click.Choice(EFFECTS),
    multiple=True,
    help="Fail (1) unless each turn has this effect; may be repeated.",
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
    for number, word in enumerate(given, start=1):  # which one, not what it says: it may be a key
        if "=" not in word or not word.partition("=")[0].strip():
            told = f"the {number}. is not NAME=VALUE; write it like X-Team=arms"
            raise click.BadParameter(told)
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
class EndpointOptions:
    """Where a model is asked, and what goes with each request."""

    section: ClassVar[str] = "Model"

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
    headers: dict[str, str] | None = option(
        "--header",
        multiple=True,
        callback=_headers,
        metavar="NAME=VALUE",
        help="One more header; '$NAME' in its value is read from the environment.",
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


@dataclass(frozen=True)
class ModelOptions(EndpointOptions):
    """How a model is asked."""

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


robot_option = partial(option, "-r", "--robot", metavar="NAME", shell_complete=completion.robots)
model_option = partial(option, "-m", "--model", metavar="MODEL", shell_complete=completion.models)
seed_option = partial(option, "--seed", type=click.IntRange(min=0), default=0, show_default=True)
mode_option = partial(option, "--mode", type=click.Choice(["physics", "instant"]))
objects_option = partial(option, "--objects", metavar="NAMES")
json_option = partial(option, "--json", is_flag=True, help="Print one JSON object.")
"""Options that several objects have: what differs is said where they are used."""


def out_option(about: str) -> Any:
    """Declare the option for the folder of a run."""
    return option("--out", type=Named(path_type=Path), metavar="DIR", help=about)


rounds_option = partial(option, "--rounds", type=click.IntRange(min=1), default=1, metavar="K")


def samples_option(*names: str) -> Any:
    """Declare the option for how many programs are tried, by the names a command has for it."""
    return option(
        *names,
        type=click.IntRange(min=1),
        default=1,
        metavar="N",
        help="Try up to N programs, each in the present world, and carry out the best.",
    )


@dataclass(frozen=True)
class SamplingOptions:
    """How many programs are tried for an instruction, and by what one of them is chosen."""

    section: ClassVar[str] = "Several programs"

    samples: int = samples_option("--best-of")
    """Programs for one instruction, at the most."""
    choose_by: str = option(
        "--choose-by",
        type=click.Choice(["agreement", "goal", "both"]),
        default="both",
        show_default=True,
        help="What most of them do, a goal check that the model writes, or both.",
    )
    """What decides beside failures and what is expected."""
    verify: str = option(
        "--verify",
        type=click.Choice(["words", "goal", "off"]),
        default="words",
        show_default=True,
        help="Doubt an effect by the instruction's words, and by a goal check that is asked for.",
    )
    """What a turn's effect is compared with."""
    try_tokens: int | None = option(
        "--try-tokens",
        type=click.IntRange(min=1),
        metavar="N",
        help="Ask for no further program after so many tokens.",
    )
    """Tokens after which no further program is asked for."""
    try_time: float | None = option(
        "--try-time",
        type=click.FloatRange(min=0.1),
        callback=finite,
        metavar="S",
        help="Ask for no further program after so many seconds.",
    )
    """Seconds after which no further program is asked for."""

    def sampling(self) -> dict[str, Any]:
        """Return the fields of a `Sampling`."""
        return {
            "samples": self.samples,
            "agreement": self.choose_by in ("agreement", "both"),
            "goal": self.choose_by in ("goal", "both"),
            "max_tokens": self.try_tokens,
            "max_s": self.try_time,
            "verify": self.verify,
        }


@dataclass(frozen=True)
class SessionSampling(SamplingOptions):
    """The same, of a session or of those of a batch."""

    samples: int = samples_option("--samples", "--best-of")
    """Programs for one instruction, at the most."""


@dataclass(frozen=True)
class SessionOptions:
    """What a person said on the command line about one session."""

    section: ClassVar[str] = "Output"

    robot: str | None = robot_option(help="Robot (default: ravens).", section=_WORLD)
    """Registered robot; None takes the configured one."""
    model: str | None = model_option(help="Model (default: nearest).", section="Model")
    """Model; None takes the configured one."""
    model_options: ModelOptions = group(ModelOptions)
    """How the model is asked."""
    seed: int = seed_option(section=_WORLD)
    """Of the scene and of random numbers in programs."""
    mode: str | None = mode_option(help="Kind of world.", section=_WORLD)
    """`physics` or `instant`."""
    objects: str | None = objects_option(help='Such as "red block, blue bowl".', section=_WORLD)
    """Comma-separated names."""
    prompts: Path | None = option(
        "--prompts",
        type=Named(path_type=Path),
        metavar="DIR",
        help="Prompt files to use instead of the shipped ones.",
        section=_PROGRAMS,
    )
    """A folder of prompt files instead of the shipped ones."""
    out: Path | None = out_option("Folder of this run: a new one.")
    """The run folder itself; by default a new one under the configured `runs`."""
    time_limit: float = option(
        "--time-limit",
        type=click.FloatRange(min=0.01, max=LONGEST_S),
        callback=finite,
        default=10.0,
        show_default=True,
        metavar="S",
        help="Seconds a program itself may run.",
        section=_LIMITS,
    )
    """Seconds a program itself may run; robot and model calls do not count."""
    calls_time: float = option(
        "--calls-time",
        type=click.FloatRange(min=0.01, max=LONGEST_S),
        callback=finite,
        default=600.0,
        show_default=True,
        metavar="S",
        help="Seconds its calls of robot and model may take in all.",
        section=_LIMITS,
    )
    """Seconds its robot and model calls may take together."""
    skills: Path | None = option(
        "--skills",
        type=Named(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder of kept functions.",
        section=_PROGRAMS,
    )
    """Folder of kept functions; None takes the configured one."""
    learn: bool = option(
        "--learn",
        is_flag=True,
        help="Keep functions whose effect was verified as skills; in a terminal you are asked.",
        section=_PROGRAMS,
    )
    """Whether functions of a turn whose effect was verified are offered as skills."""
    repairs: int | None = option(
        "--repairs",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often a program is written again before it runs (default: 2).",
        section=_PROGRAMS,
    )
    """How often a program may be written again before it runs."""
    runtime_repairs: int | None = option(
        "--runtime-repairs",
        type=click.IntRange(min=0),
        metavar="N",
        help="How often after it failed while it ran (default: 2; 0 on hardware).",
        section=_PROGRAMS,
    )
    """How often after it failed while it ran."""
    sampling: SessionSampling = group(SessionSampling)
    """How many programs are tried, and how one is chosen."""
    rounds: int = rounds_option(
        help="Tell the model what came of its program, and let it go on, up to K programs.",
        section=_PROGRAMS,
    )
    """How often the model may go on with an instruction."""
    undo_failed: bool = option(
        "--undo-failed",
        is_flag=True,
        help="Take back what a failed turn did, in simulation.",
        section=_PROGRAMS,
    )
    """Take back what the last failed program did; in simulation alone that can be done."""
    max_functions: int | None = option(
        "--max-functions",
        type=click.IntRange(min=0),
        metavar="N",
        help="How many functions a program may have generated (default: 16).",
        section=_PROGRAMS,
    )
    """How many functions may be generated for one program."""
    look: bool = option(
        "--look",
        is_flag=True,
        help="Send a picture of the scene with each instruction.",
        section=_PROGRAMS,
    )
    """Send the robot's picture with each instruction, to models that see."""
    dry_run: bool = option(
        "--dry-run",
        is_flag=True,
        help="Preview in the instant world; nothing moves.",
        section=_WORLD,
    )
    """Run in the instant world; nothing physical moves."""
    robot_options: tuple[str, ...] = option(
        "-R",
        "--robot-option",
        multiple=True,
        metavar="KEY=VALUE",
        help="An option of the robot, such as host=192.168.0.10.",
        section=_WORLD,
    )
    """`key=value`, for the robot."""
    approve: str | None = option(
        "--approve",
        type=click.Choice(APPROVALS),
        help="When to ask you (default: none; each-program on hardware).",
        section=_APPROVAL,
    )
    """When a person is asked: `each-program`, `each-call` or `none`."""
    rehearse: bool | None = option(
        "--rehearse/--no-rehearse",
        default=None,
        help="Run each program in the robot's twin first (default: on hardware).",
        section=_APPROVAL,
    )
    """Whether programs run in a twin first; None for the robot's usual."""
    min_level: str | None = option(
        "--min-level",
        metavar="LEVEL",
        help="The weakest sandbox to accept, see cap info (on hardware: kernel-seccomp).",
        section=_APPROVAL,
    )
    """The weakest sandbox to accept; None for the robot's usual."""
    yes: bool = option(
        "--yes",
        is_flag=True,
        help="With --approve none: nobody is asked before hardware moves.",
        section=_APPROVAL,
    )
    """Do not ask before programs move real hardware: only with `approve` none."""
    ask: bool = option("--ask", is_flag=True, help="As --approve each-program.", section=_APPROVAL)
    """Ask before every program, in simulation too."""
    verbose: bool = option(
        "-v", "--verbose", is_flag=True, help="Show the programs of nested LMPs."
    )
    """Show the programs of nested LMPs as well."""
    as_json: bool = json_option()
    """One JSON object on standard output, nothing else."""


def robot_values(given: Sequence[str]) -> dict[str, Any]:
    """Read `key=value`: numbers, true, false and lists as in TOML, anything else as text.

    Raises:
        UsageError: It is not of that form, or a key is given twice.
    """
    values: dict[str, Any] = {}
    for text in given:
        key, mark, value = text.partition("=")
        if not (mark and key.isidentifier()):
            raise UsageError(f"-R {text!r} is not KEY=VALUE; write it like host=192.168.0.10")
        if key in values:
            raise UsageError(f"-R {key} is given twice")
        try:
            values[key] = value if "\n" in value else tomllib.loads(f"value = {value}")["value"]
        except tomllib.TOMLDecodeError:
            values[key] = value
    return values


def load_config(options: EndpointOptions, **more: Any) -> Any:
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
