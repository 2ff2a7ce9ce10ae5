"""The record itself: parts of cases, files of what came of them, the comparison of two.

A part is a function that returns its cases: what to do, by key. What a case has seen is kept in
three files of the part: `behaviour` and `wording` are compared, `shown` is only printed.
"""

from __future__ import annotations

import difflib
import fnmatch
import json
import multiprocessing
import os
import random
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DATA = HERE / "data"
CHANGES = HERE / "CHANGES"
KINDS = ("behaviour", "wording", "shown")
COMPARED = ("behaviour", "wording")
LONG_LINES = 6
"""Texts of more lines are written as what is otherwise than in an earlier text of the file."""
ALL = "[recorded: "
"""What `make record` writes behind a line of CHANGES that it has used."""


@dataclass(frozen=True)
class Seen:
    """What came of a case: plain JSON. None is not written down."""

    behaviour: Any = None
    wording: Any = None
    shown: Any = None


@dataclass(frozen=True)
class Skipped:
    """A case that cannot be tried here; what is recorded of it stays."""

    reason: str


Case = Callable[[], Seen | Skipped]
Values = dict[str, Any]
"""By key."""


@dataclass(frozen=True)
class Part:
    """One part of the record."""

    name: str
    cases: Callable[[], Mapping[str, Case]]
    tolerance: float = 0.0
    """By how much numbers may differ: metres, where they are positions."""
    alike: str = ""
    """A glob: where this part has no file, the first that is of its like is compared with."""
    alike_tolerance: float = 0.0
    """By how much numbers may differ from that."""


@dataclass
class Found:
    """What came of the cases of a part."""

    seen: dict[str, Seen] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def values(self, kind: str) -> Values:
        """Return what is of one kind, by key."""
        pairs = ((key, getattr(seen, kind)) for key, seen in self.seen.items())
        return {key: value for key, value in pairs if value is not None}


# --- running


@cache
def _cases(name: str) -> Mapping[str, Case]:
    from tests.record.parts import PARTS

    return PARTS[name].cases()


def try_case(name: str, key: str) -> Seen | Skipped:
    """Try one case; one that raises has that as its behaviour."""
    try:
        return _cases(name)[key]()
    except Exception as error:  # the record goes on, and shows it
        return Seen({"raised": type(error).__name__}, {"raised": f"{error}"[:2000]})


def _try_some(name: str, keys: Sequence[str]) -> list[tuple[str, str, Seen | Skipped]]:
    return [(name, key, try_case(name, key)) for key in keys]


def _keys(name: str) -> tuple[str, list[str]]:
    return name, list(_cases(name))


def _alone() -> None:
    """Have a process of the pool work in a folder of its own, with nothing set from outside."""
    folder = tempfile.mkdtemp(prefix="record-")
    for name in list(os.environ):
        if name.startswith(("CAP_", "OPENAI_", "OPENROUTER_", "XDG_")):
            del os.environ[name]
    os.environ.update(HOME=folder, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    os.chdir(folder)


def run(names: Iterable[str], jobs: int, shuffle: int | None = None) -> dict[str, Found]:
    """Try every case of some parts in a pool of processes.

    Args:
        names: The parts.
        jobs: How many processes.
        shuffle: A seed for another order; by default the parts' own.
    """
    context = multiprocessing.get_context("spawn")
    found = {name: Found() for name in names}
    with (
        tempfile.TemporaryDirectory(prefix="record-") as place,
        ProcessPoolExecutor(jobs, context, initializer=_alone) as pool,
    ):
        os.environ["TMPDIR"] = place  # of what the processes leave behind
        parts = list(pool.map(_keys, found))
        todo = [(name, keys[at : at + 8]) for name, keys in parts for at in range(0, len(keys), 8)]
        if shuffle is not None:
            for _, keys in todo:
                random.Random(shuffle).shuffle(keys)
            random.Random(shuffle).shuffle(todo)
        for done in as_completed([pool.submit(_try_some, name, keys) for name, keys in todo]):
            for name, key, seen in done.result():
                if isinstance(seen, Skipped):
                    found[name].skipped[key] = seen.reason
                else:
                    found[name].seen[key] = seen
    return found


# --- files


def path_of(part: Part, kind: str, *, reading: bool = False) -> Path:
    """Return a part's file; to read, that of one of its like where it has none."""
    path = DATA / kind / f"{part.name}.jsonl"
    if reading and part.alike and not path.exists():
        return next(iter(sorted((DATA / kind).glob(f"{part.alike}.jsonl"))), path)
    return path


def write(path: Path, values: Values) -> None:
    """Write values as JSON lines, in the order of their keys."""
    if not values:
        path.unlink(missing_ok=True)
        return
    earlier: list[tuple[int, list[str]]] = []
    lines: list[str] = []
    for key in sorted(values):
        value = values[key]
        texts = bool(value) and isinstance(value, dict) and all(map(_is_long, value.values()))
        for name, one in value.items() if texts else [("", value)]:
            named = {"key": key, "in": name} if texts else {"key": key}
            entry = {**named, **_short(len(lines), one, earlier)}
            lines.append(json.dumps(entry, ensure_ascii=False))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def read(path: Path) -> Values:
    """Read what `write` wrote."""
    values: Values = {}
    every: list[Any] = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        entry = json.loads(line)
        value = entry["value"]
        if "like" in entry:
            value = "\n".join([*every[entry["like"]].split("\n")[: entry["lines"]], *value])
        every.append(value)
        if "in" in entry:
            values.setdefault(entry["key"], {})[entry["in"]] = value
        else:
            values[entry["key"]] = value
    return values


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and value.count("\n") >= LONG_LINES


def _short(number: int, value: Any, earlier: list[tuple[int, list[str]]]) -> dict[str, Any]:
    """Return a value, or of a long text the lines after those it begins with as another does."""
    if not _is_long(value):
        return {"value": value}
    lines = value.split("\n")
    like, most = -1, LONG_LINES
    for other, others in earlier:
        same = 0
        while same < min(len(lines), len(others)) and lines[same] == others[same]:
            same += 1
        if same > most:
            like, most = other, same
    earlier.append((number, lines))
    return {"value": value} if like < 0 else {"like": like, "lines": most, "value": lines[most:]}


# --- comparing


@dataclass(frozen=True)
class Change:
    """One key whose value is otherwise."""

    part: str
    kind: str
    key: str
    lines: tuple[str, ...]
    """What is otherwise, line by line."""

    @property
    def new(self) -> bool:
        """True if nothing was recorded under the key."""
        return self.lines == ("+ new",)


def compare(
    part: Part, kind: str, old: Values, new: Values, tolerance: float, keys: Iterable[str]
) -> Iterator[Change]:
    """Yield what is otherwise under some keys."""
    for key in keys:
        if key not in old and key in new:
            yield Change(part.name, kind, key, ("+ new",))
        elif key in old and key not in new:
            yield Change(part.name, kind, key, ("- gone",))
        elif key in old and (lines := tuple(_differing("", old[key], new[key], tolerance))):
            yield Change(part.name, kind, key, lines)


def _differing(where: str, old: Any, new: Any, tolerance: float) -> Iterator[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(key for key in new if key not in old)]:
            inside = f"{where}.{key}" if where else key
            if key not in new:
                yield f"- {inside}: {json.dumps(old[key])}"
            elif key not in old:
                yield f"+ {inside}: {json.dumps(new[key])}"
            else:
                yield from _differing(inside, old[key], new[key], tolerance)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differing(f"{where}[{number}]", one, other, tolerance)
    elif isinstance(old, str) and isinstance(new, str) and "\n" in old + new:
        if old != new:
            shown = list(difflib.unified_diff(old.split("\n"), new.split("\n"), n=0, lineterm=""))
            yield from (f"{where} {line}".lstrip() for line in shown[2:])
    elif not _same(old, new, tolerance):
        yield f"{where}: {json.dumps(old)} -> {json.dumps(new)}"


def _same(old: Any, new: Any, tolerance: float) -> bool:
    numbers = all(type(each) in (int, float) for each in (old, new))
    if numbers and tolerance:
        return abs(old - new) <= tolerance * (1 + 1e-6)
    return type(old) is type(new) and bool(old == new)


def changes(
    parts: Iterable[Part], found: Mapping[str, Found], only: Iterable[str] | None = None
) -> tuple[list[Change], list[str]]:
    """Return what is otherwise than recorded, and remarks on how it was compared.

    Args:
        parts: Which.
        found: What came of their cases.
        only: The keys that were tried; all by default.
    """
    changed, remarks = [], []
    for part in parts:
        now = found[part.name]
        for kind in KINDS:
            path = path_of(part, kind, reading=True)
            tolerance = part.tolerance
            if path.exists() and path.stem != part.name and kind in COMPARED:
                tolerance = part.alike_tolerance
                remarks.append(
                    f"{part.name}: no record of this engine and processor; compared with "
                    f"{path.stem}, numbers to {tolerance:g}"
                )
            old, new = read(path), now.values(kind)
            keys = [key for key in sorted(only or {*old, *new}) if key not in now.skipped]
            changed += compare(part, kind, old, new, tolerance, keys)
        reasons = sorted(set(now.skipped.values()))
        remarks += [f"{part.name}: skipped, {reason}" for reason in reasons]
    return changed, remarks


# --- reasons


def reasons(text: str) -> list[tuple[str, str, str]]:
    """Return the lines of CHANGES that no record has used: part and key as globs, and the line.

    A line is `part: key: reason`; part and key may have `*`, and a key with a colon is written with
    `*` in its place.
    """
    found = []
    for line in text.splitlines():
        if line.strip() and not line.startswith("#") and ALL not in line:
            part, key, reason = (*(piece.strip() for piece in line.split(":", 2)), "", "")[:3]
            if not reason:
                raise SystemExit(f"{CHANGES}: not `part: key: reason`: {line}")
            found.append((part, key, line))
    return found


def accepted(change: Change, given: Sequence[tuple[str, str, str]]) -> str | None:
    """Return the line of CHANGES that gives a change's reason; None if there is none."""
    for part, key, line in given:
        if fnmatch.fnmatchcase(change.part, part) and fnmatch.fnmatchcase(change.key, key):
            return line
    return None
