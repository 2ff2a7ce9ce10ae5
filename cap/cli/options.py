"""The options of the commands: one table, and the objects whose fields name its rows.

A field's name is the row, its default is the option's. What is a setting rather than an option
(limits, how a model is asked, details of sampling) is given by `--set KEY=VALUE` and by files.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import click

from cap import config
from cap.cli import completion
from cap.cli.approval import ask_person
from cap.cli.output import remark
from cap.errors import UsageError
from cap.result import EFFECTS

APPROVALS = ("each-program", "each-call", "none")
"""When a person may be asked."""


_PORT = click.IntRange(0, 65535)
_COUNT: Any = click.IntRange(min=1)


def split_names(text: str | None, option: str, example: str) -> list[str] | None:
    """Split names at their commas; None where none were asked for.

    Raises:
        UsageError: There is no name in it.
    """
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError(f'{option} contains no names; write it like "{example}"')
    return names


def whole_numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> list[int]:
    """Return numbers from 1 on that are written with commas, each once, the smallest first."""
    words = text.split(",") if text else []
    try:
        return sorted({_COUNT.convert(word.strip(), None, None) for word in words})
    except click.BadParameter:
        hint = "write whole numbers from 1, with commas, such as 1,5,20"
        raise click.BadParameter(f"{text!r}; {hint}") from None


PATH, FILE = click.Path(path_type=Path), click.Path(path_type=Path, dir_okay=False)
PATH.name, _PORT.name = "dir", "port"  # as the help shows their values


Row = tuple[tuple[str, ...], dict[str, Any]]
"""An option's flags, none for that of its name, and its settings."""


def _row(about: str, *flags: str, **settings: Any) -> Row:
    return flags, {"help": about, **settings}


_SECTIONS: dict[str, dict[str, str | Row]] = {
    "Robot and world": {
        "robot": _row(
            "Robot name or path to a robot file (default: ravens).",
            "-r",
            "--robot",
            metavar="NAME",
            shell_complete=completion.robots,
        ),
        "seed": _row(
            "Seed for the scene and all random numbers.", type=click.IntRange(min=0), metavar="N"
        ),
        "mode": _row(
            "Simulation mode; instant moves objects without physics.",
            type=click.Choice(["physics", "instant"]),
        ),
        "objects": _row(
            'Objects in the scene, separated by commas, such as "red block, blue bowl".',
            metavar="NAMES",
        ),
        "dry_run": "Preview the run in the instant world; no hardware moves.",
        "robot_options": _row(
            "Set a robot option, such as host=192.168.0.10; repeatable.",
            "-R",
            "--robot-option",
            metavar="KEY=VALUE",
        ),
        "perception": _row(
            "Source of the objects' names and positions: the simulator (truth) or a camera.",
            type=click.Choice(["truth", "camera"]),
        ),
        "disturbances": _row(
            "Add a disturbance, such as drop=0.1 or place_m=0.01; repeatable.",
            metavar="KEY=VALUE",
        ),
        "speed": _row(
            "Maximum speed, in simulated seconds per real second (0: no limit).",
            type=click.FloatRange(min=0.0, max=1000.0),
        ),
    },
    "Model": {
        "model": _row(
            "Model to use (default: nearest); see cap models list.",
            "-m",
            "--model",
            metavar="MODEL",
            shell_complete=completion.models,
        ),
        "base_url": _row("Base URL to use instead of the provider's default.", metavar="URL"),
        "max_cost": _row(
            "Maximum model cost in dollars; only requests already in progress may exceed it.",
            type=click.FloatRange(min=0.0),
            metavar="USD",
        ),
        "record": _row(
            "Append the model's answers to this file, for use with -m replay/FILE.", type=FILE
        ),
        "settings": _row(
            "Override a setting, such as temperature=0.5; repeatable. To list all settings, run "
            "cap info --config.",
            "--set",
            metavar="KEY=VALUE",
        ),
    },
    "Programs": {
        "prompts": _row("Folder with prompt files to use instead of the robot's own.", type=PATH),
        "samples": _row(
            "Try up to N programs, each from the current world state, and run the best.",
            "--samples",
            "--best-of",
            type=_COUNT,
            metavar="N",
        ),
        "rounds": _row(
            "After each program, show the model the result and let it write another, up to K "
            "programs in all.",
            type=_COUNT,
            metavar="K",
        ),
        "learn": "Save a turn's functions as skills once the turn's effect has been verified.",
        "look": "Send a picture of the scene with each instruction.",
        "expect": _row(
            "Exit with code 1 unless every turn has this effect: moved, drew, said, answered or "
            "nothing; repeatable.",
            type=click.Choice(EFFECTS),
            metavar="EFFECT",
        ),
    },
    "Approval": {
        "ask": "Same as --approve each-program.",
        "approve": _row(
            "When to ask for approval: each-program (default on hardware), each-call or none.",
            type=click.Choice(APPROVALS),
            metavar="WHEN",
        ),
        "yes": "With --approve none, move the hardware without asking.",
        "rehearse": _row(
            "Run each program in the robot's simulated twin first (default on hardware).",
            "--rehearse/--no-rehearse",
            default=None,
        ),
        "min_level": _row(
            "Weakest sandbox level to accept (default on hardware and for programs from language "
            "models: kernel-seccomp); see cap info.",
            metavar="LEVEL",
        ),
    },
    "Output": {
        "resume": _row(
            "Continue the session in this run folder; pass the session's -R options again.",
            type=PATH,
        ),
        "replay": _row("Repeat the run recorded in this folder, without a model.", type=PATH),
        "gif": _row("Save an animated GIF of the run.", type=PATH, metavar="FILE"),
        "pictures": "Save pictures at the start, after each turn and at the end.",
        "port": _row("Port for the page (0: any free port).", type=_PORT),
        "http": _row(
            "Serve Streamable HTTP on this local port, with a token, instead of using standard "
            "input and output (0: any free port).",
            type=_PORT,
        ),
        "page": _row(
            "Serve a page on this local port for watching and stopping the robot (0: any free "
            "port).",
            type=_PORT,
        ),
        "out": _row("Folder for the run; it must be new or empty.", type=PATH),
        "junit": _row("Write a JUnit XML report for CI.", type=PATH, metavar="FILE"),
        "verbose": _row(
            "Also show nested calls of language model programs (LMPs) and perception calls.",
            "-v",
            "--verbose",
        ),
        "quiet": _row("Do not print a line for each trial.", "-q", "--quiet"),
        "as_json": _row("Print JSON.", "--json"),
        "example": "Print an example batch file, ready to run.",
    },
    "Trials": {
        "n": _row(
            "Number of trials per task (default: 50) or of samples per problem (default: 1).",
            "-n",
            "--trials",
            "--samples",
            type=_COUNT,
            metavar="N",
        ),
        "best_of": _row(
            "Robot suites: try up to N programs per instruction and run the best.",
            type=_COUNT,
            metavar="N",
        ),
        "tasks": _row("Run only these tasks, separated by commas.", metavar="NAMES"),
        "splits": _row("Run only this split; repeatable.", "--split", "--arm", metavar="NAME"),
        "go_on": _row("Resume the run in the --out folder.", "--resume"),
        "jobs": _row("Number of processes to run in parallel.", type=_COUNT, metavar="N"),
        "engine": _row(
            "Run trials on this machine or on a Ray cluster.", type=click.Choice(["local", "ray"])
        ),
        "ray_address": _row("Address of a running Ray cluster.", metavar="ADDRESS"),
    },
    "Planner": {
        "planner": _row(
            "Planner to use: saycan, monologue, saycanpay, zero-shot or cap.",
            type=click.Choice(["saycan", "monologue", "saycanpay", "zero-shot", "cap"]),
            metavar="NAME",
        ),
        "feedback": _row(
            "Kinds of feedback after each step, separated by commas: object, success, scene or "
            "human.",
            metavar="KINDS",
        ),
        "say": _row("Say WORDS to the planner after N steps; repeatable.", metavar="N:WORDS"),
        "disturb": _row(
            "Make skills fail occasionally (skills), or make only the first pick, open or put "
            "step fail (once).",
            type=click.Choice(["skills", "once"]),
        ),
        "max_steps": _row("Maximum number of steps.", type=click.IntRange(1, 200), metavar="N"),
    },
    "Suite options": {
        "table": _row(
            "Planning: table to produce, such as five, quality or SC-4 (from the SayCan paper; "
            "the default).",
            metavar="ID",
        ),
        "problems": _row(
            "RoboCodeGen: your own problem file (repeatable); for the format, see cap bench "
            "problems --schema.",
            type=PATH,
            metavar="FILE",
        ),
        "problem_file": _row(
            "HumanEval: problem file in HumanEval's format, such as one from MBPP or EvalPlus.",
            type=PATH,
            metavar="FILE",
        ),
        "transcripts": _row(
            "Transcripts: folder with published programs, one text file per instruction.",
            "--from",
            type=PATH,
            metavar="FOLDER",
        ),
        "policy": _row(
            "robosuite: file that defines policy(env, instruction), to use instead of a model.",
            type=FILE,
        ),
        "k": _row(
            "Values of k for pass@k, such as 1,5,20.", "-k", callback=whole_numbers, metavar="K,..."
        ),
        "shared_library": (
            "RoboCodeGen: let programs use the functions written for earlier problems."
        ),
        "incomplete": "Allow problems without samples.",
        "timeout": _row(
            "Time limit per sample in seconds (default: the suite's own).",
            type=click.FloatRange(0.05, 3600),
            metavar="S",
        ),
    },
}
OPTIONS = {
    name: (section, flags or (f"--{name.replace('_', '-')}",), settings)
    for section, rows in _SECTIONS.items()
    for name, row in rows.items()
    for flags, settings in [_row(row) if isinstance(row, str) else row]
}
"""Every option of run, repl, serve, mcp, exec, plan, batch and bench: section, flags, settings."""

MOVED = {
    "--max-tokens": "--set max_tokens=N",
    "--temperature": "--set temperature=T",
    "--model-seed": "--set model_seed=N",
    "--reasoning-effort": "--set reasoning_effort=WORD",
    "--model-mode": "--set model_mode=MODE",
    "--model-timeout": "--set model_timeout=S",
    "--header": "--set headers.NAME=VALUE",
    "--extra-body": "--set extra_body=JSON",
    "--requests-per-minute": "--set requests_per_minute=N",
    "--concurrency": "--set concurrency=N",
    "--stream": "--set stream=true",
    "--no-stream": "--set stream=false",
    "--cache": "--set cache=DIR",
    "--max-calls": "--set max_calls=N",
    "--time-limit": "--set time_limit=S",
    "--calls-time": "--set calls_time=S",
    "--skills": "--set skills=DIR",
    "--repairs": "--set repairs=N",
    "--runtime-repairs": "--set runtime_repairs=N",
    "--undo-failed": "--set undo_failed=true",
    "--max-functions": "--set max_functions=N",
    "--choose-by": "--set choose_by=WORD",
    "--verify": "--set verify=WORD",
    "--try-tokens": "--set try_tokens=N",
    "--try-time": "--set try_time=S",
}
"""Options of 0.1 that are settings now, and their new form."""


def vary(default: Any, about: str, **settings: Any) -> Any:
    """Declare a field whose option differs from its row of the table."""
    return field(default=default, metadata={"help": about, **settings})


@dataclass(frozen=True)
class ModelOptions:
    """Which model is asked, and every setting that `--set` gives."""

    model: str | None = None
    base_url: str | None = None
    max_cost: float | None = None
    record: Path | None = None
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class SessionOptions(ModelOptions):
    """What was said on the command line about one session; None takes the configured value."""

    robot: str | None = None
    seed: int = 0
    mode: str | None = None
    objects: str | None = None
    dry_run: bool = False
    robot_options: tuple[str, ...] = ()
    prompts: Path | None = None
    samples: int = 1
    rounds: int = 1
    learn: bool = False
    look: bool = False
    ask: bool = False
    approve: str | None = None
    yes: bool = False
    rehearse: bool | None = None
    min_level: str | None = None
    out: Path | None = None
    verbose: bool = False


@dataclass(frozen=True)
class RunnerOptions(ModelOptions):
    """How trials are run, whatever they are."""

    out: Path | None = vary(
        None, "Folder for the results; it must be new or empty, except with --resume."
    )
    go_on: bool = False
    jobs: int = 2
    engine: str = "local"
    ray_address: str | None = None
    pictures: bool = vary(False, "Save pictures from before and after each failure for the report.")
    junit: Path | None = None
    min_level: str | None = None
    quiet: bool = False


MODEL_FIELDS = tuple(entry.name for entry in fields(ModelOptions))
"""What a command that asks no model does not offer."""


def option(name: str, about: str = "", **settings: Any) -> Callable[[Any], Any]:
    """Return the decorator that gives a command one option.

    Args:
        name: The row of the table, and the command's parameter.
        about: Its help, if it differs from the row.
        settings: What else differs from the row.
    """
    _, flags, usual = OPTIONS[name]
    more = {"help": about} if about else {}
    return click.option(name, *flags, **{**usual, **more, **settings})


json_option = option("as_json", is_flag=True, expose_value=False)


def with_options(kind: type[Any], hidden: Sequence[str] = ()) -> Callable[[Any], Any]:
    """Return the decorator that gives a command the options of an object, as `options`.

    Args:
        kind: A frozen dataclass; its fields are rows of the table.
        hidden: Fields that the command does not offer: they keep their default.
    """
    offered = [entry for entry in fields(kind) if entry.name not in hidden]
    offered.sort(key=lambda entry: [*OPTIONS].index(entry.name))

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(command)
        def wrapped(**values: Any) -> Any:
            chosen = {entry.name: values.pop(entry.name) for entry in offered}
            return command(options=kind(**chosen), **values)

        for entry in reversed(offered):
            kind_of: dict[str, Any] = {}
            if entry.default is False:
                kind_of["is_flag"] = True
            elif entry.default == ():
                kind_of["multiple"] = True
            elif type(entry.default) in (int, float, str):
                kind_of |= {"default": entry.default, "show_default": True}
            wrapped = option(entry.name, **{**kind_of, **entry.metadata})(wrapped)
        return wrapped

    return decorate


MOST_SHOWN = 12
"""How many options the help of a command shows; the others by `--help-all`."""
_USUAL = (
    *("--robot", "--model", "--seed", "--mode", "--objects", "--trials", "--tasks", "--split"),
    *("--dry-run", "--junit", "--resume", "--set", "--samples", "--json", "--max-cost", "--out"),
    *("--gif", "--robot-option"),
)
"""Options that are shown first of all."""
_ALL = "cap.help_all"


def _show_all(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the whole help and leave."""
    if wanted:
        ctx.meta[_ALL] = True
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


class Command(click.Command):
    """A command whose help has the usual options; `--help-all` has all of them, in sections."""

    def __init__(self, *given: Any, **settings: Any) -> None:
        """Declare it as click does; a command of many options gets one more."""
        super().__init__(*given, **settings)
        self.is_long = len(self.params) > MOST_SHOWN
        if self.is_long:
            more = {"is_flag": True, "is_eager": True, "expose_value": False}
            about = "Show every option, setting and example."
            self.params.append(click.Option(["--help-all"], callback=_show_all, help=about, **more))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options: the usual ones, or section by section, the command's own first."""
        whole = not self.is_long or _ALL in ctx.meta
        params = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        there = {flag for param in params for flag in param.opts}
        usual = [flag for flag in _USUAL if flag in there][: MOST_SHOWN - 2]
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in params:
            record = param.get_help_record(ctx)
            if record and (whole or {*usual, "--help", "--help-all"}.intersection(param.opts)):
                sectioned = whole and self.is_long and param.name in OPTIONS
                title = OPTIONS[param.name or ""][0] if sectioned else "Options"
                sections.setdefault(title, []).append(record)
        if whole and "--set" in there:
            sections["Settings for --set and cap.toml"] = list(config.SETTINGS.items())
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write more examples, if all is wanted."""
        if _ALL in ctx.meta:
            super().format_epilog(ctx, formatter)


class CommandGroup(click.Group):
    """A group whose help has the first sentence of each command, however narrow the terminal."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands."""
        rows = [
            (name, command.get_short_help_str(sys.maxsize))
            for name, command in sorted(self.commands.items())
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _key_path(key: str) -> list[str]:
    """Return the parts of a key as TOML writes them: `prices."openai/x".read` has three.

    Raises:
        tomllib.TOMLDecodeError: It is no such key.
    """
    found: Any = tomllib.loads(f"{key} = 0")
    path = []
    while isinstance(found, dict):
        ((name, found),) = found.items()
        path.append(name)
    return path


def key_values(given: Sequence[str], option: str, example: str) -> dict[str, Any]:
    """Read `KEY=VALUE` words: values as in TOML or JSON, anything else as text.

    Args:
        given: The words; a key with dots is one in a table.
        option: By which they are given, for the message.
        example: Of one, for the message.

    Raises:
        UsageError: A word is not of that form, or a key is given twice.
    """
    found: dict[str, Any] = {}
    for number, word in enumerate(given, start=1):
        key, mark, text = word.partition("=")
        try:
            *above, last = _key_path(key if mark and "\n" not in key else "")
        except tomllib.TOMLDecodeError:  # it may hold a password, so it is not repeated
            what = f"{option} number {number} is not KEY=VALUE"
            raise UsageError(f"{what}; write it like {example}") from None
        table: Any = found
        for name in above:
            table = table.setdefault(name, {}) if isinstance(table, dict) else None
        if not isinstance(table, dict) or last in table:
            raise UsageError(f"{option} {key} is given twice")
        table[last] = _value(text)
    return found


def _value(text: str) -> Any:
    if "\n" in text:
        return text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    try:
        return json.loads(text)
    except ValueError:
        return text


def robot_values(given: Sequence[str]) -> dict[str, Any]:
    """Read the options of a robot, as `-R` takes them."""
    return key_values(given, "-R", "host=192.168.0.10")


def unasked_config() -> Any:
    """Return the settings, without asking whether those of ./cap.toml count."""
    return config.load(os.environ, Path.cwd())


def load_config(options: ModelOptions, **more: Any) -> Any:
    """Return the settings that hold; warnings go to standard error.

    Args:
        options: What was said on the command line.
        more: Settings that differ from what these say, by name.
    """
    said = {name: value for name, value in vars(options).items() if name in _OPTIONS_OF_CONFIG}
    settings = config.load(
        os.environ,
        Path.cwd(),
        confirm=ask_person if sys.stdin.isatty() else config.refuse,
        flags={**said, **more},
        settings=key_values(options.settings, "--set", "temperature=0.5"),
    )
    for name in _OF_SESSIONS if not isinstance(options, SessionOptions) else ():
        if settings.sources[name] == "--set":
            raise UsageError(f"--set {name} is for run, repl, serve, exec and mcp; leave it out")
    for warning in settings.warnings:
        remark(f"warning: {warning}")
    return settings


_OF_SESSIONS = (
    *("time_limit", "calls_time", "repairs", "runtime_repairs", "undo_failed", "max_functions"),
)
"""Settings that suites, batches and planners do not take: their own hold."""
_OPTIONS_OF_CONFIG = ("robot", "model", "mode", "base_url", "max_cost")
"""Options that are settings as well."""
