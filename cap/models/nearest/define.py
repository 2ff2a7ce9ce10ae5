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

    An example answers if its function's name has the same words and its parameters take the call.

    Raises:
        NoMatch: No example defines such a function.
    """
    head, colon, text = instruction.partition(": ")
    if not colon or len(head.split()) > 3:  # `define function: value = name(arguments)`
        return None
    call = getattr(_statement(text), "value", None)
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        return None
    wanted = call.func.id
    for same in (str, _words):
        for example in examples:
            function = _statement(example.code)
            if (
                isinstance(function, ast.FunctionDef)
                and same(function.name) == same(wanted)
                and _takes(function, call)
            ):
                for node in ast.walk(function):
                    if isinstance(node, ast.Name) and node.id == function.name:
                        node.id = wanted  # it calls itself
                function.name = wanted
                return ast.unparse(function)
    raise NoMatch(
        f"nearest knows no example function like {ast.unparse(call)!r};"
        " define it in the prompt, or use a language model with -m"
    )


def _statement(code: str) -> ast.stmt | None:
    """Return the one statement of some code, or None."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    return body[0] if len(body) == 1 else None


def _words(name: str) -> tuple[str, ...]:
    """Return a name's telling words: `make_line` and `create_line` have the same."""
    words = [stem(word) for word in name.lower().split("_") if word]
    return tuple(word for word in words if word not in _EMPTY_VERBS) or tuple(words)


def _takes(function: ast.FunctionDef, call: ast.Call) -> bool:
    """Tell whether a function's parameters take the arguments of a call."""
    names = [parameter.arg for parameter in function.args.args]
    required = names[: len(names) - len(function.args.defaults)]
    given = [*names[: len(call.args)], *(argument.arg for argument in call.keywords)]
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    fits = len(call.args) <= len(names) and len(given) == len({*given})
    return not starred and fits and {*required} <= {*given} <= {*names}
