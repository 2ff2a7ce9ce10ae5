"""A results folder as JUnit XML, for continuous integration: a test case for each trial."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from benchmarks.report.tables import read, said
from benchmarks.results import UNJUDGED, read_asked, read_lines
from benchmarks.suite import Trial
from cap.errors import UsageError
from cap.messages import printable


def write(folder: Path, path: Path) -> None:
    """Write a folder's trials as a test suite; what could not be judged is an error.

    Trials that were asked for and have not ended are skipped ones.

    Raises:
        UsageError: Not a results folder, without a trial, or the file cannot be written.
    """
    report = read(folder)
    tally = report.total
    failed = tally.n - tally.successes
    root = ET.Element(
        "testsuite",
        name=printable(report.title),
        tests=str(report.total.asked),
        failures=str(failed - tally.unjudged),
        errors=str(tally.unjudged),
        skipped=str(report.total.asked - tally.n),
        time=f"{tally.seconds:.3f}",
        timestamp=str(report.header.get("started") or "").removesuffix("+00:00"),
    )
    suite = str(report.header["suite"])
    lines = sorted(read_lines(folder), key=report.order)
    for line in lines:
        outcome = line.outcome
        case = _case(root, suite, line.trial, outcome.seconds)
        if not outcome.success:
            kind = "error" if outcome.cause in UNJUDGED else "failure"
            failure = ET.SubElement(
                case, kind, type=printable(outcome.cause), message=printable(said(line))
            )
            failure.text = printable(f"{outcome.instruction}\n\n{outcome.program}")
    ended = {line.trial for line in lines}
    for trial in read_asked(folder):
        if trial not in ended:
            left = _case(root, suite, trial, 0.0)
            ET.SubElement(left, "skipped", message=f"not ended: {report.so_far}")
    tree = ET.ElementTree(root)
    ET.indent(tree)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        tree.write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}; use another --junit"
        ) from None


def _case(root: ET.Element, suite: str, trial: Trial, seconds: float) -> ET.Element:
    """Add the test case of a trial."""
    split = f" {trial.split}" if trial.split else ""
    return ET.SubElement(
        root,
        "testcase",
        classname=printable(f"{suite}.{trial.task}"),
        name=printable(f"{trial.task}{split} seed {trial.seed} sample {trial.sample}"),
        time=f"{seconds:.3f}",
    )
