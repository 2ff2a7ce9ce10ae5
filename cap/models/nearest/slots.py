"""An example's slots: the words of its instruction that its code repeats.

A string of the code that is in the instruction ('the red block'), or shares a run of words with it,
is a slot, and so is a number that follows from one in the instruction: 0.05 from '5 cm', index 1
from 'second', 3 from 'three'. What may fill a string slot follows from what the example has there:
the name of an object of its own context, words of such names, a phrase, or a label.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Literal

from cap.errors import PromptError
from cap.models.nearest.words import Token, direction, is_plural, stem, tokenise
from cap.prompt.context import Context
from cap.prompt.examples import Example

Span = tuple[int, int]
"""First token and one past the last."""
Value = str | float | tuple[int, ...]
"""A slot's words, its number in metres, degrees or as counted, or its direction."""
_FACTORS = {"length": (1.0, 100.0), "angle": (1.0, math.pi / 180), "cardinal": (1.0,)}
"""By kind of a number in words: factors to numbers in code."""


@dataclass(frozen=True)
class Slot:
    """A stretch of the instruction that may be worded differently."""

    span: Span
    """Its tokens in the example's instruction."""
    kind: Literal["name", "word", "absent", "label", "phrase", "number", "direction"]
    """What may fill it."""
    use: str
    """What the code does with it, such as `parse_position.0`; slots of one use share fillers."""
    tokens: tuple[Token, ...]
    """The words that fill it in the example."""
    singular: bool
    """True if the code has the singular of a plural in the instruction."""
    whole: bool = False
    """True if the instruction has no other word with meaning."""

    @cached_property
    def plural(self) -> bool:
        """True if its words speak of several things."""
        return is_plural(self.tokens)

    @cached_property
    def profile(self) -> str:
        """What the cost of other words in it depends on."""
        return " ".join((self.use, str(self.whole), *(token.text for token in self.tokens)))


@dataclass(frozen=True)
class Template:
    """An example with its slots."""

    example: Example
    """Where it comes from."""
    elements: tuple[str | Slot, ...]
    """The instruction: stems of literal words, and slots."""
    tree: ast.Module
    """The code."""

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The slots in the order of the instruction."""
        return tuple(element for element in self.elements if isinstance(element, Slot))

    def filled(self, values: Mapping[Slot, Value]) -> str:
        """Return the code with other values in the slots."""
        tree = deepcopy(self.tree)
        tokens = tokenise(self.example.instruction)
        spans = {slot.span: slot for slot in values}
        for literal in literals(tree):
            if isinstance(literal.node, ast.List):
                vector = _vector(literal.node)
                for slot, value in values.items():
                    if isinstance(value, tuple) and direction(slot.tokens, slot.tokens) == vector:
                        literal.node.elts = [ast.Constant(number) for number in value]
            elif literal.text:
                text, end = "", 0
                for run in _runs(literal.text, tokens, spans):
                    if run.span in spans:
                        text += literal.text[end : run.start] + str(values[spans[run.span]])
                        end = run.end
                literal.node.value = text + literal.text[end:]
            else:
                for slot, value in values.items():
                    relation = _relation(literal, slot.tokens[0])
                    if relation and isinstance(value, float):
                        number = value * relation[0] + relation[1]
                        whole = isinstance(literal.value, int) and number.is_integer()
                        literal.node.value = int(number) if whole else float(f"{number:.12g}")
                        break
        return ast.unparse(tree)


@dataclass(frozen=True)
class _Literal:
    """A string or number of the code."""

    node: ast.Constant | ast.List
    use: str
    """What it is used for, such as `parse_position.0`."""
    index: int
    """1 if it counts from the start of a sequence, -1 from its end, 0 if it is no index."""

    @property
    def value(self) -> object:
        """The string or number; None for a list."""
        return self.node.value if isinstance(self.node, ast.Constant) else None

    @property
    def text(self) -> str:
        """Its words; "" for a number."""
        return self.value if isinstance(self.value, str) else ""


@dataclass(frozen=True)
class _Run:
    """A run of words that a string of the code shares with the instruction."""

    span: Span
    """Tokens of the instruction."""
    start: int
    """First character in the string."""
    end: int
    """One past its last character."""
    part: str
    """"" if it is the whole string, `+` if it begins it, `-` if text comes before it."""
    singular: bool
    """True if the string has the singular of a plural in the instruction."""


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
    for literal in sorted(literals(tree), key=lambda one: -len(tokenise(one.text))):
        for run in _runs(literal.text, tokens, found):
            words = tokens[slice(*run.span)]
            kind = _kind(literal, words, names_in(example.context))
            use = f"{kind} {literal.use}{run.part}"
            found.setdefault(run.span, Slot(run.span, kind, use, words, run.singular))
        if isinstance(literal.node, ast.List):
            vector, places = _vector(literal.node), combinations(range(len(tokens) + 1), 2)
            spans = [(i, j) for i, j in places if direction(tokens[i:j], tokens[i:j]) == vector]
            if spans:
                span = max(spans, key=lambda one: one[1] - one[0])
                slot = Slot(span, "direction", "direction", tokens[slice(*span)], False)
                found.setdefault(span, slot)
        for i, token in enumerate(tokens):
            if _relation(literal, token):
                slot = Slot((i, i + 1), "number", f"number {token.kind}", (token,), False)
                found.setdefault(slot.span, slot)
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
    return Template(example, elements, tree)


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


def literals(tree: ast.Module) -> Iterator[_Literal]:
    """Return the strings and numbers of the code with what it does with them."""
    lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    keys = {node for entry in lambdas for node in ast.walk(entry)}  # how things are compared
    stack: list[tuple[ast.AST, str, int]] = [(tree, "", 0)]
    while stack:
        node, use, index = stack.pop()
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str | int | float) and not isinstance(node.value, bool):
                yield _Literal(node, use, index)
        elif isinstance(node, ast.Call):
            callee = ast.unparse(node.func).split(".")[-1]
            stack.append((node.func, use, 0))
            stack += [(arg, f"{callee}.{i}", 0) for i, arg in enumerate(node.args)]
            stack += [(key.value, f"{callee}.{key.arg}", 0) for key in node.keywords]
        elif isinstance(node, ast.List) and _vector(node):
            yield _Literal(node, use, 0)
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In):
            stack += [(node.left, "in", 0), (node.comparators[0], use, 0)]
        elif isinstance(node, ast.Subscript):
            stack += [(node.value, use, 0), (node.slice, "index", 0 if node in keys else 1)]
        else:
            inner = -index if isinstance(node, ast.UnaryOp) else 0
            stack += [(child, use, inner) for child in ast.iter_child_nodes(node)]


def _vector(node: ast.List) -> tuple[int, ...]:
    """Return the unit vector that a list in the code is; () if it is none."""
    try:
        value = tuple(ast.literal_eval(node))
    except ValueError:
        return ()
    return value if value in ((-1, 0), (1, 0), (0, 1), (0, -1)) else ()


def _runs(text: str, tokens: Sequence[Token], taken: Mapping[Span, Slot]) -> Iterator[_Run]:
    """Return the longest runs of words that text and instruction share, left to right.

    Words inside a span longer than the run that is `taken` already do not count.
    """
    words = tokenise(text)
    i = 0
    while i < len(words):
        lengths: dict[int, int] = {}
        for at in range(len(tokens)):
            pairs = zip(words[i:], tokens[at:], strict=False)
            differ = (n for n, (a, b) in enumerate(pairs) if a.literal != b.literal)
            size = next(differ, min(len(words) - i, len(tokens) - at))
            if size and not any(a <= at and at + size <= b and b - a > size for a, b in taken):
                lengths[at] = size
        length = max(lengths.values(), default=0)
        places = [at for at, size in lengths.items() if size == length]
        run = words[i : i + length]
        if len(places) == 1 and not all(word.cheap for word in run):
            span = places[0], places[0] + length
            part = "" if length == len(words) else "-" if i else "+"
            last = tokens[span[1] - 1].text
            cut = run[-1].text != last and stem(last) == run[-1].stem
            yield _Run(span, run[0].start, run[-1].end, part, cut)
        i += max(length, 1)


def _kind(
    literal: _Literal, words: Sequence[Token], names: Sequence[str]
) -> Literal["name", "word", "absent", "label", "phrase"]:
    if any(token.cheap for token in tokenise(literal.text)):
        return "phrase"
    stems = {token.stem for token in words}
    known = [{token.stem for token in tokenise(name)} for name in names]
    if stems in known:
        return "name"
    if any(stems <= name for name in known):
        return "word"
    return "absent" if literal.use == "in" and len(stems) == 1 else "label"


def _relation(literal: _Literal, token: Token) -> tuple[float, float] | None:
    """Return factor and shift from a number in words to one in code, or None."""
    value = literal.value
    if not isinstance(value, int | float):
        return None
    if token.kind == "ordinal":
        shift = -1.0 if literal.index > 0 else 0.0
        return (1.0, shift) if literal.index and value == token.value + shift else None
    for factor in _FACTORS.get(token.kind, ()):
        if math.isclose(value, token.value * factor, rel_tol=1e-6):
            return factor, 0.0
    return None
