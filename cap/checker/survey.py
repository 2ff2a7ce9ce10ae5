"""One look at a whole program: what it binds, calls and reads, and where a rule has an exception.

Every rule of the check goes by this one survey, so that all of them see the same program.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cap.checker.allowlist import EVERYWHERE, NUMPY, module_names
from cap.checker.attributes import DATA_MODEL, reason_against
from cap.checker.policy import Policy
from cap.errors import did_you_mean
from cap.program.private_names import (
    FORMATS,
    LEADS_OUT,
    TABLES,
    base_names,
    is_private,
    is_special,
)

if TYPE_CHECKING:
    from cap.program.scope import Definition, Scope

BINDING = frozenset(
    [
        *(ast.Name, ast.FunctionDef, ast.ClassDef, ast.arg, ast.ExceptHandler, ast.Global),
        *(ast.Nonlocal, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
    ]
)
Function = ast.FunctionDef | ast.Lambda
_WORDS = re.compile(r"\w+")
_PARTS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: (),
    ast.Constant: (),
    ast.Attribute: ("value",),
    ast.Subscript: ("value", "slice"),
    ast.Call: ("func", "args", "keywords"),
    ast.keyword: ("value",),
    ast.Assign: ("targets", "value"),
    ast.List: ("elts",),
    ast.Tuple: ("elts",),
    ast.FormattedValue: ("value", "format_spec"),
}
"""Where the commonest nodes have others below them; all fields but the context of use."""
_NONE: tuple[Any, ...] = ()


@dataclass
class Survey:
    """A program at a glance."""

    policy: Policy
    """What is allowed."""
    reserved: frozenset[str]
    """Names the program may not bind: primitives and their groups."""
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Objects of its scope whose attributes are primitives, with their names."""
    given: frozenset[str] = frozenset()
    """Every name its scope gives it, besides the library."""
    kinds: dict[type, list[Any]] = field(default_factory=dict)
    """Every node by its class, level by level."""
    functions: dict[str, Function] = field(default_factory=dict)
    """Functions bound at the top level, without decorators."""
    bound: dict[str, int] = field(default_factory=dict)
    """How often each name is bound, in any scope, but for imports."""
    imported: dict[str, int] = field(default_factory=dict)
    """How often imports bind each name."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Modules by the name the program knows them by."""
    own: set[str] = field(default_factory=set)
    """Attributes the program's own classes bind."""
    permitted: set[int] = field(default_factory=set)
    """Ids of the nodes where a rule has an exception."""
    shadows: set[int] = field(default_factory=set)
    """Ids of the names that stand for a variable, though a module bears that name elsewhere."""
    kept: Sequence[Definition] = ()
    """Functions and classes put in place before the program."""

    hints: int = 5
    """How many more findings come with a suggestion: to find one takes long."""

    def did_you_mean(self, name: str, known: Iterable[str]) -> str:
        """Return the suggestion for a name, as long as there are few of them."""
        self.hints -= 1
        return did_you_mean(name, known) if self.hints >= 0 else ""

    def of(self, *kinds: type) -> Iterator[Any]:
        """Yield every node of some kinds."""
        for kind in kinds:
            yield from self.kinds.get(kind, _NONE)

    def bindings(self, name: str) -> int:
        """Return how often a name is bound, imports included."""
        return self.bound.get(name, 0) + self.imported.get(name, 0)

    @cached_property
    def given_words(self) -> frozenset[str]:
        """Names of attributes that the program itself gives to something.

        By an assignment, as a keyword or in a text; or a definition it was handed does.
        """
        found: list[str] = []
        texts = [entry.source for entry in self.kept]
        for node in self.of(ast.Attribute, ast.keyword, ast.Constant):
            match node:
                case ast.Attribute(value=ast.Name(), attr=name, ctx=ast.Store()):
                    found.append(name)
                case ast.keyword(arg=str(name)):
                    found.append(name)
                case ast.Constant(value=str(text)):
                    texts.append(text)
        return frozenset(found).union(*map(_WORDS.findall, texts))

    @cached_property
    def bases(self) -> frozenset[str]:
        """Names that the program's classes have as bases."""
        return base_names(self.of(ast.ClassDef))

    @cached_property
    def tried(self) -> Mapping[str, Set[int]]:
        """Ids of what stands in a `try` that catches `ImportError` or `TypeError` by that name.

        What catches `ModuleNotFoundError` catches what a missing module raises, too.
        """
        found: dict[str, set[int]] = {"ImportError": set(), "TypeError": set()}
        for node in self.of(ast.Try):
            caught = [handler.type for handler in node.handlers]
            caught += [part for kind in caught if isinstance(kind, ast.Tuple) for part in kind.elts]
            names = {getattr(kind, "id", "") for kind in caught}
            if "ModuleNotFoundError" in names:
                names.add("ImportError")
            for error in names & found.keys():
                parts = (part for entry in node.body for part in ast.walk(entry))
                found[error].update(map(id, parts))
        return found

    @cached_property
    def library_names(self) -> frozenset[str]:
        """Names that stand for parts of the library alone, be it by an import or as another's."""
        found = {*EVERYWHERE, *self.imported} - self.bound.keys() - self.given
        for node in self.of(ast.Assign):
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    while isinstance(value, ast.Attribute):
                        value = value.value
                    if getattr(value, "id", "") in found and self.bindings(name) == 1:
                        found.add(name)
        return frozenset(found)

    def module(self, node: ast.expr) -> str | None:
        """Return the full name of the listed module an expression stands for, or None."""
        if isinstance(node, ast.Name):
            return None if id(node) in self.shadows else self.aliases.get(node.id)
        if isinstance(node, ast.Attribute) and (top := self.module(node.value)):
            name = f"{top}.{node.attr}"
            return name if module_names(name) is not None else None
        return None


def survey(
    tree: ast.Module,
    policy: Policy,
    scope: Scope | None = None,
    reserved: frozenset[str] = frozenset(),
) -> Survey | None:
    """Look at every node once, without recursion; None if there are too many or too deep ones.

    Args:
        tree: The program.
        policy: What is allowed.
        scope: What the program may use besides the library.
        reserved: Names it may not bind, besides the scope's primitives.
    """
    found = Survey(policy, reserved)
    found.aliases = {**dict.fromkeys(NUMPY, "numpy"), "math": "math", "affinity": "affinity"}
    if scope is not None:
        found.reserved = reserved.union(scope.primitives, scope.groups)
        found.groups, found.given = scope.groups, scope.names()
        found.kept = scope.definitions
        for name in found.given & found.aliases.keys():  # there, the module is not meant
            del found.aliases[name]
    if (kinds := _by_kind(tree, policy)) is None:
        return None
    found.kinds = kinds
    for kind in kinds.keys() & BINDING:
        for node in kinds[kind]:
            if kind is ast.Name:
                if type(node.ctx) is not ast.Load:
                    found.bound[node.id] = found.bound.get(node.id, 0) + 1
            else:
                _count(found.bound, bound_names(node))
    for node in found.of(ast.Import, ast.ImportFrom):
        _count(found.imported, bound_names(node))
        if type(node) is ast.Import:
            for alias in node.names:
                if isinstance(alias, ast.alias) and alias.name in policy.modules:
                    top = alias.name.split(".")[0]
                    found.aliases[alias.asname or top] = alias.name if alias.asname else top
    classes: list[ast.ClassDef] = kinds.get(ast.ClassDef, [])
    found.functions = dict(_functions(tree))
    for owner in classes:
        found.own.update(_own_attributes(owner))
    for owner in classes:
        found.permitted.update(_permitted_in_class(owner))
    if rebound := found.bound.keys() & found.aliases.keys():
        for name in bound_in(tree) & rebound:
            del found.aliases[name]
        found.shadows.update(_shadows(tree, rebound))
    return found


def _by_kind(tree: ast.Module, policy: Policy) -> dict[type[ast.AST], list[Any]] | None:
    """Return every node by its kind, level by level; None if there are too many or too deep."""
    kinds: dict[type[ast.AST], list[Any]] = {}
    count = 0
    level: list[Any] = [tree]
    for _ in range(policy.max_depth):
        if not level:
            break
        below: list[Any] = []
        for node in level:
            kind = type(node)
            alike = kinds.get(kind)
            if alike is None:
                if not issubclass(kind, ast.AST):  # a keyless entry of a dictionary, a name
                    continue
                alike = kinds[kind] = []
            alike.append(node)
            count += 1
            parts = _PARTS.get(kind)
            for name in node._fields if parts is None else parts:
                value = getattr(node, name, None)
                if type(value) is list:
                    below += value
                elif value is not None:
                    below.append(value)
        if count + len(below) > policy.max_nodes:
            return None
        level = below
    return None if any(issubclass(type(node), ast.AST) for node in level) else kinds


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def bound_in(scope: ast.AST) -> set[str]:
    """Return the names a program or function binds, but for imports and its inner functions."""
    found: set[str] = set()
    for node in scope_nodes(scope):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            found.update(bound_names(node))
    return found


def scope_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a program or function, but for those inside its inner functions."""
    stack = [*ast.iter_child_nodes(scope)]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack += ast.iter_child_nodes(node)


def _shadows(tree: ast.Module, rebound: Set[str]) -> Iterator[int]:
    """Yield the ids of names inside the functions that bind them for themselves."""
    stack: list[tuple[ast.AST, frozenset[str]]] = [(tree, frozenset())]
    while stack:
        node, bound = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            bound = bound.union(bound_in(node) & rebound)
        elif isinstance(node, ast.Name) and node.id in bound:
            yield id(node)
        stack += [(part, bound) for part in ast.iter_child_nodes(node)]


def _count(times: dict[str, int], names: Iterable[str]) -> None:
    for name in names:
        times[name] = times.get(name, 0) + 1


def _functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]):
                yield name, node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
                yield name, value


def _own_attributes(owner: ast.ClassDef) -> Iterable[str]:
    """Yield the names a class binds: in its body, and of `self` in its methods."""
    for entry in owner.body:
        targets = entry.targets if isinstance(entry, ast.Assign) else [entry]
        for target in targets:
            yield from bound_names(target.target if isinstance(target, ast.AnnAssign) else target)
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(ast.Name("self"), name, ast.Store()):
                yield name


def _permitted_in_class(owner: ast.ClassDef) -> Iterable[int]:
    """Permit a class's own `__x`, and calls of the special methods it inherits."""
    bases = {base.id for base in owner.bases if isinstance(base, ast.Name)}
    for node in ast.walk(owner):
        match node:  # `super().__init__(...)`, or `Base.__init__(...)` of a base of the class
            case ast.Call(ast.Attribute(ast.Call(ast.Name("super")), name) as function):
                if name in DATA_MODEL:
                    yield id(function)
            case ast.Call(ast.Attribute(ast.Name(base), name) as function):
                if base in bases and name in DATA_MODEL:
                    yield id(function)
    for entry in owner.body:
        if isinstance(entry, ast.FunctionDef) and (
            is_private(entry.name) or is_special(entry.name)
        ):
            yield id(entry)  # the rule for classes judges the special ones
        elif isinstance(entry, ast.Assign | ast.AnnAssign):
            targets = entry.targets if isinstance(entry, ast.Assign) else [entry.target]
            for target in targets:
                if not isinstance(target, ast.Name):
                    continue
                own = is_private(target.id) or target.id in DATA_MODEL
                if own or _is_table(target.id, entry.value):
                    yield id(target)
            if isinstance(entry.value, ast.Name) and entry.value.id in DATA_MODEL:
                yield id(entry.value)  # `__radd__ = __add__`


def _is_table(name: str, value: ast.expr | None) -> bool:
    """Tell whether a class binds `__slots__` or `__match_args__` to attributes it may name."""
    if name not in TABLES:
        return False
    named = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
    return (isinstance(value, ast.Tuple) or name == "__slots__") and all(
        isinstance(entry, ast.Constant)
        and isinstance(entry.value, str)
        and entry.value not in (*FORMATS, "mro")
        and reason_against(entry.value, LEADS_OUT) is None
        for entry in named
    )


def is_whole(node: ast.Import | ast.ImportFrom) -> bool:
    """Tell whether an import is as a parser makes it; a tree made by hand may hold anything."""
    return all(isinstance(alias, ast.alias) for alias in node.names)


def bound_names(node: ast.AST) -> Sequence[str]:
    """Return the names a node binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            return (name,)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return (name,)
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return (name,)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [
                alias.asname or alias.name.split(".")[0]
                for alias in names
                if isinstance(alias, ast.alias)
            ]
    return ()
