"""The rules of the check, one small function per kind of syntax that has any.

Each yields the id of a rule, which `rules_page` explains, and what is wrong here.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cap.checker.allowlist import EVERYWHERE, FORBIDDEN_BUILTINS, module_names, names
from cap.checker.attributes import (
    BUILTIN_CLASSES,
    DATA_MODEL,
    SETTABLE,
    class_attributes,
    reason_against,
)
from cap.checker.policy import Policy
from cap.checker.survey import BINDING, Survey, bound_names, is_whole
from cap.program.private_names import (
    FORMATS,
    LEADS_OUT,
    READ_LATER,
    is_judged_later,
    is_private,
    is_special,
)

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
_SOFT_BUILTINS = frozenset(names("copyright credits dir exit help id input license locals quit"))
"""Everyday words: a program may read them as the variables it makes of them."""
_METADATA = frozenset(["__all__", "__author__", "__doc__", "__license__", "__version__"])
"""What modules say of themselves in names that mean nothing to the interpreter."""
_BY_NAME = ("getattr", "hasattr", "setattr")
_JUDGED_CALLS = frozenset(["type", "vars", *_BY_NAME])
_INSTEAD = {
    "open": "a program has no files: let it return what is to be kept",
    "input": "call a primitive that asks a person, if there is one",
    "exec": "write the statements themselves",
    "eval": "write the expression itself, or use int() and float() on texts",
    "compile": "write the statements themselves",
    "__import__": "use the names already in scope",
    "globals": "use a dictionary of your own",
    "locals": "use a dictionary of your own",
    "vars": "name the attributes you need",
    "dir": "name the attributes you need",
    "delattr": "write del x.name",
    "memoryview": "use bytes, or a numpy array",
    "exit": "let the program end with its last statement, or import sys and call sys.exit()",
    "quit": "let the program end with its last statement, or import sys and call sys.exit()",
    "breakpoint": "use print()",
}
"""What a program writes in place of a builtin that it may not use."""
_ABSENT = {
    "time": "the time that counts is the robot's: use its primitives, if it has some for time",
    "datetime": "the time that counts is the robot's: use its primitives, if it has some for time",
    "calendar": "the time that counts is the robot's: use its primitives, if it has some for time",
    "asyncio": "robot calls wait by themselves: call one after the other",
    "threading": "robot calls wait by themselves: call one after the other",
    "os": "a program has no files, processes or environment: use the names in scope",
    "inspect": "name the attributes you need",
    "traceback": "print the error itself: it has its message",
    "warnings": "use print(), or raise the error",
    "pathlib": "a program has no files: let it return what is to be kept",
    "pickle": "import json and use a text",
    "scipy": "use numpy",
    "pandas": "use lists, dictionaries and numpy",
}
"""What a program does in place of importing a module that it may not import."""


_FILES = ("load", "save", "dump", "fromfile", "tofile", "genfromtxt", "memmap", "fromregex")


def _without(name: str) -> str:
    """Return what to do without a name that a module or class does not have for programs."""
    if name.startswith(_FILES):
        return "programs have no files: use values, and return what is to be kept"
    return "use another of its names"


def _not_imported(what: str, module: str) -> str:
    """Return why an import is refused, and what to do instead."""
    instead = _ABSENT.get(module.partition(".")[0], "use the names already in scope")
    return f"'{what}' is not allowed; {instead}"


def _import(node: ast.Import, survey: Survey) -> Iterable[Finding]:
    if not is_whole(node):
        yield "CAP102", "an import of something that is no name; write names"
    for alias in node.names:
        listed = not isinstance(alias, ast.alias) or alias.name in survey.policy.modules
        if not listed and id(node) not in survey.tried["ImportError"]:
            yield "CAP102", _not_imported(f"import {alias.name}", alias.name)
    yield from _bind(node, survey)


def _import_from(node: ast.ImportFrom, survey: Survey) -> Iterable[Finding]:
    module = node.module or ""
    if not is_whole(node):
        yield "CAP102", "an import of something that is no name; write names"
    elif module == "__future__" and [alias.name for alias in node.names] == ["annotations"]:
        pass  # it only says that annotations are not evaluated
    elif node.level or module not in survey.policy.modules:
        if id(node) not in survey.tried["ImportError"]:
            yield "CAP102", _not_imported(ast.unparse(node), module)
    else:
        listed = module_names(module) or frozenset()
        for alias in node.names:
            if alias.name == "*" and module.startswith("numpy"):
                yield "CAP102", "numpy's names hide builtins; import those you need by name"
            elif alias.name == "*":
                for name in sorted(survey.reserved & listed):
                    yield "CAP106", f"'{name}' is provided; import by name what you need"
            elif alias.name not in listed:
                hint = survey.did_you_mean(alias.name, listed)
                lacking = f"'{module}' has no '{alias.name}' that programs may use"
                yield "CAP102", f"{lacking}; {_without(alias.name)}.{hint}"
    yield from _bind(node, survey)


def _attribute(node: ast.Attribute, survey: Survey) -> Iterable[Finding]:
    name = node.attr
    if not isinstance(node.ctx, ast.Load):
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            of = root.id
            library = (of in EVERYWHERE and of not in survey.bound) or of in survey.library_names
            if library or of in survey.reserved or of in survey.aliases:
                told = f"'{ast.unparse(node)}' is provided; keep yours in a name of your own"
                yield "CAP106", told
    if name == "__name__" and isinstance(node.ctx, ast.Load):
        return
    if name.startswith("_") and not is_private(name) and name.strip("_"):
        read = isinstance(node.ctx, ast.Load)
        if not (_is_judged_later(node, survey) or (name == "__class__" and read)):
            if finding := reason_against(name):
                yield finding
            elif not read:
                yield "CAP103", f"'{name}' may be read only; define it in a class"
        return
    owner, listed = _owner(node, survey)
    if owner is not None and name not in listed:
        hint = "" if name.startswith("_") else survey.did_you_mean(name, listed)
        if owner in survey.groups:  # a model has to choose among them
            hint = f" It has {', '.join(sorted(listed))}."
        yield "CAP109", f"{owner} has no '{name}' that programs may use; {_without(name)}.{hint}"
    elif survey.module(node.value) is None and id(node) not in survey.permitted:
        if getattr(node.value, "id", "") in survey.reserved:
            if name.startswith("_"):
                yield "CAP103", f"what is provided has no '{name}' for programs; call it as it is"
            return
        if name in FORMATS:
            yield from _template(node.value)
        elif (finding := reason_against(name, survey.own)) and name not in survey.given_words:
            yield finding


def _is_judged_later(node: ast.Attribute, survey: Survey) -> bool:
    """Tell whether a special attribute is one of `super()` or a base, or is judged as it runs."""
    name, value = node.attr, node.value
    base = "super" if isinstance(value, ast.Call) else getattr(value, "id", "")
    stands_for_another = survey.bindings(base) > (base != "super")
    if id(node) in survey.permitted and not stands_for_another:
        return True
    if not is_judged_later(node, survey.bases):
        plain = survey.bindings("object") == 0 and "object" not in survey.given
        return name == "__init__" and base == "object" and plain
    match node.ctx:
        case ast.Store():
            return name in SETTABLE
        case ast.Load():
            of_super = isinstance(value, ast.Call) and getattr(value.func, "id", "") == "super"
            if name == "__dict__":
                return _is_of_program(value, survey)
            return name != "__setattr__" or of_super or base == "object"
    return False


def _is_of_program(value: ast.expr, survey: Survey) -> bool:
    """Tell whether a value may be the program's own: what it begins with has a name bound here."""
    while isinstance(value, ast.Attribute | ast.Call | ast.Subscript):
        value = value.func if isinstance(value, ast.Call) else value.value
    return isinstance(value, ast.Name) and survey.bindings(value.id) > 0


def _template(template: ast.expr) -> Iterable[Finding]:
    """Judge the attributes that a literal text reads; those of others are judged as they run."""
    text = template.value if isinstance(template, ast.Constant) else ""
    for name in re.findall(r"\.(\w+)", text) if isinstance(text, str) else ():
        if name.startswith("__") and name != "__class__" and reason_against(name):
            yield "CAP108", f"a field of a template may not read '{name}'; use an f-string"


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


def _name(node: ast.Name, survey: Survey) -> Iterable[Finding]:
    name = node.id
    if not isinstance(node.ctx, ast.Load):
        return _bind(node, survey)
    own_word = name in _SOFT_BUILTINS and (name in survey.bound or name in survey.given)
    if name in FORBIDDEN_BUILTINS - survey.policy.builtins and not own_word:
        return (("CAP105", _unavailable(name)),)
    if _is_hidden(name, survey) and name != "__name__" and id(node) not in survey.permitted:
        return (("CAP104", _two_underscores(name)),)
    return ()


def _call(node: ast.Call, survey: Survey) -> Iterable[Finding]:
    """Judge what is told of `type`, `vars` and attributes by name where it is called."""
    function = node.func
    if type(function) is not ast.Name or function.id not in _JUDGED_CALLS:
        return ()
    if survey.bindings(function.id):
        return ()
    if function.id == "type":
        plain = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred)
        if not plain or node.keywords:
            return (("CAP111", "type takes one argument here; write a class statement instead"),)
    elif function.id == "vars":
        if len(node.args) != 1 or node.keywords or not _is_of_program(node.args[0], survey):
            return (("CAP105", f"'vars' takes an object of your own; {_INSTEAD['vars']}"),)
    elif function.id in _BY_NAME and len(node.args) > 1:
        name = getattr(node.args[1], "value", None)
        if isinstance(name, str) and name != "__class__" and function.id != "hasattr":
            if is_special(name) and function.id == "setattr":
                found = "CAP103", f"'{name}' may be read only; define it in a class"
                return () if name in SETTABLE else (found,)
            late = name in READ_LATER and name != "__dict__"
            finding = None if late else reason_against(name, LEADS_OUT)
            return () if finding is None else (finding,)
    return ()


def _unavailable(name: str) -> str:
    return f"'{name}' is not available to programs; {_INSTEAD.get(name, 'use another name')}"


def _two_underscores(name: str) -> str:
    return f"name '{name}' is the interpreter's; call it '{name.strip('_')}'"


def _is_hidden(name: str, survey: Survey) -> bool:
    """Tell whether a name is the interpreter's own."""
    return is_special(name) and name not in _METADATA


def _bind(node: ast.AST, survey: Survey) -> Iterable[Finding]:
    """Judge the names a node binds."""
    for name in bound_names(node):
        if name in survey.reserved:
            yield "CAP106", f"'{name}' is provided; choose another name for what you bind"
        elif _is_hidden(name, survey) and id(node) not in survey.permitted:
            yield "CAP104", _two_underscores(name)
        elif isinstance(node, ast.arg | ast.Name) or name in survey.own:
            continue
        elif name in FORBIDDEN_BUILTINS:
            yield "CAP105", _unavailable(name)


def _class(node: ast.ClassDef, survey: Survey) -> Iterable[Finding]:
    yield from _bind(node, survey)
    match node.keywords:
        case [] | [ast.keyword("metaclass", ast.Name("ABCMeta") | ast.Attribute(attr="ABCMeta"))]:
            pass
        case _:
            why = "write plain base classes, such as ABC"
            yield "CAP110", f"class '{node.name}' has keywords; {why}"
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id == "type" and "type" not in survey.bound:
            yield (
                "CAP110",
                "a class of classes is not allowed; write a decorator",
            )
    for entry in node.body:
        name = getattr(entry, "name", "")
        if is_special(name) and name not in DATA_MODEL:
            instead = _INSTEAD_OF_METHOD.get(name, "give the class a method of another name")
            yield "CAP110", f"special method '{name}' is not allowed; {instead}"


_INSTEAD_OF_METHOD = {
    "__new__": "write __init__, or a class method that returns the object",
    "__getattr__": "name each attribute, or write __getitem__",
    "__getattribute__": "name each attribute, or write __getitem__",
    "__setattr__": "write a property with a setter",
    "__delattr__": "write a method",
    "__get__": "write a property",
    "__set__": "write a property with a setter",
    "__set_name__": "write a property",
    "__init_subclass__": "write a decorator for the classes",
    "__class_getitem__": "inherit from Generic",
    "__del__": "write __exit__, and use it by `with`",
    "__dir__": "give the class a method that returns their names",
    "__reduce__": "give the class a method that returns its data",
    "__getstate__": "give the class a method that returns its data",
    "__setstate__": "give the class a method that takes its data",
    "__instancecheck__": "give the class a method that tells",
    "__await__": "robot calls wait by themselves: write __call__",
}
"""What a class does without a special method it may not define."""


def _keyword(node: ast.keyword, survey: Survey) -> Iterable[Finding]:
    if node.arg and _is_hidden(node.arg, survey):
        yield "CAP104", f"keyword '{node.arg}' is the interpreter's; use another name"


def _match_class(node: ast.MatchClass, survey: Survey) -> Iterable[Finding]:
    for name in node.kwd_attrs:
        if name == "mro":
            yield "CAP112", "a pattern may not take 'mro' of a class; call it by a dot"
        elif name in FORMATS:
            yield (
                "CAP108",
                f"a pattern may not take '{name}' of a text; call it by a dot",
            )
        elif (finding := reason_against(name, survey.own)) and name not in survey.given_words:
            yield finding


def _comprehension(node: ast.comprehension, survey: Survey) -> Iterable[Finding]:
    if node.is_async:
        yield "CAP101", "an asynchronous comprehension is not allowed; write a plain `for`"


_Rule = Callable[[Any, Survey], Iterable[Finding]]
HARMLESS = frozenset(
    [
        *(ast.Module, ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Delete, ast.Return),
        *(ast.For, ast.While, ast.If, ast.With, ast.withitem, ast.Raise, ast.Try, ast.TryStar),
        *(
            ast.Assert,
            ast.Pass,
            ast.Break,
            ast.Continue,
            ast.BoolOp,
            ast.BinOp,
            ast.UnaryOp,
            ast.Compare,
        ),
        *(ast.NamedExpr, ast.Lambda, ast.IfExp, ast.Dict, ast.Set, ast.List, ast.Tuple, ast.Slice),
        *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Yield, ast.YieldFrom),
        *(ast.FormattedValue, ast.JoinedStr, ast.Constant, ast.Subscript, ast.Starred),
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
    ast.Call: _call,
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
        why = f"the program is too large or too deep, or becomes so when compiled ({limit}); "
        why += "write functions and loops, or do it in several programs"
        return [Violation("CAP107", 1, 1, why)]
    found = []
    for kind, nodes in survey.kinds.items():
        rule_of = RULES_BY_NODE.get(kind)
        if rule_of is _name:  # nearly every name of nearly every program is an ordinary one
            words, given = FORBIDDEN_BUILTINS, survey.reserved
            nodes = [
                node for node in nodes if node.id[:1] == "_" or node.id in words or node.id in given
            ]
        if rule_of is not None:
            for node in nodes:
                found += [Violation.at(node, *finding) for finding in rule_of(node, survey)]
        elif kind not in HARMLESS:
            instead = "robot calls wait by themselves: write it without async and await"
            if not kind.__name__.startswith(("Async", "Await")):
                instead = "use the syntax of Python 3.11"
            reason = f"{kind.__name__} is not allowed in a program; {instead}"
            found += [Violation.at(node, "CAP101", reason) for node in nodes]
    return found
