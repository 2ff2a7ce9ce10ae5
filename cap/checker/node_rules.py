"""What the check says of each kind of syntax: one small function per kind that has rules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from cap.checker.allowlist import EVERYWHERE, FORBIDDEN_BUILTINS, module_names
from cap.checker.modules import names
from cap.checker.survey import (
    BINDING,
    DATA_MODEL,
    Facts,
    Finding,
    attribute_finding,
    bound_names,
    is_alias,
    is_special,
    is_whole,
)
from cap.errors import did_you_mean

_SOFT_BUILTINS = frozenset(
    names("copyright credits dir exit help id input license locals quit vars")
)
"""Everyday words: a program may read them as the variables it makes of them."""
_JUDGED = FORBIDDEN_BUILTINS | {"type"}


def _import(node: ast.Import, facts: Facts) -> Iterable[Finding]:
    if not is_whole(node):
        yield "CAP102", "an import of something that is no name"
    for alias in filter(is_alias, node.names):
        if alias.name not in facts.modules:
            yield "CAP102", f"'import {alias.name}' is not allowed; use the names already in scope"
    yield from _bind(node, facts)


def _import_from(node: ast.ImportFrom, facts: Facts) -> Iterable[Finding]:
    module = node.module or ""
    if not is_whole(node):
        yield "CAP102", "an import of something that is no name"
    elif node.level or module not in facts.modules:
        yield "CAP102", f"'{ast.unparse(node)}' is not allowed; use the names already in scope"
    else:
        listed = module_names(module) or frozenset()
        for alias in node.names:
            if alias.name not in listed:
                yield "CAP102", f"'{module}' has no '{alias.name}' that programs may use"
    yield from _bind(node, facts)


def _attribute(node: ast.Attribute, facts: Facts) -> Iterable[Finding]:
    name = node.attr
    module = facts.module(node.value)
    if not isinstance(node.ctx, ast.Load):
        yield from _attribute_binding(node, facts)
    if name == "__name__":
        if not isinstance(node.ctx, ast.Load):
            yield "CAP103", "'__name__' may be read only"
    elif name.startswith("_"):
        if id(node) not in facts.permitted:
            yield "CAP103", f"attribute '{name}' begins with an underscore"
    elif module is not None:
        listed = module_names(module) or frozenset()
        if name not in listed:
            hint = did_you_mean(name, listed)
            yield "CAP109", f"{module} has no '{name}' that programs may use.{hint}"
    elif id(node) in facts.permitted or getattr(node.value, "id", "") in facts.reserved:
        return
    elif finding := attribute_finding(name, facts.own):
        yield finding


def _attribute_binding(node: ast.Attribute, facts: Facts) -> Iterable[Finding]:
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name):
        name = root.id
        library = name in EVERYWHERE and name not in facts.bound
        if library or name in facts.reserved or name in facts.aliases:
            yield "CAP106", f"'{ast.unparse(node)}' is provided; it may not be bound again"


def _name(node: ast.Name, facts: Facts) -> Iterable[Finding]:
    name = node.id
    if name[:1] != "_" and name not in _JUDGED and name not in facts.reserved:
        return ()  # nearly every name of nearly every program
    if not isinstance(node.ctx, ast.Load):
        return _bind(node, facts)
    own_word = name in _SOFT_BUILTINS and name in facts.bound
    if name in FORBIDDEN_BUILTINS - facts.builtins and not own_word:
        return (("CAP105", f"'{name}' is not available to programs"),)
    if name == "type" and id(node) not in facts.permitted:
        return (("CAP111", "type is only called here, with one argument"),)
    if _is_hidden(name, facts) and name != "__name__":
        return (("CAP104", f"name '{name}' begins with an underscore"),)
    return ()


def _is_hidden(name: str, facts: Facts) -> bool:
    """Tell whether a name is kept from programs for its underscore."""
    own = facts.private and not name.startswith("__")
    return name.startswith("_") and name != "_" and not own


def _bind(node: ast.AST, facts: Facts) -> Iterable[Finding]:
    """Judge the names a node binds."""
    for name in bound_names(node):
        if name in facts.reserved:
            yield "CAP106", f"'{name}' is provided; it may not be bound again"
        elif _is_hidden(name, facts) and id(node) not in facts.permitted:
            yield "CAP104", f"name '{name}' begins with an underscore"
        elif isinstance(node, ast.arg | ast.Name) or name in facts.own:
            continue
        elif name in FORBIDDEN_BUILTINS:
            yield "CAP105", f"'{name}' is not available to programs"


def _class(node: ast.ClassDef, facts: Facts) -> Iterable[Finding]:
    yield from _bind(node, facts)
    if node.keywords:
        yield "CAP110", f"class '{node.name}' has keywords; plain base classes only"
    for entry in node.body:
        name = getattr(entry, "name", "")
        if is_special(name) and name not in DATA_MODEL:
            yield "CAP110", f"special method '{name}' is not allowed"


def _keyword(node: ast.keyword, facts: Facts) -> Iterable[Finding]:
    if node.arg and _is_hidden(node.arg, facts):
        yield "CAP104", f"keyword '{node.arg}' begins with an underscore"


def _match_class(node: ast.MatchClass, facts: Facts) -> Iterable[Finding]:
    for name in node.kwd_attrs:
        if finding := attribute_finding(name, facts.own):
            yield finding


def _comprehension(node: ast.comprehension, facts: Facts) -> Iterable[Finding]:
    if node.is_async:
        yield "CAP101", "an asynchronous comprehension is not allowed in a program"


_Rule = Callable[[Any, Facts], Iterable[Finding]]
HARMLESS = frozenset(
    [
        *(ast.Module, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Return),
        *(ast.For, ast.While, ast.If, ast.With, ast.withitem, ast.Raise, ast.Try, ast.Assert),
        *(ast.Pass, ast.Break, ast.Continue, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare),
        *(ast.NamedExpr, ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.List, ast.Tuple, ast.Slice),
        *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom),
        *(ast.Call, ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Subscript, ast.Starred),
        *(ast.arguments, ast.alias, ast.Match, ast.match_case, ast.MatchValue, ast.MatchSingleton),
        *(ast.MatchSequence, ast.MatchOr),
        *(ast.Load, ast.Store, ast.Del, ast.And, ast.Or, ast.Not, ast.Invert, ast.UAdd, ast.USub),
        *(ast.Add, ast.Sub, ast.Mult, ast.MatMult, ast.Div, ast.Mod, ast.Pow, ast.LShift),
        *(ast.RShift, ast.BitOr, ast.BitXor, ast.BitAnd, ast.FloorDiv, ast.Eq, ast.NotEq, ast.Lt),
        *(ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn),
    ]
)
"""Kinds of syntax that are allowed everywhere, and have no rule of their own."""
RULES_BY_NODE: dict[type[ast.AST], _Rule] = {
    **dict.fromkeys(BINDING, _bind),
    ast.Import: _import,
    ast.ImportFrom: _import_from,
    ast.Attribute: _attribute,
    ast.Name: _name,
    ast.ClassDef: _class,
    ast.keyword: _keyword,
    ast.MatchClass: _match_class,
    ast.comprehension: _comprehension,
}
"""Every other kind of syntax that is allowed, with its rule; what is in no list is refused."""
