"""Static faults: calls that cannot fit what they call, attributes that libraries do not have.

Only what is certain counts. A name is looked at if the whole program binds it nowhere, or binds it
once, at the top level, to a function; a call with stars, of a decorated function, or of anything
bound a second time is left to run. A call is wrong if it fits no function its name can stand for:
a program may redefine what a session kept. A certain fault counts also where it may never be
reached, and where a handler would catch it. Nothing is executed.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, NamedTuple

from cap.checker.allowlist import NUMPY, SHAPELY_GEOMETRY, module_names
from cap.checker.survey import BINDING, bound_names
from cap.errors import did_you_mean
from cap.program.program import Program, ProgramSyntaxError
from cap.scope import Scope

_MODULES = {**dict.fromkeys(NUMPY, "numpy"), "math": "math", "affinity": "affinity"}
_BUILTINS = (str, list, dict, set, tuple, int, float)
_CLASSES = frozenset([*SHAPELY_GEOMETRY, *(kind.__name__ for kind in _BUILTINS)]) - {"box"}
"""Library classes whose attributes are known, those of their instances too."""
_BINDING = BINDING | {ast.Import, ast.ImportFrom}
_NO_NODES = ("ctx", "op", "ops", "id", "attr", "kind", "type_comment", "level")
_EMPTY = inspect.Parameter.empty
_POSITIONAL = inspect.Parameter.POSITIONAL_ONLY
_EITHER = inspect.Parameter.POSITIONAL_OR_KEYWORD
_STAR = inspect.Parameter.VAR_POSITIONAL
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_STARS = inspect.Parameter.VAR_KEYWORD
_Function = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Fault:
    """Something in a program that cannot be."""

    line: int
    """1-based."""
    reason: str
    """What, and what was perhaps meant."""


class _Survey(NamedTuple):
    """One program at a glance."""

    calls: list[ast.Call]
    attributes: list[ast.Attribute]
    bound: dict[str, int]
    """How often each name is bound, in any scope."""
    functions: dict[str, _Function]
    """Functions bound at the top level."""


def static_faults(program: Program, scope: Scope, known: frozenset[str]) -> tuple[Fault, ...]:
    """Return what in a program cannot be, in order of line.

    Args:
        program: The program.
        scope: What it may use.
        known: Every name it may read: those of the scope and of the libraries.
    """
    survey = _survey(program.tree)
    if "*" in survey.bound:  # an import that may bind anything
        return ()
    found = [*_misfits(survey, scope), *_missing(survey, scope, known)]
    return tuple(sorted(found, key=lambda fault: fault.line))


class _Parts(dict[type, tuple[str, ...]]):
    """The fields of each kind of node that may hold other nodes."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        names = kind._fields if issubclass(kind, ast.AST) else ()
        self[kind] = tuple(name for name in names if name not in _NO_NODES)
        return self[kind]


_PARTS = _Parts({ast.Name: (), ast.Constant: ()})


def _survey(tree: ast.Module) -> _Survey:
    calls: list[ast.Call] = []
    attributes: list[ast.Attribute] = []
    bound: dict[str, int] = {}
    nodes: list[Any] = [tree]  # some fields hold names and None among the nodes
    names, load, parts = ast.Name, ast.Load, _PARTS  # looked up once: this loop is the cost
    for node in nodes:  # which grows meanwhile
        kind = type(node)
        if kind is names:
            if type(node.ctx) is not load:
                bound[node.id] = bound.get(node.id, 0) + 1
            continue
        if kind is ast.Call:
            calls.append(node)
        elif kind is ast.Attribute:
            attributes.append(node)
        elif kind in _BINDING:
            for name in bound_names(node):
                bound[name] = bound.get(name, 0) + 1
        for part in parts[kind]:
            value = getattr(node, part, None)
            if type(value) is list:
                nodes += value
            elif value is not None:
                nodes.append(value)
    return _Survey(calls, attributes, bound, dict(_functions(tree)))


def _functions(tree: ast.Module) -> Iterator[tuple[str, _Function]]:
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name, decorator_list=[]):
                yield name, node
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
                yield name, value


# --- calls


class _Form(NamedTuple):
    """What a function can be called with."""

    signature: inspect.Signature
    least: int
    """How few arguments surely fit by position alone."""
    most: int
    """How many; less than `least` if only `signature` can tell."""


def _misfits(survey: _Survey, scope: Scope) -> Iterator[Fault]:
    """Yield the calls that fit nothing their name can stand for."""
    kept = {entry.name: entry.source for entry in scope.definitions}
    forms: dict[str, list[_Form]] = {}
    for call in survey.calls:
        name = _called(call.func, survey, scope)
        if name is None:
            continue
        if name not in forms:
            forms[name] = list(map(_form, _signatures(name, survey, scope, kept)))
        if forms[name] and (problem := _problem(call, forms[name])):
            shown = ast.unparse(call.func)
            yield Fault(call.lineno, f"{shown}{forms[name][0].signature}: {problem}")


def _called(function: ast.expr, survey: _Survey, scope: Scope) -> str | None:
    """Return the name a call goes to; `.name` for one of a group of primitives."""
    if isinstance(function, ast.Name):
        return function.id if function.id[:1] != "_" else None
    if scope.groups and isinstance(function, ast.Attribute):
        group = getattr(function.value, "id", "")
        if function.attr in scope.groups.get(group, ()) and group not in survey.bound:
            return f".{function.attr}"
    return None


def _signatures(
    name: str, survey: _Survey, scope: Scope, kept: dict[str, str]
) -> Iterator[inspect.Signature]:
    """Yield the signature of everything a name can stand for; nothing if one is not known."""
    if name.startswith("."):
        if (primitive := scope.primitives.get(name[1:])) is not None:
            yield primitive.signature
        return
    own = survey.functions.get(name)
    if survey.bound.get(name, 0) > (own is not None):
        return
    if name in scope.variables or name in scope.groups:
        return
    earlier = _kept_signature(name, kept[name]) if name in kept else None
    if name in kept and earlier is None:
        return
    if own is not None:
        yield _signature(own)
    if earlier is not None:
        yield earlier
    if (primitive := scope.primitives.get(name)) is not None:
        yield primitive.signature


@lru_cache(maxsize=256)
def _kept_signature(name: str, source: str) -> inspect.Signature | None:
    """Return the signature of a kept function; None of a class, or one that is decorated."""
    try:
        survey = _survey(Program.parse(source).tree)
    except ProgramSyntaxError:
        return None
    function = survey.functions.get(name)
    return _signature(function) if function is not None and survey.bound[name] == 1 else None


def _form(signature: inspect.Signature) -> _Form:
    least = most = 0
    for parameter in signature.parameters.values():
        needed = parameter.default is _EMPTY
        if parameter.kind in (_POSITIONAL, _EITHER):
            least, most = least + needed, most + 1
        elif parameter.kind is _KEYWORD and needed:
            return _Form(signature, 1, 0)
    return _Form(signature, least, most)


def _signature(function: _Function) -> inspect.Signature:
    """Return the signature a function will have; defaults are shown as `...`."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    required, positional = len(plain) - len(given.defaults), len(given.posonlyargs)
    parameters = [
        inspect.Parameter(
            entry.arg,
            _POSITIONAL if number < positional else _EITHER,
            default=_EMPTY if number < required else ...,
        )
        for number, entry in enumerate(plain)
    ]
    if given.vararg:
        parameters.append(inspect.Parameter(given.vararg.arg, _STAR))
    for entry, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        default = _EMPTY if value is None else ...
        parameters.append(inspect.Parameter(entry.arg, _KEYWORD, default=default))
    if given.kwarg:
        parameters.append(inspect.Parameter(given.kwarg.arg, _STARS))
    return inspect.Signature(parameters)


def _problem(call: ast.Call, forms: Sequence[_Form]) -> str | None:
    """Return why a call fits none of some functions: what the first has against it."""
    count, first = len(call.args), None
    if not call.keywords and any(form.least <= count <= form.most for form in forms):
        return None  # nearly every call of nearly every program
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
    starred = any(isinstance(entry, ast.Starred) for entry in call.args)
    if starred or len(keywords) < len(call.keywords):
        return None
    for form in forms:
        signature = form.signature
        try:
            signature.bind(*([None] * count), **dict.fromkeys(_renamed(signature, keywords)))
        except TypeError as error:
            first = first or f"{error}{_meant(signature, keywords)}"
        else:
            return None
    return first


def _renamed(signature: inspect.Signature, keywords: Sequence[str]) -> list[str]:
    """Return keywords with other names for those that go to `**` past a positional-only parameter.

    Not every version of `bind` knows that the two may share a name.
    """
    parameters = signature.parameters
    if not any(entry.kind is _STARS for entry in parameters.values()):
        return list(keywords)
    taken = {name for name, entry in parameters.items() if entry.kind is _POSITIONAL}
    return [f"**{name}" if name in taken else name for name in keywords]


def _meant(signature: inspect.Signature, keywords: Sequence[str]) -> str:
    """Return " Did you mean 'unit'?" for the first keyword that is no parameter."""
    strange = [name for name in keywords if name not in signature.parameters]
    hint = did_you_mean(strange[0], signature.parameters) if strange else ""
    return f".{hint}" if hint else ""


# --- attributes


def _missing(survey: _Survey, scope: Scope, known: frozenset[str]) -> Iterator[Fault]:
    """Yield the attributes that a library, or a group of primitives, does not have."""
    kept = [entry.name for entry in scope.definitions]
    for node in survey.attributes:
        root = _root(node) if isinstance(node.ctx, ast.Load) and node.attr[0] != "_" else None
        if root is None or root in survey.bound or root not in known:
            continue
        owner, listed = _owner(node.value, root, scope, kept)
        if listed and node.attr not in listed:
            hint = did_you_mean(node.attr, listed)
            yield Fault(node.lineno, f"{owner} has no '{node.attr}' that programs may use.{hint}")


def _root(node: ast.expr) -> str | None:
    """Return the name that an expression such as `np.linalg.norm` or `Point(x).y` begins with."""
    while isinstance(node, ast.Attribute):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CLASSES:
        return node.func.id
    return node.id if isinstance(node, ast.Name) else None


def _owner(
    node: ast.expr, root: str, scope: Scope, kept: Container[str]
) -> tuple[str, frozenset[str]]:
    """Return the name of a group, module or class and what it has; nothing if it is none."""
    if root in scope.groups:
        return root, frozenset(scope.groups[root] if isinstance(node, ast.Name) else ())
    if root in scope.variables or root in scope.primitives or root in kept:
        return "", frozenset()
    if isinstance(node, ast.Call):
        node = node.func
    if isinstance(node, ast.Name) and node.id in _CLASSES:
        return node.id, _class_names(node.id)
    name = _module(node)
    return (name, module_names(name) or frozenset()) if name else ("", frozenset())


def _module(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return _MODULES.get(node.id)
    if isinstance(node, ast.Attribute) and (top := _module(node.value)):
        return f"{top}.{node.attr}"
    return None


@cache
def _class_names(name: str) -> frozenset[str]:
    import shapely.geometry

    builtin = {kind.__name__: kind for kind in _BUILTINS}
    kind = builtin.get(name) or getattr(shapely.geometry, name)
    return frozenset([*dir(kind), *dir(type(kind))])
