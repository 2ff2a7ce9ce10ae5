"""Functions that do nothing but return a value: a call that drops it has no effect at all.

`def put_away(name): return name` passes every other check, and a program that calls it reports a
success. The answer is on the safe side: what might do something is not called idle.
"""

from __future__ import annotations

import ast

from cap.checker.policy import LIBRARY_NAMES, SAFE_BUILTINS

_CALCULATES = (LIBRARY_NAMES | SAFE_BUILTINS) - {"filter", "map", "next", "print"}
_CHANGES_ITS_ARGUMENT = (
    "at",
    "copyto",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "shuffle",
)
"""Of numpy's functions."""
_DOES = (
    ast.Assert,
    ast.AugAssign,  # what it names may be an argument, changed in place
    ast.Await,
    ast.Delete,
    ast.Global,
    ast.Nonlocal,
    ast.With,
    ast.Yield,
    ast.YieldFrom,
)


def is_idle(tree: ast.Module, name: str) -> bool:
    """Tell whether a function certainly does nothing besides returning a value.

    It calls nothing but builtins and the library, changes nothing it was given, raises nothing.

    Args:
        tree: What defines it.
        name: The function.
    """
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not found:
        return False
    body = [*ast.walk(found[-1].args)]
    for statement in found[-1].body:
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name)):
            body += ast.walk(statement)  # a mere name does nothing
    own = {node.arg for node in body if isinstance(node, ast.arg)}
    own |= {n.id for n in body if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return not any(_does(node, own) for node in body)


def _does(node: ast.AST, own: set[str]) -> bool:
    """Tell whether a node may change something outside its function, or stop the program."""
    if isinstance(node, ast.Call):
        return not _is_calculation(node)
    if isinstance(node, ast.Raise):  # a stub says so; else it may be a check of what is given
        return "NotImplementedError" not in ast.unparse(node)
    if isinstance(node, ast.Name):  # another function may be handed on
        return node.id not in own and node.id not in _CALCULATES
    if isinstance(node, ast.Attribute | ast.Subscript):
        return isinstance(node.ctx, ast.Store)
    return isinstance(node, _DOES)


def _is_calculation(call: ast.Call) -> bool:
    """Tell whether a builtin or a function of the library is called that changes nothing."""
    function = call.func
    if isinstance(function, ast.Attribute) and function.attr in _CHANGES_ITS_ARGUMENT:
        return False
    if any(keyword.arg in (None, "out", "key") for keyword in call.keywords):
        return False
    while isinstance(function, ast.Attribute):
        function = function.value
    return isinstance(function, ast.Name) and function.id in _CALCULATES
