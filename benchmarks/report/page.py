"""The report of a folder: `report.md` for an appendix, `report.html` for looking at failures.

`report.html` is one file without outside references. All text of models, programs and scenes in it
is shown, never interpreted: it is escaped, characters that cannot be seen are written out, and the
page's own policy lets no script run.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from benchmarks.report.tables import Reason, Report, failures, read, reasons, rows_of
from benchmarks.results import Line
from cap.errors import UsageError
from cap.messages import printable

MOST_BARS = 80
"""With more tasks than these, only whole splits are drawn."""
FAILURES_SHOWN = 200
"""Failures shown whole; each task that has any shows at least one so, and lists them all."""
_LONG = 14
"""Characters of a cell that may be wrapped."""
_LISTED = 60
"""Trials that are named for one reason."""
_MOST_CHARS = 20_000
"""How much of one text is shown."""
_MOST_BYTES = 1 << 20
"""Of one picture."""
_PNG = b"\x89PNG\r\n\x1a\n"
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]|!#"} | {"<": "&lt;", ">": "&gt;"})
NOTE = (
    "Every trial asked for is counted. The interval is Wilson's, 95 %. 'calls' and 's' are means "
    "of a trial, the other counts are sums."
)
SO_FAR = (
    "Trials that were asked for have not ended: a row with 'so far' counts those that have, and "
    "is no result of the run."
)
PUBLISHED = (
    "'published' are the papers' own values for their systems and scenes, not measured here."
)
SAMPLED = "pass@k is the unbiased estimate, averaged over problems."
CLUSTERED = (
    "Wilson's interval takes samples of one problem, or trials of one scene, for independent, "
    "which makes it too narrow; 'clustered 95 %' does not: it is Wilson's of the effective number "
    "of trials (after Korn and Graubard 1998, with z for their t of all trials), for other "
    "problems or scenes like these."
)


def write(folder: Path) -> tuple[Path, Path]:
    """Write `report.md` and `report.html` into a results folder; return both.

    Raises:
        UsageError: Not a results folder, without a trial, or it cannot be written.
    """
    report = read(folder)
    markdown, page = folder / "report.md", folder / "report.html"
    texts = {"title": report.title, "headline": report.headline}
    texts |= {"run": about_run(report), "notes": _notes(report)}
    try:
        markdown.write_text(
            _template("report.md.j2", False, _inert).render(texts, tables=_tables(report)),
            encoding="utf-8",
        )
        with page.open("w", encoding="utf-8") as file:
            file.writelines(
                _template("report.html.j2", True, shown).generate(texts, **_page(report))
            )
    except OSError as error:
        raise UsageError(
            f"cannot write the report into {folder}: {error.strerror or error}; make room, then "
            "cap bench report"
        ) from None
    return markdown, page


def about_run(report: Report) -> list[str]:
    """Return what ran, with what, in a few lines; what was not said is left out."""
    header = report.header
    return [
        ", ".join(report.settings),
        ", ".join(f"{name} {value}" for name, value in header["versions"].items()),
        *(f"{name}: {value}" for name, value in header.get("conditions", {}).items()),
    ]


def _notes(report: Report) -> list[str]:
    """Return what a reader must know of the tables."""
    return [
        *([report.suite.judged] if report.suite else []),
        NOTE.replace("Every trial asked for is counted. ", "") if report.so_far else NOTE,
        *([SO_FAR] if report.so_far else []),
        *([PUBLISHED] if any(cell.published for cell in (*report.tasks, *report.families)) else []),
        *([CLUSTERED] if report.total.clustered else []),
        *([SAMPLED] if report.pass_at_k else []),
    ]


def _tables(report: Report) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Return the tables with their titles: sums, then every task."""
    named = [("In all", rows_of(report.sums)), ("By task", rows_of(report.tasks))]
    return [(title, table) for title, table in named if table]


def _inert(value: object) -> str:
    """Return text as Markdown shows it, in one line: no mark of it means anything."""
    return printable(" ".join(str(value).replace("&", "&amp;").split())).translate(_MARKS)


# --- report.html


def _page(report: Report) -> dict[str, Any]:
    """Return the page's tables, bars and failures."""
    missed = list(failures(report))
    anchors = {(cell.task, cell.split): f"f{number}" for number, (cell, _) in enumerate(missed)}
    each = max(1, FAILURES_SHOWN // max(1, len(missed)))
    return {
        "tables": [_table(title, table, anchors) for title, table in _tables(report)],
        "bars": _bars(report),
        "failures": (
            {
                "anchor": anchors[cell.task, cell.split],
                "name": f"{cell.task} {cell.split}".strip(),
                "count": f"{len(lines)} of {cell.n} failed",
                "reasons": map(_reason, reasons(lines)),
                "trials": (_failure(line, report.folder) for line in lines[:each]),
                "more": max(0, len(lines) - each),
            }
            for cell, lines in missed
        ),
    }


def _bars(report: Report) -> list[dict[str, Any]]:
    """Return each task's rate with its interval and the published values, percent, to be drawn."""
    if all(cell.n == 1 for cell in report.tasks):  # a bar of one trial says nothing
        return []
    cells = report.tasks if len(report.tasks) <= MOST_BARS else report.splits
    return [
        {
            "name": f"{cell.task} {cell.split} n={cell.row['n']}",
            "rate": 100 * cell.successes / cell.n,
            "ends": [100 * end for end in cell.interval],
            "published": {
                method: rate
                for method, rate in cell.published.items()
                if method not in ("pass@10", "pass@100")  # no rates of one answer
            },
        }
        for cell in cells
    ]


@cache
def _template(name: str, escapes: bool, finalize: Callable[[object], str]) -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=escapes, finalize=finalize, keep_trailing_newline=True
    )
    return environment.from_string(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def shown(value: object) -> Markup:
    """Return text that is safe between tags and in attributes, and in which all can be seen."""
    if isinstance(value, Markup):
        return value
    text = str(value)
    more = len(text) - _MOST_CHARS
    cut = f"\n... {more} more characters" if more > 0 else ""
    return escape(printable(text[:_MOST_CHARS].replace("\t", "    ")) + cut)


_NUMBERS = re.compile(r"[-+?0-9.()% ]*[0-9?][-+?0-9.()% ]*|")


def _table(
    title: str, table: Sequence[Mapping[str, Any]], anchors: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """Return a table for the page: numbers are to the right, long cells may be wrapped."""
    columns = []
    for name in table[0]:
        texts = [str(row[name]) for row in table]
        number = all(map(_NUMBERS.fullmatch, texts))
        columns.append((name, "n" if number else "w" if max(map(len, texts)) > _LONG else ""))
    rows = [(row, anchors.get((str(row.get("task")), str(row.get("split", ""))))) for row in table]
    return {"title": title, "columns": columns, "rows": rows}


def _reason(reason: Reason) -> tuple[str, str]:
    trials = [f"{line.trial.seed}.{line.trial.sample}" for line in reason.lines[:_LISTED]]
    more = f" and {len(reason.lines) - _LISTED} more" if len(reason.lines) > _LISTED else ""
    return f"{len(reason.lines)} x {reason.cause}: {reason.first}", ", ".join(trials) + more


def _failure(line: Line, folder: Path) -> dict[str, Any]:
    trial, outcome = line.trial, line.outcome
    facts = {
        "why": outcome.failure or "It ran; the goal was not reached.",
        "not as expected": outcome.extra.get("missed"),
        "objects": outcome.extra.get("objects"),
        "expected": outcome.extra.get("goal"),
    }
    blocks = {"program": outcome.program, "calls": "\n".join(_calls(outcome.extra.get("calls")))}
    where = f"{trial.task} {trial.split} seed {trial.seed} sample {trial.sample}"
    return {
        "title": f"{where}: {outcome.instruction} ({outcome.cause})",
        "facts": [(name, _words(value)) for name, value in facts.items() if value],
        "blocks": [(name, text) for name, text in blocks.items() if text],
        "pictures": _pictures(folder, outcome.extra.get("pictures")),
    }


def _words(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _calls(calls: object) -> Iterator[str]:
    """Yield one line for each call: `name(arguments) -> result`, or what it raised."""
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict) or "name" not in call:
            yield _words(call)
            continue
        given = [repr(value) for value in call.get("args") or ()]
        given += [f"{name}={value!r}" for name, value in (call.get("kwargs") or {}).items()]
        error = call.get("error")
        end = f"raised {error}" if error else f"-> {call.get('result')!r}"
        yield f"{call['name']}({', '.join(given)}) {end}"


def _pictures(folder: Path, names: object) -> Iterator[tuple[str, Markup]]:
    """Yield pictures for the page; only PNG files of the folder's own `pictures`."""
    listed = names if isinstance(names, list) else ()
    for name, when in zip(listed, ("before", "after"), strict=False):
        path = folder / "pictures" / Path(str(name)).name
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
        except (OSError, ValueError):
            continue
        if data.startswith(_PNG) and len(data) <= _MOST_BYTES:
            yield when, Markup(f"data:image/png;base64,{base64.b64encode(data).decode()}")
