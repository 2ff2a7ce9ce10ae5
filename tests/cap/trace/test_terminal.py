"""What a terminal shows while a session goes on; `tests/cap/cli/test_resume.py` has the pipe."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from cap.messages import counted, short, usage_line
from cap.models.base import Usage
from cap.trace.terminal import Live
from cap.trace.trace import Event, Trace
from tests.rows import table

WIPED = "\r\x1b[2K"


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


def seen(*events: tuple[str, dict[str, object]], depth: int = 0) -> list[str]:
    """Return the lines that a terminal shows in the end."""
    lines = [line.rpartition(WIPED)[2] for line in shown(*events, depth=depth).split("\n")]
    return [line.rstrip() for line in lines if line.strip()]


INSTRUCTION = "instruction", {"lmp": "ui", "text": "go"}


def completion(lmp: str = "ui") -> tuple[str, dict[str, object]]:
    return "completion", {"lmp": lmp, "duration_s": 0.0}


def program(source: str, *generated: tuple[str, str]) -> tuple[str, dict[str, object]]:
    return "program", {**PROGRAM[1], "source": source, "generated": generated}


@pytest.mark.parametrize(
    "answer",
    [
        "x = 1\ny = 2",
        "x = 1\ny = 2\n",
        "```python\nx = 1\ny = 2\n```\nDone.",
        "import math\nx = 1\ny = 2",
    ],
)
def test_a_program_appears_line_by_line_and_once(answer: str) -> None:
    pieces = [text(char) for char in answer]
    first = pieces[: answer.index("\n", answer.index("x")) + 1]
    assert seen(INSTRUCTION, *first)[1:][-2:-1] == ["  x = 1"]
    lines = seen(INSTRUCTION, *pieces, completion(), PROGRAM, DONE)[1:]
    assert [one for one in lines if one != "  import math"] == ["  x = 1", "  y = 2"]


Events = list[tuple[str, dict[str, Any]]]
LINES, EXACT = table(__file__, "lines"), table(__file__, "exact")


@pytest.mark.parametrize(("events", "lines"), LINES.values(), ids=LINES)
def test_a_terminal_shows_what_goes_on_line_by_line(events: Events, lines: list[str]) -> None:
    assert seen(*events) == lines


@pytest.mark.parametrize(("events", "out", "options"), EXACT.values(), ids=EXACT)
def test_what_is_written_and_wiped(events: Events, out: str, options: dict[str, Any]) -> None:
    assert shown(*events, **options) == out


def printed(piece: str) -> tuple[str, dict[str, object]]:
    return "printed", {"text": piece}


def test_much_that_is_printed_is_folded() -> None:
    much = "".join(f"{number}\n" for number in range(700))
    for events in ([printed(much), ("stdout", {"text": much})], [("stdout", {"text": much})]):
        lines = seen(INSTRUCTION, *events)[1:]
        assert lines[:10] == [f"  | {number}" for number in range(10)]
        assert lines[10].startswith("  … 687 more lines were printed; events.jsonl")
        assert lines[11:] == ["  | 697", "  | 698", "  | 699"]


def line(number: int) -> tuple[str, dict[str, object]]:
    return "line", {"number": number}


DONE = "done", {"ok": True}


def test_a_line_below_is_never_longer_than_the_screen_is_wide() -> None:
    source = {**PROGRAM[1], "source": "say('" + "\u7ea2" * 200 + "')\n"}
    out = shown(("program", source), line(1))
    assert cell_len(out.split("\n")[-1]) < 100


def test_who_is_asked_about_each_call_sees_no_line_that_runs() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system=None, width=100)
    live = Live(console, follows=False)
    for kind, data in (PROGRAM, line(1)):
        live(Event(kind, 1, 0, data))
    assert out.getvalue() == "  x = 1\n  y = 2\n"


def call(
    name: str, kind: str = "action", error: str | None = None
) -> tuple[str, dict[str, object]]:
    given = {"args": (1,), "kwargs": {}, "result": None, "error": error, "duration_s": 0.5}
    return "call", {"name": name, "kind": kind, **given}


def test_a_model_s_time_is_told_from_the_robot_s() -> None:
    out = io.StringIO()
    live = Live(Console(file=out, color_system=None, width=100))
    answered = {"lmp": "ui", "duration_s": 0.25}
    usage = {"usage": vars(Usage(2, 20, 5, None)), "model": "vllm/x", "ok": True}
    for kind, depth, data in (
        ("completion", 0, answered),
        (*PROGRAM[:1], 0, PROGRAM[1]),
        ("completion", 1, answered),
        ("call", 1, call("see", "perception")[1]),
        ("call", 0, call("parse_it", "lmp")[1]),
        ("call", 0, call("pick")[1]),
        ("call", 0, call("parse_it", "lmp")[1]),
        ("call", 0, call("place")[1]),
        ("done", 0, usage),
    ):
        live(Event(kind, 1, depth, data))
    assert out.getvalue().splitlines()[2:] == [
        "  → parse_it(1)  0.50 s, model 0.25 s",
        "  → pick(1)  0.50 s",
        "  → parse_it(1)  0.50 s, model 0.00 s",
        "  → place(1)  0.50 s",
        "  model 0.5 s, robot 1.5 s; 2 requests, 20 + 5 tokens",
    ]


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x9b2J", "\r", "\x07", "\u202e", "[bold]x[/]"])
def test_nothing_a_model_writes_steers_the_terminal(hostile: str, terminal: bool) -> None:
    events = [
        text(hostile),
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


@pytest.mark.parametrize(
    ("model", "lines"), [("vllm/x", 1), ("nearest", 0), ("replay/runs/x", 0), ("openai/nearest", 1)]
)
def test_usage_is_told_of_real_models_only(model: str, lines: int) -> None:
    done = ("done", {"ok": True, "usage": vars(Usage(1, 2, 3, None)), "model": model})
    assert shown(done).count("; 1 request, 2 + 3 tokens") == lines


def test_a_long_value_is_cut_between_two_numbers() -> None:
    matrix = [[0.1234, 1.0], [2.5678, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0], [10.0, 11.25]]
    assert short(matrix) == "[[0.1234, 1], [2.568, 3], [4, 5], [6, 7], [8, 9], [10, …"
    places = {"red block": [0.174325, -0.48], "green block": [-0.0961, -0.537], "b": [1.5, 2.5]}
    assert short(places) == "{red block: [0.1743, -0.48], green block: [-0.0961, …"
    assert short("x" * 80) == "'" + "x" * 58 + "…"


def test_a_full_disk_and_a_folder_that_is_gone_are_said() -> None:
    full, again, gone = (
        ("unwritten", {"folder": "runs/x", "why": why})
        for why in ("No space left on device", None, "No such file or directory")
    )
    assert " ".join(shown(full, again, gone).split()) == (
        "runs/x cannot be written: No space left on device; free up space there; until then, "
        "everything is kept in memory runs/x is writable again, and nothing was lost "
        "runs/x was removed; the rest of the session is kept in memory"
    )


def test_what_failed_is_red() -> None:
    out = io.StringIO()
    live = Live(Console(file=out, force_terminal=True, color_system="standard", width=100))
    live(Event("step", 1, 0, {"text": "wave", "ok": False, "message": "", "lines": []}))
    assert out.getvalue() == "\x1b[31m  wave: failed\x1b[0m\n"


def test_one_is_not_told_as_many() -> None:
    assert [counted(n, "call") for n in (0, 1, 12)] == ["0 calls", "1 call", "12 calls"]
