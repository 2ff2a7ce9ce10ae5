"""What was tried, chosen and told between rounds: in the terminal, as a page, Markdown and live."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from cap.cli.main import run
from cap.cli.page.chronicle import Chronicle
from cap.engine.settings import Repairs, Sampling
from cap.messages import tried_line
from cap.session import replay
from cap.trace.export.pages import html, markdown
from cap.trace.export.run_record import ChoiceRecord, RunRecord
from cap.trace.terminal import Live
from cap.trace.trace import Trace
from tests.fakes.scripted import OBJECTS, Scripted, table_session

WRONG = "put_first_on_second('blue block', 'green bowl')\n"
RIGHT = "put_first_on_second('red block', 'blue bowl')\n"
ODD = "raise ValueError('<b>full</b>')\n"
SECOND = "put_first_on_second('blue block', 'blue bowl')\n"
WORDS = "put the blocks in the blue bowl"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A turn of two rounds of up to four programs, undone; what was shown of it."""
    trace = Trace(tmp_path_factory.mktemp("runs") / "run")
    out, story = io.StringIO(), Chronicle()
    trace.listeners += [Live(Console(file=out, width=200)), story]
    model = Scripted(WRONG, RIGHT, ODD, RIGHT, SECOND)
    options = {"rounds": 2, "sampling": Sampling(4), "repairs": Repairs(0, 0), "trace": trace}
    with table_session(model, objects=(*OBJECTS, "green bowl"), **options) as session:
        assert session.run(WORDS).ok
        assert session.undo()
    assert trace.folder is not None
    return trace.folder, out.getvalue(), "".join(story.news() or ())


def test_the_terminal_tells_all_of_it(ran: tuple[Path, str, str]) -> None:
    assert run(["trace", "show", str(ran[0])]) == 0
    for told in (
        "▶ 2  moved red block to blue bowl",
        "    3  failed: ValueError (line 1): <b>full</b>",
        "chosen: 2, 2 of 4 did this",
        "moved red block to blue bowl; round 2:",
        "2 rounds: the limit was reached",
        "undone: the last turn, including the world",
    ):
        assert told in ran[1]


def test_a_line_of_what_was_tried_fits_the_terminal() -> None:
    one = {"number": 3, "came": "x" * 400, "goal": False, "expected": True, "same_as": 1}
    assert len(tried_line(one, 76)) <= 76
    assert tried_line(one, 76).endswith("…  (as 1)  goal: no")


def test_a_page_has_every_program_that_was_tried_and_each_round(ran: tuple[Path, str, str]) -> None:
    record = RunRecord.read(ran[0])
    assert not record.unknown
    first, second = (part for part in record.turns[0].parts if isinstance(part, ChoiceRecord))
    assert [one.chosen for one in first.tried] == [False, True, False, False]
    assert [one.failed for one in first.tried] == [False, False, True, False]
    assert [bool(one.source) for one in first.tried] == [True, True, True, False]
    assert len(second.tried) == 3
    page = html(record)
    assert "&lt;b&gt;full&lt;/b&gt;" in page
    assert "<b>full" not in page
    assert "chosen: 2, 2 of 4 did this" in page
    assert '<h3 class="round">moved red block to blue bowl; round 2:' in page
    assert "&lt;b&gt;full&lt;/b&gt;" in ran[2]  # in a browser, as it happens
    assert "chosen: 2, 2 of 4 did this" in ran[2]
    text = markdown(record)
    for told in (
        "- **2 moved red block to blue bowl** (chosen)",
        "### moved red block to blue bowl; round 2:",
        "- 2 rounds: the limit was reached",
        "put_first_on_second('blue block', 'green bowl')",
    ):
        assert told in text


def test_a_turn_of_rounds_is_undone_again_in_a_replay(ran: tuple[Path, str, str]) -> None:
    assert [step.kind for step in replay.steps(ran[0])] == ["run", "undo"]
