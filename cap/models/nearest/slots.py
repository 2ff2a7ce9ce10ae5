"""An example's slots: the words of its instruction that its code repeats.

A string of the code that is in the instruction ('the red block'), or shares a run of words with it,
is a slot, and so is a number that follows from one in the instruction: 0.05 from '5 cm', index 1
from 'second', 3 from 'three'. What may fill a string slot follows from what the example has there:
the name of an object of its own context, words of such names, a phrase, or a label.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations, takewhile
from typing import Literal

from cap.errors import PromptError
from cap.models.nearest.words import Token, direction, stem, tokenise
from cap.prompt.context import Context
from cap.prompt.examples import Example

Span = tuple[int, int]
"""First token and one past the last."""
Value = str | float | tuple[int, ...]
"""A slot's words, its number in metres, degrees or as counted, or its direction."""
Kind = Literal["name", "word", "absent", "label", "phrase", "number", "direction"]
"""What may fill a slot."""
_FACTORS = {"length": (1.0, 100.0), "angle": (1.0, math.pi / 180), "cardinal": (1.0,)}
"""By kind of a number in words: factors to numbers in code."""


@dataclass(frozen=True)
class Slot:
    """A stretch of the instruction that may be worded differently."""

    span: Span
    """Its tokens in the example's instruction."""
    kind: Kind
    use: str
    """What the code does with it, such as `parse_position.0`; slots of one use share fillers."""
    tokens: tuple[Token, ...]
    """The words that fill it in the example."""
    singular: bool = False
    """True if the code has the singular of a plural in the instruction."""
    whole: bool = False
    """True if the instruction has no other word with meaning."""


@dataclass(frozen=True)
class Hole:
    """A place of the code that a slot's words go to."""

    number: int
    """Which of the code's literals it is in."""
    slot: Slot
    start: int = 0
    """First character, in a string."""
    end: int = 0
    """One past its last character."""


@dataclass(frozen=True)
class Template:
    """An example with its slots."""

    example: Example
    """Where it comes from."""
    elements: tuple[str | Slot, ...]
    """The instruction: stems of literal words, and slots."""
    tree: ast.Module
    """The code."""
    holes: tuple[Hole, ...]
    """Where in the code the slots are; those of one string from its end on."""

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The slots in the order of the instruction."""
        return tuple(element for element in self.elements if isinstance(element, Slot))

    def filled(self, values: Mapping[Span, Value | None]) -> str:
        """Return the code with other values in the slots, which are named by their spans."""
        tree = deepcopy(self.tree)
        found = list(literals(tree))
        for hole in self.holes:
            literal, value = found[hole.number], values[hole.slot.span]
            node = literal.node
            if isinstance(node, ast.List):
                if isinstance(value, tuple):
                    node.elts = [ast.Constant(number) for number in value]
            elif isinstance(node.value, str):
                node.value = node.value[: hole.start] + str(value) + node.value[hole.end :]
            elif isinstance(value, float) and (relation := _relation(literal, hole.slot.tokens[0])):
                number = value * relation[0] + relation[1]
                whole = isinstance(node.value, int) and number.is_integer()
                node.value = int(number) if whole else float(f"{number:.12g}")
        return ast.unparse(tree)


@dataclass(frozen=True)
class _Literal:
    """A string, a number or a unit vector of the code."""

    node: ast.Constant | ast.List
    use: str
    """What it is used for, such as `parse_position.0`."""
    index: int
    """1 if it counts from the start of a sequence, -1 from its end, 0 if it is no index."""

    @property
    def text(self) -> str:
        """Its words; "" if it is no string."""
        value = self.node.value if isinstance(self.node, ast.Constant) else None
        return value if isinstance(value, str) else ""


@lru_cache(maxsize=256)
def names_in(context: str) -> tuple[str, ...]:
    """Return the strings of a context's lists: names of things in the scene."""
    try:
        values = Context.read(context).facts.values()
    except PromptError:
        return ()
    lists = [value for value in values if isinstance(value, list | tuple)]
    return tuple(entry for value in lists for entry in value if isinstance(entry, str))


@lru_cache(maxsize=2048)
def template(example: Example) -> Template | None:
    """Return an example's template, or None if it has no code that is Python."""
    try:
        tree = ast.parse(example.code)
    except SyntaxError:
        return None
    if not tree.body:
        return None
    tokens = tokenise(example.instruction)
    found: dict[Span, Slot] = {}
    holes: list[Hole] = []
    longest_first = sorted(enumerate(literals(tree)), key=lambda one: -len(tokenise(one[1].text)))
    for number, literal in longest_first:
        for hole in _holes(number, literal, tokens, names_in(example.context), found):
            found.setdefault(hole.slot.span, hole.slot)
            holes.append(hole)
    # Spans that share words are left out: neither can be filled alone.
    slots = {
        (a, b): slot
        for (a, b), slot in found.items()
        if not any((c, d) != (a, b) and c < b and a < d for c, d in found)
    }
    inside = {i for span in slots for i in range(*span)}
    whole = all(token.cheap for i, token in enumerate(tokens) if i not in inside)
    starts = {span[0]: replace(slot, whole=whole) for span, slot in slots.items()}
    elements = tuple(
        starts.get(i, token.literal)
        for i, token in enumerate(tokens)
        if i in starts or i not in inside
    )
    kept = (hole for hole in holes if hole.slot.span in slots)
    last_first = tuple(sorted(kept, key=lambda hole: -hole.start))
    return Template(example, elements, tree, last_first)


def repeated_numbers(example: Example) -> tuple[str, ...]:
    """Return the numbers of an instruction that are more often in its code than in its words.

    Each of them would become the new number when a slot is filled, the unrelated ones too: an
    instruction with '2 times' must not have `/ 2` for a middle. An ordinal is an index alone.
    """
    try:
        found = list(literals(ast.parse(example.code)))
    except SyntaxError:
        return ()
    said = [token for token in tokenise(example.instruction) if token.kind in _FACTORS]
    return tuple(
        token.text
        for i, token in enumerate(said)
        if token.literal not in [one.literal for one in said[:i]]
        and sum(_relation(literal, token) is not None for literal in found)
        > sum(one.literal == token.literal for one in said)
    )


def literals(node: ast.AST, use: str = "", index: int = 0) -> Iterator[_Literal]:
    """Return the strings, numbers and unit vectors of the code with what it does with them."""
    sign = -1 if isinstance(node, ast.UnaryOp) else 0
    inner = [(child, use, sign * index) for child in ast.iter_child_nodes(node)]
    match node:
        case ast.Constant(value=bool()):
            return
        case ast.Constant(value=str() | int() | float()):
            yield _Literal(node, use, index)
        case ast.List() if _vector(node):
            yield _Literal(node, use, 0)
            return
        case ast.Lambda():  # how things are compared
            yield from (replace(found, index=0) for found in literals(node.body, use))
            return
        case ast.Call():
            callee = ast.unparse(node.func).split(".")[-1]
            inner = [(node.func, use, 0)]
            inner += [(arg, f"{callee}.{i}", 0) for i, arg in enumerate(node.args)]
            inner += [(key.value, f"{callee}.{key.arg}", 0) for key in node.keywords]
        case ast.Compare(ops=[ast.In()]):
            inner = [(node.left, "in", 0), (node.comparators[0], use, 0)]
        case ast.Subscript():
            inner = [(node.value, use, 0), (node.slice, "index", 1)]
    for child in inner:
        yield from literals(*child)


def _vector(node: ast.List) -> tuple[int, ...]:
    """Return the unit vector that a list in the code is; () if it is none."""
    try:
        value = tuple(ast.literal_eval(node))
    except ValueError:
        return ()
    return value if value in ((-1, 0), (1, 0), (0, 1), (0, -1)) else ()


def _holes(
    number: int,
    literal: _Literal,
    tokens: tuple[Token, ...],
    names: Sequence[str],
    taken: Collection[Span],
) -> Iterator[Hole]:
    """Return what a literal has of the instruction.

    Of a string these are the longest runs of words that both have, left to right. Words inside a
    longer span that is taken already do not count.
    """
    if isinstance(literal.node, ast.List):
        vector, spans = _vector(literal.node), combinations(range(len(tokens) + 1), 2)
        found = [(i, j) for i, j in spans if direction(tokens[i:j], tokens[i:j]) == vector]
        for span in sorted(found, key=lambda one: one[0] - one[1])[:1]:
            yield Hole(number, Slot(span, "direction", "direction", tokens[slice(*span)]))
        return
    for i, token in enumerate(tokens):
        if _relation(literal, token):
            yield Hole(number, Slot((i, i + 1), "number", f"number {token.kind}", (token,)))
    words = tokenise(literal.text)
    i = 0
    while i < len(words):
        lengths: dict[int, int] = {}
        for at in range(len(tokens)):
            pairs = zip(words[i:], tokens[at:], strict=False)
            size = sum(1 for _ in takewhile(lambda pair: pair[0].literal == pair[1].literal, pairs))
            if not any(a <= at and at + size <= b and b - a > size for a, b in taken):
                lengths[at] = size
        length = max(lengths.values(), default=0)
        places = [at for at, size in lengths.items() if size == length]
        run = words[i : i + length]
        if len(places) == 1 and not all(word.cheap for word in run):
            said = tokens[places[0] : places[0] + length]
            part = "" if length == len(words) else "-" if i else "+"
            kind = _kind(literal, said, names)
            cut = run[-1].text != said[-1].text and stem(said[-1].text) == run[-1].stem
            span = places[0], places[0] + length
            slot = Slot(span, kind, f"{kind} {literal.use}{part}", said, cut)
            yield Hole(number, slot, run[0].start, run[-1].end)
        i += max(length, 1)


def _kind(literal: _Literal, said: Sequence[Token], names: Sequence[str]) -> Kind:
    """Return what may fill a slot, by what fills it in the example."""
    if any(token.cheap for token in tokenise(literal.text)):
        return "phrase"
    stems = {token.stem for token in said}
    known = [{token.stem for token in tokenise(name)} for name in names]
    if stems in known:
        return "name"
    if any(stems <= name for name in known):
        return "word"
    return "absent" if literal.use == "in" and len(stems) == 1 else "label"


def _relation(literal: _Literal, token: Token) -> tuple[float, float] | None:
    """Return factor and shift from a number in words to one in code, or None."""
    value = literal.node.value if isinstance(literal.node, ast.Constant) else None
    if not isinstance(value, int | float):
        return None
    if token.kind == "ordinal":
        shift = -1.0 if literal.index == 1 else 0.0
        return (1.0, shift) if literal.index and value == token.value + shift else None
    for factor in _FACTORS.get(token.kind, ()):
        if math.isclose(value, token.value * factor, rel_tol=1e-6):
            return factor, 0.0
    return None
