"""The report of a folder: `report.md` for an appendix, `report.html` for looking at failures.

`report.html` is one file without outside references. All text of models, programs and scenes in it
is shown, never interpreted: it is escaped, characters that cannot be seen are written out, and the
page's own policy lets no script run.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import charts
from benchmarks.report.tables import Cell, Report, failures, read, reasons, rows_of
from benchmarks.results import Line
from cap.errors import UsageError
from cap.messages import printable

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
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light dark; --line: #d8d8d4; --box: #f6f6f4; --dim: #5c5c58; --mark: #eef3f8;
  --link: #1a5fa8 }
@media (prefers-color-scheme: dark) { :root { --line: #44474c; --box: #232529; --dim: #a6a8ac;
  --mark: #22303d; --link: #8ab8ea } body { background: #17181b; color: #e6e6e4 } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75em; margin: 1.5em auto; padding: 0 1em }
h1 { font-size: 1.35em; margin: 0 0 .4em } h2 { font-size: 1.15em; margin: 1.6em 0 .5em }
h3 { font-size: 1em; margin: 1.2em 0 .3em } a { color: var(--link) }
h1, h3, p, li, summary { overflow-wrap: anywhere }
.headline p { margin: .15em 0 } .headline p:first-of-type { font-size: 1.25em; font-weight: 600 }
.headline { background: var(--mark); border-radius: .4em; padding: .8em 1em; margin-bottom: 1em }
.note { color: var(--dim); font-size: .92em } .scroll { overflow-x: auto; margin: .6em 0 }
table { border-collapse: collapse } td, th { padding: .2em .6em; text-align: left;
  border-bottom: 1px solid var(--line); vertical-align: top }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
th, td:first-child { white-space: nowrap } td.w { min-width: 9em } ul { padding-left: 1.3em }
.sum td { background: var(--mark); font-weight: 600 }
pre { background: var(--box); padding: .7em; overflow-x: auto } figure { margin: .3em;
  display: inline-block } figure.chart { display: block; overflow-x: auto } img { max-width: 100% }
.chart img { min-width: 38em; background: #fff; border-radius: .4em } details { margin: .5em 0 }
summary { cursor: pointer }
"""
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]|!#"} | {"<": "&lt;", ">": "&gt;"})
NOTE = (
    "Every trial asked for is counted. The interval is Wilson's, 95 %. 'calls' and 's' are means "
    "of a trial, the other counts are sums."
)
SO_FAR = (
    "Trials that were asked for have not ended: a row with 'so far' tells of those that have, and "
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
NO_CHARTS = "For charts: python -m pip install 'matplotlib>=3.8', then cap bench report."


def write(folder: Path) -> tuple[Path, Path]:
    """Write `report.md` and `report.html` into a results folder; return both.

    Raises:
        UsageError: Not a results folder, without a trial, or it cannot be written.
    """
    report = read(folder)
    # A bar of one trial says nothing.
    several = any(cell.tally.n > 1 for cell in report.tasks)
    drawn = charts.draw([*report.tasks, *report.splits]) if several else {}
    if drawn and report.suite is not None:
        drawn |= report.suite.charts(folder)
    markdown, page = folder / "report.md", folder / "report.html"
    try:
        for name, svg in drawn.items():
            (folder / f"{name}.svg").write_bytes(svg)
        markdown.write_text(_markdown(report, drawn), encoding="utf-8")
        with page.open("w", encoding="utf-8") as file:
            file.writelines(_pieces(report, drawn))
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


def _notes(report: Report, drawn: Mapping[str, bytes]) -> list[str]:
    """Return what a reader must know of the tables."""
    return [
        *([report.suite.judged] if report.suite else []),
        NOTE.replace("Every trial asked for is counted. ", "") if report.so_far else NOTE,
        *([SO_FAR] if report.so_far else []),
        *([PUBLISHED] if any(cell.published for cell in report.tasks) else []),
        *([CLUSTERED] if report.total.tally.clustered else []),
        *([SAMPLED] if report.pass_at_k else []),
        *([] if drawn or all(cell.tally.n == 1 for cell in report.tasks) else [NO_CHARTS]),
    ]


def _tables(report: Report) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    """Return the tables with their titles: sums, the suite's own, then every task."""
    sums = rows_of(report.sums)
    named = [("In all", sums), ("By arm", report.own), ("By task", rows_of(report.tasks))]
    return [(title, table) for title, table in named if table]


def _markdown(report: Report, drawn: Mapping[str, bytes]) -> str:
    lines = [f"# {_inert(report.title)}", ""]
    for line in (*report.headline, *about_run(report), *_notes(report, drawn)):
        lines += [_inert(line), ""]
    for title, table in _tables(report):
        names = list(table[0])
        lines += [f"## {title}", ""]
        for cells_of in (names, ["---"] * len(names)):
            lines.append("| " + " | ".join(cells_of) + " |")
        for row in table:
            lines.append("| " + " | ".join(_inert(str(row[name])) for name in names) + " |")
        lines.append("")
    lines += [f"![{name}]({name}.svg)\n" for name in drawn]
    return "\n".join(lines) + "\n"


def _inert(text: str) -> str:
    """Return text as Markdown shows it, in one line: no mark of it means anything."""
    return printable(" ".join(text.replace("&", "&amp;").split())).translate(_MARKS)


# --- report.html


def _pieces(report: Report, drawn: Mapping[str, bytes]) -> Iterator[str]:
    """Yield the page piece by piece; `drawn` are SVG images by name."""
    title = shown(report.title)
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style></head><body>\n"
        f'<div class="headline"><h1>{title}</h1>\n'
    )
    yield from (f"<p>{shown(line)}</p>\n" for line in report.headline)
    yield "</div>\n"
    missed = list(failures(report))
    anchors = {(cell.task, cell.split): f"f{number}" for number, (cell, _) in enumerate(missed)}
    for name, table in _tables(report):
        yield f"<h2>{name}</h2>\n{_table(table, anchors)}"
    for name, svg in drawn.items():
        yield f'<figure class="chart">{_image("svg+xml", svg, name)}</figure>\n'
    yield "<h2>About</h2>\n"
    told = (*_notes(report, drawn), *about_run(report))
    yield from (f'<p class="note">{shown(line)}</p>\n' for line in told)
    yield from _failures(missed, anchors, report.folder)
    yield "</body></html>\n"


def shown(value: object) -> str:
    """Return text that is safe between tags and in attributes, and in which all can be seen."""
    text = str(value)
    more = len(text) - _MOST_CHARS
    cut = f"\n... {more} more characters" if more > 0 else ""
    return html.escape(printable(text[:_MOST_CHARS].replace("\t", "    ")) + cut)


_NUMBERS = re.compile(r"[-+?0-9.()% ]*[0-9?][-+?0-9.()% ]*|")


def _table(table: Sequence[Mapping[str, Any]], anchors: Mapping[tuple[str, str], str]) -> str:
    names = list(table[0])
    numeric = [name for name in names if all(_NUMBERS.fullmatch(str(row[name])) for row in table)]
    long = [name for name in names if max(len(str(row[name])) for row in table) > _LONG]
    kinds = {name: ' class="w"' if name in long else "" for name in names}
    kinds |= dict.fromkeys(numeric, ' class="n"')
    lines = ["<tr>" + "".join(f"<th{kinds[name]}>{shown(name)}</th>" for name in names) + "</tr>"]
    for row in table:
        anchor = anchors.get((str(row.get("task")), str(row.get("split", ""))))
        parts = {name: shown(row[name]) for name in names}
        if anchor and "failed by" in parts:
            parts["failed by"] = f'<a href="#{anchor}">{parts["failed by"]}</a>'
        mark = ' class="sum"' if row.get("task") == "all" else ""
        cells_of = "".join(f"<td{kinds[name]}>{parts[name]}</td>" for name in names)
        lines.append(f"<tr{mark}>{cells_of}</tr>")
    rows = "\n".join(lines)
    return f'<div class="scroll" tabindex="0"><table>{rows}</table></div>\n'


def _failures(
    missed: Sequence[tuple[Cell, Sequence[Line]]],
    anchors: Mapping[tuple[str, str], str],
    folder: Path,
) -> Iterator[str]:
    """Yield a section for each task that has failures: every reason, and some shown whole."""
    yield "<h2>Failures</h2>\n"
    if not missed:
        yield "<p>None.</p>\n"
    each = max(1, FAILURES_SHOWN // max(1, len(missed)))
    for cell, lines in missed:
        name = f"{cell.task} {cell.split}".strip()
        count = f"{len(lines)} of {cell.tally.n} failed"
        yield f'<h3 id="{anchors[cell.task, cell.split]}">{shown(name)}: {count}</h3>\n<ul>\n'
        for reason in reasons(lines):
            trials = ", ".join(
                f"{line.trial.seed}.{line.trial.sample}" for line in reason.lines[:_LISTED]
            )
            more = f" and {len(reason.lines) - _LISTED} more" if len(reason.lines) > _LISTED else ""
            why = f"{len(reason.lines)} x {reason.cause}: {reason.first}"
            yield (
                f'<li>{shown(why)} <span class="note">(seed.sample {shown(trials)}{more})</span>'
                "</li>\n"
            )
        yield "</ul>\n"
        yield from (_failure(line, folder) for line in lines[:each])
        if len(lines) > each:
            yield f'<p class="note">The other {len(lines) - each} are in trials.jsonl.</p>\n'


def _failure(line: Line, folder: Path) -> str:
    trial, outcome = line.trial, line.outcome
    facts = {
        "why": outcome.failure or "It ran; the goal was not reached.",
        "not as expected": outcome.extra.get("missed"),
        "objects": outcome.extra.get("objects"),
        "expected": outcome.extra.get("goal"),
    }
    listed = "".join(
        f"<p>{name}: {shown(_words(value))}</p>" for name, value in facts.items() if value
    )
    blocks = {"program": outcome.program, "calls": "\n".join(_calls(outcome.extra.get("calls")))}
    code = "".join(
        f"<p>{name}:</p><pre>{shown(text)}</pre>" for name, text in blocks.items() if text
    )
    return (
        f"<details><summary>{shown(trial.task)} {shown(trial.split)} seed {trial.seed} sample "
        f"{trial.sample}: {shown(outcome.instruction)} ({shown(outcome.cause)})</summary>\n"
        f"{listed}{code}{''.join(_pictures(folder, outcome.extra.get('pictures')))}</details>\n"
    )


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


def _pictures(folder: Path, names: object) -> Iterator[str]:
    """Yield pictures as part of the page; only PNG files of the folder's own `pictures`."""
    for name, when in zip(
        names if isinstance(names, list) else (), ("before", "after"), strict=False
    ):
        path = folder / "pictures" / Path(str(name)).name
        try:
            with path.open("rb") as file:
                data = file.read(_MOST_BYTES + 1)
        except (OSError, ValueError):
            continue
        if data.startswith(_PNG) and len(data) <= _MOST_BYTES:
            yield f"<figure>{_image('png', data, when)}<figcaption>{when}</figcaption></figure>"


def _image(kind: str, data: bytes, words: str) -> str:
    return f'<img src="data:image/{kind};base64,{base64.b64encode(data).decode()}" alt="{words}">'
