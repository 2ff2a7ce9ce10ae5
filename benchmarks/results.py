"""A results folder: what was asked for, and one line for every trial that ended.

`header.json` says what ran, with what; `asked.jsonl` has the trials that were asked for, those of
every `--resume` included; `trials.jsonl` grows by whole lines and is never rewritten.
A run that was killed goes on from there: a last line without its end is cut off, and that trial
is run again. So are trials in which nothing could be judged: the infrastructure ended them, or a
recording lacks the model's answer. Of a trial's lines the last one counts. Trials that were stopped
have no line; what was sent and paid for them stands in the account, `spent.json`.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.ledger import spent_in
from benchmarks.suite import BaseSuite, Outcome, Settings, Trial, flag
from cap.config import shown_url
from cap.engine.settings import Repairs
from cap.errors import UsageError
from cap.files import read_json, write_whole
from cap.models.base import Usage
from cap.result import Failure, plain
from cap.trace.trace import versions
from robots.simulation.physics import engine_name

FORMAT_VERSION = 1
_SAME = ("format_version", "suite", "suite_version", "settings", "conditions")
"""What two runs must share to be one."""
_CHANGED = {
    ("suite_version",): "another state of its suite: tasks, or their file, changed since",
    ("conditions", "samples"): "other samples: their file changed since",
}
"""What changed between two runs, for messages, where its value says nothing to a person."""
_MAY_DIFFER = (
    *("cache", "concurrency", "ledger", "max_calls", "max_cost", "pictures", "prices", "record"),
    "requests_per_minute",
)
"""Options that change no outcome: what a run may cost, and where it keeps things."""
_OPTIONS = ("settings", "options")
TRIALS, HEADER, ASKED = "trials.jsonl", "header.json", "asked.jsonl"
RECORDING = "recording"
"""The cause of an outcome whose model's answer is in no recording."""
UNJUDGED = ("infrastructure", RECORDING)
"""Causes that say nothing of model, program or robot: such a trial is run again on resuming."""
CAUSES = ("model", "program", "robot", "task", *UNJUDGED)
"""Who may be to blame for a failed trial, in report order; task: it ran and was not reached."""
UNPAID = "unpaid"
"""The cause of an outcome that is none: the run's budget ended; the trial is still to be run."""


@dataclass(frozen=True)
class Line:
    """One trial with how it ended."""

    trial: Trial
    """Which."""
    outcome: Outcome
    """How."""


def cause_of(failure: Failure | None) -> str:
    """Return who is to blame for a failure in a trial; "" without one.

    Nobody sits beside a benchmark: what was interrupted was not the program's doing.
    """
    cause = failure.cause if failure else ""
    return "infrastructure" if cause == "person" else cause


class Results:
    """A folder open for more trials; nobody else can open it meanwhile."""

    def __init__(self, folder: Path) -> None:
        """Open the file; `begin` makes sure that it is the right one.

        Raises:
            UsageError: It cannot be written, or another run is writing it.
        """
        self.folder = folder
        self.done: frozenset[Trial] = frozenset()
        """Trials that ended in an earlier run, those apart in which nothing could be judged."""
        path = folder / TRIALS
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        except OSError as error:
            raise _unwritable(path, error) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise UsageError(
                f"another run is writing to {folder}; wait until it ends or use another folder"
            ) from None

    def ask(self, trials: Sequence[Trial]) -> None:
        """Write down that these trials are asked for, with those that were before.

        Raises:
            UsageError: It cannot be written.
        """
        asked = dict.fromkeys([*read_asked(self.folder), *trials])
        text = "".join(f"{json.dumps(asdict(trial))}\n" for trial in asked)
        _write(self.folder / ASKED, text)

    def resume(self) -> None:
        """Go on with the trials that are there; a line that was cut short is taken away.

        Raises:
            UsageError: A line is damaged.
        """
        path = self.folder / TRIALS
        data = path.read_bytes()
        if not data.endswith(b"\n"):  # what a killed run left of its last line
            os.truncate(path, data.rfind(b"\n") + 1)
        ended = read_lines(self.folder)
        self.done = frozenset(line.trial for line in ended if line.outcome.cause not in UNJUDGED)

    def add(self, trial: Trial, outcome: Outcome) -> None:
        """Write down one trial, in a single write.

        Raises:
            UsageError: The disk is full; what was written before is untouched.
        """
        line = json.dumps({**asdict(trial), **plain(asdict(outcome))}) + "\n"
        data = line.encode()
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, data)
            why = "the disk is full" if written < len(data) else ""
        except OSError as error:
            why = error.strerror or str(error)
        if why:
            with contextlib.suppress(OSError):  # on resuming, half a line is cut off as well
                os.ftruncate(self._file, before)
            raise UsageError(
                f"cannot write {self.folder / TRIALS}: {why}; make room and use --resume"
            )

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def begin(
    folder: Path,
    suite: BaseSuite,
    settings: Settings,
    *,
    resume: bool,
    command: str = "",
) -> Results:
    """Open a folder for a run.

    Args:
        folder: Where; made if need be.
        suite: What is run.
        settings: With what.
        resume: Go on with what is there; otherwise nothing may be there.
        command: What repeats it, for its report.

    Raises:
        UsageError: It holds another run, or one and `resume` is not said, or somebody is writing
            it, or it cannot be written.
    """
    header = {
        "format_version": FORMAT_VERSION,
        "suite": suite.name,
        "suite_version": suite.version,
        "settings": _shown(_used(json.loads(json.dumps(plain(asdict(settings)))))),
        "repairs": asdict(Repairs()),
        "versions": versions(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "title": suite.title,
        "command": command,
    }
    if settings.mode == "physics":
        header["versions"]["physics"] = engine_name()
    if conditions := dict(suite.conditions()):
        header["conditions"] = conditions
    path = folder / HEADER
    resumed = path.exists()
    if resumed and not resume:
        raise UsageError(f"{folder} already holds a run; go on with --resume or use another")
    if resumed:
        there = read_header(folder)
        _check_same(folder, there, header)
        # What may differ is as the last command has it: limits, prices, places.
        header = {**there, "settings": header["settings"], "command": command}
    elif (folder / TRIALS).exists() and (folder / TRIALS).stat().st_size:
        raise UsageError(f"{folder} holds trials and no {HEADER}; use another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from None
    results = Results(folder)
    try:
        if resumed:
            results.resume()
        _write(path, json.dumps(header, indent=2) + "\n")
    except BaseException:
        results.close()
        raise
    return results


def _used(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings as a header keeps them: of a person's own file, what this run uses.

    Args:
        settings: All of them.
    """
    options = dict(settings["options"])
    asked, prices = options.pop("asked", {}), options.pop("prices", {})
    for name in ("ledger", "pictures"):  # they stand in the folder itself
        options.pop(name, None)
    for name in {"cache", "record"}.intersection(options):
        path, home = Path(options[name]), Path.home()
        options[name] = str("~" / path.relative_to(home) if path.is_relative_to(home) else path)
    models = {word.removeprefix("nl:") for word in _words({**settings, "options": options})}
    kinds = {model.partition("/")[0] for model in models if "/" in model}
    if asked:
        tables = asked.get("providers", {})
        used = {name: _without_secrets(tables[name]) for name in tables if name in kinds}
        said = {name: _without_secrets(asked[name]) for name in ("usual", "said") if name in asked}
        options["asked"] = {**asked, **said, "providers": used}
    if kept := {name: prices[name] for name in prices if name in models}:
        options["prices"] = kept
    return {**settings, "options": options}


def _without_secrets(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a model is asked, without headers and parameters that are said as they are."""
    found = dict(table)
    for name in {"headers", "query"}.intersection(found):
        found[name] = {
            key: value if str(value).startswith("$") else "[said]"
            for key, value in found[name].items()
        }
    return found


def _words(value: Any) -> Iterator[str]:
    """Yield every text in plain data."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from _words(entry)


def _shown(value: Any) -> Any:
    """Return settings as everybody may read them: an address has no password in it."""
    if isinstance(value, dict):
        return {name: _shown(entry) for name, entry in value.items()}
    if isinstance(value, list):
        return [_shown(entry) for entry in value]
    is_address = isinstance(value, str) and value.startswith(("http://", "https://"))
    return shown_url(value) if is_address else value


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text)
    except OSError as error:
        raise _unwritable(path, error) from None


def _unwritable(path: Path, error: OSError) -> UsageError:
    why = error.strerror or str(error)
    return UsageError(f"cannot write {path}: {why}; make room or use another --out")


def _check_same(folder: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    recorded = there["settings"]["options"].get("record")
    if recorded is not None and "record" not in asked["settings"]["options"]:
        raise UsageError(
            f"{folder} was recorded to {recorded}, which would lack the other trials' answers; "
            "add --record with that file"
        )
    was = there["versions"].get("physics")
    if was is not None and was != asked["versions"].get("physics", was):
        raise UsageError(
            f"{folder} is a run in {was}; go on with CAP_PHYSICS={was}, or use another folder"
        )
    theirs, ours = (
        dict(entries({name: header.get(name) for name in _SAME})) for header in (there, asked)
    )
    for names in dict.fromkeys([*ours, *theirs]):
        one, other = theirs.get(names), ours.get(names)
        if one == other or (names[:2] == _OPTIONS and names[2] in _MAY_DIFFER):
            continue
        if names in _CHANGED and one and other:
            raise UsageError(f"{folder} is a run of {_CHANGED[names]}; use another folder")
        head, *rest = [name for name in names if name not in _OPTIONS]
        what = " ".join([flag(head) if names[0] == _OPTIONS[0] else head, *rest])
        if "asked" in names:
            what = f"--set {names[-1]}"
        raise UsageError(
            f"{folder} is a run with another {what}: {one!r:.160}, not {other!r:.160}; use "
            "another folder"
        )


def entries(table: Mapping[str, Any], *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the entries of a table, those of tables in it too, each with all its names."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from entries(value, *names, name)
        else:
            yield (*names, name), value


def read_header(folder: Path) -> dict[str, Any]:
    """Return what a folder's run was asked for.

    Raises:
        UsageError: There is none, or it is damaged.
    """
    path = folder / HEADER
    try:
        header: dict[str, Any] = read_json(path)
    except FileNotFoundError:
        raise UsageError(f"{folder} is no results folder: it has no {HEADER}") from None
    except NotADirectoryError:
        raise UsageError(f"{folder} is a file; name the results folder: {folder.parent}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
    try:
        msgspec.convert(header, _Header)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"cannot read {path}: not the header of a run ({_told(error)}); use another folder"
        ) from None
    if header["format_version"] != FORMAT_VERSION:
        raise UsageError(
            f"{path} has format {header['format_version']!r}, this version reads {FORMAT_VERSION}; "
            "use the version that wrote it"
        )
    return header


@dataclass(frozen=True)
class _RunSettings:
    """What a header must say of its settings."""

    model: str
    options: dict[str, Any]


@dataclass(frozen=True)
class _Header:
    """What a header must hold."""

    format_version: int
    suite: str
    suite_version: str
    settings: _RunSettings
    versions: dict[str, Any]
    conditions: dict[str, str] = field(default_factory=dict)
    started: str = ""
    title: str = ""
    command: str = ""


def _told(error: msgspec.ValidationError) -> str:
    return str(error).replace("`", "'")


def read_asked(folder: Path) -> list[Trial]:
    """Return the trials that were asked for; none where no run began.

    Raises:
        UsageError: The list is damaged.
    """
    path = folder / ASKED
    try:
        return [msgspec.json.decode(line, type=Trial) for line in path.read_bytes().splitlines()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}; use another folder") from None


def read_lines(folder: Path) -> Iterator[Line]:
    """Yield the trials of a folder, each once; a last line without its end is left out.

    Raises:
        UsageError: A line in between is damaged; with its number.
    """
    yield from {line.trial: line for line in _every_line(folder / TRIALS)}.values()


@dataclass(frozen=True)
class Beside(Usage):
    """What models took besides the trials that count."""

    unanswered: int = 0
    """Of the requests, those that nobody saw the end of: of workers that were killed."""
    untold: int = 0
    """Of the requests, those that ended, but whose tokens nobody kept: what they cost is known."""


def read_beside(folder: Path) -> Beside:
    """Return what models took besides the trials that count: of those stopped or run again."""
    found = Usage()
    latest: dict[Trial, Usage] = {}
    for line in _every_line(folder / TRIALS):
        if (before := latest.get(line.trial)) is not None and before.requests:
            found = found.plus(before)
        latest[line.trial] = line.outcome.usage
    known = functools.reduce(Usage.plus, latest.values(), found)
    sent, spent_usd, ended = spent_in(folder)
    lost = max(0, sent - known.requests)
    unanswered = min(lost, sent - ended)
    if lost and known.cost_usd is not None:  # none of what was sent is free
        lost_usd = max(0.0, spent_usd - known.cost_usd)
        found = found.plus(Usage(cost_usd=lost_usd if spent_usd else None))
    found = found.plus(Usage(lost))
    return Beside(**vars(found), unanswered=unanswered, untold=lost - unanswered)


def _every_line(path: Path) -> Iterator[Line]:
    """Yield every whole line: of a trial that was run again, more than one."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, text in enumerate(file, 1):
            if not text.endswith(b"\n"):
                return
            try:
                values = json.loads(text)
                line = Line(msgspec.convert(values, Trial), msgspec.convert(values, Outcome))
            except (ValueError, RecursionError) as error:
                why = f" ({_told(error)})" if isinstance(error, msgspec.ValidationError) else ""
                raise UsageError(
                    f"{path}, line {number} is no trial{why}; remove it and use --resume"
                ) from None
            yield line
