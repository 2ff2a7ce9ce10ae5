"""The check: what it refuses, what it lets pass, and that every door says the same of it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.batch.effects import wrong_check
from cap.checker.checker import RULES, check, examine
from cap.checker.policy import BENCHMARK_MODULES, PROCESS, Policy, module_names
from cap.cli.main import run
from cap.engine.answer import State
from cap.engine.lmp import unhinted
from cap.engine.settings import Repairs
from cap.program.program import Program, ProgramSyntaxError
from cap.program.scope import Primitive, Scope
from cap.robot import observation
from cap.sandbox.sandbox import Sandbox
from cap.session.session import Session
from cap.validation.prompts import inspect_names
from tests.fakes.scripted import Scripted
from tests.rows import rows, table

SOURCES = [
    json.loads(line) for line in Path(__file__).with_name("programs.jsonl").read_text().splitlines()
]
"""Programs with the rules that refuse them, at levels with kernel layers and at `process`."""
REMEDY = re.compile(r"; \w|Did you mean|It has")


def _nothing(*args: Any, **named: Any) -> None: ...


SCOPE = Scope(
    primitives={
        name: Primitive.of(_nothing, "perception", name)
        for name in ("pick", "truth", "say", "dump")
    },
    groups={"robot": ("say", "dump")},
)


def rules(source: str, policy: Policy | None = None) -> list[str]:
    try:
        found = examine(Program.parse(source), SCOPE, policy).violations
    except ProgramSyntaxError:
        return ["syntax"]
    assert all(REMEDY.search(violation.reason) for violation in found), found
    return sorted({violation.rule for violation in found})


@rows("program", SOURCES, ids=[program["name"] for program in SOURCES])
def test_a_program_is_refused_by_its_rules_or_passes(program: dict[str, Any]) -> None:
    assert rules(program["source"]) == program["rules"]
    assert rules(program["source"], Policy().restricted()) == program["process"]


@pytest.mark.parametrize("name", RULES)
def test_each_rule_refuses_one_and_lets_its_neighbour_pass(name: str) -> None:
    assert rules(RULES[name].refuses) == [name]
    assert rules(RULES[name].accepts) == []


def test_a_violation_has_rule_line_column_and_reason() -> None:
    (violation,) = check("x = 1\ny = x.__base__\n")
    assert (violation.rule, violation.line, violation.column) == ("CAP103", 2, 5)
    assert str(violation) == (
        "CAP103 line 2: attribute '__base__' leads to the interpreter; use issubclass()"
    )


def test_violations_come_in_the_order_of_lines() -> None:
    found = check("def f():\n    import os\nx = y.__z__\nimport gc\n")
    assert [violation.line for violation in found] == [2, 3, 4]


@pytest.mark.parametrize("source", ["x = eval('1 + 2')", "import time\nx = time.perf_counter()"])
def test_the_benchmark_policy_lets_pass_what_a_robots_refuses(source: str) -> None:
    assert rules(source, Policy.benchmark()) == []
    assert rules(source) != []


def test_a_misspelt_name_of_a_module_comes_with_a_suggestion() -> None:
    (violation,) = check("np.lingspace(0, 1)")
    assert "Did you mean 'linspace'" in violation.reason
    many = check("np.lingspace\n" * 50)
    assert sum("Did you mean" in violation.reason for violation in many) == 5


@rows("module", sorted(PROCESS["modules"]))
def test_a_module_at_level_process_shows_names_that_it_has_and_no_module(module: str) -> None:
    listed = set(PROCESS["modules"][module].split())
    inner = {name.rpartition(".")[2] for name in PROCESS["modules"] if name.startswith(module)}
    assert len(listed - (module_names(module) or set()) - inner) <= len(listed) // 5  # of versions
    assert not any(name.startswith("_") for name in listed)


def test_every_listed_module_is_known() -> None:
    assert all(module_names(module) for module in BENCHMARK_MODULES)


PIECES = st.sampled_from(
    [
        "x.__globals__",
        "import a.b as _c, pick",
        "from .. import *",
        "match x:\n  case {1: a, **_b}: pass\n  case A(_c=pick) | [*_]: pass",
        "def f(_a, pick=eval, /, *b, **__c): pass",
        "np.linalg.nope.x = 1",
        "async def g():\n  [x async for x in y]",
        "try: pass\nexcept* E as pick: pass",
        "f'{x!r:{y.__z__}}'",
        "del np.x, pick.y",
        "@exec\nclass A: __slots__ = 1",
    ]
)


@settings(max_examples=40, derandomize=True, database=None, deadline=None)
@given(st.lists(PIECES, max_size=4), st.sampled_from(["{}", "if 1:\n{}", "class C:\n{}"]))
def test_the_check_never_raises(pieces: list[str], around: str) -> None:
    body = "\n".join(pieces) or "pass"
    indented = "\n".join("    " + line for line in body.split("\n"))
    assert bool(rules(around.format(indented if around != "{}" else body))) == bool(pieces)


# --- an import of what is in scope already is taken out, and only such a one; lines stay put


def say(text: str) -> None:
    pass


SAYS = Scope(primitives={"say": Primitive.of(say, "action")}, groups={"robot": ("say",)})
REMOVED = table(__file__, "REMOVED")


@pytest.mark.parametrize(("source", "expected"), REMOVED.values(), ids=REMOVED)
def test_an_import_of_what_is_in_scope_is_removed(source: str, expected: str) -> None:
    examined = examine(Program.parse(source), SAYS)
    assert examined.program.source == expected
    assert examined.program.notes[-1].startswith("removed, already in scope: ")
    assert examined.violations == ()


REFUSED = (
    "import os",
    "import math, os",
    "from os import path",
    "import os as np",
    "from os import path as np",
    "from math import sqrt as say",
    "import numpy as robot",
    "from numpy import *",
    "from numpy import say",
    "from robot import say as tell",
    "from robot import other as say",
    "import os as robot",
    "from shapely import wkb as Point",
)


@pytest.mark.parametrize("source", REFUSED)
def test_an_import_of_another_thing_is_refused_whatever_its_name(source: str) -> None:
    program = Program.parse(source)
    examined = examine(program, SAYS)
    assert examined.program is program
    assert {violation.rule for violation in examined.violations} & {"CAP102", "CAP106"}


MEANT = (
    "from math import *",
    "from math import sqrt",
    "import numpy.linalg as la",
    "from math import sqrt as root",
    "import numpy as number",
    "from numpy import sum",
    "from numpy import max, min",
    "from shapely import box as rectangle",
)


@pytest.mark.parametrize("source", MEANT)
def test_an_import_that_binds_another_name_stays_and_means_what_it_says(source: str) -> None:
    program = Program.parse(source)
    examined = examine(program, SAYS)
    assert (examined.program, examined.violations) == (program, ())


def test_every_other_statement_keeps_its_line() -> None:
    source = "import numpy as np\nfrom typing import (\n    List,\n)\n\nx = 1\ny = open('a')\n"
    (violation,) = examine(Program.parse(source)).violations
    assert (violation.rule, violation.line) == ("CAP105", 7)
    assert ast.parse(source).body[-1].lineno == 7


# --- one program, one verdict: every door of the check says the same of it

PROGRAMS = table(__file__, "PROGRAMS")
RULED = {k: entry for k, entry in PROGRAMS.items() if entry[1] not in ("syntax", "undefined")}
WITHOUT_ROBOT = {
    name: entry
    for name, entry in PROGRAMS.items()
    if not any(word in entry[0] for word in ("red block", "parse_obj_name", "say"))
}


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session.open("ravens", mode="instant", repairs=Repairs(0, 0)) as opened:
        yield opened


@pytest.fixture(scope="module")
def scope(session: Session) -> Scope:
    state = State(variables=observation.facts(session.robot))
    return session.engine.scope(unhinted(session.engine.prompts["ui"]), state)


def word(rule: str, kind: str = "violation") -> str:
    """Return the verdict a failure of that kind and name stands for."""
    return kind if kind in ("syntax", "undefined") else rule


@pytest.mark.parametrize(("source", "verdict"), RULED.values(), ids=RULED)
def test_the_library(source: str, verdict: str | None, scope: Scope) -> None:
    examined = examine(Program.parse(source), scope)
    assert examined.ok == (verdict is None)
    assert {violation.rule for violation in examined.violations} == ({verdict} - {None})


@pytest.mark.sweep(share=0.15)
@pytest.mark.parametrize(("source", "verdict"), PROGRAMS.values(), ids=PROGRAMS)
def test_cap_check(
    source: str, verdict: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "program.py").write_text(source)
    code = run(["check", str(tmp_path / "program.py"), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == (0 if verdict is None else 3)
    assert [one["rule"] for one in found["violations"]][:1] == ([verdict] if verdict else [])


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(("source", "verdict"), PROGRAMS.values(), ids=PROGRAMS)
def test_cap_exec_and_a_model(source: str, verdict: str | None, session: Session) -> None:
    """`cap exec` and an answer of a model in a session walk the same road to the same word."""
    session.engine.model = session.engine.author.model = Scripted({"go": source})
    for turn in (session.execute(source), session.run("go")):
        if verdict is None:
            assert turn.failure is None or turn.failure.kind not in ("violation", "undefined")
        else:
            assert turn.failure is not None
            assert word(turn.failure.error, turn.failure.kind) == verdict
            assert turn.calls == ()


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(("source", "verdict"), RULED.values(), ids=RULED)
def test_cap_prompts_check(
    source: str, verdict: str | None, session: Session, tmp_path: Path
) -> None:
    file = tmp_path / "ui.py"
    file.write_text(f"# go.\n{source}\n")
    (report,) = inspect_names(file, session.robot.primitives(), ["parse_obj_name"])
    found = [finding.reason.split()[0] for finding in report.findings]
    assert found[:1] == ([verdict] if verdict else [])


@pytest.mark.sweep(share=0.34)
@pytest.mark.parametrize(("source", "verdict"), WITHOUT_ROBOT.values(), ids=WITHOUT_ROBOT)
def test_a_batchs_check_and_the_sandbox(source: str, verdict: str | None) -> None:
    sandbox = Sandbox()
    failure = sandbox.run(source).failure
    assert (word(failure.error, failure.kind) if failure else None) == verdict
    wrong = wrong_check(f"ret_val = True\n{source}")
    assert (wrong is None) == (verdict is None)
    if verdict is not None and verdict.startswith("CAP"):
        assert str(wrong).startswith(verdict)


@pytest.mark.parametrize("name", [name for name in RULED if name in WITHOUT_ROBOT])
def test_the_function(name: str) -> None:
    """It sees a tree without a scope, from which nothing is taken out."""
    source, verdict = PROGRAMS[name]
    if not source.startswith("import"):
        rules = {violation.rule for violation in check(source)}
        assert rules == ({verdict} - {None})
