"""Reports: honest tables, and a page on which nothing runs."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from benchmarks.report import junit, tables
from benchmarks.report.page import write
from benchmarks.results import Results, begin
from benchmarks.suite import Outcome, Settings, Trial, suite
from cap.errors import UsageError

SETTINGS = Settings("tabletop", "oracle", mode="instant")
GOOD = Outcome(True, "", "words", "x", "", 4, 2, 100, 20, 0.5, 1.5, {})
BAD = replace(GOOD, success=False, cause="program", failure="it broke")
NASTY = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "'\"&amp; </pre></details>\x00\x1b[31m\x9b\u202e\ud800 $\\frac{1}{$ ]]> --> | "
    "` [a](javascript:b)"
)


def folder_of(path: Path, *lines: tuple[Trial, Outcome], model: str = "oracle") -> Path:
    results = begin(path, suite("tabletop"), replace(SETTINGS, model=model), resume=False)
    for trial, outcome in lines:
        results.add(trial, outcome)
    results.close()
    return path


def add(folder: Path, *lines: tuple[Trial, Outcome]) -> None:
    results = Results(folder)
    for one, outcome in lines:
        results.add(one, outcome)
    results.close()


def rows(folder: Path) -> list[dict[str, Any]]:
    report = tables.read(folder)
    return tables.rows_of([*report.tasks, *report.families])


def trial(seed: int, task: str = "pick-and-place", split: str = "SA-SI") -> Trial:
    return Trial(task, split, seed)


@pytest.fixture(scope="module")
def nasty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder in which every text is an attack."""
    tmp_path = tmp_path_factory.mktemp("nasty")
    call = {"name": NASTY, "args": [NASTY], "kwargs": {NASTY: NASTY}, "result": NASTY}
    extra = {
        "calls": [{**call, "error": None}, {**call, "error": NASTY}, NASTY],
        "objects": [NASTY],
        "goal": {NASTY: NASTY},
        "missed": NASTY,
        "pictures": [NASTY, "../../secret.png"],
    }
    outcome = Outcome(False, NASTY, NASTY, NASTY, NASTY, 0, 0, 0, 0, None, 0.1, extra)
    folder = folder_of(tmp_path / "out", (Trial(NASTY, NASTY, 0), outcome), model=NASTY)
    Image.new("RGB", (2, 2)).save(tmp_path / "secret.png")
    again = (Trial(NASTY, NASTY, 1), outcome)
    add(folder, again)
    write(folder)
    return folder


class Reader(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


HARMLESS = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "pre", "details"),
    *("summary", "table", "tr", "th", "td", "figure", "figcaption", "img"),
    *("a", "div", "h3", "li", "span", "ul", "svg", "rect", "line", "circle"),
}


def test_nothing_of_the_data_becomes_a_part_of_the_page(nasty: Path) -> None:
    page = (nasty / "report.html").read_text(encoding="utf-8")
    read = Reader(page)
    assert read.tags <= HARMLESS
    assert {name for name, _ in read.attributes} <= {
        *("lang", "charset", "http-equiv", "content", "class", "src", "alt"),
        *("href", "id", "name", "tabindex", "width", "height", "x", "y", "x1", "x2", "y1", "y2"),
    }
    anchors = {value for name, value in read.attributes if name == "id"}
    links = [value for name, value in read.attributes if name == "href"]
    assert links
    assert all(value.startswith("#") and value[1:] in anchors for value in links)
    assert all(value.startswith("data:image/") for name, value in read.attributes if name == "src")
    assert not [value for _, value in read.attributes if value.startswith("data:image/png")]
    assert "<script>document.title='owned'</script>" in read.text
    assert "\\x1b[31m\\x9b\\x202e\\xd800" in read.text
    assert all(char.isprintable() or char == "\n" for char in page)


def test_no_mark_of_the_data_means_anything_in_markdown(nasty: Path) -> None:
    text = (nasty / "report.md").read_text(encoding="utf-8")
    assert "<" not in text
    for table in text.split("\n\n"):
        rows = [line for line in table.splitlines() if line.startswith("|")]
        assert len({line.replace("\\|", "").count("|") for line in rows}) <= 1
    assert "\\[a\\](javascript:b)" in text


CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.mark.soak
@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
def test_no_script_runs_in_a_browser(nasty: Path) -> None:
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command += ["--virtual-time-budget=3000", "--dump-dom", f"file://{nasty / 'report.html'}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "<title>owned" not in done.stdout
    assert "<h2>Failures</h2>" in done.stdout
    assert "CONSOLE" not in done.stderr


def test_pictures_of_failures_are_in_the_page(tmp_path: Path) -> None:
    extra = {"pictures": ["a_before.png", "a_after.png"]}
    folder = folder_of(tmp_path / "out", (trial(0), replace(BAD, extra=extra)))
    (folder / "pictures").mkdir()
    for name in extra["pictures"]:
        Image.new("RGB", (3, 3)).save(folder / "pictures" / name)
    write(folder)
    read = Reader((folder / "report.html").read_text(encoding="utf-8"))
    found = [value for _, value in read.attributes if value.startswith("data:image/png;base64,")]
    files = [(folder / "pictures" / name).read_bytes() for name in extra["pictures"]]
    assert [base64.b64decode(value.partition(",")[2]) for value in found] == files
    assert read.text.index("before") < read.text.index("after")


def test_a_failure_shows_words_program_calls_and_reason(tmp_path: Path) -> None:
    call = {"name": "say", "args": ["hi"], "kwargs": {"to": 1}, "result": None, "error": None}
    broken = {**call, "error": "NotFound: no pig"}
    outcome = replace(
        BAD, instruction="greet", program="say('hi')", extra={"calls": [call, broken]}
    )
    folder = folder_of(tmp_path / "out", (trial(0), outcome), (trial(1), GOOD))
    write(folder)
    text = Reader((folder / "report.html").read_text(encoding="utf-8")).text
    for shown in (
        "seed 0 sample 0: greet (program)",
        "it broke",
        "say('hi')",
        "say('hi', to=1) -> None",
    ):
        assert shown in text
    assert "say('hi', to=1) raised NotFound: no pig" in text
    assert "seed 1" not in text


def test_a_part_of_a_run_is_never_told_as_the_whole(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "out")
    results = Results(folder)
    results.ask([trial(n) for n in range(4)])
    results.ask([trial(n, "stack-blocks") for n in range(2)])
    results.close()
    add(folder, (trial(0), GOOD), (trial(1), GOOD), (trial(0, "stack-blocks"), GOOD))
    report = tables.read(folder)
    assert report.title.startswith("3 of 6 trials so far: ")
    assert report.headline[0].startswith("3 of 6 trials so far, 3 of them successful")
    assert not [line for line in report.headline if "%" in line]
    assert [row["n"] for row in rows(folder)][:2] == ["2 of 4 so far", "1 of 2 so far"]
    told = report.as_json
    assert next(iter(told.items())) == ("so_far", "3 of 6 trials so far")
    assert (told["total"]["asked"], told["total"]["n"], told["total"]["rate"]) == (6, 3, None)
    assert told["total"]["so_far"]["rate"] == 1.0
    markdown, page = write(folder)
    assert markdown.read_text().startswith("# 3 of 6 trials so far: ")
    assert "<h1>3 of 6 trials so far: " in page.read_text()
    assert "Every trial asked for is counted" not in page.read_text()
    junit.write(folder, tmp_path / "junit.xml")
    root = ET.parse(tmp_path / "junit.xml").getroot()
    assert (root.get("tests"), root.get("skipped")) == ("6", "3")
    assert len(root.findall("testcase/skipped")) == 3
    add(folder, (trial(2), GOOD), (trial(3), BAD), (trial(1, "stack-blocks"), GOOD))
    whole = tables.read(folder)
    assert "so far" not in whole.title
    assert whole.headline[0].startswith("success 83.3 %")
    assert whole.as_json["so_far"] is None


def test_rows_sum_up_what_the_lines_say(tmp_path: Path) -> None:
    lines = [(trial(n), GOOD) for n in range(3)] + [(trial(3), BAD)]
    lines += [(trial(0, "stack-blocks"), replace(BAD, cause="robot", cost_usd=None))]
    first, second, whole, family = rows(folder_of(tmp_path / "out", *lines))
    assert first == {
        "task": "pick-and-place",
        "split": "SA-SI",
        "success %, 95 %": "75.0 (30.1-95.4)",
        "n": 4,
        "failed by": "program 1",
        "calls": 4.0,
        "requests": 8,
        "tokens": 480,
        "cost $": "2.0000",
        "s": 1.5,
        "published %": "CLIPort 88, NL planner 98, CaP 100",
    }
    assert second["cost $"] == "?"
    assert (whole["task"], whole["n"], whole["failed by"]) == ("all", 5, "program 1, robot 1")
    assert (family["task"], family["n"]) == ("long-horizon", 5)


def test_rates_are_drawn_with_their_interval_and_the_published_values(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "out", *[(trial(n), GOOD) for n in range(3)], (trial(3), BAD))
    write(folder)
    read = Reader((folder / "report.html").read_text(encoding="utf-8"))
    drawn = [value for name, value in read.attributes if name in ("width", "x1", "x2", "cx")]
    assert [float(value) for value in drawn[1:4]] == pytest.approx([300, 130.3, 391.8], abs=0.1)
    assert [float(value) for value in drawn[4:]] == pytest.approx([362, 402, 410])


def test_a_folder_of_an_unknown_suite_still_has_its_report(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "out", (trial(0), GOOD))
    header = json.loads((folder / "header.json").read_text())
    (folder / "header.json").write_text(json.dumps({**header, "suite": "gone"}))
    (first, _) = rows(folder)
    assert first["n"] == 1
    assert "published %" not in first


def test_what_a_suite_measures_has_its_median(tmp_path: Path) -> None:
    values = (0.1, None, 0.5, 0.3)
    lines = [
        (trial(seed), replace(GOOD, extra={"measured": {"error m": value}}))
        for seed, value in enumerate(values)
    ]
    first, whole, _ = rows(folder_of(tmp_path / "out", *lines))
    assert first["measured"] == "error m 0.3 (0.1 to 0.5, 1 none)"
    assert whole["measured"] == ""


BAD_FOLDERS = {
    "no folder": ({}, "no header.json"),
    "no trials": ({"header.json": "good"}, "holds no trial yet"),
    "damaged header": ({"header.json": "{"}, "cannot read"),
    "other header": ({"header.json": "[]"}, "not the header of a run"),
    "no settings": ({"header.json": '{"settings": 1}'}, "not the header of a run"),
    "damaged line": ({"header.json": "good", "trials.jsonl": "{}\n"}, "line 1 is no trial"),
    "no text": ({"header.json": "good", "trials.jsonl": b"\xff\n"}, "line 1 is no trial"),
}


@pytest.mark.parametrize("case", BAD_FOLDERS)
def test_a_damaged_folder_is_one_clear_line(case: str, tmp_path: Path) -> None:
    files, told = BAD_FOLDERS[case]
    folder = tmp_path / "out"
    good = (folder_of(tmp_path / "good", (trial(0), GOOD)) / "header.json").read_bytes()
    folder.mkdir()
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(good if content == "good" else data)
    with pytest.raises(UsageError, match="out") as caught:
        write(folder)
    assert told in str(caught.value)
    assert not (folder / "report.html").exists()


def test_what_was_right_without_a_repair_has_its_column(tmp_path: Path) -> None:
    mended = replace(GOOD, extra={"repaired": True})
    folder = folder_of(tmp_path / "out", (trial(0), GOOD), (trial(1), mended), (trial(2), BAD))
    row, *_ = rows(folder)
    assert (row["success %, 95 %"].split()[0], row["without repair %"]) == ("66.7", "33.3")
    header = json.loads((folder / "header.json").read_text())
    assert header["repairs"] == {"static": 2, "runtime": 2, "undo": False}
    plain = folder_of(tmp_path / "plain", (trial(0), GOOD))
    assert "without repair %" not in rows(plain)[0]
