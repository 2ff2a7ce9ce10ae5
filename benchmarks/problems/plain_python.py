"""Problems out of plain Python: functions with asserts become a problem file.

    def get_total(xs, start=0):
        \"\"\"Add them up.\"\"\"
        return sum(xs, start)

    assert get_total([1, 2]) == 3

A function that an assert calls is a problem: its `def` line the header, the function the reference,
the asserts its cases. What else stands in the file, imports apart, is there for the cases, and for
the references that use it. Asserts may stand in functions called `test_...`, or `check`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cap.errors import ProblemError

_CLOSE = ("isclose", "allclose")
"""Functions that compare numbers."""


@dataclass
class _Found:
    """What is known of one problem."""

    node: ast.FunctionDef
    """The reference."""
    cases: list[tuple[str, str]] = field(default_factory=list)
    """Arguments and results."""
    tolerance: float = 0.0
    """The largest that an assert names."""


def converted(path: Path) -> str:
    """Return the problem file that a Python file makes.

    Raises:
        ProblemError: It cannot be read, an assert is no comparison of a call with a value, or there
            is none; with the line.
    """
    try:
        tree = ast.parse(path.read_text("utf-8-sig"))
    except SyntaxError as error:
        raise ProblemError(f"{path}, line {error.lineno}: not Python: {error.msg}") from None
    except (OSError, ValueError) as error:
        raise ProblemError(f"cannot read {path}: {error}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    tests = {name: one for name, one in functions.items() if name.startswith(("test_", "check"))}
    asserts = [node for node in tree.body if isinstance(node, ast.Assert)]
    for test in tests.values():
        asserts += [node for node in ast.walk(test) if isinstance(node, ast.Assert)]
    found: dict[str, _Found] = {}
    for node in asserts:
        where = f"{path}, line {node.lineno}"
        call, result, tolerance = _read(node, functions.keys() - tests.keys(), where)
        name = call.func.id if isinstance(call.func, ast.Name) else ""
        problem = found.setdefault(name, _Found(functions[name]))
        problem.cases.append((_arguments(call, problem.node, where), ast.unparse(result)))
        problem.tolerance = max(problem.tolerance, tolerance)
    if not found:
        raise ProblemError(f"{path} has no assert that calls a function of its own")
    left_out = (ast.Import, ast.ImportFrom, ast.Assert)
    shared = [
        node
        for node in tree.body
        if not isinstance(node, left_out)
        and not (isinstance(node, ast.FunctionDef) and node.name in {*found, *tests})
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return "\n".join(_lines(found, shared))


def _read(node: ast.Assert, names: set[str], where: str) -> tuple[ast.Call, ast.expr, float]:
    """Return the call an assert is about, what it must give, and how far off it may be."""
    test = node.test
    sides: list[ast.expr] = [test, ast.Constant(True)]
    tolerance = 0.0
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            sides = [operand, ast.Constant(False)]
        case ast.Compare(
            ast.Call(ast.Name("abs"), [ast.BinOp(first, ast.Sub(), second)]),
            [ast.Lt() | ast.LtE()],
            [ast.Constant(float() as most)],
        ):
            sides, tolerance = [first, second], most
        case ast.Compare(first, [ast.Eq() | ast.Is()], [second]):
            sides = [first, second]
        case ast.Call(ast.Attribute(attr=name) | ast.Name(id=name), [first, second, *_]) if (
            name in _CLOSE and name not in names
        ):
            sides = [first, second]
            for word in test.keywords:
                if isinstance(word.value, ast.Constant) and type(word.value.value) is float:
                    tolerance = max(tolerance, word.value.value)
    unwrapped = [_without_approx(side) for side in sides]
    calls = [
        side
        for side in unwrapped
        if isinstance(side, ast.Call) and isinstance(side.func, ast.Name) and side.func.id in names
    ]
    if len(calls) != 1 or len(unwrapped) != 2:
        text = ast.unparse(node)
        raise ProblemError(
            f"{where}: `{text[:80]}` is no comparison of one call with a value; write "
            "`assert name(arguments) == result`"
        )
    (call,) = calls
    result = unwrapped[1] if unwrapped[0] is call else unwrapped[0]
    return call, result, tolerance


def _without_approx(side: ast.expr) -> ast.expr:
    """Return the value in `pytest.approx(value)`."""
    match side:
        case ast.Call(ast.Attribute(attr="approx") | ast.Name(id="approx"), [value, *_]):
            return value
    return side


def _arguments(call: ast.Call, function: ast.FunctionDef, where: str) -> str:
    """Return a call's arguments in the order of the function's parameters."""
    names = [entry.arg for entry in function.args.args]
    given = {word.arg: word.value for word in call.keywords}
    values = [ast.unparse(value) for value in call.args]
    for name in names[len(values) :]:
        if name not in given:
            break
        values.append(ast.unparse(given.pop(name)))
    if given:
        raise ProblemError(f"{where}: {', '.join(map(str, given))} cannot be given by place")
    return ", ".join(values)


def _lines(found: dict[str, _Found], shared: list[ast.stmt]) -> Iterator[str]:
    """Yield the lines of the problem file."""
    yield "format = 1"
    text = "\n\n".join(ast.unparse(node) for node in shared)
    if text:
        yield f"\nsetup = {_quoted(text)}"
    for name, problem in found.items():
        node = problem.node
        used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
        helpers = _needed(used, shared)
        yield "\n[[problem]]"
        yield f"header = {_quoted(f'def {name}({ast.unparse(node.args)}):')}"
        if reason := (ast.get_docstring(node) or "").partition("\n")[0].strip():
            yield f"reason = {_quoted(reason)}"
        reference = "\n\n\n".join(map(ast.unparse, [*helpers, node]))
        yield f"reference = {_quoted(reference)}"
        yield "cases = ["
        for arguments, result in problem.cases:
            yield f"    [{_quoted(arguments)}, {_quoted(result)}],"
        yield "]"
        if problem.tolerance:
            yield f"tolerance = {{ abs = {problem.tolerance!r}, rel = {problem.tolerance!r} }}"


def _needed(used: set[str], shared: list[ast.stmt]) -> list[ast.stmt]:
    """Return the shared statements that bind a name in use, by way of others too."""
    needed: list[ast.stmt] = []
    while True:
        more = [node for node in shared if node not in needed and not used.isdisjoint(_binds(node))]
        if not more:
            return [node for node in shared if node in needed]
        needed += more
        for node in more:
            used |= {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _binds(node: ast.stmt) -> set[str]:
    names = {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    return names | ({node.name} if isinstance(node, ast.FunctionDef | ast.ClassDef) else set())


def _quoted(text: str) -> str:
    """Return a text as TOML writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = "".join(c if c >= " " or c == "\n" else f"\\u{ord(c):04X}" for c in escaped)
    return f'"""\n{escaped}\n"""' if "\n" in text else f'"{escaped}"'
