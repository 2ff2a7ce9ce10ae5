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
from typing import Any

from cap.checker.allowlist import module_names
from cap.program.private_names import MARK
from cap.program.program import MAX_SOURCE_CHARS, Program

_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_BINDS_GLOBAL = frozenset((dis.opmap["STORE_GLOBAL"], dis.opmap["DELETE_GLOBAL"]))
_BINDS = _BINDS_GLOBAL | {dis.opmap["STORE_NAME"], dis.opmap["DELETE_NAME"]}
_STORE_NAME, _LOAD_GLOBAL = dis.opmap["STORE_NAME"], dis.opmap["LOAD_GLOBAL"]
_LOAD_NAMES = frozenset(
    dis.opmap[name] for name in _LOADS if name in dis.opmap and name != "LOAD_GLOBAL"
)
_ON_NAMES = (
    (_STORE_NAME, 0, "bound"),
    (_LOAD_GLOBAL, 1, "loaded"),
    *((step, 0, "loaded") for step in _LOAD_NAMES),
)
"""Instructions with a name: by how many bits its number is shifted, and what becomes of it."""
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
    """Return the undefined names of a program, in order of first use; none of one that expands.

    Args:
        program: The program, with whatever definitions come before it.
        known: Names in scope: primitives, variables, library names and builtins.
    """
    if program.expands:  # it is refused for that, and never compiled
        return ()
    code = program.code
    known = frozenset(known)
    if _all_known(code, known):
        return ()
    bound = set(known)
    for entry in _codes(code):  # at module level, there or by a `global` statement anywhere
        binds = _BINDS if entry is code else _BINDS_GLOBAL
        bound.update(entry.co_names[number] for step, number in _steps(entry) if step in binds)
    for node in program.tree.body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            bound |= module_names(node.module or "") or frozenset()
    places: dict[str, list[tuple[int, int]]] = {}
    for name, line, column in _global_loads(code):
        if name not in bound:
            places.setdefault(name, []).append((line, column))
    if not places:
        return ()
    names, texts = frozenset(places), _Texts()
    calls = _call_sites(program.tree, names, texts)
    handed = _handed_over(program.tree, names, texts)
    reads = _reads(program.tree, names, texts)
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
    bound: set[str] = set()
    loaded: set[str] = set()
    for entry in _codes(code):
        names = entry.co_names
        if entry is not code and known.issuperset(names):
            continue
        if len(names) > _ONE_BYTE:
            return False
        steps, numbers = entry.co_code[::2], entry.co_code[1::2]
        for step, shift, found in _ON_NAMES:
            at = steps.find(step)
            while at >= 0:
                if found == "loaded":
                    loaded.add(names[numbers[at] >> shift])
                elif entry is code:
                    bound.add(names[numbers[at]])
                at = steps.find(step, at + 1)
    # Those with the mark are the program's own, or builtins.
    return all(name in known or MARK in name for name in loaded - bound)


def _steps(code: types.CodeType) -> Iterator[tuple[int, int]]:
    """Yield every instruction's number and argument, prefixes and caches among them.

    `dis` describes each one in a time that grows with the jumps there are.
    """
    prefix = 0
    for step, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        yield step, prefix | argument
        prefix = (prefix | argument) << 8 if step == dis.EXTENDED_ARG else 0


def _global_loads(code: types.CodeType) -> Iterator[tuple[str, int, int]]:
    """Yield every load of a global: name, line, column."""
    for entry in _codes(code):
        names = entry.co_names
        # In a class body a plain name may be the body's own.
        own = {"__name__", "__annotations__", "__doc__"}  # every module has them
        if entry is not code:
            own.update(names[number] for step, number in _steps(entry) if step == _STORE_NAME)
        for (step, number), place in zip(_steps(entry), entry.co_positions(), strict=True):
            if step == _LOAD_GLOBAL:
                name = names[number >> 1]
            elif step in _LOAD_NAMES:
                name = names[number]
            else:
                continue
            if name not in own and MARK not in name:
                yield name, place[0] or 1, place[2] or 0


class _Texts:
    """Nodes as source, each written once, and not more in all than a few programs' length."""

    def __init__(self) -> None:
        self._left_chars = 4 * MAX_SOURCE_CHARS
        self._written: dict[int, str] = {}

    def of(self, node: ast.AST) -> str:
        """Return the source of a node; dots for one nested too deep, or once enough is written."""
        if id(node) not in self._written:
            self._written[id(node)] = self._write(node)
        return self._written[id(node)]

    def _write(self, node: ast.AST) -> str:
        if self._left_chars <= 0:
            return "..."
        try:
            text = ast.unparse(node)
        except RecursionError:
            return "..."
        self._left_chars -= len(text)
        return text


def _call_sites(tree: ast.Module, names: frozenset[str], texts: _Texts) -> dict[_Place, CallSite]:
    """Return every call of these names, keyed by the name and where it stands."""
    uses: dict[int, str] = {}
    dropped = set[int]()
    calls: list[tuple[Any, ast.Name]] = []
    for node in ast.walk(tree):
        uses.update(_use(node, names, texts))
        if isinstance(node, ast.Expr):
            dropped.add(id(node.value))
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Name) and function.id in names:
            calls.append((node, function))
    return {
        (function.id, function.lineno, function.col_offset): CallSite(
            text=uses.get(id(node)) or texts.of(node),
            line=node.lineno,
            arguments=tuple(map(texts.of, node.args)),
            keywords=tuple(keyword.arg or "**" for keyword in node.keywords),
            dropped=id(node) in dropped,
        )
        for node, function in calls
    }


def _use(node: ast.AST, names: frozenset[str], texts: _Texts) -> Iterator[tuple[int, str]]:
    """Yield the call of one of these names whose value a node binds or goes through, with how."""
    call = getattr(node, "value", None) or getattr(node, "iter", None)
    call = call or getattr(node, "context_expr", None)
    if not isinstance(call, ast.Call) or getattr(call.func, "id", None) not in names:
        return
    text = texts.of
    match node:
        case ast.Assign(targets=targets):
            yield id(call), "".join(f"{text(target)} = " for target in targets) + text(call)
        case ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            yield id(call), f"{text(target)} = {text(call)}"
        case ast.AugAssign():
            yield id(call), f"{text(call)}; {text(node)}"
        case ast.withitem():
            yield id(call), f"{text(call)}; with {text(node)}"
        case ast.For(target=target) | ast.comprehension(target=target):
            yield id(call), f"{text(call)}; for {text(target)} in {text(call)}"


def _reads(tree: ast.Module, names: frozenset[str], texts: _Texts) -> dict[_Place, str]:
    """Return what each of these names stands in: the expression around it, or the statement."""
    around: dict[_Place, str] = {}
    for node in ast.walk(tree):  # a call comes before its keywords and starred arguments
        if isinstance(node, ast.stmt):
            reads_well = not hasattr(node, "body") and not isinstance(node, ast.Match)
        else:
            reads_well = isinstance(node, ast.expr) and not isinstance(node, ast.FormattedValue)
        for entry in _parts(node):
            if isinstance(entry, ast.Name) and entry.id in names:
                place = (entry.id, entry.lineno, entry.col_offset)
                if place not in around:
                    around[place] = texts.of(node) if reads_well else entry.id
    return around


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    yield from ast.iter_child_nodes(node)
    if isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords)
        yield from (entry.value for entry in node.args if isinstance(entry, ast.Starred))


def _handed_over(
    tree: ast.Module, names: frozenset[str], texts: _Texts
) -> dict[str, list[CallSite]]:
    """Return the places that hand names to something that calls them, each as a call of it."""
    found: dict[str, list[CallSite]] = {}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            for name, arguments in _taken(call):
                if name in names:
                    text = f"{name}({', '.join(arguments)}); {texts.of(call)}"
                    site = CallSite(text, call.lineno, arguments, keywords=())
                    found.setdefault(name, []).append(site)
    return found


def _taken(call: ast.Call) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names a call will call, with the arguments it will give as far as is known."""
    if call.args and isinstance(call.args[0], ast.Name):
        taker = _path(call.func)
        if taker in _TAKERS:
            yield call.args[0].id, _items(call, taker)
    for keyword in call.keywords:
        if keyword.arg and isinstance(keyword.value, ast.Name):
            if keyword.arg == "key":
                yield keyword.value.id, ("item",)
            elif keyword.arg.split("_")[-1] in _SAYING:
                yield keyword.value.id, ("*items",)


def _path(node: ast.expr) -> str:
    """Return a name, or an attribute of one, as written; "" for anything else."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _items(call: ast.Call, taker: str) -> tuple[str, ...]:
    if taker == "map" and not any(isinstance(entry, ast.Starred) for entry in call.args):
        count = len(call.args) - 1
        return ("item",) if count == 1 else tuple(f"item{n}" for n in range(1, count + 1))
    return ("item",) if _TAKERS[taker] == 1 else ("*items",)
