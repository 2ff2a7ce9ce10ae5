"""Templates: which words of an example's instruction its code repeats, so that both can be rebound.

A string of the code that stands in the instruction ('the red block'), or shares a run of words
with it, becomes a slot, and so does a number that follows from one in the instruction: 0.05 from
'5 cm', index 1 from 'second', 3 from 'three'. What kind of words may fill a string slot follows
from what stood there: the name of an object of the example's own context, words of such names, a
phrase of natural language, or a label.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from cap.errors import PromptError
from cap.models.nearest.words import Token, is_function, is_plural, is_telling, stem, tokenise
from cap.prompt import Example, parse_context

Span = tuple[int, int]
"""First token and one past the last."""
SlotKind = Literal["name", "word", "label", "phrase", "number"]


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
    alone: bool = False
    """True if no other words of the instruction tell what is wanted."""


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
        values = parse_context(context).values()
    except PromptError:
        return ()
    lists = [value for value in values if isinstance(value, list | tuple)]
    return tuple(entry for value in lists for entry in value if isinstance(entry, str))


@lru_cache(maxsize=2048)
def induce(example: Example) -> Template | None:
    """Return an example's template, or None if it has no code that is Python."""
    try:
        tree = ast.parse(example.code)
    except SyntaxError:
        return None
    if not tree.body:
        return None
    tokens = tokenise(example.instruction)
    names = names_in(example.context)
    constants = list(_constants(tree))
    spans: dict[Span, tuple[SlotKind, str, bool]] = {}
    for node, use, index in sorted(constants, key=_length, reverse=True):
        if isinstance(node.value, str):
            for run in runs(node.value, tokens, spans):
                spans.setdefault(
                    run.span, (_kind(node.value, run, tokens, names), use + run.part, run.cut)
                )
        else:
            for i in _numbers(node, index, tokens):
                spans.setdefault((i, i + 1), ("number", "number", False))
    spans = {span: what for span, what in sorted(spans.items()) if not _clash(span, spans)}
    alone = not any(
        is_telling(token) and not any(a <= i < b for a, b in spans)
        for i, token in enumerate(tokens)
    )
    slots = tuple(
        Slot(*span, kind, f"{kind} {use}", words, is_plural(words), cut, alone)
        for span, (kind, use, cut) in spans.items()
        for words in [tokens[span[0] : span[1]]]
    )
    strings = frozenset(
        token.stem
        for node, _, _ in constants
        if isinstance(node.value, str)
        for token in tokenise(node.value)
    )
    numbers = {span: i for i, span in enumerate(spans)}
    for node, _, index in constants:
        _cut(node, index, tokens, numbers)
    elements = _elements(tokens, slots)
    return Template(example, elements, slots, tree, source=dump(tree), strings=strings)


def dump(tree: ast.Module) -> tuple[str, ...]:
    """Return one comparable text for each statement."""
    return tuple(ast.dump(statement) for statement in tree.body)


def _length(constant: tuple[ast.Constant, str, bool]) -> int:
    value = constant[0].value
    return len(tokenise(value)) if isinstance(value, str) else 0


def _elements(tokens: Sequence[Token], slots: Sequence[Slot]) -> tuple[Element, ...]:
    starts = {slot.start: i for i, slot in enumerate(slots)}
    inside = {i for slot in slots for i in range(slot.start, slot.end)}
    return tuple(
        starts[i] if i in starts else _literal(token)
        for i, token in enumerate(tokens)
        if i in starts or i not in inside
    )


def _literal(token: Token) -> str:
    return token.stem if token.kind == "word" else f"{token.stem}={token.value:g}"


def _clash(span: Span, spans: Collection[Span]) -> bool:
    """True if another span shares some of its words; neither can then be rebound alone."""
    return any(other != span and other[0] < span[1] and span[0] < other[1] for other in spans)


def _constants(tree: ast.Module) -> Iterator[tuple[ast.Constant, str, bool]]:
    """Return strings and numbers of the code, what each is used for, and if it is an index."""
    stack: list[tuple[ast.AST, str, bool]] = [(tree, "", False)]
    while stack:
        node, use, index = stack.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str | int | float) and not isinstance(node.value, bool):
                yield node, use, index
        elif isinstance(node, ast.Call):
            callee = ast.unparse(node.func).split(".")[-1]
            stack.append((node.func, use, False))
            stack += [(arg, f"{callee}.{i}", False) for i, arg in enumerate(node.args)]
            stack += [(key.value, f"{callee}.{key.arg}", False) for key in node.keywords]
        elif isinstance(node, ast.Subscript):
            stack += [(node.value, use, False), (node.slice, "index", True)]
        else:
            inherit = index and isinstance(node, ast.UnaryOp)
            stack += [(child, use, inherit) for child in ast.iter_child_nodes(node)]


@dataclass(frozen=True)
class Run:
    """A run of words that a string of the code shares with the instruction."""

    span: Span
    """Tokens of the instruction."""
    start: int
    """First character in the string."""
    end: int
    """One past its last character."""
    part: str
    """"" if it is the whole string, `+` if it begins it, `-` if text comes before it."""
    cut: bool
    """True if the string has the singular of a plural in the instruction."""


def runs(text: str, tokens: Sequence[Token], taken: Collection[Span] = ()) -> tuple[Run, ...]:
    """Return the longest runs of words that text and instruction share, left to right.

    Words inside a span longer than the run that is `taken` already do not count.
    """
    words = tokenise(text)
    found: list[Run] = []
    i = 0
    while i < len(words):
        length, at, count = _longest(words[i:], tokens, taken)
        matched = words[i : i + length]
        if length and count == 1 and not all(is_function(word) for word in matched):
            whole = length == len(words)
            last = tokens[at + length - 1]
            found.append(
                Run(
                    span=(at, at + length),
                    start=matched[0].start,
                    end=matched[-1].end,
                    part="" if whole else "+" if i == 0 else "-",
                    cut=matched[-1].text != last.text and stem(last.text) == matched[-1].stem,
                )
            )
        i += max(length, 1)
    return tuple(found)


def _longest(
    words: Sequence[Token], tokens: Sequence[Token], taken: Collection[Span]
) -> tuple[int, int, int]:
    """Return length, place and number of places of the longest prefix of words in tokens."""
    best, at, count = 0, 0, 0
    for start in range(len(tokens)):
        length = 0
        while (
            length < len(words)
            and start + length < len(tokens)
            and _same(words[length], tokens[start + length])
        ):
            length += 1
        span = start, start + length
        if any(a <= span[0] and span[1] <= b and span != (a, b) for a, b in taken):
            continue
        if length > best:
            best, at, count = length, start, 1
        elif length and length == best:
            count += 1
    return best, at, count


def _same(a: Token, b: Token) -> bool:
    return a.stem == b.stem and a.value == b.value


def _kind(text: str, run: Run, tokens: Sequence[Token], names: Sequence[str]) -> SlotKind:
    if any(is_function(token) for token in tokenise(text)):
        return "phrase"
    words = {token.stem for token in tokens[run.span[0] : run.span[1]]}
    known = [{token.stem for token in tokenise(name)} for name in names]
    if words in known:
        return "name"
    return "word" if any(words <= name for name in known) else "label"


def _relations(token: Token, index: bool) -> tuple[tuple[float, float], ...]:
    """Return (factor, shift) from a number in words to numbers in code."""
    if token.kind == "length":
        return ((1.0, 0.0), (100.0, 0.0))
    if token.kind == "angle":
        return ((1.0, 0.0), (math.pi / 180, 0.0))
    if token.kind == "ordinal" and index:
        return ((1.0, -1.0),)
    return ((1.0, 0.0),) if token.kind == "cardinal" else ()


def _relation(node: ast.Constant, token: Token, index: bool) -> tuple[float, float] | None:
    if not isinstance(node.value, int | float) or token.kind == "word":
        return None
    for factor, shift in _relations(token, index):
        if math.isclose(node.value, token.value * factor + shift, rel_tol=1e-6):
            return factor, shift
    return None


def _numbers(node: ast.Constant, index: bool, tokens: Sequence[Token]) -> list[int]:
    return [i for i, token in enumerate(tokens) if _relation(node, token, index)]


def _cut(
    node: ast.Constant,
    index: bool,
    tokens: Sequence[Token],
    numbers: dict[Span, int],
) -> None:
    """Put a hole into a constant that depends on slots."""
    if not isinstance(node.value, str):
        for i, token in enumerate(tokens):
            relation = _relation(node, token, index)
            if relation and (i, i + 1) in numbers:
                whole = isinstance(node.value, int)
                node.value = Hole((numbers[i, i + 1],), *relation, True, whole)  # type: ignore[assignment]
                return
        return
    parts: list[str | int] = []
    end = 0
    for run in runs(node.value, tokens, numbers):
        if run.span in numbers:
            parts += [node.value[end : run.start], numbers[run.span]]
            end = run.end
    if parts:
        parts.append(node.value[end:])
        node.value = Hole(tuple(part for part in parts if part != ""))  # type: ignore[assignment]
