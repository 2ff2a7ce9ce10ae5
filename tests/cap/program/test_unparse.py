"""`ast.unparse`, which the engine uses, against astunparse, which it descends from."""

from __future__ import annotations

import ast
import warnings

import pytest

from cap.robot import registry

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import astunparse

EXAMPLES = [
    example.code
    for folder in ("ravens", "functions")
    for prompt in registry.load_prompts(registry.prompts_path() / folder).values()
    for example in prompt.examples
]


def test_every_shipped_example_comes_back_and_as_astunparse_writes_it() -> None:
    valid = 0
    for example in EXAMPLES:
        tree = ast.parse(example)
        assert ast.dump(ast.parse(ast.unparse(tree))) == ast.dump(tree)
        try:
            theirs = ast.parse(astunparse.unparse(tree))
        except SyntaxError:  # astunparse's own fault, in two or so of the examples
            continue
        valid += 1
        assert ast.dump(theirs) == ast.dump(tree)
    assert valid > 0.9 * len(EXAMPLES)


def test_only_ours_knows_match() -> None:
    tree = ast.parse("match x:\n    case [a, *rest]:\n        y = rest\n")
    assert ast.dump(ast.parse(ast.unparse(tree))) == ast.dump(tree)
    with pytest.raises(AttributeError):
        astunparse.unparse(tree)
