"""What a terminal shows while a session goes on; `tests/cap/cli/test_resume.py` has the pipe."""

from __future__ import annotations

import contextlib
import io

import pytest
from rich.cells import cell_len
from rich.console import Console

from cap.messages import counted, short, usage_line
from cap.models.base import Usage
from cap.trace.terminal import Live
from cap.trace.trace import Event, Trace

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


def test_no_line_that_a_program_prints_looks_like_one_of_the_report() -> None:
    printed = "hm\nnothing moved\n  moved: red block\r\nrun: runs/other\n"
    lines = seen(("stdout", {"text": printed}))
    assert lines == [
        "  | hm",
        "  | nothing moved",
        r"  |   moved: red block\x0d",
        "  | run: runs/other",
    ]


def printed(piece: str) -> tuple[str, dict[str, object]]:
    return "printed", {"text": piece}


def test_what_is_printed_stands_where_it_was_and_much_of_it_is_folded() -> None:
    call = ("call", {"name": "go", "args": [], "kwargs": {}, "kind": "action", "error": None})
    call[1].update(result=None, duration_s=1.0)
    lines = seen(INSTRUCTION, printed("a\n"), call, printed("b\n"), ("stdout", {"text": "a\nb\n"}))
    assert lines[1:] == ["  | a", "  → go()  1.00 s", "  | b"]
    much = "".join(f"{number}\n" for number in range(700))
    for events in ([printed(much), ("stdout", {"text": much})], [("stdout", {"text": much})]):
        lines = seen(INSTRUCTION, *events)[1:]
        assert lines[:10] == [f"  | {number}" for number in range(10)]
        assert lines[10].startswith("  … 687 more lines were printed; events.jsonl")
        assert lines[11:] == ["  | 697", "  | 698", "  | 699"]


def test_the_same_program_again_is_said_to_be_and_the_next_is_printed() -> None:
    repair = ("repair", {"attempt": 2, "reason": "it failed"})
    again = [text("x = 1\ny = 2\n"), completion(), ("repeated_program", {"lmp": "ui"})]
    further = [text("x = 1\ny = 2\nz = 3\n"), completion(), program("x = 1\ny = 2\nz = 3\n")]
    lines = seen(INSTRUCTION, PROGRAM, repair, *again, *further)[1:]
    shown = ["  x = 1", "  y = 2"]
    told = "  the same program again: it was not run, and no other is asked for"
    assert lines == [*shown, "  attempt 2: it failed", *shown, told, *shown, "  z = 3"]


def test_a_refused_answer_is_printed_before_what_came_of_it() -> None:
    effect = {"words": ["nothing"], "changed": {}, "left_over": [], "still": "nothing moved"}
    failure = {"kind": "model", "error": "AnswerFault", "message": "half"}
    ends = [("moved", {"objects": {}}), ("effect", effect), ("failure", failure)]
    lines = seen(INSTRUCTION, text("Well, no."), completion(), *ends)[1:]
    assert lines == ["  Well, no.", "  nothing moved", "  failed: AnswerFault: half"]


def test_what_runs_is_printed_in_full_where_other_words_were_written() -> None:
    cut = [text("x = 1\ny = 2\nz = 3\n"), completion(), PROGRAM]
    whole = ["  x = 1", "  y = 2"]
    assert seen(INSTRUCTION, *cut)[1:] == [*whole, "  z = 3", *whole]
    words = [text("Sure! Here it is:\n"), text("```\nx = 1\ny = 2\n```"), completion(), PROGRAM]
    assert seen(INSTRUCTION, *words)[1:] == whole


def test_functions_stand_below_the_program_they_were_written_for() -> None:
    pieces = [text("x = 1\n"), text("y = f()"), completion()]
    function = [("text", {"lmp": "function", "text": "def f():\n    return 2\n"})]
    done = program("x = 1\ny = f()\n", ("f", "def f():\n    return 2\n"))
    assert seen(INSTRUCTION, *pieces, *function, completion("function"), done)[1:] == [
        "  x = 1",
        "  y = f()",
        "  generated f:",
        "  def f():",
        "      return 2",
    ]


def test_an_answer_that_is_mended_is_shown_each_time_once() -> None:
    wrong = [text("x = (\n"), completion(), ("repair", {"attempt": 2, "reason": "no end"})]
    right = [text("x = 1\n"), text("y = 2\n"), completion(), PROGRAM]
    lines = seen(INSTRUCTION, *wrong, *right)[1:]
    assert lines == ["  x = (", "  attempt 2: no end", "  x = 1", "  y = 2"]


def line(number: int) -> tuple[str, dict[str, object]]:
    return "line", {"number": number}


DONE = "done", {"ok": True}


def test_a_program_is_shown_once_however_it_was_written() -> None:
    pieces = [text("x ="), text(" 1\n"), text("y = "), text("2")]
    assert seen(*pieces, PROGRAM, DONE) == ["  x = 1", "  y = 2"]
    assert seen(text("```\nx = 1\ny = 2\n```\n"), PROGRAM, DONE) == ["  x = 1", "  y = 2"]
    assert seen(text("x = 1\n"), text(""), text("y = 2\n"), PROGRAM) == ["  x = 1", "  y = 2"]
    same = [text("```\nx = 1\ny = 2\n```\n"), PROGRAM, text("```\nx = 1\ny = 2\n```\n")]
    failure = ("failure", {"kind": "raised", "error": "ValueError", "message": "x"})
    assert seen(*same, failure) == ["  x = 1", "  y = 2", "  failed: ValueError: x"]


def test_what_was_no_program_can_be_read() -> None:
    failure = ("failure", {"kind": "model", "error": "AnsweredInWords", "message": "no program"})
    assert seen(text("I see\nno cup."), failure, DONE) == [
        "  I see",
        "  no cup.",
        "  failed: AnsweredInWords: no program",
    ]


def test_while_a_program_is_rehearsed_that_is_said() -> None:
    done = {"programs": [], "failure": None, "calls": [], "moved": {}, "sim_s": 2.0}
    out = shown(PROGRAM, ("rehearsing", {}), ("rehearsal", done), DONE)
    told = "  rehearsed: 0 calls, 2.0 s simulated, moved: nothing\n"
    assert out == f"  x = 1\n  y = 2\n  rehearsing in the simulated twin ...{WIPED}{told}"


def test_the_line_that_runs_is_marked_while_it_runs() -> None:
    out = shown(PROGRAM, line(1), call("turn"), line(2), DONE)
    assert out == (f"  x = 1\n  y = 2\n  ▶ 1: x = 1{WIPED}  → turn(1)  0.50 s\n  ▶ 2: y = 2{WIPED}")


def test_a_line_below_is_never_longer_than_the_screen_is_wide() -> None:
    source = {**PROGRAM[1], "source": "say('" + "\u7ea2" * 200 + "')\n"}
    out = shown(("program", source), line(1))
    assert cell_len(out.split("\n")[-1]) < 100


@pytest.mark.parametrize("events", [[line(7)], [line(1)]], ids=["unknown", "no program"])
def test_a_line_of_no_program_is_not_marked(events: list[tuple[str, dict[str, object]]]) -> None:
    assert shown(*events) == ""


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


def test_a_long_row_of_calls_is_folded_and_a_failure_in_it_is_not() -> None:
    row = [call("turn")] * 120
    lines = seen(*row, call("turn", error="Collision: it bumped"), call("pick"))
    assert lines[:5] == ["  → turn(1)  0.50 s"] * 5
    assert lines[5:] == [
        "  → turn x 115 more  57.50 s",
        "  → turn(1)  Collision: it bumped  0.50 s",
        "  → pick(1)  0.50 s",
    ]


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
        ("done", 0, usage),
    ):
        live(Event(kind, 1, depth, data))
    assert out.getvalue().splitlines()[2:] == [
        "  → parse_it(1)  0.50 s, model 0.25 s",
        "  → pick(1)  0.50 s",
        "  → parse_it(1)  0.50 s, model 0.00 s",
        "  model 0.5 s, robot 1.0 s; 2 requests, 20 + 5 tokens",
    ]


def test_text_is_on_the_screen_before_its_line_is_whole() -> None:
    assert shown(text("put_fi")) == "  … put_fi"
    assert shown(text("put_fi"), text("rst")) == f"  … put_fi{WIPED}  … put_first"


def test_a_pipe_gets_nothing_partial() -> None:
    assert shown(text("x = 1"), PROGRAM, line(1), terminal=False) == "  x = 1\n  y = 2\n"


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
    out = shown(*events, terminal=terminal).replace(WIPED, "")
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


def test_no_price_is_told_where_nothing_was_read_or_written() -> None:
    assert usage_line(Usage(1, 0, 0, 0.0)) == "1 request, 0 + 0 tokens"


@pytest.mark.parametrize(
    ("model", "lines"), [("vllm/x", 1), ("nearest", 0), ("replay/runs/x", 0), ("openai/nearest", 1)]
)
def test_usage_is_told_of_real_models_only(model: str, lines: int) -> None:
    done = ("done", {"ok": True, "usage": vars(Usage(1, 2, 3, None)), "model": model})
    assert shown(done).count("; 1 request, 2 + 3 tokens") == lines


def test_a_done_event_of_an_older_run_is_shown() -> None:
    assert shown(("done", {"ok": True})) == ""


def test_a_long_value_is_cut_between_two_numbers() -> None:
    matrix = [[0.1234, 1.0], [2.5678, 3.0], [4.0, 5.0], [6.0, 7.0], [8.0, 9.0], [10.0, 11.25]]
    assert short(matrix) == "[[0.1234, 1], [2.568, 3], [4, 5], [6, 7], [8, 9], [10, …"
    places = {"red block": [0.174325, -0.48], "green block": [-0.0961, -0.537], "b": [1.5, 2.5]}
    assert short(places) == "{red block: [0.1743, -0.48], green block: [-0.0961, …"
    assert short("x" * 80) == "'" + "x" * 58 + "…"


def test_what_is_said_stands_below_the_calls_before_it_and_in_one_line() -> None:
    said = ("call", {**call("say")[1], "args": ("done\n  moved red block",)})
    lines = seen(*[call("turn")] * 8, said)
    assert lines[5:] == [
        "  → turn x 3 more  1.50 s",
        '  robot says: "done\\n  moved red block"',
    ]


def test_a_folder_that_is_gone_is_not_a_full_disk() -> None:
    gone = ("unwritten", {"folder": "runs/x", "why": "No such file or directory"})
    told = " ".join(shown(gone).split())
    assert told == "runs/x was removed; what goes on from here is kept in memory"


def test_a_full_disk_is_said_once_and_that_there_is_room_again() -> None:
    full = ("unwritten", {"folder": "runs/x", "why": "No space left on device"})
    again = ("unwritten", {"folder": "runs/x", "why": None})
    assert " ".join(shown(full, again).split()) == (
        "runs/x cannot be written: No space left on device; make room there, until then all is "
        "kept in memory runs/x can be written again, and nothing is missing"
    )


@pytest.mark.parametrize(("count", "told"), [(0, "0 calls"), (1, "1 call"), (12, "12 calls")])
def test_one_is_not_told_as_many(count: int, told: str) -> None:
    assert counted(count, "call") == told
