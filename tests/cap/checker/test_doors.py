"""One program, one verdict: every door of the check says the same of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.batch.effects import wrong_check
from cap.checker.checker import check, examine
from cap.cli.main import run
from cap.engine.answer import State
from cap.engine.lmp import unhinted
from cap.engine.settings import Repairs
from cap.program.program import Program
from cap.program.scope import Scope
from cap.robot import observation
from cap.sandbox.sandbox import Sandbox
from cap.session.session import Session
from cap.validation.prompts import inspect_names
from tests.fakes.scripted import Scripted
from tests.rows import table

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
