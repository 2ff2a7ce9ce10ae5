"""Problems out of plain Python: functions with asserts become a problem file.

    def get_total(xs, start=0):
        \"\"\"Add them up.\"\"\"
        return sum(xs, start)

    assert get_total([1, 2]) == 3

A function that an assert calls is a problem: its `def` line the header, the function the reference,
the asserts its cases. What else stands in the file, imports apart, is there for the cases, and for
the references that use it. Asserts may stand in functions called `test_...`, or `check`.

An assert compares one call with a value: `==`, `is`, a difference or a rounding that names how far
off it may be, `isclose` and its like, `assert f(x)` for True and `assert not f(x)` for False;
several of them with `and`. How far off a result may be is said of its case alone, by numbers:

    abs(f(x) - y) < t                t, and less than it
    round(f(x), n) == y              0.5 / 10**n
    math.isclose                     the larger of abs_tol and rel_tol of the larger number
    pytest.approx                    the larger of abs and rel of what is expected
    numpy's isclose and its like     atol plus rtol of the second number
"""

from __future__ import annotations

import ast
import json
import math
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

import msgspec

from benchmarks.problems.problem import Case, Tolerance
from benchmarks.problems.problem_file import problems_of
from cap.errors import ProblemError

_EXACT = ("array_equal", "array_equiv")
_NUMPY = {"isclose": (1e-5, 1e-8), "allclose": (1e-5, 1e-8), "assert_allclose": (1e-7, 0.0)}
"""numpy's comparisons with the rtol and atol that hold if none are stated."""
_REMEDY = "write `assert name(arguments) == result`"


def converted(path: Path) -> str:
    """Return the problem file that a Python file makes.

    Raises:
        ProblemError: It cannot be read, or some asserts are no comparison of a call with a value, a
            line for each; or there is none.
    """
    try:
        tree = ast.parse(path.read_text("utf-8-sig"))
    except SyntaxError as error:
        raise ProblemError(f"{path}, line {error.lineno}: not Python: {error.msg}") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ProblemError(f"cannot read {path}: {why}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    tests = {name for name in functions if name.startswith(("test_", "check"))}
    cases: defaultdict[str, list[Case]] = defaultdict(list)
    refused = []
    for test, scope in _claims(tree, [functions[name] for name in functions if name in tests]):
        try:
            if isinstance(scope, str):
                raise ProblemError(scope)
            call, result, tolerance = _read(test, functions.keys() - tests)
            name = ast.unparse(call.func)
            case = Case(_arguments(call, functions[name]), ast.unparse(result), tolerance)
            cases[name].append(case)
        except ProblemError as error:
            refused.append(f"{path}, line {test.lineno}: `{ast.unparse(test)[:80]}` {error}")
    if refused:
        raise ProblemError("\n".join(refused))
    if not cases:
        raise ProblemError(f"{path} has no assert that calls a function of its own")
    skipped = {functions[name] for name in {*cases, *tests}}
    shared = [
        node
        for node in tree.body
        if node not in skipped
        and not isinstance(node, ast.Import | ast.ImportFrom | ast.Assert)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    text = "\n".join(_lines({name: functions[name] for name in cases}, cases, shared))
    problems_of(tomllib.loads(text), str(path))  # what the check refuses is reported now
    return text


def _claims(
    tree: ast.Module, tests: list[ast.FunctionDef]
) -> Iterator[tuple[ast.expr, str | None]]:
    """Yield what the asserts of a file claim, each with why it cannot be a case, if it cannot."""
    bodies = [(tree.body, set[str]())]
    for test in tests:
        parameters = {entry.arg for entry in test.args.args}
        bodies.append((test.body, parameters | _names(test, ast.Store)))
    for body, made in bodies:
        for node in body:
            if isinstance(node, ast.Assert):
                both = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
                for claim in node.test.values if both else [node.test]:  # type: ignore[attr-defined]
                    local = ", ".join(sorted(made & _names(claim, ast.Load)))
                    why = f"uses {local}, which the test makes; write the value, or define it"
                    yield claim, f"{why} outside" if local else None
            elif not isinstance(node, ast.FunctionDef | ast.ClassDef):
                for part in ast.walk(node):
                    if isinstance(part, ast.Assert):
                        yield part.test, "stands in a block; write each case as its own assert"


def _names(node: ast.AST, how: type[ast.expr_context]) -> set[str]:
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {part.id for part in parts if isinstance(part.ctx, how)}


def _read(test: ast.expr, names: Collection[str]) -> tuple[ast.Call, ast.expr, Tolerance | None]:
    """Return the call a claim is about, what it must give, and how far off that may be.

    Raises:
        ProblemError: It is no comparison of one call with a value.
    """
    tolerance: Tolerance | None = None
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            sides = [operand, ast.Constant(False)]
        case ast.Call() if _calls(test, names):
            sides = [test, ast.Constant(True)]
        case ast.Compare(
            ast.Call(ast.Name("abs"), [ast.BinOp(first, ast.Sub(), second)]),
            [ast.Lt() | ast.LtE() as how],
            [most],
        ) | ast.Compare(
            most,
            [ast.Gt() | ast.GtE() as how],
            [ast.Call(ast.Name("abs"), [ast.BinOp(first, ast.Sub(), second)])],
        ):
            sides, off = [first, second], _number(most)
            if isinstance(how, ast.Lt | ast.Gt):  # what is off by `off` itself is wrong
                off = math.nextafter(off, 0.0)
            tolerance = Tolerance(off, 0.0)
        case ast.Compare(ast.Call(ast.Name("round"), [first, digits]), [ast.Eq()], [second]):
            sides, tolerance = [first, second], Tolerance(0.5 / 10.0 ** _number(digits), 0.0)
        case ast.Compare(first, [ast.Eq() | ast.Is()], [second]):
            sides = [first, second]
        case ast.Call(ast.Attribute(attr=name) | ast.Name(id=name), [first, second, *_]) if (
            name in (*_NUMPY, *_EXACT)
        ):
            sides = [first, second]
            tolerance = None if name in _EXACT else _closeness(test, _calls(second, names))
        case _:
            raise ProblemError(f"is no comparison of one call with a value; {_REMEDY}")
    for place, side in enumerate(sides):
        match side:
            case ast.Call(ast.Attribute(attr="approx") | ast.Name(id="approx"), [value, *_]):
                if tolerance is not None:
                    raise ProblemError("names two tolerances; give one")
                sides[place], tolerance = value, _closeness(side, False)
    calls = [side for side in sides if _calls(side, names)]
    if len(calls) != 1:
        raise ProblemError(f"is no comparison of one call with a value; {_REMEDY}")
    call = calls[0]
    assert isinstance(call, ast.Call)
    return call, next(side for side in sides if side is not call), tolerance


def _calls(node: ast.expr, names: Collection[str]) -> bool:
    """Return whether an expression is a call of one of these functions."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _closeness(call: ast.Call, call_is_second: bool) -> Tolerance:
    """Return how far off `isclose`, `approx` and their like let a number be."""
    name = ast.unparse(call.func)
    given = {word.arg: word.value for word in call.keywords}
    if name.endswith("approx"):
        words, placed, usual, how = ("rel", "abs"), 1, (1e-6, 1e-12), Tolerance(both="larger")
        if "abs" in given and "rel" not in given:
            usual = (0.0, 0.0)
    elif name == "math.isclose" or (name == "isclose" and not given.keys() & {"rtol", "atol"}):
        words, placed, usual = ("rel_tol", "abs_tol"), 2, (1e-9, 0.0)
        how = Tolerance(rel_of="larger", both="larger")
    else:
        words, placed, usual = ("rtol", "atol"), 2, _NUMPY[name.rpartition(".")[2]]
        how = Tolerance(rel_of="got" if call_is_second else "expected")
    given |= dict(zip(words, call.args[placed:], strict=False))
    rel, most = (_number(given[w]) if w in given else u for w, u in zip(words, usual, strict=True))
    return msgspec.structs.replace(how, abs=most, rel=rel)


def _number(node: ast.expr) -> float:
    try:
        number = ast.literal_eval(node)
    except ValueError:
        number = None
    if type(number) not in (int, float) or not 0 <= number <= 1e6:
        raise ProblemError("must say how far off a result may be as a number, 0 to 1e6")
    return float(number)


def _arguments(call: ast.Call, function: ast.FunctionDef) -> str:
    """Return a call's arguments in the order of the function's parameters."""
    given = {str(word.arg): word.value for word in call.keywords}
    values = [ast.unparse(value) for value in call.args]
    for entry in function.args.args[len(values) :]:
        if entry.arg not in given:
            break
        values.append(ast.unparse(given.pop(entry.arg)))
    if given:
        raise ProblemError(f"gives {', '.join(given)}, which cannot be given by place")
    return ", ".join(values)


def _lines(
    functions: dict[str, ast.FunctionDef], cases: dict[str, list[Case]], shared: list[ast.stmt]
) -> Iterator[str]:
    """Yield the lines of the problem file."""
    yield "format = 1"
    setup = "\n\n\n".join(map(ast.unparse, shared))
    bound = {getattr(node, "name", "") for node in shared}.union(
        *(_names(node, ast.Store) for node in shared)
    )
    if setup:
        yield f"\nsetup = {_quoted(setup)}"
    for name, node in functions.items():
        yield f"\n[[problem]]\nheader = {_quoted(f'def {name}({ast.unparse(node.args)}):')}"
        if reason := (ast.get_docstring(node) or "").partition("\n")[0].strip():
            yield f"reason = {_quoted(reason)}"
        reference = ast.unparse(node)
        if bound & _names(node, ast.Load):
            reference = f"{setup}\n\n\n{reference}"
        yield f"reference = {_quoted(reference)}\ncases = ["
        for case in cases[name]:
            texts = f"arguments = {_quoted(case.arguments)}, result = {_quoted(str(case.result))}"
            most = case.tolerance
            if most is not None:
                texts += f", tolerance = {{ abs = {most.abs!r}, rel = {most.rel!r}"
                texts += f', rel_of = "{most.rel_of}", both = "{most.both}" }}'
            yield f"    {{ {texts} }},"
        yield "]"


def _quoted(text: str) -> str:
    """Return a text as TOML writes it; JSON's escapes are TOML's."""
    quoted = json.dumps(text)
    return f'"""\n{quoted[1:-1]}\n"""'.replace("\\n", "\n") if "\n" in text else quoted
