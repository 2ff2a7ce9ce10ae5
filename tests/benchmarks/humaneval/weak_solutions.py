"""Canonical solutions with one thing changed: a number, a text, a comparison, a result."""

from __future__ import annotations

import ast
import random
from typing import Any

from benchmarks.humaneval.problems import HumanEvalProblem

WITH_HELPERS = frozenset(["HumanEval/38", "HumanEval/50"])
"""Their tests use a helper of the prompt's, which a change may meet."""
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_RESULTS = (
    *("list", "tuple", "iter", "str", "set", "bool", "sorted"),
    *("lambda v: [v]", "lambda v: None", "lambda v: (yield v)", "lambda v: float(v)"),
)


class _Change(ast.NodeTransformer):
    """Changes the part with a number; counts the parts."""

    def __init__(self, place: int, draw: random.Random) -> None:
        self.place, self.parts, self._draw = place, 0, draw

    def _is_here(self) -> bool:
        self.parts += 1
        return self.parts - 1 == self.place

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        value: Any = node.value
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return node
        if self._is_here():
            node.value = f"{value}x" if isinstance(value, str) else value + 1
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if self._is_here():
            node.ops[0] = self._draw.choice(_COMPARISONS)()
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None and self._is_here():
            made = ast.parse(f"({self._draw.choice(_RESULTS)})", mode="eval").body
            node.value = ast.Call(made, [node.value], [])
        return node


def weak_solutions(
    problems: dict[str, HumanEvalProblem], seed: int, n: int
) -> list[tuple[HumanEvalProblem, str]]:
    """Return some problems with completions that may be wrong; the same every time."""
    draw = random.Random(seed)
    fit = [problem for name, problem in problems.items() if name not in WITH_HELPERS]
    found: list[tuple[HumanEvalProblem, str]] = []
    while len(found) < n:
        problem = draw.choice(fit)
        source = problem.prompt + problem.canonical_solution
        count = _Change(-1, draw)
        count.visit(ast.parse(source))
        if count.parts:
            changed = _Change(draw.randrange(count.parts), draw).visit(ast.parse(source))
            text = ast.unparse(ast.fix_missing_locations(changed))
            found.append((problem, f"    pass\n\n\n{text}\n"))
    return found
