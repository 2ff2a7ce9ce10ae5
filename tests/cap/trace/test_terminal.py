"""What a terminal shows while a session goes on; `tests/cap/cli/test_resume.py` has the pipe."""

from __future__ import annotations

import contextlib
import io

import pytest
from rich.console import Console

from cap.models.base import Usage
from cap.trace.terminal import Live, usage_line
from cap.trace.trace import Trace


def shown(*events: tuple[str, dict[str, object]], terminal: bool = True, depth: int = 0) -> str:
    """Return what a listener prints of some events, without colours."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=terminal, color_system=None, width=100)
    trace = Trace()
    trace.listeners.append(Live(console))
    with trace.nested() if depth else contextlib.nullcontext():
        for kind, data in events:
            trace.progress(kind, **data)
    return out.getvalue()


def text(piece: str) -> tuple[str, dict[str, object]]:
    return "text", {"lmp": "ui", "text": piece}


PROGRAM = (
    "program",
    {"lmp": "ui", "source": "x = 1\ny = 2\n", "generated": [], "notes": (), "path": None},
)


def test_a_program_that_was_shown_as_it_was_written_is_not_shown_twice() -> None:
    pieces = [text("x ="), text(" 1\n"), text("y = "), text("2")]
    assert shown(*pieces, PROGRAM) == "  x = 1\n  y = 2\n"
    assert shown(*pieces, PROGRAM, PROGRAM) == "  x = 1\n  y = 2\n" * 2


def test_an_answer_of_more_than_the_program_is_followed_by_the_program() -> None:
    fenced = [text("```\nx = 1\ny = 2\n```\n"), PROGRAM]
    assert shown(*fenced).endswith("  ```\n  x = 1\n  y = 2\n")


def call(
    name: str, kind: str = "action", error: str | None = None
) -> tuple[str, dict[str, object]]:
    given = {"args": (1,), "kwargs": {}, "result": None, "error": error, "duration_s": 0.5}
    return "call", {"name": name, "kind": kind, **given}


def test_a_long_row_of_calls_is_folded_and_a_failure_in_it_is_not() -> None:
    row = [call("turn")] * 120
    lines = shown(*row, call("turn", error="Collision: it bumped"), call("pick")).splitlines()
    assert lines[:5] == ["  → turn(1)  0.50 s"] * 5
    assert lines[5:] == [
        "  → turn(1)  Collision: it bumped  0.50 s",
        "  → turn 115 times more",
        "  → pick(1)  0.50 s",
    ]


def test_a_model_s_time_is_told_from_the_robot_s() -> None:
    assert shown(call("parse_it", "lmp")) == "  → parse_it(1)  model and program 0.50 s\n"


def test_text_is_on_the_screen_before_its_line_is_whole() -> None:
    assert shown(text("put_fi")) == "  put_fi"


def test_lines_within_and_across_pieces_are_indented_alike() -> None:
    whole = "a\nb\n\nc"
    one = shown(text(whole), PROGRAM)
    many = shown(*(text(char) for char in whole), PROGRAM)
    assert [line.strip() for line in one.splitlines()] == ["a", "b", "", "c", "x = 1", "y = 2"]
    assert [line.rstrip() for line in many.splitlines()] == [
        line.rstrip() for line in one.splitlines()
    ]


def test_a_broken_off_answer_begins_again_on_a_line_of_its_own() -> None:
    assert shown(text("x = "), text(""), text("x = 1\n")) == "  x = \n  x = 1\n"


def test_a_pipe_gets_nothing_partial() -> None:
    assert shown(text("x = 1"), PROGRAM, terminal=False) == "  x = 1\n  y = 2\n"


def test_text_of_nested_lmps_is_not_shown_unasked() -> None:
    assert shown(text("ret_val = 1"), depth=1) == ""


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b2J", "\r", "\x07", "\u202e", "[bold]x[/]"])
def test_nothing_a_model_writes_steers_the_terminal(hostile: str, terminal: bool) -> None:
    events = [
        text(hostile),
        ("repair", {"lmp": "ui", "attempt": 2, "reason": hostile, "source": hostile}),
        ("skills", {"offered": [hostile], "left_out": {}}),
        ("prompt", {"lmp": "ui", "model": f"vllm/{hostile}"}),
    ]
    out = shown(*events, terminal=terminal)
    assert all(char.isprintable() or char == "\n" for char in out)
    assert hostile in out or "\\x" in out


@pytest.mark.parametrize(
    ("usage", "line"),
    [
        (Usage(1, 20, 5, 0.0012), "1 request, 20 + 5 tokens, $0.0012"),
        (Usage(3, 20, 5, None), "3 requests, 20 + 5 tokens"),
    ],
)
def test_usage_in_one_line(usage: Usage, line: str) -> None:
    assert usage_line(usage) == usage_line(vars(usage)) == line


@pytest.mark.parametrize(
    ("model", "lines"), [("vllm/x", 1), ("nearest", 0), ("replay/runs/x", 0), ("openai/nearest", 1)]
)
def test_usage_is_told_of_real_models_only(model: str, lines: int) -> None:
    done = ("done", {"ok": True, "usage": vars(Usage(1, 2, 3, None)), "model": model})
    assert shown(done).count("model: 1 request") == lines


def test_a_done_event_of_an_older_run_is_shown() -> None:
    assert shown(("done", {"ok": True})) == ""
