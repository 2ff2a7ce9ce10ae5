"""Requests for a function: `total = get_total(xs=numbers)`, answered from a definition."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from cap.errors import NoMatch
from cap.models.nearest.words import stem
from cap.prompt.examples import Example

_EMPTY_VERBS = frozenset(("get", "make", "compute", "calculate", "find", "create"))


def answer_definition(instruction: str, examples: Sequence[Example]) -> str | None:
    """Return the definition of the function an instruction calls, or None if it calls none.

    An example answers if its function's name has the same words; parameters take the names the
    call gives them.

    Raises:
        NoMatch: No example defines such a function, or its parameters do not fit the call.
    """
    call = _call(instruction)
    if call is None:
        return None
    assert isinstance(call.func, ast.Name)
    wanted = call.func.id
    for same in (str, _words):
        for example in examples:
            function = _function(example.code)
            if function is not None and same(function.name) == same(wanted):
                text = _renamed(function, call)
                if text is not None:
                    return text
    raise NoMatch(
        f"nearest knows no example function like {ast.unparse(call)!r};"
        " define it in the prompt, or use a language model with -m"
    )


def _call(instruction: str) -> ast.Call | None:
    """Return the call in `define function: value = name(arguments)`."""
    head, colon, text = instruction.partition(": ")
    if not colon or len(head.split()) > 3:
        return None
    try:
        statement = ast.parse(text).body[0]
    except (SyntaxError, IndexError):
        return None
    value = statement.value if isinstance(statement, ast.Assign | ast.Expr) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value
    return None


def _words(name: str) -> tuple[str, ...]:
    """Return a name's telling words: `make_line` and `create_line` have the same."""
    words = [stem(word) for word in name.lower().split("_") if word]
    return tuple(word for word in words if word not in _EMPTY_VERBS) or tuple(words)


def _function(code: str) -> ast.FunctionDef | None:
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    return body[0] if len(body) == 1 and isinstance(body[0], ast.FunctionDef) else None


def _renamed(function: ast.FunctionDef, call: ast.Call) -> str | None:
    """Return the definition under the call's names, or None if the arguments do not fit."""
    parameters = [entry.arg for entry in function.args.args]
    required = len(parameters) - len(function.args.defaults)
    given = [entry.arg for entry in call.keywords]
    total = len(call.args) + len(given)
    unpacked = None in given or any(isinstance(arg, ast.Starred) for arg in call.args)
    if unpacked or not required <= total <= len(parameters):
        return None
    names = {parameter: parameter for parameter in parameters if parameter in given}
    free = [name for name in parameters[len(call.args) :] if name not in names]
    new = [name for name in given if name is not None and name not in names]
    used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    if len(new) > len(free) or used.intersection(new):
        return None
    names.update(zip(free, new, strict=False))
    names[function.name] = _name(call)
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.FunctionDef):
            node.name = names.get(node.name, node.name)
    return ast.unparse(function)


def _name(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Name)
    return call.func.id
