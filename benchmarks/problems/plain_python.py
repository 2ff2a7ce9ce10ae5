"""Problems out of plain Python: functions with asserts become a problem file.

    def get_total(xs, start=0):
        \"\"\"Add them up.\"\"\"
        return sum(xs, start)

    assert get_total([1, 2]) == 3

A function that an assert calls is a problem: its `def` line the header, the function the reference,
the asserts its cases. What else stands in the file, imports apart, is there for the cases, and for
the references that use it. Asserts may stand in functions called `test_...`, or `check`.

An assert must leave one result: `==`, `is`, `in` with one value, a difference or a rounding that
names how far off it may be, what `isclose` and its like compare, several of them with `and`. How
far off a result may be is said of its case alone, by numbers, and counts as the function has it:

    abs(f(x) - y) < t                t, and less than it
    round(f(x), n) == y              0.5 / 10**n
    math.isclose                     the larger of abs_tol and rel_tol of the larger number
    pytest.approx                    the larger of abs and rel of what is expected
    numpy's isclose and its like     atol plus rtol of the second number

Of
`assert f(x)` and `assert not f(x)` the result is True or False, or what the reference gives if that
is as true or as false. All else is refused with its line: it would let several results pass.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.problems.judge import examine
from benchmarks.problems.problem import Case, Tolerance
from benchmarks.problems.problem_file import parsed
from cap.errors import ProblemError

_CLOSE = ("isclose", "allclose", "assert_allclose")
"""Functions that compare numbers."""
_SAME = ("array_equal", "array_equiv")
"""Functions that compare arrays."""
_TOLERANCES = {
    "math.isclose": (("rel_tol", "abs_tol"), 2, (1e-9, 0.0)),
    "isclose": (("rtol", "atol"), 2, (1e-5, 1e-8)),
    "allclose": (("rtol", "atol"), 2, (1e-5, 1e-8)),
    "assert_allclose": (("rtol", "atol"), 2, (1e-7, 0.0)),
    "approx": (("rel", "abs"), 1, (1e-6, 1e-12)),
}
"""What such functions call their tolerances, where those stand, and what they are if not stated."""
_WHY = {
    ast.In: "lets several results pass",
    ast.NotIn: "lets several results pass",
    ast.NotEq: "says what a result is not",
    ast.IsNot: "says what a result is not",
    **dict.fromkeys((ast.Lt, ast.LtE, ast.Gt, ast.GtE), "says how large a result is, not which"),
}
"""What is wrong with an assert that compares in such a way."""


@dataclass
class _Found:
    """What is known of one problem."""

    node: ast.FunctionDef
    """The reference."""
    cases: list[Case] = field(default_factory=list)
    """What its asserts claim."""
    truths: list[int] = field(default_factory=list)
    """Which of them ask for what is true, or false."""


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
        why = getattr(error, "strerror", None) or error
        raise ProblemError(f"cannot read {path}: {why}") from None
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    tests = {name: one for name, one in functions.items() if name.startswith(("test_", "check"))}
    found = _asked(tree, functions, tests, str(path))
    left_out = (ast.Import, ast.ImportFrom, ast.Assert)
    shared = [
        node
        for node in tree.body
        if not isinstance(node, left_out)
        and not (isinstance(node, ast.FunctionDef) and node.name in {*found, *tests})
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    text = "\n".join(_lines(found, shared))
    for problem, entry in zip(found.values(), parsed(text, str(path)), strict=True):
        # A truth that the reference tells by another value than True or False stands as that.
        asked = tuple(replace(problem.cases[place], result=None) for place in problem.truths)
        try:
            told = examine(replace(entry, cases=asked), 0).expected if asked else ()
        except ProblemError:  # whoever checks the problems is told
            continue
        for place, value in zip(problem.truths, told, strict=True):
            if not isinstance(value, bool) and str(bool(value)) == problem.cases[place].result:
                problem.cases[place] = replace(problem.cases[place], result=None)
    return "\n".join(_lines(found, shared))


def _asked(
    tree: ast.Module,
    functions: Mapping[str, ast.FunctionDef],
    tests: Mapping[str, ast.FunctionDef],
    path: str,
) -> dict[str, _Found]:
    """Return what the asserts of a file ask for, by function.

    Raises:
        ProblemError: There is none, or some cannot be a case: a line for each of those.
    """
    found: dict[str, _Found] = {}
    refused: list[str] = []
    scopes: list[ast.Module | ast.FunctionDef] = [tree, *tests.values()]
    for scope in scopes:
        made = set() if scope is tree else _names(scope, ast.Store)
        if isinstance(scope, ast.FunctionDef):
            made |= {entry.arg for entry in scope.args.args}
        for test, in_block in _tests(scope):
            where = f"{path}, line {test.lineno}"
            try:
                if in_block:
                    raise ProblemError(
                        f"{where}: `{_shown(test)}` stands in a block, where it may be met often "
                        "or never; write each case as an assert of its own"
                    )
                call, result, tolerance = _read(test, functions.keys() - tests.keys(), where)
                if local := sorted(made.intersection(_names(test, ast.Load))):
                    raise ProblemError(
                        f"{where}: `{_shown(test)}` uses {', '.join(local)}, which the test "
                        "makes; write the value, or define it outside"
                    )
                name = call.func.id if isinstance(call.func, ast.Name) else ""
                arguments = _arguments(call, functions[name], where)
            except ProblemError as error:
                refused.append(str(error))
                continue
            problem = found.setdefault(name, _Found(functions[name]))
            if result is None:
                problem.truths.append(len(problem.cases))
            text = ast.unparse(result or ast.Constant(isinstance(test, ast.Call)))
            problem.cases.append(Case(arguments, text, tolerance))
    if refused:
        raise ProblemError("\n".join(refused))
    if not found:
        raise ProblemError(f"{path} has no assert that calls a function of its own")
    return found


def _tests(scope: ast.Module | ast.FunctionDef) -> Iterator[tuple[ast.expr, bool]]:
    """Yield what the asserts of a file or a test claim, and whether that stands in a block.

    Of an `and` each claim is one by itself.
    """
    for node in scope.body:
        if isinstance(node, ast.Assert):
            match node.test:
                case ast.BoolOp(ast.And(), claims):
                    yield from ((claim, False) for claim in claims)
                case claim:
                    yield claim, False
        elif not isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from (
                (part.test, True) for part in ast.walk(node) if isinstance(part, ast.Assert)
            )


def _sides(
    test: ast.expr, names: set[str], where: str
) -> tuple[list[ast.expr], Tolerance | None, str]:
    """Return what a claim compares, how far off that may be, and what is wrong with it otherwise.

    Raises:
        ProblemError: How far off it may be is no number.
    """
    sides: list[ast.expr] = [test]
    tolerance: Tolerance | None = None
    why = "is no comparison of one call with a value"
    match test:
        case ast.UnaryOp(ast.Not(), operand):
            sides = [operand]
        case ast.Compare(
            ast.Call(ast.Name("abs"), [ast.BinOp(first, ast.Sub(), second)]),
            [ast.Lt() | ast.LtE() as how],
            [ast.Constant(int() | float() as most)],
        ) | ast.Compare(
            ast.Constant(int() | float() as most),
            [ast.Gt() | ast.GtE() as how],
            [ast.Call(ast.Name("abs"), [ast.BinOp(first, ast.Sub(), second)])],
        ):
            sides = [first, second]
            if isinstance(how, ast.Lt | ast.Gt):  # what is off by `most` itself is wrong
                most = math.nextafter(most, 0.0)
            tolerance = Tolerance(float(most), 0.0)
        case ast.Compare(
            ast.Call(ast.Name("round"), [first, ast.Constant(int() as digits)]),
            [ast.Eq()],
            [second],
        ):
            sides, tolerance = [first, second], Tolerance(0.5 / 10.0**digits, 0.0)
        case _ if _is_near(test):
            raise ProblemError(
                f"{where}: `{_shown(test)}`: how far off a result may be must be written as a "
                "number, such as 0.01, and the digits of a rounding as one, such as 2"
            )
        case ast.Compare(first, [ast.Eq() | ast.Is()], [second]):
            sides = [first, second]
        case ast.Compare(
            first, [ast.In()], [ast.Tuple([only]) | ast.List([only]) | ast.Set([only])]
        ):
            sides = [first, only]
        case ast.Compare(ops=[how]) if type(how) in _WHY:
            why = _WHY[type(how)]
        case ast.Call(ast.Name("isinstance")):
            why = "says of which kind a result is, not which"
        case ast.Call(ast.Attribute(attr=name) | ast.Name(id=name), [first, second, *_]) if (
            name in (*_CLOSE, *_SAME) and name not in names
        ):
            sides = [first, second]
            if name in _CLOSE:
                tolerance = _named_tolerance(test, where)
                if tolerance.both == "sum" and _calls(second, names):  # numpy's: of the second
                    tolerance = replace(tolerance, rel_of="got")
    return sides, tolerance, why


def _is_near(test: ast.expr) -> bool:
    """Tell whether a claim says how far off a result may be, by `abs` or `round`."""
    match test:
        case (
            ast.Compare(
                ast.Call(ast.Name("abs"), [ast.BinOp(_, ast.Sub(), _)]), [ast.Lt() | ast.LtE()]
            )
            | ast.Compare(
                ops=[ast.Gt() | ast.GtE()], comparators=[ast.Call(ast.Name("abs"), [ast.BinOp()])]
            )
            | ast.Compare(ast.Call(ast.Name("round"), [_, _]), [ast.Eq()])
        ):
            return True
    return False


def _read(
    test: ast.expr, names: set[str], where: str
) -> tuple[ast.Call, ast.expr | None, Tolerance | None]:
    """Return the call a claim is about, what it must give, and how far off it may be.

    What it must give is None of a claim that it is true, or is not.
    """
    sides, tolerance, why = _sides(test, names, where)
    unwrapped = []
    for side in sides:
        match side:
            case ast.Call(ast.Attribute(attr="approx") | ast.Name(id="approx"), [value, *_]):
                if tolerance is not None:
                    raise ProblemError(f"{where}: `{_shown(test)}` names two tolerances; give one")
                tolerance = _named_tolerance(side, where)
                unwrapped.append(value)
            case _:
                unwrapped.append(side)
    calls = [side for side in unwrapped if isinstance(side, ast.Call) and _calls(side, names)]
    if len(calls) != 1:
        raise ProblemError(
            f"{where}: `{_shown(test)}` {why}; write `assert name(arguments) == result`"
        )
    (call,) = calls
    others = [side for side in unwrapped if side is not call]
    return call, others[0] if others else None, tolerance


def _calls(node: ast.expr, names: set[str]) -> bool:
    """Return whether an expression is a call of one of these functions."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def _shown(node: ast.AST) -> str:
    return ast.unparse(node)[:80]


def _names(node: ast.AST, how: type[ast.expr_context]) -> set[str]:
    """Return the names that a text stores, or loads."""
    parts = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return {part.id for part in parts if isinstance(part.ctx, how)}


def _named_tolerance(call: ast.Call, where: str) -> Tolerance:
    """Return how far off a function that compares numbers lets them be.

    Raises:
        ProblemError: That is no number.
    """
    name = ast.unparse(call.func)
    kind = name.rpartition(".")[2]
    if name in ("isclose", "math.isclose") and not any(
        word.arg in ("rtol", "atol") for word in call.keywords
    ):
        kind = "math.isclose"
    words, placed, usual = _TOLERANCES[kind]
    given = dict(zip(words, call.args[placed:], strict=False))
    given |= {word.arg: word.value for word in call.keywords if word.arg in words}
    stated = {}
    for word, node in given.items():
        try:
            number = ast.literal_eval(node)
        except ValueError:
            number = None
        if type(number) not in (int, float) or not 0 <= number <= 1e6:
            raise ProblemError(
                f"{where}: `{_shown(call)}`: its {word} must be written as a number, 0 to 1e6"
            )
        stated[word] = float(number)
    relative, absolute = words
    if kind == "approx" and absolute in stated and relative not in stated:
        return Tolerance(stated[absolute], 0.0)
    rel, most = (stated.get(word, number) for word, number in zip(words, usual, strict=True))
    if "rtol" in words:
        return Tolerance(most, rel)
    return Tolerance(most, rel, "larger" if kind == "math.isclose" else "expected", "larger")


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
        for case in problem.cases:
            parts = [case.arguments, *([] if case.result is None else [case.result])]
            words = list(map(_quoted, parts))
            if (most := case.tolerance) is None:
                yield f"    [{', '.join(words)}],"
                continue
            pairs = map("{} = {}".format, ("arguments", "result"), words)
            said = [f"abs = {most.abs!r}", f"rel = {most.rel!r}"]
            if most.rel and (most.rel_of, most.both) != ("expected", "sum"):
                said += [f'rel_of = "{most.rel_of}"', f'both = "{most.both}"']
            tolerance = f"{{ {', '.join(said)} }}"
            yield f"    {{ {', '.join(pairs)}, tolerance = {tolerance} }},"
        yield "]"


def _needed(used: set[str], shared: list[ast.stmt]) -> list[ast.stmt]:
    """Return the shared statements that bind a name in use, by way of others too."""
    needed: set[ast.stmt] = set()
    while True:
        before = len(needed)
        for node in shared:
            names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
            bound = {name.id for name in names if isinstance(name.ctx, ast.Store)}
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                bound.add(node.name)
            if node not in needed and not used.isdisjoint(bound):
                needed.add(node)
                used = used | {name.id for name in names}
        if len(needed) == before:
            return [node for node in shared if node in needed]


def _quoted(text: str) -> str:
    """Return a text as TOML writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = "".join(c if c >= " " or c == "\n" else f"\\u{ord(c):04X}" for c in escaped)
    return f'"""\n{escaped}\n"""' if "\n" in text else f'"{escaped}"'
