"""The check: what it refuses, what it lets pass, and what it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cap.checker.checker import RULES, check, examine
from cap.checker.policy import BENCHMARK_MODULES, PROCESS, Policy, module_names
from cap.program.program import Program, ProgramSyntaxError
from cap.program.scope import Primitive, Scope
from tests.rows import rows

PROGRAMS = [
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


@rows("program", PROGRAMS, ids=[program["name"] for program in PROGRAMS])
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


def test_a_policy_may_list_modules() -> None:
    assert rules("import random", Policy(modules=frozenset({"random"}))) == []
    assert rules("import random", Policy(modules=frozenset())) == ["CAP102"]


def test_a_misspelt_name_of_a_module_comes_with_a_suggestion() -> None:
    (violation,) = check("np.lingspace(0, 1)")
    assert "Did you mean 'linspace'" in violation.reason
    many = check("np.lingspace\n" * 50)
    assert sum("Did you mean" in violation.reason for violation in many) == 5


@pytest.mark.parametrize("source", ["-" * 3000 + "x", "x" + ".a" * 3000, "x = 1\n" * 10_000])
def test_a_deep_or_large_program_is_refused_when_it_is_read(source: str) -> None:
    with pytest.raises(ProgramSyntaxError, match="cannot be parsed"):
        Program.parse(source)


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


DISGUISED = ("def f(\uff49\uff46): return 1\nf(1)", "\uff49\uff46 = 1", "f(\uff46\uff4f\uff52=1)")
