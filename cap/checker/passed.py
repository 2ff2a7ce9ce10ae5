"""Which names are functions passed as values, by a written rule.

A name that nobody defines and no program calls is still a function to be written where it is
handed to something that calls what it is given:

- the first argument of `map`, `filter`, `np.vectorize` and `np.apply_along_axis`;
- the keyword argument `key`, of anything: `sorted(names, key=get_area)`;
- a keyword argument of anything whose last word says that it takes a function: `function`, `func`,
  `fn`, `callback`, `predicate` (`find(names, match_fn=is_red)`).

Everywhere else such a name is a fault of the program: a misspelt variable, more often than not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from cap.checker.undefined import CallSite

_TAKERS = {"map": None, "filter": 1, "np.vectorize": None, "np.apply_along_axis": 1}
"""What calls its first argument, and with how many arguments; None if that varies."""
_SAYING = frozenset(("function", "func", "fn", "callback", "predicate"))


def passed(tree: ast.Module, name: str) -> tuple[CallSite, ...]:
    """Return the places that hand a name to something that calls it, each as a call of it."""
    return tuple(
        CallSite(
            text=f"{name}({', '.join(arguments)}); {ast.unparse(call)}",
            line=call.lineno,
            arguments=arguments,
            keywords=(),
        )
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for arguments in _uses(call, name)
    )


def _uses(call: ast.Call, name: str) -> Iterator[tuple[str, ...]]:
    """Yield the arguments a call will give to the name, as far as they are known."""
    taker = ast.unparse(call.func)
    if taker in _TAKERS and call.args and _is(call.args[0], name):
        yield _items(call, taker)
    for keyword in call.keywords:
        if keyword.arg and _is(keyword.value, name):
            if keyword.arg == "key":
                yield ("item",)
            elif keyword.arg.split("_")[-1] in _SAYING:
                yield ("*items",)


def _items(call: ast.Call, taker: str) -> tuple[str, ...]:
    if taker == "map" and not any(isinstance(entry, ast.Starred) for entry in call.args):
        count = len(call.args) - 1
        return ("item",) if count == 1 else tuple(f"item{n}" for n in range(1, count + 1))
    return ("item",) if _TAKERS[taker] == 1 else ("*items",)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
