"""The report of a folder: `report.md` for an appendix, `report.html` for looking at failures.

`report.html` is one file without outside references. All text of models, programs and scenes in it
is shown, never interpreted: it is escaped, characters that cannot be seen are written out, and the
page's own policy lets no script run.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import charts
from benchmarks.report.tables import cells, rows_of, summary
from benchmarks.results import Line, read_header, read_lines
from cap.errors import UsageError
from cap.trace.terminal import printable

FAILURES_SHOWN = 200
_MOST_CHARS = 20_000
"""How much of one text is shown."""
_MOST_BYTES = 1 << 20
"""Of one picture."""
_PNG = b"\x89PNG\r\n\x1a\n"
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse } td, th { padding: .2em .6em; border-bottom: 1px solid #ddd }
th { text-align: left } pre { background: #f6f6f4; padding: .7em; overflow-x: auto }
figure { margin: .3em; display: inline-block } figure.chart { display: block }
img { max-width: 100% } details { margin: .6em 0 } summary { cursor: pointer }
"""
_MARKS = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]|!#"} | {"<": "&lt;", ">": "&gt;"})
NOTE = (
    "Success is judged outside the program's reach; every trial asked for is counted. The "
    "interval is Wilson's, 95 %. 'calls' and 's' are means of a trial, the other counts are sums. "
    "'published' are the papers' own values for their systems and scenes, not measured here."
)
NO_CHARTS = "For charts: pip install 'code-as-policies[report]', then cap bench report."


def write(folder: Path) -> tuple[Path, Path]:
    """Write `report.md` and `report.html` into a results folder; return both.

    Raises:
        UsageError: Not a results folder, without a trial, or it cannot be written.
    """
    header, found = read_header(folder), cells(folder)
    tables = [table for table in (rows_of(found), summary(folder)) if table]
    drawn = charts.draw(found)
    markdown, page = folder / "report.md", folder / "report.html"
    try:
        for name, svg in drawn.items():
            (folder / f"{name}.svg").write_bytes(svg)
        markdown.write_text(_markdown(header, tables, drawn), encoding="utf-8")
        with page.open("w", encoding="utf-8") as file:
            about = [*about_run(header), NOTE, *([] if drawn else [NO_CHARTS])]
            file.writelines(_pieces(folder, title_of(header), about, tables, drawn))
    except OSError as error:
        raise UsageError(
            f"cannot write the report into {folder}: {error.strerror or error}; make room, then "
            "cap bench report"
        ) from None
    return markdown, page


def title_of(header: Mapping[str, Any]) -> str:
    """Return what a report is called."""
    return f"{header['suite']} {header['suite_version']}: {header['settings']['model']}"


def about_run(header: Mapping[str, Any]) -> list[str]:
    """Return what ran, with what, in a few lines."""
    settings = header["settings"]
    elsewhere = ("ledger", "pictures", "sessions")
    options = {name: one for name, one in settings["options"].items() if name not in elsewhere}
    facts = {name: settings.get(name) for name in ("mode", "perception", "prompts")}
    return [
        ", ".join(f"{name} {value}" for name, value in {**facts, "options": options}.items()),
        ", ".join(f"{name} {value}" for name, value in header["versions"].items()),
        *(f"{name}: {value}" for name, value in header.get("conditions", {}).items()),
    ]


def _markdown(
    header: Mapping[str, Any],
    tables: Sequence[Sequence[Mapping[str, Any]]],
    charts: Iterable[str],
) -> str:
    lines = [f"# {_inert(title_of(header))}", ""]
    for line in (*about_run(header), NOTE):
        lines += [_inert(line), ""]
    for table in tables:
        names = list(table[0])
        for cells_of in (names, ["---"] * len(names)):
            lines.append("| " + " | ".join(cells_of) + " |")
        for row in table:
            lines.append("| " + " | ".join(_inert(str(row[name])) for name in names) + " |")
        lines.append("")
    lines += [f"![{name}]({name}.svg)\n" for name in charts]
    return "\n".join(lines) + "\n"


def _inert(text: str) -> str:
    """Return text as Markdown shows it, in one line: no mark of it means anything."""
    return printable(" ".join(text.replace("&", "&amp;").split())).translate(_MARKS)


# --- report.html


def _pieces(
    folder: Path,
    title: str,
    about: Sequence[str],
    tables: Sequence[Sequence[Mapping[str, Any]]],
    charts: Mapping[str, bytes],
) -> Iterator[str]:
    """Yield the page piece by piece.

    Args:
        folder: The results folder; its failures and their pictures are read.
        title: Of the page.
        about: Lines below the title.
        tables: Each of rows with the same keys.
        charts: SVG images by name.
    """
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{shown(title)}</title>\n<style>{_STYLE}</style></head><body>\n"
        f"<h1>{shown(title)}</h1>\n"
    )
    yield from (f"<p>{shown(line)}</p>\n" for line in about)
    yield from map(_table, tables)
    for name, svg in charts.items():
        yield f'<figure class="chart">{_image("svg+xml", svg, name)}</figure>\n'
    yield from _failures(folder)
    yield "</body></html>\n"


def shown(value: object) -> str:
    """Return text that is safe between tags and in attributes, and in which all can be seen."""
    text = str(value)
    more = len(text) - _MOST_CHARS
    cut = f"\n... {more} more characters" if more > 0 else ""
    return html.escape(printable(text[:_MOST_CHARS].replace("\t", "    ")) + cut)


def _table(table: Sequence[Mapping[str, Any]]) -> str:
    names = list(table[0])
    head = "".join(f"<th>{shown(name)}</th>" for name in names)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{shown(row[name])}</td>" for name in names) + "</tr>"
        for row in table
    )
    return f"<table><tr>{head}</tr>\n{body}</table>\n"


def _failures(folder: Path) -> Iterator[str]:
    total = 0
    yield "<h2>Failures</h2>\n"
    for line in read_lines(folder):
        if line.outcome.success:
            continue
        total += 1
        if total <= FAILURES_SHOWN:
            yield _failure(line, folder)
    if total > FAILURES_SHOWN:
        yield f"<p>The first {FAILURES_SHOWN} of {total}; the others are in trials.jsonl.</p>\n"
    elif not total:
        yield "<p>None.</p>\n"


def _failure(line: Line, folder: Path) -> str:
    trial, outcome = line.trial, line.outcome
    sample = f" sample {trial.sample}" if trial.sample else ""
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
        f"<details><summary>{shown(trial.task)} {shown(trial.split)} seed {trial.seed}{sample}: "
        f"{shown(outcome.instruction)} ({shown(outcome.cause)})</summary>\n"
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
