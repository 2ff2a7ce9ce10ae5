"""Context: the facts shown above an instruction, as values and as the lines a model reads."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cap.errors import PromptError

_LITERALS = (type(None), bool, int, str, bytes, complex)


@dataclass(frozen=True)
class Context:
    """Facts by name; they are made into text once, and travel beside it."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    """What a program of the prompt finds bound."""
    text: str = ""
    """The same as assignment lines, values by repr so that no name can break out."""

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Context:
        """Return facts with their lines.

        Raises:
            PromptError: A value cannot be written as a literal.
        """
        plain = {name: _plain(value, name) for name, value in facts.items()}
        return cls(plain, "\n".join(f"{name} = {value!r}" for name, value in plain.items()))

    @classmethod
    def read(cls, text: str, where: str = "context") -> Context:
        """Read assignment lines that somebody else wrote; only literals are accepted.

        Raises:
            PromptError: A line is not `name = literal`.
        """
        try:
            facts = {}
            for node in ast.parse(text).body:
                match node:
                    case ast.Assign(targets=[ast.Name(id=name)], value=value):
                        facts[name] = ast.literal_eval(value)
                    case _:
                        raise ValueError(f"line {node.lineno} is not an assignment to one name")
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
            raise PromptError(f"{where} must be lines of `name = literal`: {error}") from None
        return cls(facts, text)


def _plain(value: Any, name: str) -> Any:
    """Return a value without numpy's types, whose repr is no literal.

    Raises:
        PromptError: It is no literal then either.
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    kind = type(value)
    if kind in _LITERALS or (kind is float and math.isfinite(value)):
        return value
    if kind in (list, tuple, set):
        return kind(_plain(entry, name) for entry in value)
    if kind is dict:
        return {_plain(key, name): _plain(entry, name) for key, entry in value.items()}
    raise PromptError(
        f"the context '{name}' holds {value!r:.80}, which no line of a prompt can show; "
        "give numbers, words, lists and tables of them"
    )
