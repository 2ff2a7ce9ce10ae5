"""A run as Markdown: for a note, an issue, a lab book."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cap.trace.export.run_record import (
    CalledRow,
    ChoiceRecord,
    ProgramRecord,
    RunRecord,
    TurnRecord,
)
from cap.trace.terminal import counted, printable

_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]|!#"} | {"<": "&lt;", ">": "&gt;"})


def text_of(run: RunRecord) -> str:
    """Return the run as Markdown."""
    return "\n".join(_lines(run)).rstrip() + "\n"


def _lines(run: RunRecord) -> Iterator[str]:
    header = run.header
    yield f"# {_plain(run.folder.resolve().name)}"
    yield ""
    told = {key: header.get(key) for key in ("status", "robot", "mode", "model", "seed")}
    yield ", ".join(f"{key} {_plain(str(value))}" for key, value in told.items())
    for turn in run.turns:
        yield from _turn(turn)
    for kind, count in run.unknown.items():
        yield f"\n{counted(count, 'event')} of kind {_plain(kind)} could not be told."


def _turn(turn: TurnRecord) -> Iterator[str]:
    how = {True: "done", False: "failed", None: "not finished"}[turn.ok]
    how += ", undone" if turn.undone else ""
    yield f"\n## {turn.number}. {_plain(turn.instruction)} ({how})\n"
    for part in turn.parts:
        if isinstance(part, ProgramRecord):
            yield from _program(part)
        elif isinstance(part, ChoiceRecord):
            yield from _choice(part)
        elif part[0] == "round":
            yield f"\n### round {_plain(part[1])}\n"
        else:
            yield f"- {part[0]}: {_plain(part[1])}"
    requests = turn.usage.get("requests")
    tokens = "" if not requests else f", {counted(requests, 'request')}"
    yield f"\nmodel {turn.model_s:.1f} s, robot {turn.robot_s:.1f} s{tokens}"


def _program(program: ProgramRecord) -> Iterator[str]:
    for name, source in program.generated:
        yield f"\nGenerated function {_plain(name)}:\n"
        yield _code(source)
    if program.source:
        yield f"\n{_plain(program.lmp)} wrote:\n"
        yield _code(program.source)
    for row in program.calls:
        yield f"- {_call(row)}"
    yield ""


def _choice(choice: ChoiceRecord) -> Iterator[str]:
    """Yield what was tried, with the programs that were not chosen; the chosen one follows."""
    yield "\nTried in the world as it was:\n"
    for tried in choice.tried:
        told = _plain(tried.told)
        yield f"- **{told}**" if tried.chosen else f"- {told}"
    yield f"\n{_plain(choice.why)}"
    for tried in choice.tried:
        if tried.source and not tried.chosen:
            yield f"\nNot carried out, {_plain(tried.told)}:\n"
            yield _code(tried.source)
    yield ""


def _call(row: CalledRow) -> str:
    times = f" × {row.count}" if row.count > 1 and row.alike else ""
    came = f" failed: {_plain(row.error)}" if row.error else ""
    came += f" = {_plain(row.result)}" if row.result else ""
    return f"{_plain(row.text)}{times}{came}{_plain(row.more)}, {row.seconds:.2f} s"


def _code(source: str) -> str:
    """Return a block of code, with a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{printable(source.rstrip())}\n{fence}"


def _plain(text: str) -> str:
    """Return text in one line that Markdown shows as it is."""
    return " ".join(printable(text).split()).translate(_MARKS)
