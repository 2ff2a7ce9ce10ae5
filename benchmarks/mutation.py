"""Programs made wrong on purpose, each in one way that models' programs are wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

Rng = np.random.Generator
Mutate = Callable[[ast.Module, Rng, Sequence[str]], bool]
"""Changes a program in place; False if there is nothing in it to change in this way."""

_OFFSET = 0.08
"""Metres, or what a small number is off by."""
NOTHING = "pass\n"


def mutant(source: str, kind: str | None, rng: Rng, names: Sequence[str]) -> tuple[str, str]:
    """Return a program made wrong, and in which way of `KINDS`.

    Args:
        source: The right program.
        kind: The way; None draws one. Where a program has no place for it, it does nothing.
        rng: Draws.
        names: What things are called that a program may confuse.
    """
    ways = [kind] if kind else [str(way) for way in rng.permutation([*KINDS])]
    for way in ways:
        tree = ast.parse(source)
        if KINDS[way](tree, rng, names):
            changed = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            if changed != ast.unparse(ast.parse(source)) + "\n":
                return changed, way
    return NOTHING, "nothing"


def _object(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Take another thing of the same kind, else any other."""
    found = [node for node in _constants(tree) if node.value in names]
    if not found or len(set(names)) < 2:
        return False
    node = found[rng.integers(len(found))]
    here = str(node.value)
    others = [name for name in dict.fromkeys(names) if name != here]
    alike = [name for name in others if name.split(" ")[-1] == here.split(" ")[-1]]
    node.value = str(rng.choice(alike or others))
    return True


def _swap(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Swap the first two arguments of a call."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and len(node.args) >= 2
        and ast.dump(node.args[0]) != ast.dump(node.args[1])
        and not any(isinstance(entry, ast.Starred) for entry in node.args)
    ]
    if not found:
        return False
    node = found[rng.integers(len(found))]
    node.args[0], node.args[1] = node.args[1], node.args[0]
    return True


def _offset(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Miss a place, or a length, by some centimetres."""
    sign = -1 if rng.random() < 0.5 else 1
    numbers: list[ast.Constant] = [
        node for node in _constants(tree) if isinstance(node.value, float) and abs(node.value) < 10
    ]
    places = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "get_obj_pos"
    ]
    number = int(rng.integers(len(numbers) + len(places))) if numbers or places else -1
    if number < 0:
        return False
    if number < len(numbers):
        value = numbers[number].value
        assert isinstance(value, float)
        numbers[number].value = round(value + (_OFFSET if sign > 0 or value > 0.1 else -value), 6)
        return True
    chosen = places[number - len(numbers)]
    shifted = ast.parse(f"({ast.unparse(chosen)} + {sign * _OFFSET})", mode="eval").body
    for node in ast.walk(tree):
        for name, field in ast.iter_fields(node):
            if field is chosen:
                setattr(node, name, shifted)
                return True
            if isinstance(field, list) and chosen in field:
                field[field.index(chosen)] = shifted
                return True
    return False


def _loop(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Leave out the last turn of a loop."""
    found = [node for node in ast.walk(tree) if isinstance(node, ast.For)]
    if not found:
        return False
    node = found[rng.integers(len(found))]
    node.iter = ast.parse(f"list({ast.unparse(node.iter)})[:-1]", mode="eval").body
    return True


def _exception(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Fail somewhere on the way."""
    return _inserted(tree, rng, "raise ValueError('a mutant')")


def _endless(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Never come to an end."""
    return _inserted(tree, rng, "while True:\n    pass")


def _nothing(tree: ast.Module, rng: Rng, names: Sequence[str]) -> bool:
    """Do nothing at all."""
    tree.body = ast.parse(NOTHING).body
    return True


KINDS: Mapping[str, Mutate] = {
    "object": _object,
    "swap": _swap,
    "offset": _offset,
    "loop": _loop,
    "exception": _exception,
    "endless": _endless,
    "nothing": _nothing,
}
"""Every way, by its name."""


def _constants(tree: ast.Module) -> Iterator[ast.Constant]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Constant))


def _inserted(tree: ast.Module, rng: Rng, source: str) -> bool:
    """Put a statement before one of the last half of a program's own."""
    at = int(rng.integers(len(tree.body) // 2, len(tree.body) + 1))
    body = tree.body
    last = body[-1] if body else None
    if isinstance(last, ast.FunctionDef):  # the whole is one function: inside it
        body, at = last.body, 0
    body[at:at] = ast.parse(source).body
    return True
