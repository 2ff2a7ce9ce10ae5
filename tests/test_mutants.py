"""The changes that `make mutants` makes, and what it says of a package with a known gap."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests import mutants

CHANGES = {
    "x = a < b": ["comparison: a < b -> (a <= b)"],
    "x = a in b": ["comparison: a in b -> (a not in b)"],
    "x = 3": ["constant: 3 -> 4"],
    "x = 0.5": ["constant: 0.5 -> 1.0"],
    "x = True": ["constant: True -> False"],
    "x = 'red'": ["constant: 'red' -> 'red_'"],
    "x = 'a sentence.'": [],
    "x = a and b": ["branch: a and b -> (a or b)"],
    "if a:\n    x = b": ["branch: a -> (not (a))"],
    "x = f(a, b)": ["argument: f(a, b) -> (f(b, a))"],
    "x = f(a, a)": [],
    "x = f(a=b)": ["argument: f(a=b) -> (f())"],
    "f()": [],
    "def g():\n    f()": ["removed statement: f() -> pass"],
    "def g():\n    raise E": ["removed statement: raise E -> pass"],
    "def g():\n    'A docstring.'": [],
    "x: Literal['red'] = y": [],
    "x = 'è', 3": ["constant: 'è' -> 'è_'", "constant: 3 -> 4"],
}


def test_the_changes_of_a_line() -> None:
    for source, expected in CHANGES.items():
        found = [change for change, _, _ in mutants.changes("a.py", source)]
        assert [str(change).split(" ", 1)[1] for change in found] == expected, source
        for change in found:
            assert ast.dump(ast.parse(mutants.changed(source, change))) != ast.dump(
                ast.parse(source)
            )


def test_a_draw_is_the_same_each_time_and_takes_all_kinds_alike() -> None:
    source = Path(mutants.__file__).read_text(encoding="utf-8")
    found = [change for change, _, _ in mutants.changes("mutants.py", source)]
    drawn = mutants.draw(found, 40, 0)
    assert drawn == mutants.draw(found, 40, 0) != mutants.draw(found, 40, 1)
    assert {k: sum(c.kind == k for c in drawn) for k in mutants.KINDS} == dict.fromkeys(
        mutants.KINDS, 8
    )


def test_what_no_test_notices_survives(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One function with a test for each change but one, and one that no test calls."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    code = "".join(
        f"def {name}(a):\n    return a + a\n\n\n" for name in ("noticed", "unnoticed", "never")
    )
    tests = "from cap.toy import code\n\ndef test_one():\n    assert code.noticed(1) == 2\n\n"
    tests += "def test_two():\n    code.unnoticed(1)\n"
    for path, text in {
        "cap/__init__.py": "", "cap/toy/__init__.py": "", "cap/toy/code.py": code,
        "tests/__init__.py": "", "tests/cap/toy/test_toy.py": tests,
    }.items():  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "toy"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env={**os.environ})
    row = mutants.measure("cap/toy", "HEAD", 0, 40, tmp_path)
    assert (row["mutants"], row["killed"]) == (2, 1)
    change = "removed statement: return a + a -> pass"
    assert row["survived"] == [f"cap/toy/code.py:6 {change}"]
    killed = f"killed cap/toy/code.py:2 {change}  [tests/cap/toy/test_toy.py::test_one]"
    assert killed in capsys.readouterr().out


def test_the_record_names_each_survivor() -> None:
    rows = [json.loads(line) for line in mutants.RECORD.read_text(encoding="utf-8").splitlines()]
    assert {row["package"] for row in rows} <= {*mutants.PACKAGES}
    for row in rows:
        assert row["killed"] + len(row["survived"]) == row["mutants"] == mutants.COUNT
