"""The rules of the check: each is a function over the syntax tree, with what people read of it.

The rules are the paper's (no imports but of listed modules, no names and attributes of the
interpreter's, no `exec`, `eval`, `open`), and those that find a fault before anything moves. They
do not defend against what the kernel's layers stop. Nothing is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from cap.checker.policy import (
    EVERYWHERE,
    FORBIDDEN_BUILTINS,
    LISTS,
    MODULE_NAMES,
    NUMPY_FILES,
    PROCESS,
    SHAPELY_GEOMETRY,
    Policy,
)
from cap.errors import did_you_mean
from cap.program.scope import Scope

_REASON_CHARS = 300
_HINTS = 5
"""Findings of one program that come with a suggestion: to find one takes long."""


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
    def at(cls, node: Any, rule: str, reason: str) -> Violation:
        """Return a finding about a node."""
        if len(reason) > _REASON_CHARS:  # a name may be as long as the program
            reason = f"{reason[:_REASON_CHARS]}..."
        return cls(rule, node.lineno, node.col_offset + 1, reason)


# --- the program that the rules look at

Function = ast.FunctionDef | ast.Lambda


def is_special(name: str) -> bool:
    """Return True for a name such as `__init__`."""
    return name.startswith("__") and name.endswith("__") and name.strip("_") != ""


def bound_names(node: ast.AST) -> Sequence[str]:
    """Return the names a node binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case (
            ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.ClassDef(name=name)
            | ast.arg(arg=name)
        ):
            return (name,)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return (name,)
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return (name,)
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.split(".")[0] for alias in names]
    return ()


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


@dataclass
class Survey:
    """A program at a glance: its nodes, and what it binds."""

    tree: ast.Module
    policy: Policy
    scope: Scope = field(default_factory=Scope)
    hints_left: int = _HINTS

    @cached_property
    def groups(self) -> Mapping[str, Sequence[str]]:
        """Objects of its scope whose attributes are primitives, with their names."""
        return self.scope.groups

    @cached_property
    def reserved(self) -> frozenset[str]:
        """Names the program may not bind: primitives and their groups."""
        return frozenset([*self.scope.primitives, *self.scope.groups])

    @cached_property
    def given(self) -> frozenset[str]:
        """Every name its scope gives it, in addition to the library."""
        return self.scope.names()

    @cached_property
    def nodes(self) -> Mapping[type[ast.AST], list[Any]]:
        """Every node by its class."""
        found: dict[type[ast.AST], list[Any]] = {}
        for node in ast.walk(self.tree):
            found.setdefault(type(node), []).append(node)
        return found

    def all(self, *kinds: type[ast.AST]) -> Iterator[Any]:
        """Yield every node of some kinds."""
        for kind in kinds:
            yield from self.nodes.get(kind, ())

    @cached_property
    def bound(self) -> Mapping[str, int]:
        """How often each name is bound, in any scope, imports included; `*` for a star import."""
        found: dict[str, int] = {}
        for nodes in self.nodes.values():
            for node in nodes:
                for name in bound_names(node):
                    found[name] = found.get(name, 0) + 1
        return found

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """Functions bound at the top level, without decorators."""
        found: dict[str, Function] = {}
        for node in self.tree.body:
            match node:
                case ast.FunctionDef(name=name, decorator_list=[]):
                    found[name] = node
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
                    found[name] = value
        return found

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """Listed modules by the name the program knows them by."""
        found = dict(MODULE_NAMES) if self.policy.library else {}
        imported: dict[str, int] = {}
        for node in self.all(ast.Import):
            for alias in node.names:
                top = alias.name.split(".")[0]
                name = alias.asname or top
                imported[name] = imported.get(name, 0) + 1
                if alias.name in self.policy.modules:
                    found[name] = alias.name if alias.asname else top
        return {
            name: module
            for name, module in found.items()
            if name not in self.given and self.bound.get(name, 0) == imported.get(name, 0)
        }

    def module(self, node: ast.expr) -> str | None:
        """Return the full name of the listed module an expression stands for, or None."""
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id)
        if isinstance(node, ast.Attribute) and (top := self.module(node.value)):
            name = f"{top}.{node.attr}"
            return name if name in self.policy.modules else None
        return None

    @cached_property
    def tried(self) -> Mapping[str, frozenset[int]]:
        """Ids of the nodes in a `try` that catches `ImportError` or `TypeError` by that name."""
        found: dict[str, set[int]] = {"ImportError": set(), "TypeError": set()}
        for node in self.all(ast.Try):
            caught = [handler.type for handler in node.handlers]
            caught += [part for kind in caught if isinstance(kind, ast.Tuple) for part in kind.elts]
            names = {getattr(kind, "id", "") for kind in caught}
            if "ModuleNotFoundError" in names:
                names.add("ImportError")
            for error in names & found.keys():
                found[error].update(id(part) for entry in node.body for part in ast.walk(entry))
        return {error: frozenset(ids) for error, ids in found.items()}

    def did_you_mean(self, name: str, known: Iterable[str]) -> str:
        """Return the suggestion for a name, as long as there are few of them."""
        self.hints_left -= 1
        return did_you_mean(name, known) if self.hints_left >= 0 else ""


# --- the rules

Findings = Iterator[tuple[Any, str]]
"""Nodes, and what is wrong there."""


@dataclass(frozen=True)
class Rule:
    """One rule of the check, as people read it, and as it is applied."""

    meaning: str
    reason: str
    refuses: str
    """A program it refuses."""
    accepts: str
    """A neighbour that passes every rule."""
    find: Callable[[Survey], Findings]


def _async(survey: Survey) -> Findings:
    instead = "robot calls wait by themselves: write it without async and await"
    kinds = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
    for node in survey.all(*kinds):
        yield node, f"{type(node).__name__} is not allowed in a program; {instead}"
    for node in survey.all(ast.comprehension):
        if node.is_async:
            yield node.iter, "an asynchronous comprehension is not allowed; write a plain `for`"


_TIME = "the time that counts is the robot's: use its primitives, if it has some for time"
_NO_FILES = "a program has no files: let it return what is to be kept"
_WAITS = "robot calls wait by themselves: call one after the other"
_INSTEAD_OF_MODULE = {
    **dict.fromkeys(("time", "datetime", "calendar"), _TIME),
    **dict.fromkeys(("asyncio", "threading"), _WAITS),
    **dict.fromkeys(("pathlib", "shutil", "tempfile"), _NO_FILES),
    "os": "a program has no files, processes or environment: use the names in scope",
    "pickle": "import json and use a text",
    "scipy": "use numpy",
    "pandas": "use lists, dictionaries and numpy",
}
"""What a program does in place of importing a module that it may not import."""


def _imports(survey: Survey) -> Findings:
    modules, tried = survey.policy.modules, survey.tried["ImportError"]
    for node in survey.all(ast.Import, ast.ImportFrom):
        if id(node) in tried:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name not in modules:
                    yield node, _not_imported(f"import {alias.name}", alias.name)
            continue
        module = node.module or ""
        if module == "__future__":
            continue
        listed = survey.policy.module_names(module)
        if node.level or listed is None:
            yield node, _not_imported(ast.unparse(node), module)
            continue
        for alias in node.names:
            if alias.name == "*" and module.startswith("numpy"):
                yield node, "numpy's names hide builtins; import those you need by name"
            elif alias.name == "*":
                for name in sorted(survey.reserved & listed):
                    yield node, f"'{name}' is provided; import by name what you need"
            elif alias.name in _files(module):
                yield node, f"'{module}.{alias.name}' works on files; {_NO_FILES}"
            elif alias.name not in listed and f"{module}.{alias.name}" not in modules:
                hint = survey.did_you_mean(alias.name, listed)
                yield node, f"'{module}' has no '{alias.name}'; use another of its names.{hint}"


def _not_imported(what: str, module: str) -> str:
    instead = _INSTEAD_OF_MODULE.get(module.partition(".")[0], "use the names already in scope")
    return f"'{what}' is not allowed; {instead}"


def _files(module: str) -> frozenset[str]:
    return NUMPY_FILES if module == "numpy" else frozenset()


_OPERATORS = frozenset(f"__{name}__" for name in LISTS["operators"].split())
"""Special methods, which may be called by name: `super().__init__()`, `x.__len__()`."""
_FACTS = frozenset(LISTS["facts"].split())
"""What objects say of themselves."""
_INSTEAD_OF_ATTRIBUTE = {
    "__traceback__": "use str(error)",
    "__base__": "use issubclass()",
    "__bases__": "use issubclass()",
    "__subclasses__": "keep a list of your own classes",
    "__self__": "keep the object itself",
    "__getattribute__": "read the attribute, or use getattr()",
}


def _attributes(survey: Survey) -> Findings:
    read = [(node, node.attr) for node in survey.all(ast.Attribute)]
    read += [(node, name) for node in survey.all(ast.MatchClass) for name in node.kwd_attrs]
    for node, name in read:
        if is_special(name):
            if name not in _OPERATORS and name not in _FACTS:
                instead = "use an operator, a builtin function or your own method"
                instead = _INSTEAD_OF_ATTRIBUTE.get(name, instead)
                yield node, f"attribute '{name}' leads to the interpreter; {instead}"
            elif name == "__dict__" and survey.module(getattr(node, "value", node)) is not None:
                yield node, "the names of a module are not for programs; name those you need"
        elif not survey.policy.private and _leads_out(name):
            why = "is not available at sandbox level 'process'"
            yield node, f"attribute '{name}' {why}; use a name without underscore"


def _leads_out(name: str) -> bool:
    """Return True for attributes that are refused where the kernel stops nothing."""
    private = name.startswith("_") and name.strip("_") != ""
    prefixes = tuple(PROCESS["prefixes"].split())
    return private or name.startswith(prefixes) or name in PROCESS["attributes"].split()


_OWN_SPECIAL = frozenset(LISTS["special_names"].split())
"""Special names that a program may bind."""


def _special_names(survey: Survey) -> Findings:
    methods = {id(entry) for owner in survey.all(ast.ClassDef) for entry in owner.body}
    aliases = {
        id(target)
        for owner in survey.all(ast.ClassDef)
        for entry in owner.body
        if isinstance(entry, ast.Assign)
        for target in entry.targets
    }
    for node in survey.all(ast.Name):
        name = node.id
        if not is_special(name) or name == "__name__":
            continue
        if isinstance(node.ctx, ast.Load):
            allowed = name in _OWN_SPECIAL | _OPERATORS or name == "__class__"
        else:
            allowed = name in _OWN_SPECIAL or id(node) in aliases
        if not allowed:
            yield node, f"name '{name}' is the interpreter's; call it '{name.strip('_')}'"
    for nodes in survey.nodes.values():
        for node in nodes:
            if isinstance(node, ast.Name | ast.Import | ast.ImportFrom) or id(node) in methods:
                continue
            for name in bound_names(node):
                if is_special(name):
                    yield node, f"name '{name}' is the interpreter's; call it '{name.strip('_')}'"


_WORDS = FORBIDDEN_BUILTINS - {
    "__import__",
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "globals",
    "open",
}
"""Forbidden builtins that are everyday words: a program may use them as variables of its own."""
_INSTEAD_OF_BUILTIN = {
    "open": _NO_FILES,
    "input": "call a primitive that asks a person, if there is one",
    "exec": "write the statements themselves",
    "eval": "write the expression itself, or use int() and float() on texts",
    "compile": "write the statements themselves",
    "__import__": "use the names already in scope",
    "globals": "use a dictionary of your own",
    "locals": "use a dictionary of your own",
    "exit": "let the program end with its last statement, or import sys and call sys.exit()",
    "quit": "let the program end with its last statement, or import sys and call sys.exit()",
    "breakpoint": "use print()",
}
"""What a program writes in place of a builtin that it may not use."""


def _builtins(survey: Survey) -> Findings:
    forbidden = FORBIDDEN_BUILTINS - survey.policy.builtins
    for node in survey.all(ast.Name):
        if node.id in forbidden and isinstance(node.ctx, ast.Load):
            own = node.id in survey.bound or node.id in survey.given
            if not (own and node.id in _WORDS):
                instead = _INSTEAD_OF_BUILTIN.get(node.id, "use another name")
                yield node, f"'{node.id}' is not available to programs; {instead}"


def _rebinding(survey: Survey) -> Findings:
    for nodes in survey.nodes.values():
        for node in nodes:
            for name in bound_names(node):
                if name in survey.reserved:
                    yield node, f"'{name}' is provided; choose another name for what you bind"
    for node in survey.all(ast.Attribute):
        if isinstance(node.ctx, ast.Load):
            continue
        root = node.value
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            library = root.id in EVERYWHERE and root.id not in survey.bound
            if library or root.id in survey.reserved or root.id in survey.aliases:
                yield node, f"'{ast.unparse(node)}' is provided; keep yours in a name of your own"


_CLASSES = {kind.__name__: kind for kind in (str, list, dict, set, tuple, int, float)}


@cache
def _class_attributes(name: str) -> frozenset[str]:
    """Return what a library class has, and its instances; nothing if it is none of those known."""
    if name in SHAPELY_GEOMETRY and name != "box":
        import shapely.geometry

        kind: type = getattr(shapely.geometry, name)
    elif name in _CLASSES:
        kind = _CLASSES[name]
    else:
        return frozenset()
    return frozenset(dir(kind)) | frozenset(dir(type(kind)))


def _lacking(survey: Survey) -> Findings:
    for node in survey.all(ast.Attribute):
        if is_special(node.attr):
            continue
        owner, listed = _owner(node, survey)
        if owner is None:
            continue
        if node.attr in _files(owner):
            yield node, f"'{owner}.{node.attr}' works on files; {_NO_FILES}"
        elif node.attr not in listed:
            hint = survey.did_you_mean(node.attr, listed)
            if owner in survey.groups:  # a model has to choose among them
                hint = f" It has {', '.join(sorted(listed))}."
            yield node, f"{owner} has no '{node.attr}'; use another of its names.{hint}"


def _owner(node: ast.Attribute, survey: Survey) -> tuple[str | None, frozenset[str]]:
    """Return the module, group of primitives or library class an attribute is of, and what it has.

    Only what is certain counts: nothing of a name that the program binds, or that stands for
    something else in its scope.
    """
    value = node.value
    if (module := survey.module(value)) is not None:
        listed = survey.policy.module_names(module) or frozenset()
        return module, listed | {
            name.rpartition(".")[2]
            for name in survey.policy.modules
            if name.rpartition(".")[0] == module
        }
    if not survey.policy.signatures or not isinstance(node.ctx, ast.Load):
        return None, frozenset()
    if isinstance(value, ast.Name) and value.id in survey.groups:
        return value.id, frozenset(survey.groups[value.id])
    kind = value.func if isinstance(value, ast.Call) else value
    if not isinstance(kind, ast.Name) or kind.id in survey.given or kind.id in survey.bound:
        return None, frozenset()
    if "*" in survey.bound or not (survey.policy.library or kind.id in _CLASSES):
        return None, frozenset()
    listed = _class_attributes(kind.id)
    return (kind.id, listed) if listed else (None, listed)


RULES: dict[str, Rule] = {
    "CAP101": Rule(
        "async and await",
        "Robot calls wait by themselves; write them without `await`.",
        "async def fetch(): pass",
        "def fetch(): pass",
        _async,
    ),
    "CAP102": Rule(
        "an import of what is not pure computation",
        "An import that binds only names already in scope is removed, and noted. In a `try` that "
        "catches `ImportError` any may stand, and raises that. A robot's program gets no clock of "
        "the machine; the policy of benchmarks lists the standard library.",
        "import os",
        "from math import sin, pi",
        _imports,
    ),
    "CAP103": Rule(
        "an attribute with two underscores before and after its name",
        "Such attributes lead from any value to the interpreter. Special methods may be called by "
        "name (`super().__init__()`), and `__name__`, `__doc__`, `__class__`, `__dict__` and "
        "their like may be read. At sandbox level `process` attributes such as `x._name` are "
        "refused as well.",
        "().__class__.__base__",
        "kind = (1).__class__.__name__",
        _attributes,
    ),
    "CAP104": Rule(
        "a name that begins and ends with two underscores",
        "They stand for the interpreter's own objects. `__name__` may be read; `__all__`, "
        "`__doc__`, `__version__` and their like may be bound, and a class may define any special "
        "method.",
        "__builtins__['open']",
        "for __ in range(3): _last = 1",
        _special_names,
    ),
    "CAP105": Rule(
        "a builtin that reaches beyond the program (exec, eval, open, input, ...)",
        "They run text, read files, or wait for a person.",
        "open('notes.txt')",
        "opened = True",
        _builtins,
    ),
    "CAP106": Rule(
        "binding the name of a primitive, or an attribute of what is provided",
        "A program must not change what its calls mean, for itself or for a later reader.",
        "pick = print",
        "picked = pick(1)",
        _rebinding,
    ),
    "CAP109": Rule(
        "what a module, a library class or a group of primitives does not have",
        "It would fail when it is reached, after the robot has moved. The nearest name that "
        "exists is suggested. Functions of numpy that work on files are refused here, too.",
        "np.linspcae(0, 1, 5)",
        "np.linspace(0, 1, 5)",
        _lacking,
    ),
}
"""All but the rule of calls, which is in `signatures`."""
