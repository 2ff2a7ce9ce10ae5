"""Function generation: what a program calls and nobody defined is asked for, wave by wave.

A wave holds every undefined function of the programs of the wave before it, each with all its call
sites. A function the program defines itself, a local, a parameter or a builtin is never asked for,
and a recursive function is asked for once.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass

from cap.errors import CheckFailed, GenerationFailed, did_you_mean
from cap.names import Undefined, undefined
from cap.program import Program
from cap.scope import Definition

Write = Callable[[Undefined], Program]
"""Asks the model for one function and returns its checked program."""


@dataclass(frozen=True)
class Budget:
    """How much may be generated for one program."""

    depth: int = 4
    """Waves: a generated function's own helpers are one deeper."""
    functions: int = 16
    """Functions in all."""


class UndefinedName(CheckFailed):
    """A name that is read, not called, and defined nowhere."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


def generate(
    program: Program,
    known: Iterable[str],
    write: Write,
    *,
    budget: Budget | None = None,
    unavailable: Callable[[str], str | None] = lambda name: None,
) -> tuple[Definition, ...]:
    """Return definitions, helpers first, for everything a program calls and nobody defined.

    Args:
        program: The main program.
        known: Names in scope.
        write: Asks for one function.
        budget: Limits.
        unavailable: Tells why a name must not be generated, or None.

    Raises:
        UndefinedName: A name is read but is no function.
        GenerationFailed: The budget is spent, or an answer does not define its function.
        ModelError: The model gave no usable answer.
    """
    budget = budget or Budget()
    names = {*known, *_defined(program)}
    waves: list[list[Definition]] = []
    chain: dict[str, str] = {}
    wanted = [(entry, "") for entry in _wanted(program, names, unavailable)]
    while wanted:
        _spend(budget, waves, wanted, chain)
        wave, following = [], []
        names |= {entry.name for entry, _ in wanted}
        for entry, parent in wanted:
            chain[entry.name] = parent
            written = write(entry)
            wave.append(_definition(entry, written, names))
            following.append((written, entry.name))
            names.update(_defined(written))
        waves.append(wave)
        wanted = _next_wave(following, names, unavailable)
    return tuple(entry for wave in reversed(waves) for entry in wave)


def _next_wave(
    written: Iterable[tuple[Program, str]],
    names: set[str],
    unavailable: Callable[[str], str | None],
) -> list[tuple[Undefined, str]]:
    """Return what the functions just written call and nobody defines, each name once."""
    found: dict[str, tuple[Undefined, str]] = {}
    for program, parent in written:
        for entry in _wanted(program, names, unavailable):
            if entry.name in found:
                earlier, first_parent = found[entry.name]
                calls = (*earlier.calls, *entry.calls)
                found[entry.name] = (Undefined(entry.name, earlier.line, calls), first_parent)
            else:
                found[entry.name] = (entry, parent)
    return list(found.values())


def _wanted(
    program: Program, names: set[str], unavailable: Callable[[str], str | None]
) -> tuple[Undefined, ...]:
    entries = undefined(program, names)
    for entry in entries:
        if reason := unavailable(entry.name):
            raise UndefinedName(reason, entry.line)
        if not entry.calls:
            hint = did_you_mean(entry.name, names)
            raise UndefinedName(f"name '{entry.name}' is not defined.{hint}", entry.line)
    return entries


def _spend(
    budget: Budget,
    waves: list[list[Definition]],
    wanted: list[tuple[Undefined, str]],
    chain: dict[str, str],
) -> None:
    """Raise if the next wave passes the budget; name the chain of callers that led there."""
    entry, parent = wanted[0]
    trail = [entry.name]
    while parent:
        trail.append(parent)
        parent = chain[parent]
    path = " <- ".join(trail)
    if len(waves) >= budget.depth:
        raise GenerationFailed(f"generated functions call ever deeper helpers: {path}")
    if sum(map(len, waves)) + len(wanted) > budget.functions:
        raise GenerationFailed(f"more than {budget.functions} functions to generate: {path}")


def _defined(program: Program) -> list[str]:
    """Return the functions and classes a program defines at its top level."""
    kinds = ast.FunctionDef | ast.ClassDef
    return [node.name for node in program.tree.body if isinstance(node, kinds)]


def _definition(entry: Undefined, written: Program, taken: Set[str]) -> Definition:
    """Take the function, and helpers written with it, from an answer."""
    defined = _defined(written)
    if entry.name not in defined:
        what = f"defines {', '.join(defined)}" if defined else "defines no function"
        raise GenerationFailed(f"asked for function '{entry.name}', the model's answer {what}")
    if not all(_is_definition_or_inert(node) for node in written.tree.body):
        raise GenerationFailed(f"the answer for '{entry.name}' has statements outside functions")
    if clash := sorted((set(defined) & taken) - {entry.name}):
        raise GenerationFailed(f"the answer for '{entry.name}' also defines {clash}, already there")
    return Definition(entry.name, written.source.strip() + "\n", origin="generated")


def _is_definition_or_inert(node: ast.stmt) -> bool:
    """Tell whether a top-level statement defines something, or does nothing at all."""
    text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return text or isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Pass)
