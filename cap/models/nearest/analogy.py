"""What a prompt's own examples teach about words: synonyms, and words that stand for code.

Two examples with the same code (slots aside) whose instructions differ in single words make those
words synonyms. Two examples that differ in one stretch of words and in one expression of the code
make an analogy: 'left' is to 'right' as `offset[0] < 0` is to `offset[0] > 0`. Applied to other
examples that hold both the words and the expression, it gives templates nobody wrote.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial

from cap.models.nearest.template import Element, Hole, Template, dump, rewrite
from cap.models.nearest.words import LIGHT, PREPOSITIONS

Words = tuple[str, ...]
_LONGEST = 4
_CHEAP = LIGHT | PREPOSITIONS
_NOTHING = ast.Constant(None)
_WHOLE = (
    ast.Compare,
    ast.List,
    ast.Tuple,
    ast.Subscript,
    ast.Call,
    ast.Attribute,
    ast.BinOp,
    ast.Name,
)


@dataclass(frozen=True)
class Analogy:
    """Words and an expression that are replaced together."""

    before: Words
    """Words of the instruction to replace."""
    after: Words
    """What replaces them."""
    expression: str
    """Dump of the expression to replace; "" if the code stays as it is."""
    node: ast.expr
    """What replaces it."""


def learn_analogies(templates: Sequence[Template]) -> tuple[Analogy, ...]:
    """Return what pairs of templates teach about words and expressions that go together."""
    analogies: dict[tuple[Words, Words, str], Analogy | None] = {}
    for i, first in enumerate(templates):
        for second in templates[:i]:
            for entry in _taught(first, second):
                key = entry.before, entry.after, entry.expression
                known = analogies.setdefault(key, entry)
                if known and ast.dump(known.node) != ast.dump(entry.node):
                    analogies[key] = None
    return tuple(entry for entry in analogies.values() if entry)


def learn_synonyms(templates: Sequence[Template]) -> frozenset[tuple[str, str]]:
    """Return the pairs of words that make no difference to the code, both ways round."""
    groups: dict[tuple[str, ...], list[Template]] = {}
    for template in templates:
        groups.setdefault(template.source, []).append(template)
    pairs: set[tuple[str, str]] = set()
    for group in groups.values():
        for i, first in enumerate(group):
            for second in group[:i]:
                for a, b in _exchanged(first.elements, second.elements):
                    if len(a) == len(b) == 1 and (a[0] in _CHEAP) is (b[0] in _CHEAP):
                        pairs |= {(a[0], b[0]), (b[0], a[0])}
    for i, first in enumerate(templates):
        for second in templates[:i]:
            if first.source != second.source and len(first.elements) == len(second.elements):
                both = zip(first.elements, second.elements, strict=True)
                differ = [(a, b) for a, b in both if a != b]
                if len(differ) == 1:  # by themselves they make a difference to the code
                    pairs -= {differ[0], differ[0][::-1]}
    return frozenset(pairs)


def siblings(analogies: Iterable[Analogy]) -> frozenset[tuple[str, str]]:
    """Return the pairs of single words that stand for like expressions, such as directions."""
    pairs = [(entry.before, entry.after) for entry in analogies if entry.expression]
    return frozenset((a[0], b[0]) for a, b in pairs if len(a) == len(b) == 1)


def derive(templates: Sequence[Template], analogies: Iterable[Analogy]) -> list[Template]:
    """Return the templates that analogies make of the prompt's own.

    An exchange of words is left out if once it would say what an example says with other code:
    `shapes[:-1]` for `shapes[:-2]` is not all that 'it' for 'both' changes.
    """
    groups: dict[tuple[Words, Words], list[Analogy]] = {}
    for entry in analogies:
        groups.setdefault((entry.before, entry.after), []).append(entry)
    said = {_said(template): template.tree for template in reversed(templates)}
    made: list[tuple[tuple[Words, Words], Template]] = []
    refuted: set[tuple[Words, Words]] = set()
    for template in templates:
        text = " ".join(template.source)
        for exchange, entries in groups.items():
            before, after = exchange
            size, starts = len(before), range(len(template.elements))
            places = [i for i in starts if template.elements[i : i + size] == before]
            useful = [entry for entry in entries if entry.expression in text]
            if len(places) != 1 or not useful:  # of words said twice nobody knows which it is
                continue
            (at,) = places
            elements = (*template.elements[:at], *after, *template.elements[at + size :])
            nodes = {entry.expression: entry.node for entry in useful if entry.expression}
            kinds = {expression.partition("(")[0] for expression in nodes}
            change = partial(_exchange, nodes, kinds)
            tree = rewrite(template.tree, change) if nodes else template.tree
            source = dump(tree) if nodes else template.source
            new = replace(template, elements=elements, tree=tree, derived=True, source=source)
            made.append((exchange, new))
            known_as = said.get(_said(new)) if nodes else None
            if known_as is not None and _form(known_as) != _form(tree):
                refuted.add(exchange)
    known = {template.elements for template in templates}
    found: list[Template] = []
    for exchange, new in made:
        if exchange not in refuted and new.elements not in known:
            known.add(new.elements)
            found.append(new)
    return found


def _said(template: Template) -> Words:
    """Return a template's instruction as its example has it, word by word."""
    words: list[str] = []
    for element in template.elements:
        own = (element,) if isinstance(element, str) else ()
        words += own or (token.literal for token in template.slots[int(element)].tokens)
    return tuple(words)


def _form(tree: ast.Module) -> str:
    """Return what codes have in common that differ in strings and numbers only."""
    return ast.dump(
        rewrite(tree, lambda node: _NOTHING if isinstance(node, ast.Constant) else None)
    )


def _exchange(nodes: Mapping[str, ast.expr], kinds: Set[str], node: ast.AST) -> ast.AST | None:
    """Return what replaces a node, by the dumps of expressions; None where it stays.

    Only nodes of the `kinds` that those dumps begin with are dumped.
    """
    return nodes.get(ast.dump(node)) if type(node).__name__ in kinds else None


def _exchanged(a: Sequence[Element], b: Sequence[Element]) -> list[tuple[Words, Words]]:
    """Return the stretches two instructions word differently; none if they are not alike."""
    found: list[tuple[Words, Words]] = []
    for tag, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        telling = not all(word in _CHEAP for word in (*a[i:j], *b[k:m]))
        if tag != "replace" and telling and i and isinstance(a[i - 1], str):
            i, k = i - 1, k - 1  # 'on' against 'on top of'
        left, right = a[i:j], b[k:m]
        if not all(isinstance(word, str) for word in (*left, *right)):
            return []
        if telling or tag == "replace":
            found.append((tuple(map(str, left)), tuple(map(str, right))))
    return found


def _taught(first: Template, second: Template) -> list[Analogy]:
    """Return what two templates teach together.

    With the same code: their exchanges of more than one word. With codes that differ in one
    expression: the words that go with it.
    """
    if first.source == second.source:
        return [
            Analogy(before, after, "", _NOTHING)
            for a, b in _exchanged(first.elements, second.elements)
            if max(len(a), len(b)) <= _LONGEST and len(a) + len(b) > 2 and _telling(a + b)
            for before, after in ((a, b), (b, a))
            if before
        ]
    if len(first.source) != len(second.source):
        return []
    differ = [i for i, (a, b) in enumerate(zip(first.source, second.source, strict=True)) if a != b]
    words = _difference(first.elements, second.elements) if len(differ) == 1 else None
    if words is None:
        return []
    a, b = _smallest(first.tree.body[differ[0]], second.tree.body[differ[0]])
    if not (isinstance(a, ast.expr) and isinstance(b, ast.expr)) or _holes(a) or _holes(b):
        return []
    return [
        Analogy(words[0], words[1], ast.dump(a), b),
        Analogy(words[1], words[0], ast.dump(b), a),
    ]


def _difference(a: Sequence[Element], b: Sequence[Element]) -> tuple[Words, Words] | None:
    """Return the one stretch of words in which two instructions differ, or None."""
    size = min(len(a), len(b))
    start = next((i for i in range(size) if a[i] != b[i]), size)
    end = next((i for i in range(size - start) if a[-1 - i] != b[-1 - i]), size - start)
    left, right = a[start : len(a) - end], b[start : len(b) - end]
    if not all(0 < len(side) <= _LONGEST and _telling(side) for side in (left, right)):
        return None
    return tuple(map(str, left)), tuple(map(str, right))


def _telling(side: Sequence[Element]) -> bool:
    """True if all are words and one of them carries information."""
    words = [word for word in side if isinstance(word, str)]
    return len(words) == len(side) and any(word not in _CHEAP for word in words)


def _smallest(a: ast.AST, b: ast.AST) -> tuple[ast.AST, ast.AST]:
    """Return the smallest expressions in which two trees differ that still mean something."""
    if type(a) is type(b):
        pairs = _children(a, b)
        if pairs is not None and len(pairs) == 1:
            inner = _smallest(*pairs[0])
            if isinstance(inner[0], _WHOLE) or (
                isinstance(inner[0], ast.expr) and isinstance(inner[1], _WHOLE)
            ):
                return inner
    return a, b


def _children(a: ast.AST, b: ast.AST) -> list[tuple[ast.AST, ast.AST]] | None:
    """Return the child nodes that differ, or None if the nodes differ otherwise."""
    pairs: list[tuple[ast.AST, ast.AST]] = []
    for name in a._fields:
        x, y = getattr(a, name, None), getattr(b, name, None)
        left, right = (v if isinstance(v, list) else [v] for v in (x, y))
        if len(left) != len(right):
            return None
        for p, q in zip(left, right, strict=True):
            if isinstance(p, ast.AST) and isinstance(q, ast.AST):
                if ast.dump(p) != ast.dump(q):
                    pairs.append((p, q))
            elif p != q:
                return None
    return pairs


def _holes(node: ast.AST) -> bool:
    return any(
        isinstance(child, ast.Constant) and isinstance(child.value, Hole)
        for child in ast.walk(node)
    )
