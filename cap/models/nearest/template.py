"""Templates: an example with its slots cut out, and trees with holes where slot values go."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar, cast

from cap.errors import PromptError
from cap.models.nearest.words import Token
from cap.prompt.context import Context
from cap.prompt.examples import Example

Tree = TypeVar("Tree", bound=ast.AST)
Span = tuple[int, int]
"""First token and one past the last."""
SlotKind = Literal["name", "word", "absent", "label", "phrase", "number"]


@dataclass(frozen=True)
class Hole:
    """What stands in the code for a value that depends on slots."""

    parts: tuple[str | int, ...]
    """Fixed text and slot numbers, in order; one slot number if it is a number."""
    factor: float = 1.0
    """Numbers: the code's value is the slot's value times this, plus `shift`."""
    shift: float = 0.0
    """Numbers: see `factor`."""
    number: bool = False
    """True if the value is a number."""
    integer: bool = False
    """Numbers: True if the code wrote an integer."""

    def __repr__(self) -> str:
        """Return text that is equal for holes of the same slots; trees are compared by it."""
        if self.number:
            return f"<{self.parts[0]}>"
        return "<" + "|".join(map(str, self.parts)) + ">"


@dataclass(frozen=True)
class Slot:
    """A stretch of the instruction that may be said otherwise."""

    start: int
    """First token in the example's instruction."""
    end: int
    """One past its last token."""
    kind: SlotKind
    """What may fill it."""
    use: str
    """What the code does with it, such as `parse_position.0`; slots of one use share fillers."""
    tokens: tuple[Token, ...]
    """The words that fill it in the example."""
    plural: bool
    """True if they speak of several things."""
    singular: bool = False
    """True if the code holds the singular of a plural in the instruction."""
    whole: bool = False
    """True if the instruction has no other word with meaning."""
    alone: bool = False
    """True if, besides, it is no question: nothing else tells what is wanted."""


Element = str | int
"""A literal word's stem, or a slot's number."""


@dataclass(frozen=True)
class Template:
    """An example with its slots cut out."""

    example: Example
    """Where it comes from."""
    elements: tuple[Element, ...]
    """The instruction: stems of literal words, and slot numbers."""
    slots: tuple[Slot, ...]
    """By number."""
    tree: ast.Module
    """The code, with a `Hole` as the value of each constant that depends on slots."""
    derived: bool = False
    """True if analogy made it from the example."""
    source: tuple[str, ...] = ()
    """Dump of each statement, holes included; equal for codes that differ in slots only."""
    strings: frozenset[str] = frozenset()
    """Stems of all words in the code's strings."""


@lru_cache(maxsize=256)
def names_in(context: str) -> tuple[str, ...]:
    """Return the strings of a context's lists: names of things in the scene."""
    try:
        values = Context.read(context).facts.values()
    except PromptError:
        return ()
    lists = [value for value in values if isinstance(value, list | tuple)]
    return tuple(entry for value in lists for entry in value if isinstance(entry, str))


def rewrite(tree: Tree, change: Callable[[ast.AST], ast.AST | None]) -> Tree:
    """Return a tree in which `change` replaced nodes; it shares with the old one what it left."""
    return cast(Tree, _rewritten(tree, change))


def _rewritten(value: Any, change: Callable[[ast.AST], ast.AST | None]) -> Any:
    if isinstance(value, list):
        items = [_rewritten(item, change) for item in value]
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    if not isinstance(value, ast.AST):
        return value
    if (changed := change(value)) is not None:
        return changed
    old = dict(ast.iter_fields(value))
    new = {name: _rewritten(entry, change) for name, entry in old.items()}
    if all(new[name] is old[name] for name in old):
        return value
    return ast.copy_location(type(value)(**new), value)


def dump(tree: ast.Module) -> tuple[str, ...]:
    """Return one comparable text for each statement."""
    return tuple(ast.dump(statement) for statement in tree.body)
