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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cap.models.nearest.template import (
    Hole,
    Slot,
    SlotKind,
    Span,
    Template,
    dump,
    names_in,
)
from cap.models.nearest.words import Token, is_function, is_plural, stem, tokenise
from cap.prompt.examples import Example

Found = dict[Span, tuple[SlotKind, str, bool]]
"""By span: what may fill it, what the code does with it, and if the code has its singular."""


@dataclass(frozen=True)
class Literal:
    """A string or number of the code."""

    node: ast.Constant
    """Where it stands."""
    use: str
    """What it is used for, such as `parse_position.0`."""
    index: int
    """1 if it counts from the start of a sequence, -1 from its end, 0 if it is no index."""

    @property
    def text(self) -> str:
        """Its words; "" for a number."""
        return self.node.value if isinstance(self.node.value, str) else ""


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
    literals = list(_literals(tree))
    strings = frozenset(token.stem for literal in literals for token in tokenise(literal.text))
    found = _found(literals, tokens, names_in(example.context))
    numbers = {span: i for i, span in enumerate(found)}
    for literal in literals:
        _cut(literal, tokens, numbers)
    inside = {i for start, end in found for i in range(start, end)}
    outside = [token for i, token in enumerate(tokens) if i not in inside]
    whole = all(is_function(token) for token in outside)
    alone = whole and not any(token.text == "?" for token in outside)
    slots = tuple(
        Slot(*span, kind, f"{kind} {use}", words, is_plural(words), cut, whole, alone)
        for span, (kind, use, cut) in found.items()
        for words in [tokens[span[0] : span[1]]]
    )
    starts = {slot.start: i for i, slot in enumerate(slots)}
    elements = tuple(
        starts.get(i, token.literal)
        for i, token in enumerate(tokens)
        if i in starts or i not in inside
    )
    return Template(example, elements, slots, tree, source=dump(tree), strings=strings)


def repeated_numbers(example: Example) -> tuple[str, ...]:
    """Return the numbers of an instruction that stand more often in its code than in its words.

    Each of them would become the new number when the example is rebound, the unrelated ones too:
    an instruction with '2 times' must not have `/ 2` for a middle. An ordinal is an index alone.
    """
    try:
        literals = list(_literals(ast.parse(example.code)))
    except SyntaxError:
        return ()
    said = [token for token in tokenise(example.instruction) if token.kind in _RELATIONS]
    return tuple(
        token.text
        for i, token in enumerate(said)
        if token.literal not in [one.literal for one in said[:i]]
        and sum(_relation(literal, token) is not None for literal in literals)
        > sum(one.literal == token.literal for one in said)
    )


def _found(literals: Sequence[Literal], tokens: Sequence[Token], names: Sequence[str]) -> Found:
    """Return the spans of the instruction that literals repeat; long strings are found first.

    Spans that share words are left out: neither can be rebound alone.
    """
    found: Found = {}
    for literal in sorted(literals, key=lambda entry: len(tokenise(entry.text)), reverse=True):
        for run in runs(literal.text, tokens, found):
            kind = _kind(literal, run, tokens, names)
            found.setdefault(run.span, (kind, literal.use + run.part, run.cut))
        for i, token in enumerate(tokens):
            if _relation(literal, token):
                found.setdefault((i, i + 1), ("number", token.kind, False))
    return {
        span: what
        for span, what in sorted(found.items())
        if not any(other != span and other[0] < span[1] and span[0] < other[1] for other in found)
    }


def _literals(tree: ast.Module) -> Iterator[Literal]:
    """Return the strings and numbers of the code with what becomes of them."""
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    keys = {node for entry in lambdas for node in ast.walk(entry)}  # how things are compared
    stack: list[tuple[ast.AST, str, int]] = [(tree, "", 0)]
    while stack:
        node, use, index = stack.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str | int | float) and not isinstance(node.value, bool):
                yield Literal(node, use, index)
        elif isinstance(node, ast.Call):
            callee = ast.unparse(node.func).split(".")[-1]
            stack.append((node.func, use, 0))
            stack += [(arg, f"{callee}.{i}", 0) for i, arg in enumerate(node.args)]
            stack += [(key.value, f"{callee}.{key.arg}", 0) for key in node.keywords]
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            stack += [(node.left, "in", 0), (node.comparators[0], use, 0)]
        elif isinstance(node, ast.Subscript):
            stack += [(node.value, use, 0), (node.slice, "index", 0 if node in keys else 1)]
        else:
            inner = -index if isinstance(node, ast.UnaryOp) else 0
            stack += [(child, use, inner) for child in ast.iter_child_nodes(node)]


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


def _kind(literal: Literal, run: Run, tokens: Sequence[Token], names: Sequence[str]) -> SlotKind:
    if any(is_function(token) for token in tokenise(literal.text)):
        return "phrase"
    words = {token.stem for token in tokens[run.span[0] : run.span[1]]}
    known = [{token.stem for token in tokenise(name)} for name in names]
    if words in known:
        return "name"
    if any(words <= name for name in known):
        return "word"
    return "absent" if literal.use == "in" and len(words) == 1 else "label"


_RELATIONS: Mapping[str, Sequence[tuple[float, float]]] = {
    "length": ((1.0, 0.0), (100.0, 0.0)),
    "angle": ((1.0, 0.0), (math.pi / 180, 0.0)),
    "cardinal": ((1.0, 0.0),),
}
"""By kind of a number in words: (factor, shift) to numbers in code."""
_ORDINAL = {1: ((1.0, -1.0),), -1: ((1.0, 0.0),)}
"""The same for an ordinal, by what its index counts from."""


def _relation(literal: Literal, token: Token) -> tuple[float, float] | None:
    value = literal.node.value
    if not isinstance(value, int | float):
        return None
    by_index = _ORDINAL.get(literal.index, ())
    relations = by_index if token.kind == "ordinal" else _RELATIONS.get(token.kind, ())
    for factor, shift in relations:
        if math.isclose(value, token.value * factor + shift, rel_tol=1e-6):
            return factor, shift
    return None


def _cut(literal: Literal, tokens: Sequence[Token], numbers: Mapping[Span, int]) -> None:
    """Put a hole into a constant that depends on slots."""
    text, hole = literal.text, None
    if not text:
        for i, token in enumerate(tokens):
            relation = _relation(literal, token)
            if hole is None and relation and (i, i + 1) in numbers:
                whole = isinstance(literal.node.value, int)
                hole = Hole((numbers[i, i + 1],), *relation, number=True, integer=whole)
    parts: list[str | int] = []
    end = 0
    for run in runs(text, tokens, numbers):
        if run.span in numbers:
            parts += [text[end : run.start], numbers[run.span]]
            end = run.end
    if parts:
        hole = Hole(tuple(part for part in (*parts, text[end:]) if part != ""))
    if hole is not None:
        literal.node.value = hole  # type: ignore[assignment]
