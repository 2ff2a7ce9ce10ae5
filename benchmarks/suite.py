"""What a suite of tasks is, its trials, settings and outcomes; and what all suites refuse alike."""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from cap.errors import CapError, PromptError, UsageError, did_you_mean, stop_in
from cap.models.base import Usage
from cap.prompt.prompt import Prompt
from cap.robot import registry
from cap.sandbox.limits import Limits

SUITES: Mapping[str, tuple[str, str]] = {
    "control": ("benchmarks.control.suite", "ControlSuite"),
    "reasoning": ("benchmarks.reasoning.suite", "ReasoningSuite"),
    "humaneval": ("benchmarks.humaneval.suite", "HumanEvalSuite"),
    "tabletop": ("benchmarks.tabletop.suite", "TabletopSuite"),
    "robocodegen": ("benchmarks.robocodegen.suite", "RoboCodeGenSuite"),
    "drawing": ("benchmarks/drawing", "tasks.toml"),
    "kitchen": ("benchmarks/kitchen", "tasks.toml"),
    "robosuite": ("benchmarks.robosuite.suite", "RobosuiteSuite"),
    "everyday": ("benchmarks.everyday.suite", "EverydaySuite"),
    "embodiments": ("benchmarks.embodiments.suite", "EmbodimentSuite"),
    "planning": ("benchmarks.planning.suite", "PlanningSuite"),
    "transcripts": ("benchmarks.transcripts.suite", "TranscriptSuite"),
    "batch": ("benchmarks.batch.suite", "BatchSuite"),
}
"""Where each suite is, by name: module and class or function, or a folder with a `tasks.toml`."""
SUITE_GROUP = "cap.suites"
"""The entry points by which installed packages bring suites of their own."""
OWN_PROMPTS: Mapping[str, str] = {
    "control": "control",
    "reasoning": "reasoning",
    "robocodegen": "robocodegen",
    "tabletop": "ravens-seen",
}
"""The shipped prompt folder a suite uses where none is named; else its robot's own."""

BASELINES = ("oracle", "no-op")
"""What stands in place of a model: the task's own program, and one that does nothing."""
_FLAGS: Mapping[str, str] = {
    "sampling": "--best-of",
    "limit_s": "--timeout",
    "k": "-k",
    "asked": "how the model is asked (--set temperature and so on)",
}
"""Options whose name differs from the one in `Settings` or its options."""
MOST_TRIALS = 100_000
"""Of one task or problem: the list of all trials is held in memory."""


@dataclass(frozen=True)
class Trial:
    """What identifies a trial; also the key of its line in `trials.jsonl`."""

    task: str
    """Task or problem."""
    split: str
    """Such as `SA-SI`; "" where there are none."""
    seed: int
    """Of the scene."""
    sample: int = 0
    """Number of the model's sample."""


@dataclass(frozen=True)
class Settings:
    """All a worker process needs to run trials: plain data."""

    suite: str
    """The suite's name."""
    model: str
    """A baseline of the suite, or a model's name."""
    mode: str = "physics"
    """Kind of world."""
    perception: str = "truth"
    """What programs see the world by."""
    prompts: str = "ravens-seen"
    """A shipped prompt folder's name, or a path."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the model, limits, disturbances: what the suite takes."""


@dataclass(frozen=True)
class Outcome:
    """How a trial ended: plain data, the same for the same seeds but for `seconds`."""

    success: bool
    """True if the goal was reached."""
    cause: str
    """"" or who is to blame: one of `CAUSES` in `benchmarks.results`."""
    instruction: str
    """The person's words."""
    program: str
    """What was run; "" if nothing."""
    failure: str = ""
    """Why it failed, one line; "" if it did not."""
    calls: int = 0
    """Calls of primitives."""
    requests: int = 0
    """Requests sent to the model, retries included."""
    prompt_tokens: int = 0
    """Tokens read."""
    completion_tokens: int = 0
    """Tokens written."""
    cost_usd: float | None = None
    """Price in dollars; None if not known."""
    seconds: float = 0.0
    """Wall time."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The suite's own, as JSON can hold it; no times. Reports give the numbers in `measured`."""
    estimated: bool = False
    """Nobody counted some tokens: they, and their price, follow from the length of the texts."""

    @property
    def usage(self) -> Usage:
        """What the model took."""
        read, written = self.prompt_tokens, self.completion_tokens
        return Usage(self.requests, read, written, self.cost_usd, estimated=self.estimated)

    def costing(self, usage: Usage) -> Outcome:
        """Return the outcome with what the model took."""
        names = ("requests", "prompt_tokens", "completion_tokens", "cost_usd", "estimated")
        return replace(self, **{name: getattr(usage, name) for name in names})


ENDPOINT = "endpoint"
"""The entry of `Outcome.extra` that says why the model could not be asked."""
REPAIRED = "repaired"
"""The entry of `Outcome.extra` that says that a program was written again."""
TRIED = "tried"
"""The entry of `Outcome.extra` that says how many programs were tried."""
DOUBTS = "doubts"
"""The entry of `Outcome.extra` with what the effect was doubted for: lines; see `cap.engine`."""


class BaseSuite:
    """A set of tasks that can be run one trial at a time."""

    name: str
    """As the command line takes it."""
    version: str
    """Changes whenever the same settings may give other outcomes."""
    about: str
    """What it is, in one line."""
    title: str = ""
    """What its reports are called, if not by its name."""
    judged: str = "Success is judged on the world, however the program ended."
    """What counts as success, for reports; one sentence."""
    usual_n: int = 50
    """Trials of each task, where nobody says how many."""
    takes: tuple[str, ...] = ("mode", "perception", "prompts")
    """Which of these settings mean something to it."""
    judges_samples: bool = False
    """It judges answers in a file as well: it has `given`."""
    shares: tuple[str, ...] = ()
    """Which of the values it measures are shares: reports show their means."""
    oracle_splits: tuple[str, ...] | None = None
    """Splits that the oracle must solve; the others are run when they are asked for."""

    def cells(self) -> tuple[tuple[str, str], ...]:
        """Return every task with its split, in report order."""
        raise NotImplementedError

    def run(self, trial: Trial, settings: Settings) -> Outcome:
        """Carry out one trial; never raises for what a model or a program did."""
        raise NotImplementedError

    def trials(
        self,
        n: int,
        seed: int,
        tasks: Sequence[str] | None = None,
        splits: Sequence[str] | None = None,
    ) -> tuple[Trial, ...]:
        """Return `n` trials of every cell asked for, with the seeds from `seed` on.

        Raises:
            UsageError: No trials or too many, or an unknown task or split.
        """
        cells = chosen_cells(self.cells(), n, tasks, splits)
        seeds = range(seed, seed + n)
        return tuple(Trial(task, split, number) for task, split in cells for number in seeds)

    def adjusted(self, options: Mapping[str, Any]) -> BaseSuite:
        """Return the suite as `Settings.options` ask for it.

        Raises:
            UsageError: They cannot be had.
        """
        return self

    def check(self, settings: Settings) -> None:
        """Refuse settings no trial could be run with, before the first one.

        Raises:
            CapError: With the remedy.
        """

    def given(self, path: Path, *, incomplete: bool) -> tuple[Trial, ...]:
        """Return one trial for each sample of a file, whatever model wrote them.

        Args:
            path: The file.
            incomplete: Accept that problems have no sample.

        Raises:
            UsageError: The file cannot be used.
        """
        raise NotImplementedError

    def conditions(self) -> Mapping[str, str]:
        """Return what verdicts depend on beside the settings: what two runs must share to be one.

        Raises:
            CapError: It cannot be found out.
        """
        return {}

    @property
    def left_out(self) -> Mapping[str, str]:
        """Tasks that judge nobody, with the reason."""
        return {}

    def require(self, trials: Sequence[Trial]) -> None:
        """Refuse trials for which something is not there.

        Raises:
            MissingExtra: With the line that installs it.
        """

    def reference(self, task: str, split: str) -> Mapping[str, float]:
        """Return published values for a task or family and a split, in percent by method."""
        return {}

    def families(self, task: str) -> tuple[str, ...]:
        """Return the groups of tasks in which reports sum a task up."""
        return ()

    def parts(self, trial: Trial, outcome: Outcome) -> Iterator[tuple[Trial, Outcome]]:
        """Yield the trials that reports count in splits and families: one for each task."""
        yield trial, outcome

    def model_of(self, split: str) -> str:
        """Return what a split's rate is of, where a run has several; "" where it has one rate."""
        return ""

    @property
    def stand_ins(self) -> tuple[str, ...]:
        """What models that stand in for a language model know, a line each."""
        return ()

    def write_files(self, folder: Path) -> None:
        """Write what a results folder contains in addition to its report, such as samples."""


def names() -> list[str]:
    """Return the suites that are run by name: all but `batch`, which comes from a file."""
    return [name for name in (*SUITES, *brought_suites()) if name != "batch"]


def suite(name: str, options: Mapping[str, Any] | None = None) -> BaseSuite:
    """Return a suite by its name, adjusted to options where it can be.

    Args:
        name: One of `SUITES` or of what installed packages bring, or a Python file with a function
            `suite`.
        options: Those of the settings.

    Raises:
        UsageError: There is none of that name, or not with these options.
    """
    if (Path(name) / "tasks.toml").is_file() and name not in SUITES:
        return _of_folder(Path(name))
    if registry.is_file(name):
        make = getattr(registry.load_module(Path(name)), "suite", None)
        if not callable(make):
            raise UsageError(f"{Path(name)} has no function 'suite'; it makes the suite")
        return _own(make, f"suite() of {Path(name)}")
    if name in (brought := brought_suites()):
        where = f"suite '{name}' ({brought[name].value})"
        try:
            make = brought[name].load()
        except BaseException as error:  # a plug-in may fail in any way
            raise _failed(error, f"{where} does not load") from None
        return _own(make, where)
    if name not in SUITES:
        known = names()
        hint = registry.within(name, "tasks.py") or did_you_mean(name, known)
        raise UsageError(f"unknown suite '{name}'.{hint} Known: {', '.join(known)}")
    module, factory = SUITES[name]
    if factory == "tasks.toml":
        return _of_folder(Path(__file__).resolve().parents[1] / module)
    found: BaseSuite = getattr(importlib.import_module(module), factory)()
    return found.adjusted(options or {})


def _of_folder(folder: Path) -> BaseSuite:
    found: BaseSuite = importlib.import_module("benchmarks.suite_folder").load(folder)
    return found


@cache
def brought_suites() -> dict[str, EntryPoint]:
    """Return the suites that installed packages bring, by name; a shipped one keeps its name."""
    found = {entry.name: entry for entry in entry_points(group=SUITE_GROUP)}
    return {name: found[name] for name in sorted(found) if name not in SUITES}


def _failed(error: BaseException, what: str) -> BaseException:
    """Return a UsageError with the failing line of the user's code; a stop is unchanged."""
    if (stop := stop_in(error)) is not None:
        return stop
    why = " ".join(f"{type(error).__name__}: {error}".split())
    return UsageError(f"{what}: {why}{raised_at(error)}")


def raised_at(error: BaseException) -> str:
    """Return where the user's code, or else ours, raised an error; "" for a `CapError`."""
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, CapError) or not frames:
        return ""
    installed = [
        Path(__file__).resolve().parents[1] / name for name in ("cap", "robots", "benchmarks")
    ]
    installed += [Path(path).resolve() for path in {sys.prefix, sys.base_prefix}]
    own = [
        frame
        for frame in frames
        if not any(Path(frame.filename).resolve().is_relative_to(path) for path in installed)
    ]
    frame = (own or frames)[-1]
    return f" ({frame.filename}, line {frame.lineno}, in {frame.name})"


def _own(make: Callable[[], Any], where: str) -> BaseSuite:
    """Return the suite that a person's function makes.

    Raises:
        UsageError: It fails, or makes something else.
    """
    try:
        own = make()
    except CapError:
        raise
    except BaseException as error:  # a person's function may fail in any way
        raise _failed(error, f"{where} failed") from None
    if not isinstance(own, BaseSuite):
        raise UsageError(
            f"{where} gives {type(own).__name__}, no suite; return a "
            "RobotSuite, or a class derived from benchmarks.suite.BaseSuite"
        )
    return own


# --- what every suite asks of its settings


def program_limits(given: Mapping[str, Any], usual: Limits | None = None) -> Limits:
    """Return the limits of every program.

    Raises:
        UsageError: A limit of that name does not exist.
    """
    check_names("limit", list(given), [entry.name for entry in fields(Limits)])
    return Limits(**{**vars(usual or Limits()), **given})


def check_options(settings: Settings, known: Sequence[str]) -> None:
    """Refuse options a suite does not take.

    Raises:
        UsageError: There is one.
    """
    for name in sorted(set(settings.options) - set(known)):
        raise UsageError(f"the suite '{settings.suite}' takes no {flag(name)}; leave it out")


def flag(name: str) -> str:
    """Return how a person says a setting or an option."""
    return _FLAGS.get(name, f"--{name.replace('_', '-')}")


def check_names(what: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    """Refuse a name that is not known.

    Raises:
        UsageError: With the nearest names and all of them.
    """
    for name in given or ():
        if name not in known:
            listed = ", ".join(dict.fromkeys(known))
            hint = did_you_mean(name, dict.fromkeys(known))
            raise UsageError(f"unknown {what} '{name}'.{hint} Known: {listed}")


def check_count(n: int, what: str = "trials") -> None:
    """Refuse a number of trials that no run can have.

    Args:
        n: How many of each task.
        what: What they are called.

    Raises:
        UsageError: None, or more than `MOST_TRIALS`.
    """
    if not 1 <= n <= MOST_TRIALS:
        raise UsageError(f"cannot run {n} {what} of each task; ask for 1 to {MOST_TRIALS} with -n")


def chosen_cells(
    cells: Sequence[tuple[str, str]],
    n: int,
    tasks: Sequence[str] | None,
    splits: Sequence[str] | None,
) -> list[tuple[str, str]]:
    """Return the cells asked for, in their order.

    Raises:
        UsageError: No trials are asked for or too many, an unknown task or split, or none in both.
    """
    check_count(n)
    check_names("task", tasks, [task for task, _ in cells])
    if splits and not any(split for _, split in cells):
        raise UsageError("this suite has no splits; leave out --split")
    check_names("split", splits, [split for _, split in cells])
    found = [
        (task, split)
        for task, split in cells
        if (not tasks or task in tasks) and (not splits or split in splits)
    ]
    if not found:
        raise UsageError(f"none of the tasks {tasks} is in the splits {splits}")
    return found


@cache
def load_prompts(name: str, needed: tuple[str, ...] = ()) -> Mapping[str, Prompt]:
    """Load prompts by the name of a shipped folder or by a path, once for each process.

    Args:
        name: As the settings say it.
        needed: Prompts that must be there.

    Raises:
        PromptError: No such folder, or a prompt in it is missing or cannot be used.
    """
    shipped = registry.prompts_path() / name
    found = registry.load_prompts(shipped if shipped.is_dir() else Path(name))
    if lacking := [entry for entry in needed if entry not in found]:
        raise PromptError(f"the prompts '{name}' have no {', '.join(lacking)}; add the files")
    return found
