"""Problems out of plain Python: functions with asserts become a problem file.

    def get_total(xs, start=0):
        \"\"\"Add them up.\"\"\"
        return sum(xs, start)

    assert get_total([1, 2]) == 3

A function that an assert calls is a problem: its `def` line the header, the function the reference,
the asserts its cases. What else stands in the file, imports apart, is there for the cases, and for
the references that use it. Asserts may stand in functions called `test_...`, or `check`. Each
compares one call with a value, several of them with `and`; how far off a result may be is said of
its case alone, by numbers: see `_read`.
"""

from __future__ import annotations

import ast
import json
import math
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterator
from pathlib import Path

from benchmarks.problems.problem import Case, Tolerance
from benchmarks.problems.problem_file import problems_of
from cap.errors import ProblemError

_CLOSE = {
    "math.isclose": ("rel_tol", "abs_tol", 1e-9, 0.0),
    "isclose": ("rel_tol", "abs_tol", 1e-9, 0.0),
    "np.isclose": ("rtol", "atol", 1e-5, 1e-8),
    "np.allclose": ("rtol", "atol", 1e-5, 1e-8),
    "pytest.approx": ("rel", "abs", 1e-6, 1e-12),
    "approx": ("rel", "abs", 1e-6, 1e-12),
}
"""What says how far off a number may be: its words for a share and for an amount, and what holds
where neither is said."""
_NO_CASE = "is no comparison of one call with a value; write `assert name(arguments) == result`"


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
    tests = [node for name, node in functions.items() if name.startswith(("test_", "check"))]
    names = functions.keys() - {test.name for test in tests}
    cases: defaultdict[str, list[Case]] = defaultdict(list)
    refused = []
    for claim, made in _claims(tree, tests):
        try:
            if local := ", ".join(sorted(made & _names(claim, ast.Load))):
                raise ProblemError(f"uses {local}, which the test makes; define it outside")
            call, result, tolerance = _read(claim, names)
            name = ast.unparse(call.func)
            arguments = _arguments(call, functions[name])
            cases[name].append(Case(arguments, ast.unparse(result), tolerance))
        except ProblemError as error:
            refused.append(f"{path}, line {claim.lineno}: `{ast.unparse(claim)[:80]}` {error}")
    if refused:
        raise ProblemError("\n".join(refused))
    if not cases:
        raise ProblemError(f"{path} has no assert that calls a function of its own")
    skipped = [*tests, *(functions[name] for name in cases)]
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


def _claims(tree: ast.Module, tests: list[ast.FunctionDef]) -> Iterator[tuple[ast.expr, set[str]]]:
    """Yield what the asserts of a file claim, each with the names that its test makes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node not in tests:
            continue
        made = _names(node, ast.Store)
        if isinstance(node, ast.FunctionDef):
            made |= {entry.arg for entry in node.args.args}
        for part in ast.walk(node):
            if isinstance(part, ast.Assert):
                claim = part.test
                both = isinstance(claim, ast.BoolOp) and isinstance(claim.op, ast.And)
                yield from ((one, made) for one in (claim.values if both else [claim]))  # type: ignore[attr-defined]


def _names(node: ast.AST, how: type[ast.expr_context]) -> set[str]:
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {part.id for part in parts if isinstance(part.ctx, how)}


def _read(claim: ast.expr, names: Collection[str]) -> tuple[ast.Call, ast.expr, Tolerance | None]:
    """Return the call a claim is about, what it must give, and how far off that may be.

    Raises:
        ProblemError: It is no comparison of one call with a value.
    """
    sides, tolerance = [claim, ast.expr()], None
    match claim:
        case ast.UnaryOp(ast.Not(), operand):
            sides = [operand, ast.Constant(False)]
        case ast.Compare(
            ast.Call(ast.Name("abs"), [ast.BinOp(first, ast.Sub(), second)]),
            [ast.Lt() | ast.LtE() as how],
            [most],
        ):
            off = _number(most)
            if isinstance(how, ast.Lt):  # what is off by `off` itself is wrong
                off = math.nextafter(off, 0.0)
            sides, tolerance = [first, second], Tolerance(off, 0.0)
        case ast.Compare(ast.Call(ast.Name("round"), [first, digits]), [ast.Eq()], [second]):
            sides, tolerance = [first, second], Tolerance(0.5 / 10.0 ** _number(digits), 0.0)
        case ast.Compare(first, [ast.Eq() | ast.Is()], [second]):
            sides = [first, second]
        case ast.Call(_, [first, second, *more]) if (name := ast.unparse(claim.func)) in _CLOSE:
            sides, tolerance = [first, second], _closeness(name, more, claim.keywords)
        case ast.Call():
            sides = [claim, ast.Constant(True)]
    for place, side in enumerate(sides):
        match side:
            case ast.Call(function, [value, *more]) if ast.unparse(function).endswith("approx"):
                sides[place] = value
                tolerance = _closeness(ast.unparse(function), more, side.keywords)
    calls = [
        side
        for side in sides
        if isinstance(side, ast.Call) and isinstance(side.func, ast.Name) and side.func.id in names
    ]
    if len(calls) != 1:
        raise ProblemError(_NO_CASE)
    return calls[0], next(side for side in sides if side is not calls[0]), tolerance


def _closeness(name: str, placed: list[ast.expr], keywords: list[ast.keyword]) -> Tolerance:
    """Return how far off `isclose`, `approx` and their like let a number be."""
    share, amount, rel, most = _CLOSE.get(name, _CLOSE["approx"])
    given = {str(word.arg): word.value for word in keywords}
    given |= dict(zip((share, amount), placed, strict=False))
    if name.endswith("approx") and amount in given and share not in given:
        rel = 0.0
    return Tolerance(
        _number(given[amount]) if amount in given else most,
        _number(given[share]) if share in given else rel,
    )


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
        uses = [setup] if bound & _names(node, ast.Load) else []
        reference = "\n\n\n".join([*uses, ast.unparse(node)])
        yield f"reference = {_quoted(reference)}\ncases = ["
        for case in cases[name]:
            texts = f"arguments = {_quoted(case.arguments)}, result = {_quoted(str(case.result))}"
            if (most := case.tolerance) is not None:
                texts += f", tolerance = {{ abs = {most.abs!r}, rel = {most.rel!r} }}"
            yield f"    {{ {texts} }},"
        yield "]"


def _quoted(text: str) -> str:
    """Return a text as TOML writes it; JSON's escapes are TOML's."""
    quoted = json.dumps(text)
    return f'"""\n{quoted[1:-1]}\n"""'.replace("\\n", "\n") if "\n" in text else quoted
