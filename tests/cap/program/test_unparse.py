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
    pytest.param(example.code, id=f"{folder}-{prompt.name}-{example.line}")
    for folder in ("ravens", "functions")
    for prompt in registry.load_prompts(registry.prompts_path() / folder).values()
    for example in prompt.examples
]


@pytest.mark.parametrize("source", EXAMPLES)
def test_ours_round_trips_every_shipped_example(source: str) -> None:
    tree = ast.parse(source)
    assert ast.dump(ast.parse(ast.unparse(tree))) == ast.dump(tree)


def test_both_agree_wherever_astunparse_writes_valid_python() -> None:
    valid = 0
    for example in EXAMPLES:
        tree = ast.parse(str(example.values[0]))
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
