"""The check: an allow-list over a program's syntax tree. Pure; nothing is ever executed.

It is a filter with good messages; the boundary is the process the program runs in. Each finding
has a rule id, a line, a column and a reason, so that a person can cite it and a model mend it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cap.library import FORBIDDEN_BUILTINS, NUMPY, STANDARD, names, numpy_names

RULES: dict[str, str] = {
    "CAP101": "syntax that programs may not use (async, await, except*)",
    "CAP102": "an import of something that is not already in scope",
    "CAP103": "an attribute that begins with an underscore",
    "CAP104": "a name that begins with an underscore",
    "CAP105": "a builtin that reaches beyond the program (exec, eval, open, getattr, ...)",
    "CAP106": "binding the name of a primitive, or an attribute of a group or module",
    "CAP107": "a program that is too large or too deep",
    "CAP108": "str.format or format_map (use an f-string)",
    "CAP109": "a numpy name that does not exist or is not pure computation",
    "CAP110": "a class with a metaclass, keywords or a special method that is not listed",
    "CAP111": "type used otherwise than called with one argument",
    "CAP112": "an attribute that leads to frames, code, files or memory",
}

DATA_MODEL = frozenset(
    names(
        """
        __init__ __repr__ __str__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __bool__
        __len__ __iter__ __next__ __getitem__ __setitem__ __delitem__ __contains__ __call__
        __enter__ __exit__ __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__
        __imul__ __matmul__ __truediv__ __rtruediv__ __floordiv__ __mod__ __pow__ __neg__
        __pos__ __abs__ __invert__ __and__ __or__ __xor__ __int__ __float__ __round__
        __reversed__ __post_init__
        """
    )
)

_FORBIDDEN_NODES = (
    ast.AsyncFunctionDef,
    ast.AsyncFor,
    ast.AsyncWith,
    ast.Await,
    ast.TryStar,
)
_ALLOWED_NODES = frozenset(
    node
    for node in vars(ast).values()
    if isinstance(node, type)
    and issubclass(node, ast.AST)
    and node.__name__
    not in {
        *(forbidden.__name__ for forbidden in _FORBIDDEN_NODES),
        *names("TemplateStr Interpolation TypeAlias TypeVar ParamSpec TypeVarTuple"),
    }
)
_LEADS_OUT = frozenset(
    names(
        """
        f_back f_builtins f_code f_globals f_lasti f_lineno f_locals f_trace tb_frame tb_lasti
        tb_lineno tb_next gi_code gi_frame gi_yieldfrom cr_await cr_code cr_frame cr_origin
        ag_await ag_code ag_frame ctypes dump dumps tofile func_code func_globals
        """
    )
)
_SOFT_BUILTINS = frozenset(
    names("copyright credits dir exit help id input license locals quit vars")
)
"""Everyday words: a program may read them as the variables it makes of them."""


@dataclass(frozen=True)
class Policy:
    """What the check allows."""

    name: str = "robot"
    """Named in traces."""
    max_nodes: int = 20_000
    """Largest syntax tree."""
    max_depth: int = 100
    """Deepest nesting of the tree."""
    modules: frozenset[str] = field(default_factory=frozenset)
    """Modules a program may import; none for robots."""


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


def check(
    tree: ast.Module, policy: Policy | None = None, reserved: frozenset[str] = frozenset()
) -> list[Violation]:
    """Return every violation in a program, in order of line.

    Args:
        tree: The parsed program.
        policy: What to allow; a robot's by default.
        reserved: Names the program may not bind: its primitives.
    """
    policy = policy or Policy()
    found = list(_size(tree, policy))
    if not found:
        nodes = list(ast.walk(tree))
        permitted = _self_attributes(nodes) | _special_methods(nodes)
        permitted |= _type_calls(nodes) | _own_variables(nodes)
        for node in nodes:
            found += [
                Violation(rule, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1, why)
                for rule, why in _findings(node, policy, reserved, permitted)
            ]
    return sorted(found, key=lambda violation: (violation.line, violation.column, violation.rule))


def _size(tree: ast.Module, policy: Policy) -> Iterator[Violation]:
    """Bound the tree without recursion."""
    level: list[ast.AST] = [tree]
    nodes = depth = 0
    while level:
        nodes += len(level)
        depth += 1
        if nodes > policy.max_nodes or depth > policy.max_depth:
            limit = f"{policy.max_nodes} nodes, {policy.max_depth} levels"
            yield Violation("CAP107", 1, 1, f"the program is too large or too deep (limit {limit})")
            return
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def _self_attributes(nodes: Sequence[ast.AST]) -> set[int]:
    """Return ids of `self._x` attribute nodes inside classes of the program."""
    return {
        id(node)
        for owner in nodes
        if isinstance(owner, ast.ClassDef)
        for node in ast.walk(owner)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
        and not node.attr.startswith("__")
    }


def _special_methods(nodes: Sequence[ast.AST]) -> set[int]:
    """Return ids of `__name__`-like methods in class bodies; `_class` judges them."""
    return {
        id(entry)
        for owner in nodes
        if isinstance(owner, ast.ClassDef)
        for entry in owner.body
        if isinstance(entry, ast.FunctionDef) and _is_special(entry.name)
    }


def _type_calls(nodes: Sequence[ast.AST]) -> set[int]:
    """Return ids of the name in `type(value)`."""
    return {
        id(node.func)
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "type"
        and len(node.args) == 1
        and not isinstance(node.args[0], ast.Starred)
        and not node.keywords
    }


def _own_variables(nodes: Sequence[ast.AST]) -> set[int]:
    """Return ids of names that are everyday words and variables of the program."""
    found = [node for node in nodes if isinstance(node, ast.Name | ast.arg)]
    bound = {name for node in found for name in _bound(node) if name in _SOFT_BUILTINS}
    return {id(node) for node in found if isinstance(node, ast.Name) and node.id in bound}


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _findings(
    node: ast.AST, policy: Policy, reserved: frozenset[str], permitted: set[int]
) -> Iterator[tuple[str, str]]:
    if type(node) not in _ALLOWED_NODES or getattr(node, "is_async", False):
        yield "CAP101", f"{type(node).__name__} is not allowed in a program"
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from _import(node, policy)
    elif isinstance(node, ast.Attribute):
        yield from _attribute(node, reserved, permitted)
    elif isinstance(node, ast.MatchClass):
        for name in node.kwd_attrs:
            yield from _attribute_name(name)
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.ClassDef):
        yield from _class(node)
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in permitted:
        yield from _load(node.id)
    for name in _bound(node):
        if name in reserved or id(node) not in permitted:
            yield from _bind(name, node, reserved)


def _import(node: ast.Import | ast.ImportFrom, policy: Policy) -> Iterator[tuple[str, str]]:
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    modules = modules or [alias.name for alias in node.names]
    if not set(modules) <= policy.modules or any(alias.name == "*" for alias in node.names):
        yield "CAP102", f"'{ast.unparse(node)}' is not allowed; use the names already in scope"
    elif any(part.startswith("_") for alias in node.names for part in alias.name.split(".")):
        yield "CAP104", f"'{ast.unparse(node)}' imports a name that begins with an underscore"


def _attribute_name(name: str) -> Iterator[tuple[str, str]]:
    if name.startswith("_") and name != "__name__":
        yield "CAP103", f"attribute '{name}' begins with an underscore"
    elif name in ("format", "format_map"):
        yield "CAP108", f"'.{name}' is not allowed; use an f-string"
    elif name in _LEADS_OUT:
        yield "CAP112", f"'.{name}' is not available to programs"


def _attribute(
    node: ast.Attribute, reserved: frozenset[str], permitted: set[int]
) -> Iterator[tuple[str, str]]:
    owner = node.value.id if isinstance(node.value, ast.Name) else ""
    of_robot = owner in reserved and node.attr in _LEADS_OUT
    if id(node) not in permitted and not of_robot:
        yield from _attribute_name(node.attr)
    if not isinstance(node.ctx, ast.Load) and owner in reserved | {*NUMPY, *STANDARD}:
        yield "CAP106", f"'{owner}.{node.attr}' is provided; it may not be bound again"
    elif owner in NUMPY:
        if node.attr not in numpy_names():
            yield "CAP109", f"numpy has no '{node.attr}' that programs may use"
    elif (
        isinstance(node.value, ast.Attribute)
        and isinstance(node.value.value, ast.Name)
        and node.value.value.id in NUMPY
        and node.value.attr in ("linalg", "random", "fft")
        and node.attr not in numpy_names(node.value.attr)
    ):
        yield "CAP109", f"numpy.{node.value.attr} has no '{node.attr}' that programs may use"


def _call(node: ast.Call) -> Iterator[tuple[str, str]]:
    for keyword in node.keywords:
        if keyword.arg and keyword.arg.startswith("_"):
            yield "CAP104", f"keyword '{keyword.arg}' begins with an underscore"


def _class(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    if node.keywords:
        yield "CAP110", f"class '{node.name}' has keywords; plain base classes only"
    for entry in node.body:
        if (
            isinstance(entry, ast.FunctionDef)
            and _is_special(entry.name)
            and entry.name not in DATA_MODEL
        ):
            yield "CAP110", f"special method '{entry.name}' is not allowed"


def _load(name: str) -> Iterator[tuple[str, str]]:
    if name in FORBIDDEN_BUILTINS:
        yield "CAP105", f"'{name}' is not available to programs"
    elif name == "type":
        yield "CAP111", "type is only called here, with one argument"
    elif name.startswith("_") and name not in ("_", "__name__"):
        yield "CAP104", f"name '{name}' begins with an underscore"


def _bound(node: ast.AST) -> list[str]:
    """Return the names a node binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return [name]
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            return [name]
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return [name]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return names
        case ast.alias(name=name, asname=asname):
            return [asname or name.split(".")[0]]
    return []


def _bind(name: str, node: ast.AST, reserved: frozenset[str]) -> Iterator[tuple[str, str]]:
    if name in reserved:
        yield "CAP106", f"'{name}' is provided; it may not be bound again"
    elif name.startswith("_") and name != "_":
        yield "CAP104", f"name '{name}' begins with an underscore"
    elif name in FORBIDDEN_BUILTINS and not isinstance(node, ast.arg | ast.Name):
        yield "CAP105", f"'{name}' is not available to programs"
