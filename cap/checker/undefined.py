"""Which names a program uses and nobody defines, with every place that calls them.

The answer is the compiler's own: a name is undefined if a code object of the compiled program
loads it as a global, and neither the program, its scope nor the builtins bind it. So locals,
parameters, comprehensions, class bodies, `global`, `nonlocal`, match captures and the walrus need
no rules here. Nothing is executed.

A name that no program calls is still a function to be written where it is handed to something that
calls what it is given:

- the first argument of `map`, `filter`, `np.vectorize` and `np.apply_along_axis`;
- the keyword argument `key`, of anything: `sorted(names, key=get_area)`;
- a keyword argument of anything whose last word says that it takes a function: `function`, `func`,
  `fn`, `callback`, `predicate` (`find(names, match_fn=is_red)`).

Everywhere else such a name is a fault of the program: a misspelt variable, more often than not.
"""

from __future__ import annotations

import ast
import dis
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cap.program.program import Program

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_BINDS = ("STORE_NAME", "STORE_GLOBAL", "DELETE_NAME", "DELETE_GLOBAL")
_STORE_NAME, _LOAD_GLOBAL = dis.opmap["STORE_NAME"], dis.opmap["LOAD_GLOBAL"]
_LOAD_NAMES = frozenset(
    dis.opmap[name] for name in _LOADS if name in dis.opmap and name != "LOAD_GLOBAL"
)
_ONE_BYTE = 127
"""As many names as an instruction can tell apart without a prefix; half for globals."""

_TAKERS = {"map": None, "filter": 1, "np.vectorize": None, "np.apply_along_axis": 1}
"""What calls its first argument, and with how many arguments; None if that varies."""
_SAYING = frozenset(("function", "func", "fn", "callback", "predicate"))

_Place = tuple[str, int, int]
"""A name with its line and column."""


@dataclass(frozen=True)
class CallSite:
    """One call of an undefined name."""

    text: str
    """The call, with the target it is assigned to: `area = get_area(name, unit='m')`.

    Where a statement does more with the value than keep it, the call, then that statement's head:
    `get_corners(box); for corner in get_corners(box)`.
    """
    line: int
    """1-based."""
    arguments: tuple[str, ...]
    """Positional arguments as written."""
    keywords: tuple[str, ...]
    """Names of keyword arguments."""
    dropped: bool = False
    """True if the call is a statement of its own, so that nobody has its value."""


@dataclass(frozen=True)
class Undefined:
    """A name that is used and defined nowhere."""

    name: str
    """The name."""
    line: int
    """Where it is first used."""
    calls: tuple[CallSite, ...]
    """Every place that calls it, then those that hand it to something that will; empty if it is
    only read."""
    reads: tuple[str, ...] = ()
    """What the other places that use it stand in: `sorted(names, key=get_area)`."""


def undefined(program: Program, known: Iterable[str]) -> tuple[Undefined, ...]:
    """Return the undefined names of a program, in order of first use.

    Args:
        program: The program, with whatever definitions come before it.
        known: Names in scope: primitives, variables, library names and builtins.
    """
    code = program.code
    known = frozenset(known)
    if _all_known(code, known):
        return ()
    bound = known | _module_bindings(code)
    places: dict[str, list[tuple[int, int]]] = {}
    for name, line, column in _global_loads(code):
        if name not in bound:
            places.setdefault(name, []).append((line, column))
    if not places:
        return ()
    calls, reads = _call_sites(program.tree), _reads(program.tree)
    handed = _handed_over(program.tree, frozenset(places))
    found = [
        Undefined(
            name=name,
            line=min(line for line, _ in spots),
            calls=(
                *(calls[name, *spot] for spot in unique if (name, *spot) in calls),
                *handed.get(name, ()),
            ),
            reads=tuple(
                reads.get((name, *spot), name) for spot in unique if (name, *spot) not in calls
            ),
        )
        for name, spots in places.items()
        for unique in [sorted(set(spots))]
    ]
    return tuple(sorted(found, key=lambda entry: (entry.line, entry.name)))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _all_known(code: types.CodeType, known: frozenset[str]) -> bool:
    """Tell at a glance, from the bare instructions, that nothing can be missing.

    Most programs are in order, and describing every instruction takes longer than running them.
    """
    bound = set(known)
    loaded: set[str] = set()
    for entry in _codes(code):
        names, steps = entry.co_names, entry.co_code
        if len(names) > _ONE_BYTE:
            return False
        for step, number in zip(steps[::2], steps[1::2], strict=True):
            if step == _STORE_NAME and entry is code:
                bound.add(names[number])
            elif step in _LOAD_NAMES:
                loaded.add(names[number])
            elif step == _LOAD_GLOBAL:
                loaded.add(names[number >> 1])
    return loaded <= bound


def _module_bindings(code: types.CodeType) -> set[str]:
    """Return names bound at module level, there or by a `global` statement anywhere."""
    bound: set[str] = set()
    for entry in _codes(code):
        for step in dis.get_instructions(entry):
            if step.opname in _BINDS and (entry is code or step.opname.endswith("GLOBAL")):
                bound.add(step.argval)
    return bound


def _global_loads(code: types.CodeType) -> Iterator[tuple[str, int, int]]:
    """Yield every load of a global: name, line, column."""
    for entry in _codes(code):
        steps = list(dis.get_instructions(entry))
        # In a class body a plain name may be the body's own.
        own = set() if entry is code else {s.argval for s in steps if s.opname == "STORE_NAME"}
        own |= {"__name__", "__annotations__"}  # every module has them
        for step in steps:
            if step.opname in _LOADS and step.argval not in own and step.positions:
                yield step.argval, step.positions.lineno or 1, step.positions.col_offset or 0


def _call_sites(tree: ast.Module) -> dict[_Place, CallSite]:
    """Return every call by plain name, keyed by the name and where it stands."""
    uses: dict[int, str] = {}
    dropped: set[int] = set()
    for node in ast.walk(tree):
        uses.update(_use(node))
        if isinstance(node, ast.Expr):
            dropped.add(id(node.value))
    return {
        (node.func.id, node.func.lineno, node.func.col_offset): CallSite(
            text=uses.get(id(node)) or _text(node),
            line=node.lineno,
            arguments=tuple(map(_text, node.args)),
            keywords=tuple(keyword.arg or "**" for keyword in node.keywords),
            dropped=id(node) in dropped,
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }


def _use(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the call whose value a node binds or goes through, by its id, with how."""
    match node:
        case ast.Assign(targets=targets, value=ast.Call() as call):
            yield id(call), "".join(f"{_text(target)} = " for target in targets) + _text(call)
        case (
            ast.AnnAssign(target=target, value=ast.Call() as call)
            | ast.NamedExpr(target=target, value=ast.Call() as call)
        ):
            yield id(call), f"{_text(target)} = {_text(call)}"
        case ast.AugAssign(value=ast.Call() as call):
            yield id(call), f"{_text(call)}; {_text(node)}"
        case ast.withitem(context_expr=ast.Call() as call):
            yield id(call), f"{_text(call)}; with {_text(node)}"
        case (
            ast.For(target=target, iter=ast.Call() as call)
            | ast.comprehension(target=target, iter=ast.Call() as call)
        ):
            yield id(call), f"{_text(call)}; for {_text(target)} in {_text(call)}"


def _reads(tree: ast.Module) -> dict[_Place, str]:
    """Return what every name stands in: the expression around it, or the simple statement."""
    around: dict[_Place, str] = {}
    for node in ast.walk(tree):  # a call comes before its keywords and starred arguments
        for entry in _parts(node):
            if isinstance(entry, ast.Name):
                place = (entry.id, entry.lineno, entry.col_offset)
                around.setdefault(place, _text(node) if _is_whole(node) else entry.id)
    return around


def _is_whole(node: ast.AST) -> bool:
    """Tell whether a node reads well by itself."""
    if isinstance(node, ast.stmt):
        return not hasattr(node, "body") and not isinstance(node, ast.Match)
    return isinstance(node, ast.expr) and not isinstance(node, ast.FormattedValue)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    yield from ast.iter_child_nodes(node)
    if isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords)
        yield from (entry.value for entry in node.args if isinstance(entry, ast.Starred))


def _text(node: ast.AST) -> str:
    """Return the source of a node; of one nested too deep for that, dots."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return "..."


def _handed_over(tree: ast.Module, names: frozenset[str]) -> dict[str, list[CallSite]]:
    """Return the places that hand names to something that calls them, each as a call of it."""
    found: dict[str, list[CallSite]] = {}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            for name, arguments in _taken(call):
                if name in names:
                    text = f"{name}({', '.join(arguments)}); {_text(call)}"
                    site = CallSite(text, call.lineno, arguments, keywords=())
                    found.setdefault(name, []).append(site)
    return found


def _taken(call: ast.Call) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names a call will call, with the arguments it will give as far as is known."""
    if call.args and isinstance(call.args[0], ast.Name):
        taker = _text(call.func)
        if taker in _TAKERS:
            yield call.args[0].id, _items(call, taker)
    for keyword in call.keywords:
        if keyword.arg and isinstance(keyword.value, ast.Name):
            if keyword.arg == "key":
                yield keyword.value.id, ("item",)
            elif keyword.arg.split("_")[-1] in _SAYING:
                yield keyword.value.id, ("*items",)


def _items(call: ast.Call, taker: str) -> tuple[str, ...]:
    if taker == "map" and not any(isinstance(entry, ast.Starred) for entry in call.args):
        count = len(call.args) - 1
        return ("item",) if count == 1 else tuple(f"item{n}" for n in range(1, count + 1))
    return ("item",) if _TAKERS[taker] == 1 else ("*items",)
