"""The rules of the check: each is a function over the syntax tree, with what people read of it.

The rules are the paper's (no imports but of listed modules, no names and attributes of the
interpreter's, no `exec`, `eval`, `open`), and those that find a fault before anything moves. They
do not defend against what the kernel's layers stop. Nothing is executed.

A call that cannot fit what it calls is reported only if that is certain, but then also where it may
never be reached and where a handler would catch it. The name must be bound nowhere in the program,
or once, at the top level, to a function. A call with stars, of a decorated function, or of anything
bound a second time is left to run. The call must fit none of the functions that its name can stand
for: a program may redefine what a session kept.
"""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from cap.checker.policy import (
    FILES,
    FORBIDDEN_BUILTINS,
    LISTS,
    MODULE_NAMES,
    PROCESS,
    Policy,
)
from cap.errors import did_you_mean
from cap.program.program import parsed
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


def _names_of(node: ast.AST | None) -> Iterator[ast.Name]:
    """Yield the names in an expression."""
    yield from (part for part in ast.walk(node or ast.Pass()) if isinstance(part, ast.Name))


@dataclass
class Survey:
    """A program at a glance: its nodes, and what it binds."""

    tree: ast.Module
    policy: Policy
    scope: Scope = field(default_factory=Scope)
    hints_left: int = _HINTS

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
        for node in itertools.chain(*self.nodes.values()):
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
    def tried(self) -> frozenset[int]:
        """Ids of the statements in a `try` that catches `ImportError` by that name."""
        found = set[int]()
        for node in self.all(ast.Try):
            caught = {part.id for kind in node.handlers for part in _names_of(kind.type)}
            if caught & {"ImportError", "ModuleNotFoundError"}:
                found.update(id(part) for entry in node.body for part in ast.walk(entry))
        return frozenset(found)

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
    kinds = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
    for node in survey.all(*kinds):
        yield (
            node,
            f"{type(node).__name__} is not allowed in a program; write it without async and await",
        )


def instead(of: str, name: str) -> str:
    """Return what a program does in place of a module, an attribute or a builtin."""
    remedies: Mapping[str, str] = LISTS["instead"][of]
    found = (remedy for names, remedy in remedies.items() if name in names.split())
    return next(found, remedies[""]).strip()


def _imports(survey: Survey) -> Findings:
    modules, tried = survey.policy.modules, survey.tried
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
            elif alias.name in FILES.get(module, ()):
                yield node, f"'{module}.{alias.name}' works on files; {instead('builtin', 'open')}"
            elif alias.name not in listed and f"{module}.{alias.name}" not in modules:
                hint = survey.did_you_mean(alias.name, listed)
                yield node, f"'{module}' has no '{alias.name}'; use another of its names.{hint}"


def _not_imported(what: str, module: str) -> str:
    return f"'{what}' is not allowed; {instead('module', module.partition('.')[0])}"


_OPERATORS = frozenset(f"__{name}__" for name in LISTS["operators"].split())
"""Special methods, which may be called by name: `super().__init__()`, `x.__len__()`."""
_FACTS = frozenset(LISTS["facts"].split())
"""What objects say of themselves."""


def _attributes(survey: Survey) -> Findings:
    read = [(node, node.attr) for node in survey.all(ast.Attribute)]
    read += [(node, name) for node in survey.all(ast.MatchClass) for name in node.kwd_attrs]
    for node, name in read:
        if is_special(name):
            if name not in _OPERATORS and name not in _FACTS:
                remedy = instead("attribute", name)
                yield node, f"attribute '{name}' leads to the interpreter; {remedy}"
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
"""Special names that a program may read and bind."""


def _special_names(survey: Survey) -> Findings:
    methods = {id(entry) for owner in survey.all(ast.ClassDef) for entry in owner.body}
    for node in itertools.chain(*survey.nodes.values()):
        if isinstance(node, ast.Import | ast.ImportFrom) or id(node) in methods:
            continue
        for name in (node.id,) if isinstance(node, ast.Name) else bound_names(node):
            if is_special(name) and name not in _OWN_SPECIAL | _OPERATORS:
                yield node, f"name '{name}' is the interpreter's; call it '{name.strip('_')}'"


_WORDS = frozenset(LISTS["words"].split())


def _builtins(survey: Survey) -> Findings:
    forbidden = FORBIDDEN_BUILTINS - survey.policy.builtins
    for node in survey.all(ast.Name):
        if node.id in forbidden and isinstance(node.ctx, ast.Load):
            own = node.id in survey.bound or node.id in survey.given
            if not (own and node.id in _WORDS):
                remedy = instead("builtin", node.id)
                yield node, f"'{node.id}' is not available to programs; {remedy}"


def _rebinding(survey: Survey) -> Findings:
    for node in itertools.chain(*survey.nodes.values()):
        for name in bound_names(node):
            if name in survey.reserved:
                yield node, f"'{name}' is provided; choose another name for what you bind"


def _lacking(survey: Survey) -> Findings:
    for node in survey.all(ast.Attribute):
        if is_special(node.attr):
            continue
        owner, listed = _owner(node, survey)
        if owner is None:
            continue
        if node.attr in FILES.get(owner, ()):
            yield node, f"'{owner}.{node.attr}' works on files; {instead('builtin', 'open')}"
        elif node.attr not in listed:
            hint = survey.did_you_mean(node.attr, listed)
            if owner in survey.scope.groups:  # a model has to choose among them
                hint = f" It has {', '.join(sorted(listed))}."
            yield node, f"{owner} has no '{node.attr}'; use another of its names.{hint}"


def _owner(node: ast.Attribute, survey: Survey) -> tuple[str | None, frozenset[str]]:
    """Return the module or group of primitives an attribute is of, and what that has."""
    value = node.value
    if (module := survey.module(value)) is not None:
        return module, survey.policy.module_names(module) or frozenset()
    group = getattr(value, "id", "") if survey.policy.signatures else ""
    return (
        (group, frozenset(survey.scope.groups[group]))
        if group in survey.scope.groups
        else (None, frozenset())
    )


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
        "binding the name of a primitive",
        "A program must not change what its calls mean, for itself or for a later reader.",
        "pick = print",
        "picked = pick(1)",
        _rebinding,
    ),
    "CAP109": Rule(
        "what a module or a group of primitives does not have",
        "It would fail when it is reached, after the robot has moved. The nearest name that "
        "exists is suggested. Functions of numpy that work on files are refused here, too.",
        "np.linspcae(0, 1, 5)",
        "np.linspace(0, 1, 5)",
        _lacking,
    ),
}
"""All but the rule of calls, which is in `signatures`."""


_Parameter = inspect.Parameter
_MOST_COMPARED = 100_000
"""Parameters and keywords that are compared, call by call; the calls after that are left to run."""


def _misfits(survey: Survey) -> Findings:
    """Yield the calls that fit nothing their name can stand for."""
    if not survey.policy.signatures or "*" in survey.bound:  # a star import may bind anything
        return
    forms: dict[str, list[inspect.Signature]] = {}
    left = _MOST_COMPARED
    for call in survey.all(ast.Call):
        name = _called(call.func, survey)
        if name is None:
            continue
        if name not in forms:
            forms[name] = list(_forms(name, survey))
        if not forms[name]:
            continue
        left -= len(call.keywords) + sum(len(signature.parameters) for signature in forms[name])
        if left < 0:
            return
        if problem := _problem(call, forms[name], survey):
            form = str(forms[name][0]).replace("=Ellipsis", "=...")
            if "?" not in problem:  # without a suggestion
                problem += "; give it the arguments it takes"
            yield call, f"{ast.unparse(call.func)}{form}: {problem}"


CALL_RULE = Rule(
    "a call that cannot fit what it calls",
    "It would fail when it is reached, after the robot has moved. Only what is certain counts: "
    "primitives, and functions that are bound once.",
    "def area(width, height): return width * height\narea(2)",
    "def area(width, height=1): return width * height\narea(2)",
    _misfits,
)


def _called(function: ast.expr, seen: Survey) -> str | None:
    """Return the name a call goes to; `.name` for one of a group of primitives."""
    if isinstance(function, ast.Name):
        return function.id
    if isinstance(function, ast.Attribute):
        group = getattr(function.value, "id", "")
        if function.attr in seen.scope.groups.get(group, ()) and group not in seen.bound:
            return f".{function.attr}"
    return None


def _forms(name: str, seen: Survey) -> Iterator[inspect.Signature]:
    """Yield the form of everything a name can stand for; nothing if one is not known."""
    scope = seen.scope
    if name.startswith("."):
        if (primitive := scope.primitives.get(name[1:])) is not None:
            yield primitive.signature
        return
    own = seen.functions.get(name)
    if seen.bound.get(name, 0) > (own is not None):
        return
    if name in scope.variables or name in scope.groups:
        return
    kept = {entry.name: entry.source for entry in scope.definitions}
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
    survey = Survey(parsed(source), Policy())
    function = survey.functions.get(name)
    return None if function is None or survey.bound.get(name) != 1 else _signature(function)


def _signature(function: Function) -> inspect.Signature:
    """Return the signature a function will have; defaults are shown as `...`."""
    given = function.args
    plain = [*given.posonlyargs, *given.args]
    required, positional = len(plain) - len(given.defaults), len(given.posonlyargs)
    parameters = [
        _Parameter(
            entry.arg,
            _Parameter.POSITIONAL_ONLY if number < positional else _Parameter.POSITIONAL_OR_KEYWORD,
            default=_Parameter.empty if number < required else ...,
        )
        for number, entry in enumerate(plain)
    ]
    if given.vararg:
        parameters.append(_Parameter(given.vararg.arg, _Parameter.VAR_POSITIONAL))
    for entry, value in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        default = _Parameter.empty if value is None else ...
        parameters.append(_Parameter(entry.arg, _Parameter.KEYWORD_ONLY, default=default))
    if given.kwarg:
        parameters.append(_Parameter(given.kwarg.arg, _Parameter.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _problem(call: ast.Call, forms: Sequence[inspect.Signature], seen: Survey) -> str | None:
    """Return why a call fits none of some functions: what the first has against it."""
    count, first = len(call.args), None
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg]
    starred = any(isinstance(entry, ast.Starred) for entry in call.args)
    if starred or len(keywords) < len(call.keywords):
        return None
    for signature in forms:
        if _takes_twice(signature, keywords):
            return None
        try:
            signature.bind(*([None] * count), **dict.fromkeys(keywords))
        except TypeError as error:
            first = first or f"{error}{_meant(signature, keywords, str(error), seen)}"
        else:
            return None
    return first


def _takes_twice(signature: inspect.Signature, keywords: Sequence[str]) -> bool:
    """Tell whether `**others` takes a keyword that a positional-only parameter has as its name."""
    kinds = {entry.kind for entry in signature.parameters.values()}
    only = inspect.Parameter.POSITIONAL_ONLY
    named = (signature.parameters.get(name) for name in keywords)
    return inspect.Parameter.VAR_KEYWORD in kinds and any(
        entry is not None and entry.kind is only for entry in named
    )


def _meant(signature: inspect.Signature, keywords: Sequence[str], error: str, seen: Survey) -> str:
    """Return ". Did you mean 'unit'?" for the first keyword that is no parameter."""
    strange = next((name for name in keywords if name not in signature.parameters), None)
    hint = seen.did_you_mean(strange, signature.parameters) if strange else ""
    if not hint:
        return ""
    return f".{hint}" if f"'{strange}'" in error else f"; there is no '{strange}'.{hint}"
