"""A results folder as JUnit XML, for continuous integration: a test case for each trial."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from benchmarks.report.tables import read, said
from benchmarks.results import Line, read_lines
from benchmarks.suite import UNJUDGED
from cap.errors import UsageError
from cap.trace.terminal import printable


def write(folder: Path, path: Path) -> None:
    """Write a folder's trials as a test suite; what could not be judged is an error.

    Raises:
        UsageError: Not a results folder, without a trial, or the file cannot be written.
    """
    report = read(folder)
    tally = report.total.tally
    failed = tally.n - tally.successes
    root = ET.Element(
        "testsuite",
        name=printable(report.title),
        tests=str(tally.n),
        failures=str(failed - tally.unjudged),
        errors=str(tally.unjudged),
        skipped="0",
        time=f"{tally.seconds:.3f}",
        timestamp=str(report.header.get("started") or "").removesuffix("+00:00"),
    )
    for line in sorted(read_lines(folder), key=report.order):
        _case(root, str(report.header["suite"]), line)
    tree = ET.ElementTree(root)
    ET.indent(tree)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tree.write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}; use another --junit"
        ) from None


def _case(root: ET.Element, suite: str, line: Line) -> None:
    trial, outcome = line.trial, line.outcome
    split = f" {trial.split}" if trial.split else ""
    case = ET.SubElement(
        root,
        "testcase",
        classname=printable(f"{suite}.{trial.task}"),
        name=printable(f"{trial.task}{split} seed {trial.seed} sample {trial.sample}"),
        time=f"{outcome.seconds:.3f}",
    )
    if outcome.success:
        return
    kind = "error" if outcome.cause in UNJUDGED else "failure"
    failure = ET.SubElement(
        case, kind, type=printable(outcome.cause), message=printable(said(line))
    )
    failure.text = printable(f"{outcome.instruction}\n\n{outcome.program}")
