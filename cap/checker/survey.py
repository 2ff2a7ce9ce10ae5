"""What the rules of the check need to know of a whole program, and where they make exceptions."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Sequence
from string import Formatter
from typing import NamedTuple, TypeGuard

from cap.checker.allowlist import NUMPY, STANDARD, module_names
from cap.checker.modules import names

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
"""The special methods a program's class may define."""
_LEADS_OUT = frozenset(
    names(
        """
        f_back f_builtins f_code f_globals f_lasti f_lineno f_locals f_trace f_trace_lines
        f_trace_opcodes f_generator func_code func_globals co_code co_consts co_names co_varnames
        co_filename co_freevars co_cellvars co_lines co_positions bit_generator capsule cffi ctypes
        dump dumps tofile getfield setfield setflags writeable resize mro obj with_traceback
        """
    )
)
_LEADS_OUT_PREFIXES = ("gi_", "cr_", "ag_", "tb_")
_OWN_ONLY = frozenset(["base", "data"])
"""Of an array they are its memory; of a program's own class, everyday words."""
Finding = tuple[str, str]
"""Rule id and reason."""
BINDING = frozenset(
    [
        *(ast.Name, ast.FunctionDef, ast.ClassDef, ast.arg, ast.ExceptHandler, ast.Global),
        *(ast.Nonlocal, ast.MatchAs, ast.MatchStar, ast.MatchMapping),
    ]
)


class Facts(NamedTuple):
    """What the rules need to know of the whole program."""

    modules: frozenset[str]
    """Modules the policy lists."""
    builtins: frozenset[str]
    """Builtins the policy adds."""
    private: bool
    """The policy lets programs have names such as `_helper`."""
    reserved: frozenset[str]
    """Names of primitives and their groups."""
    bound: set[str]
    """Names the program binds, but for imports."""
    aliases: dict[str, str]
    """Modules by the name the program knows them by."""
    own: set[str]
    """Attributes the program's own classes bind."""
    permitted: set[int]
    """Ids of the nodes where a rule has an exception."""

    @classmethod
    def of(
        cls,
        nodes: Sequence[ast.AST],
        modules: frozenset[str],
        builtins: frozenset[str],
        private: bool,
        reserved: frozenset[str],
    ) -> Facts:
        """Gather them in one pass, and one more over each class."""
        bound: set[str] = set()
        permitted: set[int] = set()
        classes: list[ast.ClassDef] = []
        aliases = {**dict.fromkeys(NUMPY, "numpy"), "math": "math", "affinity": "affinity"}
        for node in nodes:
            if isinstance(node, ast.Name):
                if type(node.ctx) is not ast.Load:
                    bound.add(node.id)
            elif isinstance(node, ast.Call):
                permitted.update(_permitted_call(node))
            elif isinstance(node, ast.Attribute):
                permitted.update(_class_name(node))
            elif isinstance(node, ast.Import):
                aliases.update(_imported(node, modules))
            elif type(node) in BINDING:
                bound.update(bound_names(node))
                if isinstance(node, ast.ClassDef):
                    classes.append(node)
        own: set[str] = set()
        for owner in classes:
            own.update(_own_attributes(owner))
        for owner in classes:
            permitted.update(_permitted_in_class(owner, own))
        for name in bound & aliases.keys() - {*NUMPY, *STANDARD}:
            del aliases[name]
        return cls(modules, builtins, private, reserved, bound, aliases, own, permitted)

    def module(self, node: ast.expr) -> str | None:
        """Return the full name of the listed module an expression stands for, or None."""
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id)
        if isinstance(node, ast.Attribute) and (top := self.module(node.value)):
            name = f"{top}.{node.attr}"
            return name if module_names(name) is not None else None
        return None


def attribute_finding(name: str, own: Container[str] = ()) -> Finding | None:
    """Return what is wrong with reading an attribute of that name from anything at all."""
    if name.startswith("_"):
        if name == "__name__":
            return None
        return "CAP103", f"attribute '{name}' begins with an underscore"
    if name in ("format", "format_map"):
        return "CAP108", f"'.{name}' is allowed on a literal of plain fields only; use an f-string"
    if name in _LEADS_OUT or name.startswith(_LEADS_OUT_PREFIXES):
        return "CAP112", f"'.{name}' is not available to programs"
    if name in _OWN_ONLY and name not in own:
        return "CAP112", f"'.{name}' is available only where a class of the program binds it"
    return None


def _permitted_call(node: ast.Call) -> Iterable[int]:
    """Permit `type(value)` and the `format` of a literal of plain fields."""
    function = node.func
    if isinstance(function, ast.Name):
        alone = len(node.args) == 1 and not node.keywords
        if function.id == "type" and alone and not isinstance(node.args[0], ast.Starred):
            return (id(function),)
    elif isinstance(function, ast.Attribute) and function.attr == "format":
        template = function.value
        if isinstance(template, ast.Constant) and _is_plain_template(template.value):
            return (id(function),)
    return ()


def _is_plain_template(text: object, level: int = 0) -> bool:
    """Tell whether a format string reads its arguments only, and no attribute or entry of them."""
    if not isinstance(text, str) or level > 2:
        return False
    try:
        return all(
            name is None
            or (
                ((not name or name.isalnum() or name.isidentifier()) and not name.startswith("_"))
                and _is_plain_template(width or "", level + 1)
            )
            for _, name, width, _ in Formatter().parse(text)
        )
    except ValueError:
        return False


def _class_name(node: ast.Attribute) -> Iterable[int]:
    """Permit the `__class__` in `value.__class__.__name__`."""
    inner = node.value
    if node.attr == "__name__" and isinstance(inner, ast.Attribute) and inner.attr == "__class__":
        return (id(inner),)
    return ()


def _own_attributes(owner: ast.ClassDef) -> Iterable[str]:
    """Yield the names a class binds: in its body, and of `self` in its methods."""
    for entry in owner.body:
        targets = entry.targets if isinstance(entry, ast.Assign) else [entry]
        for target in targets:
            yield from bound_names(target.target if isinstance(target, ast.AnnAssign) else target)
    for node in ast.walk(owner):
        if _is_of_self(node) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _is_of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "self"


def _permitted_in_class(owner: ast.ClassDef, own: set[str]) -> Iterable[int]:
    """Permit a class's own `_x`, and calls of the special methods it inherits."""
    bases = {base.id for base in owner.bases if isinstance(base, ast.Name)}
    for node in ast.walk(owner):
        if _is_of_self(node) and node.attr in own and _is_private(node.attr):
            yield id(node)
        elif isinstance(node, ast.Call) and _is_inherited(node.func, bases):
            yield id(node.func)
    for entry in owner.body:
        if isinstance(entry, ast.FunctionDef) and (
            _is_private(entry.name) or is_special(entry.name)
        ):
            yield id(entry)  # `_class` judges the special ones
        elif isinstance(entry, ast.Assign | ast.AnnAssign):
            targets = entry.targets if isinstance(entry, ast.Assign) else [entry.target]
            for target in targets:
                private = isinstance(target, ast.Name) and _is_private(target.id)
                if private or _is_match_args(target, entry.value):
                    yield id(target)


def _is_match_args(target: ast.expr, value: ast.expr | None) -> bool:
    """Tell whether a class binds `__match_args__` to a tuple of attributes it may name."""
    return (
        isinstance(target, ast.Name)
        and target.id == "__match_args__"
        and isinstance(value, ast.Tuple)
        and all(
            isinstance(entry, ast.Constant)
            and isinstance(entry.value, str)
            and attribute_finding(entry.value, _OWN_ONLY) is None
            for entry in value.elts
        )
    )


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_special(name: str) -> bool:
    """Tell whether a name has the form of a special method's."""
    return name.startswith("__") and name.endswith("__")


def _is_inherited(function: ast.expr, bases: set[str]) -> bool:
    """Tell whether it is `super().__init__`, or `Base.__init__` of a base of the class."""
    if not isinstance(function, ast.Attribute) or function.attr not in DATA_MODEL:
        return False
    owner = function.value
    if isinstance(owner, ast.Call):
        return isinstance(owner.func, ast.Name) and owner.func.id == "super"
    return isinstance(owner, ast.Name) and owner.id in bases


def is_alias(entry: object) -> bool:
    """Tell whether an entry of an import is one; a tree made by hand may hold anything."""
    return isinstance(entry, ast.alias)


def is_whole(node: ast.Import | ast.ImportFrom) -> bool:
    """Tell whether an import is as a parser makes it."""
    return all(map(is_alias, node.names))


def _imported(node: ast.Import, modules: frozenset[str]) -> Iterable[tuple[str, str]]:
    """Yield the names an import binds to listed modules."""
    for alias in filter(is_alias, node.names):
        if alias.name in modules:
            top = alias.name.split(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (top, top)


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
            return [alias.asname or alias.name.split(".")[0] for alias in filter(is_alias, names)]
    return ()
