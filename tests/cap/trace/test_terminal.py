"""What a terminal shows while a session goes on; `tests/cap/cli/test_resume.py` has the pipe."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from cap.messages import short, usage_line
from cap.models.base import Usage
from cap.trace.terminal import Live
from cap.trace.trace import Event
from tests.rows import rows, table

WIPED = "\r\x1b[2K"
Entry = tuple[Any, ...]


def shown(*events: Entry, terminal: bool = True, depth: int = 0) -> str:
    """Return what a listener prints of some events (kind, data, depth), without colours."""
    out = io.StringIO()
    live = Live(Console(file=out, force_terminal=terminal, color_system=None, width=100))
    for kind, data, *own in events:
        live(Event(kind, 1, own[0] if own else depth, data))
    return out.getvalue()


PROGRAM: Entry = (
    "program",
    {"lmp": "ui", "source": "x = 1\ny = 2\n", "generated": [], "notes": (), "path": None},
)


def seen(*events: Entry) -> list[str]:
    """Return the lines that a terminal shows in the end."""
    lines = [line.rpartition(WIPED)[2] for line in shown(*events).split("\n")]
    return [line.rstrip() for line in lines if line.strip()]


LINES, EXACT = table(__file__, "lines"), table(__file__, "exact")


@rows(("events", "lines"), LINES.values(), LINES)
def test_a_terminal_shows_what_goes_on_line_by_line(events: list[Entry], lines: list[str]) -> None:
    assert seen(*events) == lines


@rows(("events", "out", "options"), EXACT.values(), EXACT)
def test_what_is_written_and_wiped(events: list[Entry], out: str, options: dict[str, Any]) -> None:
    assert shown(*events, **options) == out


def test_what_is_printed_is_shown_once() -> None:
    whole: Entry = ("stdout", {"text": "1\n2\n"})
    pieces: list[Entry] = [("printed", {"text": "1\n"}), ("printed", {"text": "2\n"})]
    for events in ([*pieces, whole], [whole]):
        assert seen(*events) == ["  | 1", "  | 2"]


LINE: Entry = ("line", {"number": 1})


def test_calls_in_a_row_are_counted_now_and_then() -> None:
    data = {"name": "go", "args": [1], "kwargs": {}, "kind": "action", "error": None}
    calls: list[Entry] = [("call", {**data, "result": None, "duration_s": 0.1})] * 41
    counts = [int(number) for number in re.findall(r"go x (\d+)", shown(*calls))]
    assert (counts[-2:], 21 in counts, counts == sorted(counts)) == ([30, 40], False, True)


def test_what_a_model_writes_grows_by_whole_lines() -> None:
    text: list[Entry] = [("text", {"lmp": "ui", "text": part}) for part in ("x = 1\ny", " = 2")]
    assert "\n  x = 1\n" in shown(("instruction", {"lmp": "ui", "text": "go"}), *text)


def test_a_line_below_is_never_longer_than_the_screen_is_wide() -> None:
    source = {**PROGRAM[1], "source": "say('" + "\u7ea2" * 200 + "')\n"}
    out = shown(("program", source), LINE)
    assert cell_len(out.split("\n")[-1]) < 100


def test_who_is_asked_about_each_call_sees_no_line_that_runs() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system=None, width=100)
    live = Live(console, follows=False)
    for kind, data in (PROGRAM, LINE):
        live(Event(kind, 1, 0, data))
    assert out.getvalue() == "  x = 1\n  y = 2\n"


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b2J", "\r", "\x07", "\u202e", "[bold]x[/]"])
def test_nothing_a_model_writes_steers_the_terminal(hostile: str, terminal: bool) -> None:
    events: list[Entry] = [
        ("text", {"lmp": "ui", "text": hostile}),
        ("repair", {"lmp": "ui", "attempt": 2, "reason": hostile, "source": hostile}),
        ("skills", {"offered": [hostile], "left_out": {}}),
        ("prompt", {"lmp": "ui", "model": f"vllm/{hostile}"}),
    ]
    out = shown(*events, terminal=terminal).replace(WIPED, "")
    assert all(char.isprintable() or char == "\n" for char in out)
    assert hostile in out or "\\x" in out


def test_usage_in_one_line() -> None:
    for usage, line in (
        (Usage(1, 20, 5, 0.0012), "1 request, 20 + 5 tokens, $0.0012"),
        (Usage(3, 20, 5, None), "3 requests, 20 + 5 tokens"),
        (Usage(1, 0, 0, 0.0), "1 request, 0 + 0 tokens"),
    ):
        assert usage_line(usage) == usage_line(vars(usage)) == line


def test_a_long_value_is_cut_between_two_numbers() -> None:
    matrix = [[0.1234, 1.0], [2.5678, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0], [10.0, 11.25]]
    assert short(matrix) == "[[0.1234, 1], [2.568, 3], [4, 5], [6, 7], [8, 9], [10, …"
    places = {"red block": [0.174325, -0.48], "green block": [-0.0961, -0.537], "b": [1.5, 2.5]}
    assert short(places) == "{red block: [0.1743, -0.48], green block: [-0.0961, …"
    assert short("x" * 80) == "'" + "x" * 58 + "…"


def test_what_failed_is_red() -> None:
    out = io.StringIO()
    live = Live(Console(file=out, force_terminal=True, color_system="standard", width=100))
    live(Event("step", 1, 0, {"text": "wave", "ok": False, "message": "", "lines": []}))
    assert out.getvalue() == "\x1b[31m  wave: failed\x1b[0m\n"
