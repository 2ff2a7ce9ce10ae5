"""Do the tests notice a change? `make mutants PACKAGE=cap/engine`, or `python -m tests.mutants`.

The tests of a package run once under coverage, which is kept in `out/mutants` by commit. Single
changes are then drawn, by seed, in the lines that these tests execute, and for each change the
tests that execute its line run until one fails: then the mutant is killed. All of it happens in
copies of a commit, so what is not committed is not measured. `--write` keeps the figures in
`tests/mutants.jsonl`; without it they are compared with those.

Lines of the sandbox that run in forked workers are out of coverage's sight: all of them count as
executed, by every test of the package.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import functools
import importlib.util
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests/mutants.jsonl"
PACKAGES = [
    *(f"cap/{name}" for name in (
        "program", "checker", "sandbox", "engine", "session", "prompt", "robot", "models",
        "planners", "trace", "validation", "cli", "cli/mcp", "engine/doubts",
    )),
    *(f"robots/{name}" for name in (
        "arm", "drawing", "kitchen", "perception", "ravens", "robosuite", "simulation", "tabletop",
    )),
    *(f"benchmarks/{name}" for name in (
        "problems", "humaneval", "robocodegen", "tabletop", "kitchen", "drawing", "embodiments",
        "planning", "report", "robosuite",
    )),
]  # fmt: skip
CODE = {
    "benchmarks/report": ("benchmarks/report", "benchmarks/runner.py"),
    "cap/cli/mcp": ("cap/cli/mcp_server.py", "cap/cli/mcp.py"),
    "cap/engine/doubts": ("cap/engine/doubts", "cap/engine/goal_check.py"),
}
TESTS = {
    "benchmarks/report": "tests/benchmarks/test_*.py",
    "cap/cli/mcp": "tests/cap/cli/test_mcp*.py",
    "cap/engine/doubts": "tests/cap/engine/test_*.py",
}
IN_WORKERS = re.compile(r"cap/sandbox/(worker|template|kernel)(/|\.py$)")

COUNT = 40
MOST_TESTS = 200
MOST_SECONDS = 40.0
"""Of tests for one mutant, as measured under coverage."""
START_SECONDS = 60.0
"""Allowed for the start of pytest on a busy machine."""
PARALLEL = 2
MOST_FALL = 0.05
"""The pooled share of killed mutants may fall by this much."""


# Run inside pytest, as a plugin: notes who executes what, or runs the chosen tests in their order.

_JOB = "MUTANTS_JOB"
_job: dict[str, Any] = json.loads(Path(os.environ[_JOB]).read_text()) if _JOB in os.environ else {}
_coverage: Any = None

if _job.get("covered"):
    import coverage

    _coverage = coverage.Coverage(
        data_file=_job["data"], data_suffix=True, config_file=False, include=_job["covered"]
    )
    _coverage.start()


def _note(report: pytest.TestReport) -> None:
    with open(_job["notes"], "a", encoding="utf-8") as notes:
        notes.write(
            json.dumps([report.nodeid, report.when, report.outcome, report.duration]) + "\n"
        )


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what came of a test, in the process that hears of all of them."""
    if _job and "PYTEST_XDIST_WORKER" not in os.environ:
        _note(report)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Count what a fixture executes for all tests of the file, since a fixture may be shared."""
    if _coverage:
        _coverage.switch_context(item.nodeid.split("::")[0])
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Count what a test executes for it alone."""
    if _coverage:
        _coverage.switch_context(item.nodeid)
    return (yield)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the chosen tests, in the order of the choice."""
    if _job.get("chosen"):
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in _job["chosen"] if name in found]


def pytest_unconfigure() -> None:
    """Save what was executed."""
    if _coverage:
        _coverage.stop()
        _coverage.save()


# The changes


@dataclass(frozen=True)
class Change:
    """One change to one file."""

    kind: str
    path: str
    line: int
    start: int
    """Byte in the file."""
    before: str
    after: str

    def __str__(self) -> str:
        shown = [" ".join(text.split()) for text in (self.before, self.after)]
        shown = [text if len(text) < 70 else f"{text[:67]}..." for text in shown]
        return f"{self.path}:{self.line} {self.kind}: {shown[0]} -> {shown[1]}"


OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
UNSEEN = {"annotation", "returns", "decorator_list"}
"""Fields of syntax trees that decide nothing while a program runs."""
KINDS = ("comparison", "constant", "branch", "argument", "removed statement")


def _with(node: ast.expr, **fields: object) -> str:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return f"({ast.unparse(changed)})"


def _afters(node: ast.AST, in_function: bool) -> Iterator[tuple[str, ast.AST, str]]:
    """Each change of a node: its kind, the part that is replaced, by what."""
    match node:
        case ast.Compare(ops=[first, *others]):
            yield "comparison", node, _with(node, ops=[OPPOSITES[type(first)](), *others])
        case ast.Constant(value=bool(value)):
            yield "constant", node, repr(not value)
        case ast.Constant(value=int(value) | float(value)):
            yield (
                "constant",
                node,
                repr(value * 2 if isinstance(value, float) and value else value + 1),
            )
        case ast.Constant(value=str(value)) if value.isidentifier():
            yield "constant", node, repr(f"{value}_")
        case ast.BoolOp(op=op):
            yield "branch", node, _with(node, op=OPPOSITES[type(op)]())
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.Constant):
                yield "branch", test, f"(not {_with(test)})"
        case ast.Call(args=args, keywords=keywords):
            for place, keyword in enumerate(keywords):
                if keyword.arg:
                    rest = keywords[:place] + keywords[place + 1 :]
                    yield "argument", node, _with(node, keywords=rest)
            two = {ast.dump(entry) for entry in args[:2] if not isinstance(entry, ast.Starred)}
            if len(two) == 2:
                yield "argument", node, _with(node, args=[args[1], args[0], *args[2:]])
        case ast.Expr() | ast.Return(value=ast.expr()) | ast.Raise() | ast.Break() | ast.Continue():
            if in_function and not isinstance(getattr(node, "value", None), ast.Yield):
                yield "removed statement", node, "pass"
        case (
            ast.AugAssign() | ast.Delete() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()])
        ):
            if in_function:
                yield "removed statement", node, "pass"


def _visit(
    node: ast.AST, statement: int, in_function: bool
) -> Iterator[tuple[str, ast.AST, str, int, bool]]:
    inside = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    for name, field in ast.iter_fields(node):
        for child in field if isinstance(field, list) else [field]:
            if name in UNSEEN or not isinstance(child, ast.AST):
                continue
            match child:
                case ast.JoinedStr() | ast.Expr(value=ast.Constant()):
                    continue  # places inside an f-string are not known; a docstring does nothing
                case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                    continue
                case ast.Subscript(value=ast.Name(id="Literal")):
                    continue
                case ast.Call(func=ast.Name(id="cast")):
                    continue
                case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
                    continue
            line = child.lineno if isinstance(child, ast.stmt) else statement
            yield from ((*after, line, inside) for after in _afters(child, inside))
            yield from _visit(child, line, inside)


def changes(path: str, source: str) -> Iterator[tuple[Change, int, bool]]:
    """All single changes of a file; where the statement begins; whether in a function."""
    content = source.encode()
    starts = [0]
    for line in content.split(b"\n"):
        starts.append(starts[-1] + len(line) + 1)
    for kind, node, after, statement, inside in _visit(ast.parse(source), 1, False):
        assert isinstance(node, ast.expr | ast.stmt)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[node.end_lineno - 1] + node.end_col_offset
        before = content[start:end].decode()
        yield Change(kind, path, node.lineno, start, before, after), statement, inside


def changed(source: str, change: Change) -> str:
    """The file after a change."""
    content = source.encode()
    end = change.start + len(change.before.encode())
    return (content[: change.start] + change.after.encode() + content[end:]).decode()


def draw(found: Sequence[Change], count: int, seed: int) -> list[Change]:
    """Draw changes, as many of each kind as there are, alike."""
    rng = random.Random(seed)
    kinds = [[change for change in found if change.kind == kind] for kind in KINDS]
    for changes_of_kind in kinds:
        rng.shuffle(changes_of_kind)
    drawn: list[Change] = []
    while len(drawn) < count and any(kinds):
        drawn += [changes_of_kind.pop() for changes_of_kind in kinds if changes_of_kind]
    return drawn[:count]


# The runs


@contextlib.contextmanager
def copies(commit: str, root: Path, number: int) -> Iterator[list[Path]]:
    """Copies of a commit, with this file in each."""
    with tempfile.TemporaryDirectory(prefix="mut") as folder:
        trees = [Path(folder) / str(place) for place in range(number)]
        for tree in trees:
            tree.mkdir()
            archive = subprocess.run(
                ["git", "archive", commit], cwd=root, stdout=subprocess.PIPE, check=True
            )
            subprocess.run(["tar", "x"], cwd=tree, input=archive.stdout, check=True)
            (tree / "tests").mkdir(exist_ok=True)
            shutil.copy(__file__, tree / "tests/mutants.py")
        yield trees


def _pytest(
    tree: Path, job: dict[str, Any], arguments: Sequence[str], seconds: float | None
) -> tuple[int, list[list[Any]], str]:
    """Run pytest in a tree: its exit code, what was noted of each test, what it printed."""
    notes = tree / "notes"
    notes.unlink(missing_ok=True)
    shutil.rmtree(tree / "tmp", ignore_errors=True)
    (tree / "job").write_text(json.dumps({**job, "notes": str(notes)}), encoding="utf-8")
    environ = {**os.environ, "PYTHONPATH": str(tree), _JOB: str(tree / "job")}
    environ.pop("PYTEST_XDIST_WORKER", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "tests.mutants", "--basetemp", str(tree / "tmp"),
         *arguments],
        cwd=tree,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        printed, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        printed = "out of time"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
    return process.returncode, [json.loads(line) for line in lines], printed


@dataclass
class Covered:
    """What the passing tests of a package execute."""

    seconds: dict[str, float]
    """Of each test."""
    lines: dict[str, dict[str, list[str]]]
    """For each file and line: tests, and files whose fixtures execute it."""

    def executes(self, change: Change, statement: int) -> list[str]:
        """Who executes a line, or the beginning of its statement."""
        own = self.lines.get(change.path, {})
        return own.get(str(change.line)) or own.get(str(statement)) or []

    def tests(self, change: Change, statement: int, inside: bool) -> list[str]:
        """Tests of a change, narrowest first.

        After those that execute the line come those whose fixtures do. A line that is executed
        at import, or by a worker, is tested by those that execute others of the file, then by all.
        """
        groups = [{*self.executes(change, statement)}]
        if "" in groups[0] or not inside or IN_WORKERS.match(change.path):
            groups += [{*chain(*self.lines[change.path].values())}, {*self.seconds}]
        ordered: dict[str, None] = {}
        for group in groups:
            direct = [name for name in self.seconds if name in group]
            indirect = [name for name in self.seconds if name.split("::")[0] in group]
            for names in (direct, indirect):
                ordered.update(dict.fromkeys(sorted(names, key=lambda name: self.size[name])))
        return list(ordered)

    @functools.cached_property
    def size(self) -> Counter[str]:
        """How many lines of the package a test executes."""
        lines = [names for numbers in self.lines.values() for names in numbers.values()]
        return Counter(name for names in lines for name in names)

    def choice(self, names: Sequence[str]) -> list[str]:
        """The first tests that stay within the limits of number and time."""
        chosen: list[str] = []
        left = MOST_SECONDS
        for name in names:
            if self.seconds[name] <= left and len(chosen) < MOST_TESTS:
                chosen.append(name)
                left -= self.seconds[name]
        return chosen


def files_of(package: str, tree: Path) -> list[str]:
    """The Python files of a package, relative to the tree."""
    found: list[Path] = []
    for code in CODE.get(package, (package,)):
        place = tree / code
        found += [place] if place.is_file() else sorted(place.rglob("*.py"))
    return [str(path.relative_to(tree)) for path in found]


def cover(package: str, commit: str, tree: Path, kept: Path) -> Covered:
    """Run the tests of a package under coverage, or read what was kept of it."""
    import coverage

    if kept.exists():
        return Covered(**json.loads(kept.read_text(encoding="utf-8")))
    files = files_of(package, tree)
    job = {"data": str(tree / "coverage"), "covered": [str(tree / path) for path in files]}
    tests = sorted(map(str, tree.glob(TESTS.get(package, f"tests/{package}"))))
    _, notes, printed = _pytest(tree, job, ["-n", str(PARALLEL), "--timeout", "120", *tests], None)
    seconds: dict[str, float] = defaultdict(float)
    for name, _, _, duration in notes:
        seconds[name] += duration
    unfit = {name for name, _, outcome, _ in notes if outcome != "passed"}
    failed = sorted({name for name, _, outcome, _ in notes if outcome == "failed"})
    if not {*seconds} - unfit:
        raise SystemExit(f"No test of {package} passes at {commit}.\n{printed[-2000:]}")
    if failed:
        print(f"Left out, since they fail without a change: {', '.join(failed)}", flush=True)
    whole = coverage.Coverage(data_file=job["data"], config_file=False)
    whole.combine()
    data = whole.get_data()
    covered = Covered({name: seconds[name] for name in sorted({*seconds} - unfit)}, {})
    for path in files:
        found = data.contexts_by_lineno(str(tree / path))
        covered.lines[path] = {str(line): sorted({*names} - unfit) for line, names in found.items()}
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(
        json.dumps({"seconds": covered.seconds, "lines": covered.lines}), encoding="utf-8"
    )
    return covered


def judge(change: Change, covered: Covered, names: Sequence[str], tree: Path) -> str | None:
    """Return which test kills a mutant, None if it survives.

    A test that fails must fail again, alone: on a busy machine one may fail by itself.
    """
    path = tree / change.path
    source = path.read_text(encoding="utf-8")
    path.write_text(changed(source, change), encoding="utf-8")
    # Bytecode is known by second and size, which two mutants of a file may share.
    later = time.time_ns() + random.randrange(10**9, 10**14)
    os.utime(path, ns=(later, later))
    try:
        left = covered.choice(names)
        while left:
            killer = _failing(tree, covered, left)
            if killer is None or killer not in left or _failing(tree, covered, [killer]):
                return killer
            left = left[left.index(killer) + 1 :]
        return None
    finally:
        path.write_text(source, encoding="utf-8")


def _failing(tree: Path, covered: Covered, names: Sequence[str]) -> str | None:
    seconds = [covered.seconds[name] for name in names]
    code, notes, _ = _pytest(
        tree,
        {"chosen": names},
        [
            "-x",
            "--timeout",
            str(int(15 + 4 * max(seconds))),
            *sorted({n.split("::")[0] for n in names}),
        ],
        START_SECONDS + 4 * sum(seconds),
    )
    failed = [name for name, _, outcome, _ in notes if outcome == "failed"]
    if code == 0:
        return None
    return failed[0] if failed else "out of time" if code < 0 else "pytest does not start"


def measure(package: str, commit: str, seed: int, count: int, root: Path) -> dict[str, Any]:
    """Draw and judge the mutants of a package."""
    began = time.monotonic()
    with copies(commit, root, PARALLEL) as trees:
        kept = root / f"out/mutants/{commit[:12]}-{package.replace('/', '-')}.json"
        covered = cover(package, commit, trees[0], kept)
        places: dict[Change, tuple[int, bool]] = {}
        for path in files_of(package, trees[0]):
            source = (trees[0] / path).read_text(encoding="utf-8")
            for change, statement, inside in changes(path, source):
                if covered.executes(change, statement) or IN_WORKERS.match(path):
                    places[change] = statement, inside
        drawn = draw(list(places), count, seed)
        print(f"{package} at {commit[:12]}: {len(covered.seconds)} tests, {len(places)} changes, "
              f"covered after {time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
        free: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for tree in trees:
            free.put(tree)

        def one(change: Change) -> str | None:
            tree = free.get()
            try:
                killer = judge(change, covered, covered.tests(change, *places[change]), tree)
            finally:
                free.put(tree)
            print(f"  {'killed' if killer else 'SURVIVED'} {change}"
                  + (f"  [{killer}]" if killer else ""), flush=True)  # fmt: skip
            return killer

        with ThreadPoolExecutor(PARALLEL) as pool:
            killers = list(pool.map(one, drawn))
    survived = [str(change) for change, killer in zip(drawn, killers, strict=True) if not killer]
    return {
        "package": package,
        "commit": commit[:12],
        "seed": seed,
        "mutants": len(drawn),
        "killed": len(drawn) - len(survived),
        "seconds": round(time.monotonic() - began),
        "survived": survived,
    }


def main() -> int:
    """Measure packages and compare them with the record."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="default: all of them")
    parser.add_argument("--commit", default="HEAD")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--write", action="store_true", help=f"keep in {RECORD.name}")
    options = parser.parse_args()
    if unknown := {*options.packages} - {*PACKAGES}:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(PACKAGES)}")
    commit = subprocess.run(
        ["git", "rev-parse", options.commit], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    lines = RECORD.read_text(encoding="utf-8").splitlines() if RECORD.exists() else []
    record = {row["package"]: row for row in map(json.loads, lines)}
    rows = []
    for package in options.packages or PACKAGES:
        if "robosuite" in package and not importlib.util.find_spec("robosuite"):
            print(f"{package}: left out; .venv-robosuite/bin/python measures it", flush=True)
            continue
        row = measure(package, commit, options.seed, options.count, ROOT)
        rows.append(row)
        before = record.get(package)
        print(f"{package}: {row['killed']} of {row['mutants']} killed in {row['seconds']} s"
              + (f"; recorded {before['killed']} of {before['mutants']}" if before else ""),
              flush=True)  # fmt: skip
        if options.write:
            record[package] = row
            kept = [json.dumps(record[name]) + "\n" for name in PACKAGES if name in record]
            RECORD.write_text("".join(kept), encoding="utf-8")
    if options.write:
        return 0
    both = [(row, record[row["package"]]) for row in rows if row["package"] in record]
    if not both:
        return 0
    shares = [sum(r["killed"] for r in side) / sum(r["mutants"] for r in side)
              for side in zip(*both, strict=True)]  # fmt: skip
    print(f"Pooled: {shares[0]:.1%} killed; recorded {shares[1]:.1%}")
    return int(shares[0] < shares[1] - MOST_FALL)


if __name__ == "__main__":
    sys.exit(main())
