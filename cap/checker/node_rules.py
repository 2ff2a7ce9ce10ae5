"""What the check says of each kind of syntax: one small function per kind that has rules."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cap.checker.allowlist import EVERYWHERE, FORBIDDEN_BUILTINS, module_names, names
from cap.checker.attributes import (
    BUILTIN_CLASSES,
    DATA_MODEL,
    class_attributes,
    reason_against,
)
from cap.checker.policy import Policy
from cap.checker.survey import BINDING, Survey, bound_names, is_whole
from cap.program.private_names import is_private, is_special

Finding = tuple[str, str]
"""Rule id and reason."""


@dataclass(frozen=True)
class Violation:
    """One finding of the check."""

    rule: str
    """Rule id, such as `CAP103`."""
    line: int
    """1-based."""
    column: int
    """1-based."""
    reason: str
    """What was found, and what to do instead."""

    def __str__(self) -> str:
        """Return it as one line."""
        return f"{self.rule} line {self.line}: {self.reason}"

    @classmethod
    def at(cls, node: ast.AST, rule: str, reason: str) -> Violation:
        """Return a finding about a node."""
        if len(reason) > _REASON_CHARS:  # a name may be as long as the program
            reason = f"{reason[:_REASON_CHARS]}..."
        line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        return cls(rule, line, column + 1, reason)


_REASON_CHARS = 300
_SOFT_BUILTINS = frozenset(
    names("copyright credits dir exit help id input license locals quit vars")
)
"""Everyday words: a program may read them as the variables it makes of them."""
_JUDGED = FORBIDDEN_BUILTINS | {"type"}


def _import(node: ast.Import, survey: Survey) -> Iterable[Finding]:
    if not is_whole(node):
        yield "CAP102", "an import of something that is no name"
    for alias in node.names:
        if isinstance(alias, ast.alias) and alias.name not in survey.policy.modules:
            yield "CAP102", f"'import {alias.name}' is not allowed; use the names already in scope"
    yield from _bind(node, survey)


def _import_from(node: ast.ImportFrom, survey: Survey) -> Iterable[Finding]:
    module = node.module or ""
    if not is_whole(node):
        yield "CAP102", "an import of something that is no name"
    elif module == "__future__" and [alias.name for alias in node.names] == ["annotations"]:
        pass  # it only says that annotations are not evaluated
    elif node.level or module not in survey.policy.modules:
        yield "CAP102", f"'{ast.unparse(node)}' is not allowed; use the names already in scope"
    else:
        listed = module_names(module) or frozenset()
        for alias in node.names:
            if alias.name not in listed:
                yield "CAP102", f"'{module}' has no '{alias.name}' that programs may use"
    yield from _bind(node, survey)


def _attribute(node: ast.Attribute, survey: Survey) -> Iterable[Finding]:
    name = node.attr
    if not isinstance(node.ctx, ast.Load):
        yield from _attribute_binding(node, survey)
    if name == "__name__":
        if not isinstance(node.ctx, ast.Load):
            yield "CAP103", "'__name__' may be read only"
        return
    if name.startswith("_") and not is_private(name):
        if id(node) not in survey.permitted and (finding := reason_against(name)):
            yield finding
        return
    owner, listed = _owner(node, survey)
    if owner is not None and name not in listed:
        hint = "" if name.startswith("_") else survey.did_you_mean(name, listed)
        yield "CAP109", f"{owner} has no '{name}' that programs may use.{hint}"
    elif survey.module(node.value) is None and id(node) not in survey.permitted:
        if getattr(node.value, "id", "") in survey.reserved:
            if name.startswith("_"):
                yield "CAP103", f"what is provided has no '{name}' for programs"
            return
        if finding := reason_against(name, survey.own):
            yield finding


def _owner(node: ast.Attribute, survey: Survey) -> tuple[str | None, frozenset[str]]:
    """Return the module, group of primitives or library class an attribute is of, and what it has.

    Only what is certain counts: nothing of a name that the program binds, or that stands for
    something else in its scope.
    """
    value = node.value
    if (module := survey.module(value)) is not None:
        return module, module_names(module) or frozenset()
    if not survey.policy.signatures or not isinstance(node.ctx, ast.Load):
        return None, frozenset()
    if isinstance(value, ast.Name) and value.id in survey.groups:
        return value.id, frozenset(survey.groups[value.id])
    kind = value.func if isinstance(value, ast.Call) else value
    if not isinstance(kind, ast.Name) or kind.id in survey.given or survey.bindings(kind.id):
        return None, frozenset()
    if survey.bindings("*") or not (survey.policy.library or kind.id in BUILTIN_CLASSES):
        return None, frozenset()
    listed = class_attributes(kind.id)
    return (kind.id, listed) if listed else (None, listed)


def _attribute_binding(node: ast.Attribute, survey: Survey) -> Iterable[Finding]:
    root: ast.expr = node
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name):
        name = root.id
        library = name in EVERYWHERE and name not in survey.bound
        if library or name in survey.reserved or name in survey.aliases:
            yield "CAP106", f"'{ast.unparse(node)}' is provided; it may not be bound again"


def _name(node: ast.Name, survey: Survey) -> Iterable[Finding]:
    name = node.id
    if name[:1] != "_" and name not in _JUDGED and name not in survey.reserved:
        return ()  # nearly every name of nearly every program
    if not isinstance(node.ctx, ast.Load):
        return _bind(node, survey)
    own_word = name in _SOFT_BUILTINS and (name in survey.bound or name in survey.given)
    if name in FORBIDDEN_BUILTINS - survey.policy.builtins and not own_word:
        return (("CAP105", f"'{name}' is not available to programs"),)
    if name == "type" and id(node) not in survey.permitted:
        return (("CAP111", "type is only called here, with one argument"),)
    if _is_hidden(name, survey) and name != "__name__":
        return (("CAP104", f"name '{name}' begins with two underscores"),)
    return ()


def _is_hidden(name: str, survey: Survey) -> bool:
    """Tell whether a name is kept from programs for its underscore."""
    return name.startswith("__")


def _bind(node: ast.AST, survey: Survey) -> Iterable[Finding]:
    """Judge the names a node binds."""
    for name in bound_names(node):
        if name in survey.reserved:
            yield "CAP106", f"'{name}' is provided; it may not be bound again"
        elif _is_hidden(name, survey) and id(node) not in survey.permitted:
            yield "CAP104", f"name '{name}' begins with two underscores"
        elif isinstance(node, ast.arg | ast.Name) or name in survey.own:
            continue
        elif name in FORBIDDEN_BUILTINS:
            yield "CAP105", f"'{name}' is not available to programs"


def _class(node: ast.ClassDef, survey: Survey) -> Iterable[Finding]:
    yield from _bind(node, survey)
    if node.keywords:
        yield "CAP110", f"class '{node.name}' has keywords; plain base classes only"
    for entry in node.body:
        name = getattr(entry, "name", "")
        if is_special(name) and name not in DATA_MODEL:
            yield "CAP110", f"special method '{name}' is not allowed"


def _keyword(node: ast.keyword, survey: Survey) -> Iterable[Finding]:
    if node.arg and _is_hidden(node.arg, survey):
        yield "CAP104", f"keyword '{node.arg}' begins with two underscores"


def _match_class(node: ast.MatchClass, survey: Survey) -> Iterable[Finding]:
    for name in node.kwd_attrs:
        if finding := reason_against(name, survey.own):
            yield finding


def _comprehension(node: ast.comprehension, survey: Survey) -> Iterable[Finding]:
    if node.is_async:
        yield "CAP101", "an asynchronous comprehension is not allowed in a program"


_Rule = Callable[[Any, Survey], Iterable[Finding]]
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


def rule_violations(survey: Survey | None, policy: Policy) -> list[Violation]:
    """Return what the rules find in a program; None stands for one too large to look at."""
    if survey is None:
        limit = f"limit {policy.max_nodes} nodes, {policy.max_depth} levels"
        why = f"the program is too large or too deep, or becomes so when compiled ({limit})"
        return [Violation("CAP107", 1, 1, why)]
    found = []
    for node in survey.nodes:
        kind = type(node)
        if kind in RULES_BY_NODE:
            for rule, reason in RULES_BY_NODE[kind](node, survey):
                found.append(Violation.at(node, rule, reason))
        elif kind not in HARMLESS:
            reason = f"{kind.__name__} is not allowed in a program"
            found.append(Violation.at(node, "CAP101", reason))
    return found
