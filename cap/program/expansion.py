"""How much the compiler makes of a program: some constructs cost far more than they show.

It copies a `finally` body to each way out, walks all captures of a pattern for each of them, folds
`'a' * 4096` when it sees it. It does so in one call that no other thread and no deadline gets
between, so the sum is estimated first: a walk with a weight for each construct, in pieces about as
costly as one plain node. The weights are upper estimates; no program written in earnest comes near.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_PIECES = 100_000
"""The most that is compiled: some 0.2 s of work."""
MAX_DEPTH = 100
"""Deepest nesting of a tree."""
_HARMLESS_CHARS = 4000
"""Without a `finally`, a shorter program stays small whatever it holds."""
_CODE_PIECES = 30
"""What a function, class or comprehension costs by itself."""
_CODES_PER_NODE = 400
"""A function copies the names it knows for each function inside it; so many of them in a piece."""
_COMPARED = 64
"""Pairs of keywords that are compared, in a piece; characters of a folded constant, too."""
_ITEM_CHARS = 8
"""What an item of a folded tuple costs, beside a character of a text."""
_LONGEST_FOLDED = 4096
"""No product that is longer is folded."""
_Try = ast.Try | ast.TryStar
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_CODES = _Function | ast.ClassDef | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_EXITS = ast.Return | ast.Break | ast.Continue
_CONTEXTS = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)


class TooLarge(ValueError):
    """The compiler would make too much of it."""


@dataclass(slots=True)
class _Sum:
    """What some nodes come to."""

    nodes: int = 0
    """As written."""
    pieces: int = 0
    """As compiled."""
    exits: int = 0
    """Places that leave a block from inside, as compiled."""
    codes: int = 0
    """Functions, classes and comprehensions among them."""

    def add(self, other: _Sum) -> None:
        self.nodes += other.nodes
        self.pieces += other.pieces
        self.exits += other.exits
        self.codes += other.codes
        if self.pieces > MAX_PIECES:
            raise TooLarge


def expands(tree: ast.Module, source: str | None = None) -> bool:
    """Tell whether a program is too deep, or the compiler would make too much of it.

    Args:
        tree: The program.
        source: Its text, by which most programs are told to be harmless at a glance.
    """
    if source is not None and len(source) <= _HARMLESS_CHARS and "finally" not in source:
        return False
    try:
        _Weights().of(tree, MAX_DEPTH)
    except TooLarge:
        return True
    return False


class _Weights:
    """One walk over a program."""

    def __init__(self) -> None:
        self._chars: dict[int, int] = {}
        """Sizes of the constants that are folded, by the node's id."""

    def of(self, node: ast.AST, levels: int) -> _Sum:
        """Weigh a node with all below it.

        Raises:
            TooLarge: It comes to too much, or is deeper than so many levels.
        """
        if levels == 0:
            raise TooLarge
        if isinstance(node, _Try) and node.finalbody:
            found = self._try(node, levels)
        else:
            found = self._all(_children(node), levels)
        own = _Sum(1, 1 + self._extra(node, found), int(isinstance(node, _EXITS)))
        if isinstance(node, _CODES):
            own.codes = 1
            own.pieces += _CODE_PIECES
        found.add(own)
        return found

    def _all(self, nodes: Sequence[ast.AST] | Iterator[ast.AST], levels: int) -> _Sum:
        found = _Sum()
        for node in nodes:
            found.add(self.of(node, levels - 1))
        return found

    def _try(self, node: _Try, levels: int) -> _Sum:
        """Weigh a `try` with its last body as often as it is compiled."""
        found = self._all([*node.body, *node.handlers, *node.orelse], levels)
        last = self._all(node.finalbody, levels)
        copies = 2 + found.exits
        last.pieces *= copies
        last.exits *= copies
        found.add(last)
        return found

    def _extra(self, node: ast.AST, inside: _Sum) -> int:
        """Return the pieces a node comes to, besides those of its parts."""
        match node:
            case ast.With(items=items) | ast.AsyncWith(items=items):
                return len(items) * (8 + 4 * inside.exits)
            case ast.ExceptHandler(name=str()):
                return 4 + 2 * inside.exits
            case ast.While(test=test):
                return sum(1 for _ in ast.walk(test))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                return inside.codes * inside.nodes // _CODES_PER_NODE
            case ast.ClassDef(keywords=keywords) | ast.Call(keywords=keywords):
                walked = inside.nodes if isinstance(node, ast.ClassDef) else 0
                return walked + len(keywords) ** 2 // _COMPARED
            case ast.match_case(pattern=pattern):
                return sum(map(_captures, ast.walk(pattern))) ** 2
            case ast.MatchClass(kwd_attrs=names):
                return len(names) ** 2 // _COMPARED
            case ast.BinOp() | ast.Tuple() | ast.Constant() | ast.UnaryOp():
                return self._folded(node) // _COMPARED
        return 0

    def _folded(self, node: ast.expr) -> int:
        """Return the size of the constant a node is folded to, 0 if it is not; parts come first."""
        size = 0
        match node:
            case ast.Constant(value=str() | bytes() as text):
                size = len(text) + 1
            case ast.Constant(value=int(number)):
                size = 1 + number.bit_length() // 8
            case ast.Constant():
                size = 1
            case ast.UnaryOp(operand=operand):
                size = self._chars.get(id(operand), 0)
            case ast.Tuple(elts=parts):
                sizes = [self._chars.get(id(part), 0) for part in parts]
                size = sum(sizes) + _ITEM_CHARS * len(parts) if all(sizes) else 0
            case ast.BinOp(left=left, right=right):
                sizes = [self._chars.get(id(part), 0) for part in (left, right)]
                size = _result_chars(node, max(sizes), min(sizes))
        self._chars[id(node)] = size
        return size


def _result_chars(node: ast.BinOp, most: int, least: int) -> int:
    """Return how large the constant can be that two of these sizes make."""
    if not least:
        return 0
    if not isinstance(node.op, ast.Mult):
        return most + least
    times = [
        part.value
        for part in (node.left, node.right)
        if isinstance(part, ast.Constant) and type(part.value) is int
    ]
    longest = max(_LONGEST_FOLDED, 1024 * _ITEM_CHARS)
    return min(most * max(1, *times, 1), longest) if times else most + least


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one, but for what is the same everywhere."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from (part for part in value if isinstance(part, ast.AST))
        elif isinstance(value, ast.AST) and not isinstance(value, _CONTEXTS):
            yield value


def _captures(node: ast.AST) -> int:
    """Return how many names a part of a pattern binds by itself."""
    name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
    return isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping) and name is not None
