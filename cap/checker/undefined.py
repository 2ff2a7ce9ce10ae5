"""Which names a program uses and nothing defines, with every place that calls them.

Python's own symbol table says which names are global in which function, class or comprehension; a
name is undefined if it is read as a global, and neither the program, its scope nor the builtins
bind it. Nothing is executed.

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
import re
import symtable
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cap.checker.policy import module_names
from cap.checker.rules import bound_names
from cap.errors import CheckFailed, did_you_mean, one_edit
from cap.program.program import Program
from cap.program.scope import Primitive
from cap.prompt.docs import call_of

_TAKERS = {"map": None, "filter": 1, "np.vectorize": None, "np.apply_along_axis": 1}
"""What calls its first argument, and with how many arguments; None if that varies."""
_SAYING = frozenset(("function", "func", "fn", "callback", "predicate"))
_SHORT_WORDS = {
    "object": "obj",
    "location": "loc",
    "position": "pos",
    "trajectory": "traj",
    "point": "pt",
    "points": "pts",
    "velocity": "vel",
}
"""Words of names that are written out or short."""
_SHORTEST = 5
"""Names of fewer letters are too much alike."""

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
    """What the uses that are no calls stand in, such as `sorted(names, key=get_area)`."""


class UndefinedName(CheckFailed):
    """A name that is read, not called, and defined nowhere."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def undefined(program: Program, known: Iterable[str]) -> tuple[Undefined, ...]:
    """Return the undefined names of a program, in order of first use.

    Args:
        program: The program, with whatever definitions come before it.
        known: Names in scope: primitives, variables, library names and builtins.
    """
    table = program.table
    bound = {*known, "__name__", "__annotations__", "__doc__", *_walruses(program.tree)}
    for entry in _tables(table):  # at module level, there or by a `global` statement anywhere
        bound.update(
            symbol.get_name()
            for symbol in entry.get_symbols()
            if (entry is table or symbol.is_declared_global())
            and (symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace())
        )
    for node in program.tree.body:
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            bound |= module_names(node.module or "") or frozenset()
    missing = {
        symbol.get_name()
        for entry in _tables(table)
        for symbol in entry.get_symbols()
        if _is_missing(symbol, bound)
    }
    if not missing:
        return ()
    functions = (node for node in ast.walk(program.tree) if isinstance(node, ast.FunctionDef))
    locals_ = (node for entry in functions for node in ast.walk(entry))
    notes = (node.annotation for node in locals_ if isinstance(node, ast.AnnAssign))
    unread = {id(part) for note in notes for part in ast.walk(note)}  # of locals: never evaluated
    places: dict[str, list[tuple[int, int]]] = {}
    for inner in (False, True):  # in a function that has its own only if it is nowhere else
        for read in [*_reads_of(program.tree, missing - places.keys(), inner)]:
            if id(read) in unread:
                continue
            places.setdefault(read.id, []).append((read.lineno, read.col_offset))
    names = frozenset(places)
    calls = _call_sites(program.tree, names)
    handed = _handed_over(program.tree, names)
    reads = _reads(program.tree, names)
    found = [
        Undefined(
            name=name,
            line=min(line for line, _ in spots),
            calls=(
                *(calls[name, *spot] for spot in sorted(spots) if (name, *spot) in calls),
                *handed.get(name, ()),
            ),
            reads=tuple(
                reads.get((name, *spot), name)
                for spot in sorted(spots)
                if (name, *spot) not in calls
            ),
        )
        for name, spots in places.items()
    ]
    return tuple(sorted(found, key=lambda entry: (entry.line, entry.name)))


def why_undefined(
    entry: Undefined, known: Iterable[str], primitives: Mapping[str, Primitive]
) -> str | None:
    """Return why an undefined name is a fault; None if it may be generated.

    Args:
        entry: The name.
        known: Names in scope.
        primitives: The functions in scope: the name may be meant to be one of them.
    """
    if meant := near_miss(entry.name, primitives):
        return f"there is no '{entry.name}'; there is {call_of(primitives[meant])}"
    if entry.calls:
        return None
    return f"name '{entry.name}' is not defined.{did_you_mean(entry.name, known)}"


def near_miss(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a name is meant to be: the same words, or one edit away."""
    known, words = list(known), _words_of(name)
    same = (other for other in known if words == _words_of(other) and name != other)
    edited = (other for other in known if one_edit(name.lower(), other.lower()))
    return next(same, None) or (next(edited, None) if len(name) >= _SHORTEST else None)


def _words_of(name: str) -> list[str]:
    spread = re.sub("([A-Z])", r"_\1", name).lower()
    return [_SHORT_WORDS.get(word, word) for word in spread.split("_") if word]


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """Yield the tables of a program, its functions, classes and comprehensions."""
    yield table
    for child in table.get_children():
        yield from _tables(child)


def _walruses(node: ast.AST) -> Iterator[str]:
    """Yield what `:=` sets at module level; in comprehensions some Pythons' tables lack it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.NamedExpr):
            yield child.target.id
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
        ):
            yield from _walruses(child)


def _is_missing(symbol: symtable.Symbol, bound: set[str]) -> bool:
    if symbol.is_local() or symbol.is_free():  # not `is_global`: wrong in a function called `top`
        return False
    return symbol.is_referenced() and symbol.get_name() not in bound


_OWN_NAMES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def _reads_of(node: ast.AST, names: set[str], inner: bool) -> Iterator[ast.Name]:
    """Yield where these names are read; unless `inner`, not in functions that bind their own."""
    if isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
        yield node
    if isinstance(node, _OWN_NAMES) and not inner:
        names = names - _own_names(node)
    for child in ast.iter_child_nodes(node) if names else ():
        yield from _reads_of(child, names, inner)


def _own_names(function: ast.AST) -> set[str]:
    """Return the names that a function, or a comprehension, binds for itself."""
    found = set[str]()
    left = [*ast.iter_child_nodes(function)]
    while left:
        node = left.pop()
        if isinstance(node, ast.Global | ast.Nonlocal):
            continue
        found.update(bound_names(node))
        if not isinstance(node, (*_OWN_NAMES, ast.ClassDef)):
            left += ast.iter_child_nodes(node)
    return found


def _call_sites(tree: ast.Module, names: frozenset[str]) -> dict[_Place, CallSite]:
    """Return every call of these names, keyed by the name and where it stands."""
    uses: dict[int, str] = {}
    calls: list[tuple[Any, ast.Name]] = []
    for node in ast.walk(tree):
        uses.update(_use(node, names))
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Name) and function.id in names:
            calls.append((node, function))
    return {
        (function.id, function.lineno, function.col_offset): CallSite(
            text=uses.get(id(node)) or ast.unparse(node),
            line=node.lineno,
            arguments=tuple(map(ast.unparse, node.args)),
            keywords=tuple(keyword.arg or "**" for keyword in node.keywords),
        )
        for node, function in calls
    }


def _use(node: ast.AST, names: frozenset[str]) -> Iterator[tuple[int, str]]:
    """Yield the call of one of these names whose value a node binds or goes through, with how."""
    call = getattr(node, "value", None) or getattr(node, "iter", None)
    call = call or getattr(node, "context_expr", None)
    if not isinstance(call, ast.Call) or getattr(call.func, "id", None) not in names:
        return
    text = ast.unparse
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


def _reads(tree: ast.Module, names: frozenset[str]) -> dict[_Place, str]:
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
                    around[place] = ast.unparse(node) if reads_well else entry.id
    return around


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    yield from ast.iter_child_nodes(node)
    if isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords)
        yield from (entry.value for entry in node.args if isinstance(entry, ast.Starred))


def _handed_over(tree: ast.Module, names: frozenset[str]) -> dict[str, list[CallSite]]:
    """Return the places that hand names to something that calls them, each as a call of it."""
    found: dict[str, list[CallSite]] = {}
    for call in ast.walk(tree):
        if isinstance(call, ast.Call):
            for name, arguments in _taken(call):
                if name in names:
                    text = f"{name}({', '.join(arguments)}); {ast.unparse(call)}"
                    site = CallSite(text, call.lineno, arguments, keywords=())
                    found.setdefault(name, []).append(site)
    return found


def _taken(call: ast.Call) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names a call will call, with the arguments it will give as far as is known."""
    if call.args and isinstance(call.args[0], ast.Name):
        taker = ast.unparse(call.func)
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
