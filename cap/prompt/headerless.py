"""Prompt files without a header, as the original release wrote them: what a header would say.

Hints are imports from any module, context lines stand above the first instruction, and examples
follow each other with or without blank lines between. Everything else is read off the examples.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_MOST = 2 / 3
"""The share of examples that must set a variable last for it to be what they return."""
_PREFIX = re.compile(r"^# ((?:define|write) function: )", re.MULTILINE)
_TITLE = re.compile(r"(?:import|from) ")


@dataclass(frozen=True)
class Inferred:
    """What a header would say."""

    returns: str | None
    """Variable that nearly every example sets last."""
    context: tuple[str, ...]
    """Names that every example's context lines set; of others nobody might know the values."""
    session: bool
    """Whether they return nothing: the original keeps the variables of such turns."""
    actions: bool
    """Whether there is nothing they could be for but to act."""
    stop: tuple[str, ...]
    """How a next turn begins."""
    prefix: str
    """What every instruction begins with."""

    def lines(self) -> tuple[str, ...]:
        """Return the header that says the same, line by line."""
        values = {key: value for key, value in vars(self).items() if value}
        return tuple(f"{key} = {json.dumps(value)}" for key, value in values.items())


def prefix_of(text: str) -> str:
    """Return what the instructions of a prompt for functions begin with, or ""."""
    found = Counter(_PREFIX.findall(text))
    return found.most_common(1)[0][0] if found else ""


def is_title(code: str) -> bool:
    """Tell whether a comment is a heading: imports stand under it, and nothing else."""
    lines = [line for line in code.split("\n") if line.strip()]
    return bool(lines) and all(map(_TITLE.match, lines))


def infer(codes: Sequence[str], contexts: Sequence[str], prefix: str) -> Inferred:
    """Read off the examples what a header would say.

    Args:
        codes: Their programs.
        contexts: The context lines of each.
        prefix: What their instructions begin with.
    """
    shown = [[line for line in context.split("\n") if line] for context in contexts]
    begins = dict.fromkeys(line[: line.index(" = ") + 4] for lines in shown for line in lines)
    named = [dict.fromkeys(line.partition(" = ")[0] for line in lines) for lines in shown if lines]
    returns = None if prefix else _returned(codes)
    return Inferred(
        returns=returns,
        context=tuple(name for name in named[0] if all(name in other for other in named))
        if named
        else (),
        session=bool(codes) and returns is None and not prefix,
        actions=bool(codes) and returns is None and not prefix,
        stop=("\n# ", *(f"\n{begin}" for begin in begins)),
        prefix=prefix,
    )


def _returned(codes: Sequence[str]) -> str | None:
    last = [_last_set(code) for code in codes if code.strip()]
    (name, times), *_ = Counter(last).most_common(1) or [(None, 0)]
    return name if name and times >= _MOST * len(last) else None


def _last_set(code: str) -> str | None:
    """Return the variable that a program sets last."""
    try:
        body = ast.parse(code).body
    except SyntaxError:
        return None
    while body:
        match body[-1]:
            case ast.Assign(targets=[ast.Name(id=name)]):
                return name
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Name(id=name)):
                return name
            case ast.If(body=inner) | ast.For(body=inner) | ast.While(body=inner):
                body = inner
            case ast.With(body=inner) | ast.Try(body=inner):
                body = inner
            case _:
                return None
    return None
