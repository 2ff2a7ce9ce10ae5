"""Source text to a syntax tree and to a code object; nothing is executed."""

from __future__ import annotations

import ast
import os
import threading
import types
import warnings
from functools import lru_cache

from cap.program import private_names
from cap.program.expansion import TooLarge, expands

MAX_SOURCE_CHARS = 65_536
"""The longest program that is read."""
_QUIET = threading.Lock()


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
    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the model's style: an escape like '\d'
        return ast.parse(source)


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
    with _QUIET, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the model's style: `x is 1`
        if private_names.may_hold_private_names(source):
            tree = ast.parse(source)  # one of its own, to be changed
            private_names.rename(tree)
        return compile(tree, file_name, "exec", dont_inherit=True)
