"""What a prompt file's names stand for, and what in its examples cannot be; nothing is executed.

For files whose robot may be another's: the hints and calls of its examples are looked up among a
robot's primitives, the LMPs beside the file and the libraries; the rest would be generated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cap.checker.allowlist import EVERYWHERE
from cap.checker.checker import Examination, examine
from cap.checker.undefined import Undefined, undefined
from cap.errors import CapError, PromptError
from cap.program.program import Program
from cap.prompt.examples import Example
from cap.prompt.prompt import Prompt, load, parse_context
from cap.scope import Primitive, Scope
from cap.validation.prompts import Finding

SUFFIXES = (".py", ".txt")
"""What prompt files are called."""


@dataclass(frozen=True)
class Names:
    """The names of a prompt, by what they stand for."""

    robot: tuple[str, ...]
    """Primitives of the robot."""
    lmps: tuple[str, ...]
    """Other prompts."""
    library: tuple[str, ...]
    """What every program has."""
    generated: tuple[str, ...]
    """Functions nobody has; they are generated when called."""
    given: tuple[str, ...]
    """Values nobody sets: a caller's keyword arguments, or an earlier turn's variables."""


@dataclass(frozen=True)
class Report:
    """One prompt file, looked at."""

    prompt: Prompt
    """The prompt."""
    names: Names
    """Its names."""
    findings: tuple[Finding, ...]
    """What in its examples cannot be."""


def files(path: Path) -> list[Path]:
    """Return the prompt files at a path: itself, or those of a folder.

    Raises:
        PromptError: There is none.
    """
    if not path.is_dir():
        return [path]
    found = sorted(entry for entry in path.iterdir() if entry.suffix in SUFFIXES)
    if not found:
        raise PromptError(f"no prompt files ({', '.join(f'*{s}' for s in SUFFIXES)}) in {path}")
    return found


def look(path: Path, primitives: Mapping[str, Primitive], lmps: Iterable[str]) -> Iterator[Report]:
    """Look at the prompt files at a path, one after another.

    Args:
        path: A file or a folder.
        primitives: The robot's functions.
        lmps: Names of the robot's own LMPs.

    Raises:
        PromptError: One cannot be read.
    """
    prompts = [load(entry) for entry in files(path)]
    known = frozenset([*lmps, *(prompt.name for prompt in prompts)])
    for prompt in prompts:
        yield _report(prompt, primitives, known - {prompt.name})


def _report(prompt: Prompt, primitives: Mapping[str, Primitive], lmps: frozenset[str]) -> Report:
    nested = {name: Primitive.of(_nested, "lmp", name) for name in lmps}
    scope = Scope(primitives={**nested, **primitives})
    known = scope.names() | EVERYWHERE | {"*"}
    findings: list[Finding] = []
    missing: list[Undefined] = []
    bound: set[str] = set()
    header = prompt.header
    for example in prompt.examples:
        variables = {**header.initial, **header.arguments, **dict.fromkeys(bound)}
        try:
            variables |= parse_context(example.context)
            program = Program.parse(example.code + "\n").without_imports(known)
        except CapError as error:
            findings.append(_finding(prompt, example, str(error)))
            continue
        examined = examine(program, replace(scope, variables=variables))
        findings += [_finding(prompt, example, reason) for reason in _reasons(prompt, examined)]
        missing += examined.undefined
        if prompt.header.session or prompt.header.prefix:
            bound |= _set_by(examined.program)
    return Report(prompt, _names(prompt, primitives, lmps, missing), tuple(findings))


def _nested(description: str, context: str = "", **given: Any) -> Any:
    """Stand for an LMP that programs call."""


def _reasons(prompt: Prompt, examined: Examination) -> Iterator[str]:
    """Yield what in an example's program cannot be."""
    program = examined.program
    if not program.tree.body:
        yield "there is no code under the instruction"
    yield from map(str, examined.violations)
    returns = prompt.header.returns
    if program.tree.body and returns and returns not in _set_by(program):
        yield f"it does not set '{returns}'"


def _set_by(program: Program) -> set[str]:
    """Return the names a program's top level sets."""
    return set(program.code.co_names) - {entry.name for entry in undefined(program, ())}


def _finding(prompt: Prompt, example: Example, reason: str) -> Finding:
    return Finding(prompt.name, example.line, example.instruction, reason)


def _names(
    prompt: Prompt,
    primitives: Mapping[str, Primitive],
    lmps: frozenset[str],
    missing: Iterable[Undefined],
) -> Names:
    """Sort a prompt's hints, and what its examples lack, by what they stand for."""
    missing = list(missing)
    called = {entry.name for entry in missing if entry.calls}
    hints = [name for name in prompt.hints if name != "*"]
    nowhere = [name for name in hints if name not in primitives and name not in lmps | EVERYWHERE]
    return Names(
        robot=tuple(name for name in hints if name in primitives),
        lmps=tuple(name for name in hints if name in lmps and name not in primitives),
        library=tuple(name for name in hints if name in EVERYWHERE),
        generated=tuple(dict.fromkeys([*nowhere, *(e.name for e in missing if e.name in called)])),
        given=tuple(
            dict.fromkeys(entry.name for entry in missing if entry.name not in {*called, *nowhere})
        ),
    )
