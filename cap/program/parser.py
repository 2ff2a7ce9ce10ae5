"""Source text to a syntax tree and to a code object; nothing is executed."""

from __future__ import annotations

import ast
import os
import threading
import types
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from cap.program import private_names
from cap.program.expansion import TooLarge, expands

T = TypeVar("T")
MAX_SOURCE_CHARS = 65_536
"""The longest program that is read."""
_QUIET = threading.Lock()
_UNHEARD: Any = [("ignore", None, Warning, None, 0)]
"""The filter of warnings that lets none through."""


def _renew_lock() -> None:
    """Begin anew in a fork: another thread of the process it came from may hold the lock."""
    global _QUIET
    _QUIET = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


@lru_cache(maxsize=4)
def parsed(source: str) -> ast.Module:
    """Return the syntax tree of a source, which nobody may change: it is kept for who asks next.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: It has none.
    """
    tree: ast.Module = _without_warnings(ast.parse, source)
    return tree


def _without_warnings(make: Callable[..., T], *given: Any) -> T:
    """Call a part of the compiler without its warnings: `x is 1` is a matter of style.

    `warnings.catch_warnings` does the same, in a third of the time that a small program's compiling
    takes.
    """
    with _QUIET:
        filters, warnings.filters = warnings.filters, _UNHEARD
        try:
            return make(*given)
        finally:
            warnings.filters = filters


def parses(source: str) -> bool:
    """Tell whether a text is Python, and no longer than a program may be."""
    if len(source) > MAX_SOURCE_CHARS:
        return False
    try:
        parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def compiled(source: str, tree: ast.Module, file_name: str = "<program>") -> types.CodeType:
    """Return a code object, for its names or for a worker; it is never executed here.

    Private attributes have other names in it: see `private_names`.

    Args:
        source: The program.
        tree: The same, parsed.
        file_name: What its traces call it.

    Raises:
        SyntaxError: What the grammar lets pass, such as `return` outside a function; or the mark
            of private names, which only renaming writes.
        TooLarge: The compiler would make too much of it.
    """
    if expands(tree, source):
        raise TooLarge("the program is too large, or too deep, to be compiled")
    if private_names.MARK in source:
        raise SyntaxError("a name may not hold the character U+E01EF")
    if private_names.may_hold_private_names(source):
        tree = _without_warnings(ast.parse, source)  # one of its own, to be changed
        private_names.rename(tree)
    return _without_warnings(compile, tree, file_name, "exec", 0, True)
